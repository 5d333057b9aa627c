/**
 * The ports of both methods as Temporal activities (design D1): every model call and SQL round trip is one activity
 * with its own timeouts, bounded retries and a summary that a person can read.
 *
 * 1. Checkpoints and the final record are written even after a cancellation (design D6); everything else ends with it.
 * 2. Short work in this worker's reach runs as a local activity: one event instead of six (D3), and no hand-over. SQL gets
 *    one short try there; what it cannot finish at once goes the regular way, with heartbeats and retries.
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
import type { ActInput, FinalInput, ReactSteps, ToolInput } from '../methods/react';
import type { ModelOutcome, ModelStepInput, SearchSteps, SqlStepInput } from '../search/steps';
import { Labels } from './labels';

/** Queues other than the workflow's own. */
export interface StepQueues {
  /** By model name: those of models with limits. */
  readonly models?: Readonly<Record<string, string>>;
}

export interface ProxyOptions {
  /** Asked before every model call, and awaited: a paused search spends nothing. */
  readonly mayCall?: () => Promise<void> | null;
  readonly taskQueues: StepQueues;
  /** Model name per role; `default` serves the roles not listed. */
  readonly models: Settings['models'];
  /** Upper limit of one model request. */
  readonly modelTimeoutMs: number;
  /** Upper limit of one SQL statement; a step may run many. */
  readonly sqlTimeoutMs: number;
}

/** How long an outage may last before a search gives up; a new `ask` then goes on from its checkpoint. */
const OUTAGE_MS = 60 * 60_000;
const STATEMENTS_PER_STEP = 60;
/** A model with limits is waited for: in its queue, and at the worker for a place (`LONGEST_WAIT_MS` of the paced model). */
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
 * Store writes are short and run in the worker that has the workflow: as local activities they leave one event each and
 * no copy of the state in the history (design D3).
 */
const STORING: LocalActivityOptions = {
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: OUTAGE_MS,
  retry: RETRY,
};

/** A local activity cannot heartbeat, and signals wait for it: below the workflow task's own heartbeat of 8 s. */
const SHORT_SQL: LocalActivityOptions = {
  startToCloseTimeout: '3s',
  retry: { maximumAttempts: 1 },
};

/** The port's own time limits are far shorter. */
const WEB: ActivityOptions = { ...COMMON, startToCloseTimeout: '2 minutes' };

export function proxiedSteps(options: ProxyOptions): SearchSteps & ReactSteps {
  const { taskQueues } = options;
  const labels = new Labels();
  const callMs = options.modelTimeoutMs + 15_000;
  const model: ActivityOptions = {
    ...COMMON,
    // The last call of an outage gets its time as well.
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
      // Eager dispatch would go past the queue's rate.
      allowEagerDispatch: false,
      scheduleToCloseTimeout: QUEUED_MS + callMs,
      startToCloseTimeout: callMs + PLACE_MS,
    };
  }

  /** The role decides the type of the value; activities cannot say so in their signature. */
  async function callModel<T extends ModelStepValue>(input: ModelStepInput | ActInput): Promise<ModelOutcome<T>> {
    const activities = proxyActivities<ModelActivities>({ ...modelOptions(input.role), summary: labels.model(input) });
    const paused = options.mayCall?.() ?? null;
    if (paused !== null) await paused;
    const outcome = await activities.callModel(input);
    labels.learnFrom(outcome);
    return outcome as ModelOutcome<T>;
  }
  async function executeSql<T extends SqlStepValue>(input: SqlStepInput | ToolInput | FinalInput): Promise<T> {
    const summary = labels.sql(input);
    const value =
      (await shortSql(input, summary)) ?? (await proxyActivities<SqlActivities>({ ...sql, summary }).executeSql(input));
    labels.learn(value);
    return value as T;
  }
  // A database that was slow once is not asked twice for every step; reading a large schema says nothing about the rest.
  let trySqlHere = true;
  async function shortSql(input: SqlStepInput | ToolInput | FinalInput, summary: string): Promise<SqlStepValue | null> {
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
    evaluate: (input) => callModel(input),
    plan: (input) => callModel(input),
    propose: (input) => callModel(input),
    ground: (input) => callModel(input),
    select: (input) => callModel(input),
    act: (input) => callModel(input),
    prepare: (input) => executeSql(input),
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
