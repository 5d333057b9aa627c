/**
 * The ports of both methods as Temporal activities (design D1): every model call and SQL round trip is one activity
 * with its own timeouts, bounded retries and a summary that a person can read.
 *
 * 1. Checkpoints and the final record are written even after a cancellation (design D6). A cancellation ends all other steps.
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
import {
  byPurpose,
  byRole,
  type AllSteps,
  type ModelInput,
  type ModelOutcome,
  type ModelRole,
  type ModelValue,
  type SqlInput,
  type SqlPurpose,
  type SqlValue,
} from '../ports/search-steps';
import { Labels } from './labels';
import type { ModelActivities } from './model';
import type { SqlActivities } from './sql';
import type { StoreActivities } from './store';
import type { WebActivities } from './web';

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

/** Local activities have no heartbeats, and signals wait for them. So the limit is below the workflow task's heartbeat of 8 s. */
const SHORT_SQL: LocalActivityOptions = {
  startToCloseTimeout: '3s',
  retry: { maximumAttempts: 1 },
};

/** The web port's own time limits are far shorter. */
const WEB: ActivityOptions = { ...COMMON, startToCloseTimeout: '2 minutes' };

export function proxiedSteps(options: ProxyOptions): AllSteps & Pick<StoreActivities, 'openChild'> {
  const labels = new Labels();
  const callModel = modelCaller(options, labels);
  const executeSql = sqlExecutor(options, labels);
  const storing = (summary: string): StoreActivities => proxyLocalActivities<StoreActivities>({ ...STORING, summary });
  return {
    ...byRole<typeof callModel>(callModel),
    ...byPurpose<typeof executeSql>(executeSql),
    web: (input) => proxyActivities<WebActivities>({ ...WEB, summary: labels.web(input) }).useWeb(input),
    checkpoint: (state) =>
      CancellationScope.nonCancellable(() =>
        storing(`iter ${String(state.iteration - 1)} · checkpoint`).saveCheckpoint(state),
      ),
    async finish(input) {
      const { searchId: id, status, endedBy, reason, state } = input;
      const finishing = () => storing(labels.finish(input)).finishSearch(input);
      const { answer, sql, proof } = await CancellationScope.nonCancellable(finishing);
      const calls = toolCallsOf(state);
      return {
        ...{ id, status, endedBy, answer, sql, reason, usage: state.usage },
        ...(calls !== undefined && { toolCalls: calls }),
        ...(proof && { proof }),
      };
    },
    amend: (input) =>
      CancellationScope.nonCancellable(() =>
        storing(input.notKept === null ? 'record what was kept' : 'record that nothing was kept').amendRecord(input),
      ),
    openChild: (input) => CancellationScope.nonCancellable(() => storing(labels.child(input)).openChild(input)),
    adopt: (input) => CancellationScope.nonCancellable(() => storing(labels.adopted(input)).adoptAnswer(input)),
  };
}

function modelCaller(
  {
    taskQueues,
    models,
    modelTimeoutMs,
    modelOutageMs = OUTAGE_MS,
    tries,
    onCall = () => undefined,
    onWait,
  }: ProxyOptions,
  labels: Labels,
) {
  const callMs = modelTimeoutMs + 15_000;
  const unlimited: ActivityOptions = {
    ...COMMON,
    // A call that begins at the end of an outage still gets its full time.
    scheduleToCloseTimeout: modelOutageMs + callMs,
    startToCloseTimeout: callMs,
    ...patience(tries),
  };
  const optionsOf = (role: ModelRole): ActivityOptions => {
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
  return async <R extends ModelRole>(input: ModelInput<R>): Promise<ModelOutcome<ModelValue<R>>> => {
    const role: R = input.role;
    const activities = proxyActivities<ModelActivities>({ ...optionsOf(role), summary: labels.model(input) });
    onCall(1);
    const called = activities.callModel(input).finally(() => onCall(-1));
    onWait?.(models[role] ?? models.default, called);
    const outcome = await called;
    labels.learnFrom(outcome);
    return outcome;
  };
}

function patience(tries: number | undefined): ActivityOptions {
  return tries === undefined ? {} : { scheduleToCloseTimeout: undefined, retry: { ...RETRY, maximumAttempts: tries } };
}

function sqlExecutor({ sqlTimeoutMs, tries, onWait }: ProxyOptions, labels: Labels) {
  const sql: ActivityOptions = {
    ...COMMON,
    startToCloseTimeout: Math.min(sqlTimeoutMs * STATEMENTS_PER_STEP, 3_600_000),
    ...patience(tries),
  };
  // If the database was slow once, later steps skip the short try. A slow read of a large schema does not count.
  let trySqlHere = true;
  const shortSql = async <P extends SqlPurpose>(input: SqlInput<P>, summary: string): Promise<SqlValue<P> | null> => {
    if (!trySqlHere) return null;
    const purpose: SqlPurpose = input.purpose;
    try {
      return await proxyLocalActivities<SqlActivities>({ ...SHORT_SQL, summary })[purpose](input);
    } catch (error) {
      const cause = error instanceof ActivityFailure ? error.cause : error;
      if (isCancellation(error) || (cause instanceof ApplicationFailure && cause.nonRetryable === true)) throw error;
      if (cause instanceof TimeoutFailure) trySqlHere = purpose === 'prepare';
      return null;
    }
  };
  return async <P extends SqlPurpose>(input: SqlInput<P>): Promise<SqlValue<P>> => {
    const summary = labels.sql(input);
    const waitedFor = <T>(running: Promise<T>): Promise<T> => {
      onWait?.('the database', running);
      return running;
    };
    const value =
      (await waitedFor(shortSql(input, summary))) ??
      (await waitedFor(proxyActivities<SqlActivities>({ ...sql, summary }).executeSql(input)));
    labels.learn(value);
    return value;
  };
}
