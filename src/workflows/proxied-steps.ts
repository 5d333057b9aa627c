/**
 * The ports of both methods as Temporal activities (design D1): every model call and SQL round trip is one activity
 * with its own timeouts, bounded retries and a summary that a person can read.
 *
 * 1. Checkpoints and the final record are written even after a cancellation (design D6). A cancellation ends all other steps.
 * 2. Step inputs and results enter the history without fields that have their usual value (D3, `ports/brief.ts`).
 * 3. Short work that this worker can do itself runs as a local activity: one event instead of six (D3), and no task queue.
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
import type { ModelActivities, ModelStepValue } from '../activities/model';
import type { SqlActivities, SqlStepValue } from '../activities/sql';
import type { StoreActivities } from '../activities/store';
import type { WebActivities } from '../activities/web';
import type { Settings } from '../domain';
import type { ActInput, FinalInput, ReactSteps, ToolInput } from '../ports/react-steps';
import { brief, whole, type Brief } from '../ports/brief';
import { MODEL_INPUT, modelOutcome, SQL_RESULT } from '../ports/brief-steps';
import type { LookSteps, ModelOutcome, ModelStepInput, SearchSteps, SqlStepInput } from '../ports/search-steps';
import { Labels } from './labels';

/** Queues other than the workflow's own. */
export interface StepQueues {
  /** The queues of models with limits, by model name. */
  readonly models?: Readonly<Record<string, string>>;
}

export interface ProxyOptions {
  /** Awaited before every model call, because a paused search must spend nothing. */
  readonly mayCall?: () => Promise<void> | null;
  readonly taskQueues: StepQueues;
  /** Model name per role; `default` serves the roles not listed. */
  readonly models: Settings['models'];
  /** Upper limit of one model request. */
  readonly modelTimeoutMs: number;
  /** Upper limit of one SQL statement; a step may run many. */
  readonly sqlTimeoutMs: number;
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

export function proxiedSteps(options: ProxyOptions): SearchSteps & ReactSteps & LookSteps {
  const { taskQueues } = options;
  const labels = new Labels();
  const callMs = options.modelTimeoutMs + 15_000;
  const model: ActivityOptions = {
    ...COMMON,
    // A call that begins at the end of an outage still gets its full time.
    scheduleToCloseTimeout: OUTAGE_MS + callMs,
    startToCloseTimeout: callMs,
  };
  const sql: ActivityOptions = {
    ...COMMON,
    startToCloseTimeout: Math.min(options.sqlTimeoutMs * STATEMENTS_PER_STEP, 3_600_000),
  };

  function modelOptions(role: ModelStepInput['role'] | ActInput['role']): ActivityOptions {
    const queue = taskQueues.models?.[options.models[role] ?? options.models.default];
    if (queue === undefined) return model;
    return {
      ...model,
      taskQueue: queue,
      // Eager dispatch would bypass the queue's rate limit.
      allowEagerDispatch: false,
      scheduleToCloseTimeout: QUEUED_MS + callMs,
      startToCloseTimeout: callMs + PLACE_MS,
    };
  }

  /** The role decides the type of the value, which the signature of an activity cannot express. */
  async function callModel<T extends ModelStepValue>(input: ModelStepInput | ActInput): Promise<ModelOutcome<T>> {
    const activities = proxyActivities<ModelActivities>({ ...modelOptions(input.role), summary: labels.model(input) });
    const paused = options.mayCall?.() ?? null;
    if (paused !== null) await paused;
    const outcome = whole(modelOutcome(input.role), await activities.callModel(brief(MODEL_INPUT, input)));
    labels.learnFrom(outcome);
    return outcome as ModelOutcome<T>;
  }
  async function executeSql<T extends SqlStepValue>(input: SqlStepInput | ToolInput | FinalInput): Promise<T> {
    const summary = labels.sql(input);
    const result =
      (await shortSql(input, summary)) ?? (await proxyActivities<SqlActivities>({ ...sql, summary }).executeSql(input));
    const value = whole(SQL_RESULT[input.purpose], result);
    labels.learn(value);
    return value as T;
  }
  // If the database was slow once, later steps skip the short try. A slow read of a large schema does not count.
  let trySqlHere = true;
  async function shortSql(
    input: SqlStepInput | ToolInput | FinalInput,
    summary: string,
  ): Promise<Brief<SqlStepValue> | null> {
    if (!trySqlHere) return null;
    try {
      return await proxyLocalActivities<SqlActivities>({ ...SHORT_SQL, summary })[input.purpose](input);
    } catch (error) {
      const cause = error instanceof ActivityFailure ? error.cause : error;
      if (isCancellation(error) || (cause instanceof ApplicationFailure && cause.nonRetryable === true)) throw error;
      if (cause instanceof TimeoutFailure) trySqlHere = input.purpose === 'prepare';
      return null;
    }
  }
  const storing = (summary: string): StoreActivities => proxyLocalActivities<StoreActivities>({ ...STORING, summary });
  return {
    look: (input) => callModel(input),
    keep: (input) => callModel(input),
    evaluate: (input) => callModel(input),
    plan: (input) => callModel(input),
    propose: (input) => callModel(input),
    ground: (input) => callModel(input),
    select: (input) => callModel(input),
    act: (input) => callModel(input),
    prepare: (input) => executeSql(input),
    queries: (input) => executeSql(input),
    commit: (input) => executeSql(input),
    check: (input) => executeSql(input),
    probe: (input) => executeSql(input),
    settle: (input) => executeSql(input),
    candidate: (input) => executeSql(input),
    tool: (input) => executeSql(input),
    final: (input) => executeSql(input),
    web: (input) => proxyActivities<WebActivities>({ ...WEB, summary: labels.web(input) }).useWeb(input),
    checkpoint: (state) =>
      CancellationScope.nonCancellable(() =>
        storing(`iter ${String(state.iteration - 1)} · checkpoint`).saveCheckpoint(state),
      ),
    async finish(input) {
      const { searchId: id, status, endedBy, reason, state } = input;
      const finishing = () => storing(labels.finish(input)).finishSearch(input);
      const { answer, sql, proof } = await CancellationScope.nonCancellable(finishing);
      return { id, status, endedBy, answer, sql, reason, usage: state.usage, ...(proof && { proof }) };
    },
  };
}
