/**
 * The ports of both methods as Temporal activities (design D1): every model call and SQL round trip is one activity
 * with its own timeouts, bounded retries and a summary that a person can read.
 *
 * Checkpoints and the final record are written even after a cancellation (design D6); everything else ends with it.
 */
import {
  ActivityCancellationType,
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  type ActivityOptions,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import type { ModelActivities, ModelStepValue } from '../activities/model';
import type { SqlActivities, SqlStepValue } from '../activities/sql';
import type { StoreActivities } from '../activities/store';
import type { ActInput, FinalInput, ReactSteps, ToolInput } from '../methods/react';
import type { ModelOutcome, ModelStepInput, SearchSteps, SqlStepInput } from '../search/steps';
import { Labels } from './labels';

export interface ProxyOptions {
  /** Queues of the model and SQL activities; null: the workflow's own. */
  readonly taskQueues: { readonly model: string | null; readonly sql: string | null };
  /** Upper limit of one model request. */
  readonly modelTimeoutMs: number;
  /** Upper limit of one SQL statement; a step may run many. */
  readonly sqlTimeoutMs: number;
}

/** How long an outage may last before a search gives up; a new `ask` then goes on from its checkpoint. */
const OUTAGE = '1 hour';
const STATEMENTS_PER_STEP = 60;
const RETRY = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;
const COMMON: ActivityOptions = {
  scheduleToCloseTimeout: OUTAGE,
  heartbeatTimeout: '15s',
  retry: RETRY,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
};

/**
 * Store writes are short and run in the worker that has the workflow: as local activities they leave one event each and
 * no copy of the state in the history (design D3).
 */
const STORING: LocalActivityOptions = {
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: OUTAGE,
  retry: RETRY,
};

export function proxiedSteps(options: ProxyOptions): SearchSteps & ReactSteps {
  const { taskQueues } = options;
  const labels = new Labels();
  const model: ActivityOptions = {
    ...COMMON,
    startToCloseTimeout: options.modelTimeoutMs + 15_000,
    ...(taskQueues.model === null ? {} : { taskQueue: taskQueues.model }),
  };
  const sql: ActivityOptions = {
    ...COMMON,
    startToCloseTimeout: Math.min(options.sqlTimeoutMs * STATEMENTS_PER_STEP, 3_600_000),
    ...(taskQueues.sql === null ? {} : { taskQueue: taskQueues.sql }),
  };

  /** The role decides the type of the value; activities cannot say so in their signature. */
  async function callModel<T extends ModelStepValue>(input: ModelStepInput | ActInput): Promise<ModelOutcome<T>> {
    const activities = proxyActivities<ModelActivities>({ ...model, summary: labels.model(input) });
    const outcome = await activities.callModel(input);
    labels.learnFrom(outcome);
    return outcome as ModelOutcome<T>;
  }
  async function executeSql<T extends SqlStepValue>(input: SqlStepInput | ToolInput | FinalInput): Promise<T> {
    const activities = proxyActivities<SqlActivities>({ ...sql, summary: labels.sql(input) });
    const value = await activities.executeSql(input);
    labels.learn(value);
    return value as T;
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
    checkpoint: (state) =>
      CancellationScope.nonCancellable(() =>
        storing(`iter ${String(state.iteration - 1)} · checkpoint`).saveCheckpoint(state),
      ),
    finish: (input) => CancellationScope.nonCancellable(() => storing(labels.finish(input)).finishSearch(input)),
  };
}
