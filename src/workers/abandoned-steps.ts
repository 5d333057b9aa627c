/**
 * Takes over what a killed process of this machine had in hand. Temporal itself would wait: for a step's heartbeat, for the 10 s
 * of a workflow task that had begun, and as long for one that waits in the dead process's own queue. A worker that starts on the
 * same queues can see at once that the process is gone.
 *
 * 1. A step is reported as failed, and Temporal retries it at once by its retry policy. If it had ended after all, Temporal
 *    refuses the report and nothing is lost: the journal has its reply. A workflow task is given back in the same way, and any
 *    worker has the workflow's next one.
 * 2. A report names one try of one step or task, so that nothing is taken from a process that has meanwhile begun it anew.
 *    Temporal knows tasks by tokens, which only their worker is given; they are its own record of these names.
 * 3. If it is not certain that the process is gone, all is left to Temporal. So is a task's second try: no history says whose
 *    it is.
 */
import type { NativeConnection } from '@temporalio/worker';
import type { temporal } from '@temporalio/proto';
import { MODEL_QUEUE_PREFIX } from './task-queues';
import { each } from '../limiter';
import { GRPC, grpcCode, unlessGone } from './grpc-status';
import { isGone, processIdentity } from './process-identity';

/** The most searches that are checked; steps of further ones are left to the heartbeat timeout. */
const MOST = 1_000;
const PAGE = 200;
const AT_ONCE = 8;
/** `PendingActivityState` and `PendingWorkflowTaskState`: taken by a worker. */
const STARTED = 2;
/** `TaskQueueKind`: of one process. */
const STICKY = 2;
/** `WorkflowTaskFailedCause`. */
const RESET_STICKY_TASK_QUEUE = 9;
/** A retry policy would wait for a second. */
const AT_ONCE_AGAIN = { nanos: 1_000_000 };
/** The shortest that Temporal takes is 2 s. */
const POLL_MS = 2_500;
const NOTHING = new Uint8Array();

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

type Connection = Pick<NativeConnection, 'workflowService' | 'withDeadline'>;
type Service = Connection['workflowService'];
type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo;

interface At {
  readonly connection: Connection;
  readonly service: Service;
  readonly namespace: string;
  readonly namespaceId: string;
}

/** Returns how many steps and workflow tasks were given back. */
export async function releaseAbandonedSteps(
  connection: Connection,
  namespace: string,
  taskQueues: readonly string[],
): Promise<number> {
  const { workflowService: service } = connection;
  if (taskQueues.length === 0) return 0;
  const running = await runningOn(service, namespace, taskQueues);
  if (running.length === 0) return 0;
  const { namespaceInfo } = await service.describeNamespace({ namespace });
  const at = { connection, service, namespace, namespaceId: namespaceInfo?.id ?? '' };
  const released = await each(running, (execution) => release(at, execution), AT_ONCE);
  return released.reduce((sum, tasks) => sum + tasks, 0);
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

async function release(at: At, execution: Execution): Promise<number> {
  const { service, namespace } = at;
  const described = await unlessGone(service.describeWorkflowExecution({ namespace, execution }));
  const steps = (described?.pendingActivities ?? []).filter(
    ({ state, lastWorkerIdentity }) => (state as number) === STARTED && isGone(lastWorkerIdentity ?? ''),
  );
  const task = described?.pendingWorkflowTask;
  const isPending = task?.attempt === 1;
  if (steps.length === 0 && !isPending) return 0;
  const found = await lastNamed(at, execution, new Set(steps.map(({ activityId }) => activityId ?? '')));
  const isGiven =
    isPending && isGone(found.holder) && (await giveBack(at, execution, found, (task.state as number) === STARTED));
  // Before a step is retried: the task that follows it must not go to the dead process.
  if (!isGiven && steps.length > 0) await unlessGone(service.resetStickyTaskQueue({ namespace, execution }));
  const failed = await Promise.all(steps.map((step) => fail(at, execution, step, found.steps)));
  return failed.filter((isFailed) => isFailed).length + (isGiven ? 1 : 0);
}

interface Named {
  /** Event of the last workflow task. */
  readonly task: number;
  /** Who has it, or has the queue in which it waits. */
  readonly holder: string;
  /** The queue in which it waits. */
  readonly queue: temporal.api.taskqueue.v1.ITaskQueue | null;
  /** Events of steps, by their id. */
  readonly steps: ReadonlyMap<string, number>;
}

/** From the end of the history back to what is asked for. */
async function lastNamed(at: At, execution: Execution, wanted: ReadonlySet<string>): Promise<Named> {
  const steps = new Map<string, number>();
  let named: Omit<Named, 'steps'> = { task: 0, holder: '', queue: null };
  for await (const event of newestFirst(at, execution)) {
    const id = Number(event.eventId);
    const started = event.workflowTaskStartedEventAttributes;
    const scheduled = event.workflowTaskScheduledEventAttributes;
    const step = event.activityTaskScheduledEventAttributes?.activityId ?? '';
    if (wanted.has(step)) steps.set(step, id);
    if (named.task === 0 && started)
      named = { ...named, task: Number(started.scheduledEventId), holder: started.identity ?? '' };
    if (named.task === 0 && scheduled) named = { ...named, task: id, queue: scheduled.taskQueue ?? null };
    // The process that ended the task before has this one in its queue.
    if (named.holder === '') named = { ...named, holder: event.workflowTaskCompletedEventAttributes?.identity ?? '' };
    if (named.holder !== '' && steps.size === wanted.size) break;
  }
  return { ...named, steps };
}

async function* newestFirst({ service, namespace }: At, execution: Execution): AsyncGenerator<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await unlessGone(
      service.getWorkflowExecutionHistoryReverse({ namespace, execution, maximumPageSize: PAGE, nextPageToken }),
    );
    yield* page?.history?.events ?? [];
    nextPageToken = page?.nextPageToken;
  } while (nextPageToken !== undefined && nextPageToken.length > 0);
}

