/**
 * Takes over steps of a killed process on this machine. Temporal itself would wait for the heartbeat timeout; a worker that
 * starts on the same queues can see at once that the process is gone.
 *
 * 1. The step is reported as failed, and Temporal retries it at once by its retry policy. If the step had ended after all,
 *    Temporal refuses the report and nothing is lost: the journal has its reply.
 * 2. The workflow's next task goes to any worker, instead of waiting for the dead process that has it in memory.
 * 3. If it is not certain that the process is gone, the step is left to the heartbeat timeout.
 * 4. A report names only the step, not the process that holds it. So the retry starts after a short delay: another worker
 *    that also saw the dead process then finds no step in progress, and does not fail the new try.
 */
import type { NativeConnection } from '@temporalio/worker';
import { MODEL_QUEUE_PREFIX } from './task-queues';
import { each } from '../limiter';
import { unlessGone } from './grpc-status';
import { isGone } from './process-identity';

/** The most searches that are checked; steps of further ones are left to the heartbeat timeout. */
const MOST = 1_000;
const PAGE = 200;
const AT_ONCE = 8;
/** `PendingActivityState`: taken by a worker. */
const STARTED = 2;
/** Longer than the server takes to answer. */
const AGAIN_AFTER = { nanos: 250_000_000 };

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

type Service = NativeConnection['workflowService'];

/** Returns how many steps were reported as failed. */
export async function releaseAbandonedSteps(
  { workflowService: service }: Pick<NativeConnection, 'workflowService'>,
  namespace: string,
  taskQueues: readonly string[],
): Promise<number> {
  if (taskQueues.length === 0) return 0;
  const running = await runningOn(service, namespace, taskQueues);
  const released = await each(running, (execution) => release(service, namespace, execution), AT_ONCE);
  return released.reduce((sum, steps) => sum + steps, 0);
}

async function runningOn(service: Service, namespace: string, taskQueues: readonly string[]): Promise<Execution[]> {
  const query = `ExecutionStatus = 'Running' AND ${among(taskQueues)}`;
  const found: Execution[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await service.listWorkflowExecutions({
      namespace,
      query,
      pageSize: PAGE,
      nextPageToken,
    });
    for (const { execution } of page.executions)
      found.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
    nextPageToken = page.nextPageToken.length === 0 ? undefined : page.nextPageToken;
  } while (nextPageToken !== undefined && found.length < MOST);
  return found;
}

/** Query for searches whose steps may be on these queues. A model's queue is no search's own: it may have calls of all searches. */
function among(taskQueues: readonly string[]): string {
  const names = taskQueues.filter((name) => !name.startsWith(MODEL_QUEUE_PREFIX));
  if (names.length === 0) return "WorkflowType = 'answerQuestion'";
  return `TaskQueue IN (${names.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ')})`;
}

async function release(service: Service, namespace: string, execution: Execution): Promise<number> {
  const described = await unlessGone(service.describeWorkflowExecution({ namespace, execution }));
  const abandoned = (described?.pendingActivities ?? []).filter(
    ({ state, lastWorkerIdentity }) => (state as number) === STARTED && isGone(lastWorkerIdentity ?? ''),
  );
  if (abandoned.length === 0) return 0;
  await Promise.all(
    abandoned.map(({ activityId, lastWorkerIdentity }) => {
      const message = `its process (${lastWorkerIdentity ?? ''}) is gone`;
      const applicationFailureInfo = { type: 'ProcessGone', nextRetryDelay: AGAIN_AFTER };
      const failure = { message, source: 'gate', applicationFailureInfo };
      return unlessGone(
        service.respondActivityTaskFailedById({ namespace, ...execution, activityId: activityId ?? '', failure }),
      );
    }),
  );
  await unlessGone(service.resetStickyTaskQueue({ namespace, execution }));
  return abandoned.length;
}
