/**
 * Steps that a killed process of this machine held. Temporal itself can only wait until their heartbeats have been missing
 * for long enough; a worker that starts on the same queues knows at once that their process is gone.
 *
 * 1. Such a step fails as if its process had said so, and Temporal tries it again at once, by its retry policy. If it had
 *    ended after all, Temporal refuses, and nothing is lost: the journal has its reply.
 * 2. The workflow's next task comes to whoever is there, instead of waiting for the process that has it in memory.
 * 3. What is not known for certain is left alone, and to the heartbeat timeout.
 * 4. Temporal is told of a step by its name alone, whoever holds it by then. So it is tried again a moment later only: other
 *    workers that started at the same time and saw the dead process, too, find nothing under way.
 */
import type { NativeConnection } from '@temporalio/worker';
import { MODEL_QUEUE_PREFIX } from './model-queues';
import { each } from '../limiter';
import { unlessGone } from './not-found';
import { isGone } from './process-identity';

/** More than that many searches are left to the heartbeat timeout. */
const MOST = 1_000;
const PAGE = 200;
const AT_ONCE = 8;
/** `PendingActivityState`: taken by a worker. */
const STARTED = 2;
/** Longer than an answer of the server takes. */
const AGAIN_AFTER = { nanos: 250_000_000 };

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

type Service = NativeConnection['workflowService'];

/** Returns how many steps were given back. */
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
      ...{ namespace, query, pageSize: PAGE },
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    });
    for (const { execution } of page.executions)
      found.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
    nextPageToken = page.nextPageToken.length === 0 ? undefined : page.nextPageToken;
  } while (nextPageToken !== undefined && found.length < MOST);
  return found;
}

/** Searches whose steps may be on these queues. A model's queue is none of theirs, and has calls of all of them. */
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
