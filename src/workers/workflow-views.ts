/** What Temporal knows of questions and batches: their own answers to queries, their descriptions, lists of them. */
import type { WorkflowExecutionStatusName } from '@temporalio/client';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow';
import { tsToMs } from '@temporalio/common/lib/time';
import type { Steering } from '../domain';
import type { AnswerQuestionInput } from '../workflows/answer-question';
import type { BatchPause, BatchProgress } from '../workflows/batch-progress';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import type { RunBatchInput } from '../workflows/run-batch';
import type { GateClient } from './client';
import { unlessGone } from './grpc-status';
import type { ServingParts } from './serving';

/** What a running search holds of this kind, as its query answers; `progress` is null until something is known. */
export async function questionView<T>(
  { client }: GateClient,
  searchId: string,
  query: 'progress' | 'plan' | 'memory' | 'candidates',
): Promise<T> {
  return client.workflow.getHandle(questionWorkflowId(searchId)).query<T>(query);
}

/** A paused search makes hardly any events: its pause is among the newest, or what its run started with. */
const NEWEST_EVENTS = 200;

/** Whether a running search is paused, from its history: no worker is asked. */
export async function isPaused(gate: GateClient, searchId: string): Promise<boolean> {
  for await (const command of newestCommands(gate, questionWorkflowId(searchId), NEWEST_EVENTS)) {
    const { name, input } = command;
    const told = name === 'fromParent' ? (input as Steering | undefined)?.kind : name;
    if (told === 'pause' || told === 'resume') return told === 'pause';
    if (name === STARTED) return typeof (input as AnswerQuestionInput | undefined)?.pause?.since === 'number';
  }
  return false;
}

/** How a running batch is paused, from its history; undefined: it is not. */
export async function batchPause(gate: GateClient, batchId: string): Promise<BatchPause | undefined> {
  let newest: BatchPause | undefined;
  for await (const { name, input } of newestCommands(gate, batchWorkflowId(batchId))) {
    if (name === 'resume') break;
    const told =
      name === 'pause' ? (input as BatchPause) : name === STARTED ? (input as RunBatchInput).pause : undefined;
    // A later pause without `now` leaves the questions in flight paused.
    if (told !== undefined) newest = { ...(newest ?? told), now: told.now || newest?.now === true };
  }
  return newest;
}

/** Whether a running batch is a retry, which asks some of its questions. */
export async function asksOnly(gate: GateClient, batchId: string): Promise<boolean> {
  for await (const { name, input } of newestCommands(gate, batchWorkflowId(batchId)))
    if (name === STARTED) return (input as RunBatchInput).only !== undefined;
  return false;
}

/** Whether a workflow was cancelled, also one that has ended since. */
export async function wasCancelled({ listing }: GateClient, workflowId: string): Promise<boolean> {
  const described = await unlessGone(listing.workflow.getHandle(workflowId).describe());
  return described?.raw.workflowExtendedInfo?.cancelRequested === true;
}

const STARTED = ' started';

/** What the run was told, newest first, and last what it started with. */
async function* newestCommands({ client }: GateClient, workflowId: string, mostEvents = Infinity) {
  const { namespace, loadedDataConverter } = client.options;
  let nextPageToken: Uint8Array | undefined;
  let read = 0;
  do {
    const page = await unlessGone(
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace,
        execution: { workflowId },
        maximumPageSize: NEWEST_EVENTS,
        nextPageToken,
      }),
    );
    for (const event of page?.history?.events ?? []) {
      const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
      const signal = event.workflowExecutionSignaledEventAttributes;
      const started = event.workflowExecutionStartedEventAttributes;
      const name = update?.name ?? signal?.signalName ?? (started && STARTED);
      if (!name) continue;
      const payloads = (update?.args ?? signal?.input ?? started?.input)?.payloads;
      const [input] = payloads ? await decodeArrayFromPayloads(loadedDataConverter, payloads) : [];
      yield { name, input };
    }
    read += NEWEST_EVENTS;
    nextPageToken = page?.nextPageToken.length ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined && read < mostEvents);
}

export async function batchProgress({ client }: GateClient, batchId: string): Promise<BatchProgress> {
  return client.workflow.getHandle(batchWorkflowId(batchId)).query<BatchProgress>('progress');
}

export interface PendingStep {
  /** Activity type: the server does not tell the summary of a pending activity. */
  readonly summary: string;
  readonly attempt: number;
  /** Why the attempt before failed, e.g. an outage that is being retried. */
  readonly lastFailure: string | null;
  /** null: an attempt is under way. */
  readonly nextTryAt: Date | null;
  /** null: it is tried without end. */
  readonly givesUpAt: Date | null;
}

