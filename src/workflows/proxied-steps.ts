/**
 * The ports of both methods as Temporal activities (design D1): every model call and SQL round trip is one activity
 * with its own timeouts, bounded retries and a summary that a person can read.
 *
 * 1. The final record is written even after a cancellation (design D6). A cancellation ends all other steps but the short try of SQL.
 * 2. Short work that this worker can do itself runs as a local activity: one event instead of six (D3), and no task queue.
 *    SQL gets one short try there. If it does not finish, it runs as a regular activity, with heartbeats and retries.
 */
import {
  ActivityCancellationType,
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  TimeoutFailure,
  type ActivityOptions,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import type { Settings } from '../domain';
import { toolCallsOf } from '../domain/control-view';
import { SQL_PURPOSES, STEP_ROLES, type StepRole } from '../domain/role-names';
import type { ModelCall, ModelOutcome, SqlCall, StepBase, StepOptions, UsageDelta } from '../domain/ports/step-parts';
import type { ModelSteps, SqlSteps, StoredSteps } from '../domain/ports/steps';
import type { Held, ModelActivities, SqlActivities, StoreActivities, WebActivities } from './activities';

/** Queues other than the workflow's own. */
export interface StepQueues {
  /** The queues of models with limits, by model name. */
  readonly models?: Readonly<Record<string, string>>;
}

export interface ProxyOptions {
  /** Told of every model call: 1 when it is sent, -1 when it has ended. */
  readonly onCall?: (change: 1 | -1) => void;
  /** Told what a step waits for: a model's name or `the database`. */
  readonly onWait?: (what: string, until: Promise<unknown>) => void;
  readonly taskQueues: StepQueues;
  /** Model name per role; `default` serves the roles not listed. */
  readonly models: Settings['models'];
  /** Upper limit of one model request. */
  readonly modelTimeoutMs: number;
  /** How long a model call is tried again while its endpoint is down; left out: an hour. */
  readonly modelOutageMs?: number | undefined;
  /** Upper limit of one SQL statement; a step may run many. */
  readonly sqlTimeoutMs: number;
  /** Of a step that nobody waits for: so many, and it waits for a worker without end. Left out: tried for `OUTAGE_MS`. */
  readonly tries?: number;
}

/** How long an outage may last before a search fails. A new `ask` then continues from its checkpoint. */
const OUTAGE_MS = 60 * 60_000;
const STATEMENTS_PER_STEP = 60;
/** How long a call may wait for a model with limits: in its queue, and at the worker (`LONGEST_WAIT_MS` of the paced model). */
const QUEUED_MS = 6 * 60 * 60_000;
const PLACE_MS = 120_000;
const RETRY = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;
const COMMON: ActivityOptions = {
  scheduleToCloseTimeout: OUTAGE_MS,
  heartbeatTimeout: '10s',
  retry: RETRY,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
};

/**
 * Store writes are short and run in the worker that has the workflow. As local activities each adds one event and no copy of
 * the state to the history (design D3).
 */
const STORING: LocalActivityOptions = {
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: OUTAGE_MS,
  retry: RETRY,
};

/**
 * Local activities have no heartbeats, and signals wait for them. So the limit is below the workflow task's heartbeat of 8 s. They are
 * not cancelled: where one ends at that moment, the SDK's core fails the workflow task, and each retry of it (MarkerCommandCreated in its
 * local_activity_state_machine.rs knows no cancellation).
 */
const SHORT_SQL: LocalActivityOptions = {
  startToCloseTimeout: '3s',
  retry: { maximumAttempts: 1 },
};

/** The web port's own time limits are far shorter. */
const WEB: ActivityOptions = { ...COMMON, startToCloseTimeout: '2 minutes' };

export function proxiedSteps(options: ProxyOptions): StoredSteps {
  const held = holder();
  const callModel = held(modelCaller(options));
  const executeSql = held(sqlExecutor(options));
  const storing = <T>(summary: string, write: (store: StoreActivities) => Promise<T>): Promise<T> =>
    CancellationScope.nonCancellable(() => write(proxyLocalActivities<StoreActivities>({ ...STORING, summary })));
  return {
    ...(Object.fromEntries(STEP_ROLES.map((role) => [role, callModel])) as unknown as ModelSteps),
    ...(Object.fromEntries(SQL_PURPOSES.map((purpose) => [purpose, executeSql])) as unknown as SqlSteps),
    web: held((input) => {
      // Without query or address: both come from a model.
      const summary = lineOf(input, input.tool === 'web_search' ? 'search the web' : 'fetch a page');
      return proxyActivities<WebActivities>({ ...WEB, summary }).useWeb(input);
    }),
    finish: held(async (input) => {
      const { searchId: id, status, endedBy, reason, state } = input;
      const label = `final record: ${status} (${endedBy})`;
      const stored = await storing(label, (store) => store.finishSearch(input));
      return { id, status, endedBy, reason, usage: state.usage, toolCalls: toolCallsOf(state), ...stored };
    }),
    amend: (input) =>
      storing(input.notKept === null ? 'record what was kept' : 'record that nothing was kept', (store) =>
        store.amendRecord(input),
      ),
    openChild: (input) => storing(lineOf(input, `child ${input.position}`), (store) => store.openChild(input)),
    adopt: held((input) =>
      storing(lineOf(input, `take over an answer as candidate ${input.candidateId}`), (store) =>
        store.adoptAnswer(input),
      ),
    ),
  };
}

/**
 * Tells each step which process has run all others so far, if it was one: that one need not look for what others stored. Steps
 * come to a process on their own ways, so only their results say where they ran.
 */
function holder() {
  let by: string | null | undefined;
  return <Input extends Pick<StepBase, 'heldBy'>, Output>(
      step: (input: Input, options?: StepOptions) => Promise<Held<Output>>,
    ) =>
    async (input: Input, options?: StepOptions): Promise<Output> => {
      const { by: ranBy, ...output } = await step(typeof by === 'string' ? { ...input, heldBy: by } : input, options);
      by = by === undefined || by === ranBy ? ranBy : null;
      return output as Output;
    };
}

/** Temporal's limit for a summary. */
const MAX_BYTES = 200;

/**
 * A step's line in the timeline of the Temporal UI, such as `iter 2 · ground op_gaps (attempt 1)`: only names, ids and
 * counters, no row values, no text of a model (design D7).
 */
export function lineOf({ position, tryNumber = 0 }: StepBase & { readonly tryNumber?: number }, label: string): string {
  const iteration = /^i(\d+)/.exec(position)?.[1];
  const attempt = /\.a(\d+)/.exec(position)?.[1];
  const notes = [
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...(tryNumber > 0 ? [`try ${String(tryNumber + 1)}`] : []),
  ];
  const text = `${iteration === undefined ? '' : `iter ${iteration} · `}${label}`;
  const suffix = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  // Names are ASCII, but the two separators have three more bytes than characters.
  const room = MAX_BYTES - suffix.length - 8;
  return text.length <= room ? text + suffix : `${text.slice(0, room)}…${suffix}`;
}

function modelCaller({
  taskQueues,
  models,
  modelTimeoutMs,
  modelOutageMs = OUTAGE_MS,
  tries,
  onCall = () => undefined,
  onWait,
}: ProxyOptions) {
  const callMs = modelTimeoutMs + 15_000;
  const unlimited: ActivityOptions = {
    ...COMMON,
    // A call that begins at the end of an outage still gets its full time.
    scheduleToCloseTimeout: modelOutageMs + callMs,
    startToCloseTimeout: callMs,
    ...patience(tries),
  };
  const optionsOf = (role: StepRole): ActivityOptions => {
    const queue = taskQueues.models?.[models[role] ?? models.default];
    if (queue === undefined) return unlimited;
    return {
      ...unlimited,
      taskQueue: queue,
      // Eager dispatch would bypass the queue's rate limit.
      allowEagerDispatch: false,
      scheduleToCloseTimeout: QUEUED_MS + callMs,
      startToCloseTimeout: callMs + PLACE_MS,
      ...patience(tries),
    };
  };
  return async (input: ModelCall, { label = input.role }: StepOptions = {}): Promise<Held<ModelOutcome<unknown>>> => {
    const { role } = input;
    const activities = proxyActivities<ModelActivities>({ ...optionsOf(role), summary: lineOf(input, label) });
    onCall(1);
    const called = activities.callModel(input).finally(() => onCall(-1));
    onWait?.(models[role] ?? models.default, called);
    return await called;
  };
}

function patience(tries: number | undefined): ActivityOptions {
  return tries === undefined ? {} : { scheduleToCloseTimeout: undefined, retry: { ...RETRY, maximumAttempts: tries } };
}

function sqlExecutor({ sqlTimeoutMs, tries, onWait }: ProxyOptions) {
  const sql: ActivityOptions = {
    ...COMMON,
    startToCloseTimeout: Math.min(sqlTimeoutMs * STATEMENTS_PER_STEP, 3_600_000),
    ...patience(tries),
  };
  // If the database was slow once, later steps skip the short try. A slow read of a large schema does not count.
  let trySqlHere = true;
  const shortSql = async (input: SqlCall, summary: string): Promise<Ran | null> => {
    if (!trySqlHere) return null;
    const { purpose } = input;
    try {
      return await CancellationScope.nonCancellable(() =>
        proxyLocalActivities<SqlActivities>({ ...SHORT_SQL, summary })[purpose](input),
      );
    } catch (error) {
      const cause = error instanceof ActivityFailure ? error.cause : error;
      if (isCancellation(error) || (cause instanceof ApplicationFailure && cause.nonRetryable === true)) throw error;
      if (cause instanceof TimeoutFailure) trySqlHere = purpose === 'prepare';
      return null;
    }
  };
  return async (input: SqlCall, { label = input.purpose }: StepOptions = {}): Promise<Ran> => {
    const summary = lineOf(input, label);
    const waitedFor = <T>(running: Promise<T>): Promise<T> => {
      onWait?.('the database', running);
      return running;
    };
    return (
      (await waitedFor(shortSql(input, summary))) ??
      (await waitedFor(proxyActivities<SqlActivities>({ ...sql, summary }).executeSql(input)))
    );
  };
}

type Ran = Held<{ readonly usage: UsageDelta }>;