/** A task that waits is first taken from the dead process's queue. False: it is somebody else's by now. */
async function giveBack(at: At, execution: Execution, named: Named, isStarted: boolean): Promise<boolean> {
  const { service, namespace } = at;
  const taskToken = isStarted ? tokenOf(at, execution, named.task, 1) : await waitingIn(at, named.queue);
  if (taskToken.length === 0) return false;
  const report = { cause: RESET_STICKY_TASK_QUEUE as number, failure: failureOf(named.holder) };
  const identity = processIdentity();
  return (await unlessGone(service.respondWorkflowTaskFailed({ namespace, taskToken, identity, ...report }))) !== null;
}

/** Token of a task; empty: none waits there, or the queue is no process's own. */
async function waitingIn({ connection, service, namespace }: At, taskQueue: Named['queue']): Promise<Uint8Array> {
  if ((taskQueue?.kind as number | undefined) !== STICKY) return NOTHING;
  const identity = processIdentity();
  const poll = () => service.pollWorkflowTaskQueue({ namespace, taskQueue, identity });
  try {
    return (await connection.withDeadline(Date.now() + POLL_MS, poll)).taskToken;
  } catch (error) {
    if (grpcCode(error) === GRPC.deadlineExceeded) return NOTHING;
    throw error;
  }
}

/** False: it has ended, or somebody else has reported it. */
async function fail(
  at: At,
  execution: Execution,
  { activityId, attempt, lastWorkerIdentity }: PendingActivity,
  events: Named['steps'],
): Promise<boolean> {
  const { service, namespace } = at;
  const scheduled = events.get(activityId ?? '');
  if (scheduled === undefined) return false;
  const taskToken = tokenOf(at, execution, scheduled, attempt ?? 1);
  const failure = failureOf(lastWorkerIdentity ?? '');
  const identity = processIdentity();
  return (await unlessGone(service.respondActivityTaskFailed({ namespace, taskToken, failure, identity }))) !== null;
}

function failureOf(holder: string) {
  const applicationFailureInfo = { type: 'ProcessGone', nextRetryDelay: AT_ONCE_AGAIN };
  return { message: `its process (${holder}) is gone`, source: 'gate', applicationFailureInfo };
}

/** `temporal.server.api.token.v1.Task`: its first five fields name a try, and Temporal compares the others where they are given. */
function tokenOf(
  { namespaceId }: Pick<At, 'namespaceId'>,
  { workflowId, runId }: Execution,
  scheduledEventId: number,
  attempt: number,
): Uint8Array {
  const fields = [namespaceId, workflowId, runId, scheduledEventId, attempt];
  return Uint8Array.from(fields.flatMap((value, at) => encoded(at + 1, value)));
}

/** A field of a protocol buffer. */
function encoded(field: number, value: string | number): number[] {
  if (typeof value === 'number') return [field << 3, ...varint(value)];
  const bytes = Buffer.from(value);
  return [(field << 3) | 2, ...varint(bytes.length), ...bytes];
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}