export interface QuestionDescription {
  readonly searchId: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly status: WorkflowExecutionStatusName;
  readonly label: string;
  /** null: it is not traced. */
  readonly traceId: string | null;
  /** Where it runs (`task-queues.ts`). */
  readonly taskQueue: string;
  /** What it was asked for with; null where a version before that began it. */
  readonly serving: ServingParts | null;
  readonly pending: readonly PendingStep[];
  /** Since when the worker has had the same workflow task: short steps run inside of it. null: it has none. */
  readonly busySince: Date | null;
}

/** null: Temporal does not know it (any more); the store may. */
export async function describeQuestion({ listing }: GateClient, searchId: string): Promise<QuestionDescription | null> {
  const description = await unlessGone(listing.workflow.getHandle(questionWorkflowId(searchId)).describe());
  if (description === null) return null;
  const { loadedDataConverter } = listing.options;
  const steps = (description.raw.pendingActivities ?? []).map(async (activity) => ({
    summary: activity.activityType?.name ?? '',
    attempt: activity.attempt ?? 1,
    lastFailure:
      (await decodeOptionalFailureToOptionalError(loadedDataConverter, activity.lastFailure))?.message ?? null,
    nextTryAt: dateOf(activity.nextAttemptScheduleTime),
    givesUpAt: dateOf(activity.expirationTime),
  }));
  const task = description.raw.pendingWorkflowTask;
  const busySince = task?.startedTime ? dateOf(task.originalScheduledTime ?? task.startedTime) : null;
  return { ...summaryOf(description), searchId, pending: await Promise.all(steps), busySince };
}

const RUNNING_QUESTIONS = "WorkflowType = 'answerQuestion' AND ExecutionStatus = 'Running'";

/** The first of a listing, which comes in pages. */
export async function first<T>(most: number, listing: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of listing) {
    found.push(each);
    if (found.length >= most) break;
  }
  return found;
}

export type RunningWorkflow = Pick<QuestionDescription, 'workflowId' | 'runId' | 'taskQueue' | 'serving'>;

/** null: it is not running. `isCancelled`: it ends as soon as its steps have. */
export async function runningWorkflow(
  { listing }: GateClient,
  workflowId: string,
): Promise<(RunningWorkflow & { readonly isCancelled: boolean }) | null> {
  const described = await unlessGone(listing.workflow.getHandle(workflowId).describe());
  if (described?.status.name !== 'RUNNING') return null;
  return { ...summaryOf(described), isCancelled: described.raw.workflowExtendedInfo?.cancelRequested === true };
}

const RUNNING_PAGE = 500;

/** All of them, whoever asked. */
export async function runningQuestions({ listing }: GateClient, most = Infinity): Promise<readonly RunningWorkflow[]> {
  const list = listing.workflow.list({ query: RUNNING_QUESTIONS, pageSize: RUNNING_PAGE });
  return (await first(most, list)).map(summaryOf);
}

const RUNNING_BATCHES = "WorkflowType = 'runBatch' AND ExecutionStatus = 'Running'";

export async function runningBatches({ listing }: GateClient): Promise<readonly RunningWorkflow[]> {
  return (await first(RUNNING_PAGE, listing.workflow.list({ query: RUNNING_BATCHES }))).map(summaryOf);
}

/** How many answered searches of a queue have proofs that are being read and kept. */
export async function readingsOn({ listing }: GateClient, queue: string): Promise<number> {
  const query = `WorkflowType = 'keepProved' AND ExecutionStatus = 'Running' AND TaskQueue = '${queue}'`;
  return (await listing.workflow.count(query)).count;
}

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
  readonly taskQueue: string;
  readonly status: { readonly name: WorkflowExecutionStatusName };
  readonly memo?: Readonly<Record<string, unknown>>;
}

/** The server writes a time that there is none of as 0. */
function dateOf(time: Parameters<typeof tsToMs>[0]): Date | null {
  const ms = time ? tsToMs(time) : 0;
  return ms > 0 ? new Date(ms) : null;
}

function summaryOf(execution: Execution): Omit<QuestionDescription, 'searchId' | 'pending' | 'busySince'> {
  const { workflowId, runId, taskQueue, memo } = execution;
  return {
    workflowId,
    runId,
    taskQueue,
    // A text where it was encrypted with a key that is missing here.
    serving: typeof memo?.['serving'] === 'object' ? (memo['serving'] as ServingParts | null) : null,
    status: execution.status.name,
    traceId: typeof memo?.['traceId'] === 'string' ? memo['traceId'] : null,
    label: typeof memo?.['label'] === 'string' ? memo['label'] : workflowId,
  };
}
