/**
 * The client side: connect, start or join a question or a batch, wait for it, list what Temporal knows. Starting twice
 * under one id joins the first (design D4).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  WorkflowFailedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type ConnectionOptions,
  type WorkflowExecutionStatusName,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow';
import { tsToMs } from '@temporalio/common/lib/time';
import type { Steering } from '../domain';
import type { Progress } from '../search/search';
import { briefSettings, type ControlSettings } from '../search/state/control-settings';
import type { AnswerSummary } from '../ports/search-steps';
import type { answerQuestion, AnswerQuestionInput } from '../workflows/answer-question';
import type { BatchProgress } from '../workflows/batch-progress';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import { startAttributes, type ShownAttributes } from '../workflows/search-attributes';
import type { SteeringReply } from '../workflows/steering';
import type { runBatch, RunBatchInput } from '../workflows/run-batch';
import { retriesUntilClosed } from './grpc-retries';
import { unlessGone } from './not-found';
import { dataConverter, forListing } from './payloads';
import { hasSearchAttributes, isUnknownAttribute } from './search-attributes';
import type { Serving, ServingParts } from './serving';
import type { QuestionQueues } from './task-queues';

export interface GateClient {
  readonly client: Client;
  /** For listings: an entry that no key here can read shows which key it needs and hides no other. */
  readonly listing: Client;
  /** Values are encrypted on their way into a history. */
  readonly encrypts: boolean;
  close(): Promise<void>;
}

export interface TemporalAddress {
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions?: ConnectionOptions;
  /** How values become history (`encryption.ts`); default: nothing is encrypted. */
  readonly dataConverter?: DataConverter;
}

/** Nothing answers at the address. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
}

export async function connectClient(to: TemporalAddress): Promise<GateClient> {
  const { address, namespace, connectionOptions } = to;
  const converter = to.dataConverter ?? dataConverter;
  const retries = retriesUntilClosed();
  const { interceptors } = retries;
  const connection = await Connection.connect({
    ...{ connectTimeout: 5_000, interceptors },
    ...connectionOptions,
    address,
  }).catch((error: unknown) => {
    const message = `no Temporal at ${address}: start it, or correct TEMPORAL_ADDRESS (unset it to use the embedded one)`;
    throw new TemporalUnreachableError(message, { cause: error });
  });
  return {
    client: new Client({ connection, namespace, dataConverter: converter }),
    listing: new Client({ connection, namespace, dataConverter: forListing(converter) }),
    encrypts: converter.failureConverterPath !== undefined,
    async close() {
      await retries.end();
      await connection.close();
    },
  };
}

export interface StartQuestion extends Pick<AnswerQuestionInput, 'searchId' | 'modelTimeoutMs'> {
  readonly settings: ControlSettings;
  readonly queues: QuestionQueues;
  readonly state?: AnswerQuestionInput['state'];
  readonly iterationsPerRun?: number;
  /** One line of at most 200 bytes: title in the UI and in `list`. */
  readonly label: string;
  /** Markdown below the title. */
  readonly details?: string;
  /** Its name, for a column in the UI. */
  readonly database?: string;
  /** What it is asked for with: kept beside it, so that who asks again can tell what is different. */
  readonly serving?: Serving;
  /** Whether a search of this id that runs is joined, as it is (default), or is a `WorkflowExecutionAlreadyStartedError`. */
  readonly ifRunning?: 'join' | 'fail';
}

export type QuestionHandle = WorkflowHandleWithFirstExecutionRunId<typeof answerQuestion>;
/** A run holds at most this many iterations: about 2,000 events and 1 MB of history. */
const ITERATIONS_PER_RUN = 20;
const POLICIES = {
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
} as const;

export function startQuestion(gate: GateClient, start: StartQuestion): Promise<QuestionHandle> {
  const { searchId, settings, modelTimeoutMs, queues, label, ifRunning = 'join' } = start;
  return withAttributes(gate, (shown) =>
    gate.client.workflow.start<typeof answerQuestion>('answerQuestion', {
      ...POLICIES,
      ...(ifRunning === 'fail' ? { workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL } : {}),
      workflowId: questionWorkflowId(searchId),
      taskQueue: queues.workflow,
      args: [
        {
          ...{ searchId, settings: briefSettings(settings), modelTimeoutMs },
          taskQueues: queues.models === undefined ? {} : { models: queues.models },
          state: start.state ?? null,
          iterationsPerRun: start.iterationsPerRun ?? ITERATIONS_PER_RUN,
          ...(shown && { searchAttributes: shown }),
        },
      ],
      staticSummary: label,
      ...(start.details === undefined ? {} : { staticDetails: start.details }),
      memo: { label, ...servingMemo(start.serving) },
      ...(shown && { typedSearchAttributes: startAttributes(shown, { ...start, method: settings.method }) }),
    }),
  );
}

/** Null where the namespace does not know the attributes: a workflow that sets them there cannot start. */
async function withAttributes<T>(
  { client, encrypts }: GateClient,
  start: (shown: ShownAttributes | null) => Promise<T>,
): Promise<T> {
  if (!(await hasSearchAttributes(client))) return start(null);
  try {
    return await start(encrypts ? 'counters' : 'all');
  } catch (error) {
    if (!isUnknownAttribute(error)) throw error;
    return start(null);
  }
}

export type Ended<T> =
  { readonly kind: 'completed'; readonly value: T } | { readonly kind: 'failed'; readonly message: string };

/** Follows continue-as-new. A failed workflow gives its innermost message: the line that says what to change. */
export async function awaitQuestion(gate: GateClient, searchId: string): Promise<Ended<AnswerSummary>> {
  return awaitWorkflow<AnswerSummary>(gate, questionWorkflowId(searchId));
}

export function awaitBatch(gate: GateClient, batchId: string): Promise<Ended<BatchProgress>> {
  return awaitWorkflow<BatchProgress>(gate, batchWorkflowId(batchId));
}

export function startBatch(gate: GateClient, input: RunBatchInput, queue: string, label: string, serving?: Serving) {
  const { question } = input;
  const settings = briefSettings(question.settings);
  return withAttributes(gate, (shown) =>
    gate.client.workflow.start<typeof runBatch>('runBatch', {
      ...POLICIES,
      workflowId: batchWorkflowId(input.batchId),
      taskQueue: queue,
      args: [{ ...input, question: { ...question, settings, ...(shown && { searchAttributes: shown }) } }],
      staticSummary: label,
      memo: { label, ...servingMemo(serving) },
      ...(shown && { typedSearchAttributes: startAttributes(shown, { label, method: question.settings.method }) }),
    }),
  );
}

function servingMemo(serving: Serving | undefined): { readonly serving?: ServingParts } {
  return serving === undefined ? {} : { serving: serving.parts };
}

/** Asks a question or batch to stop; it then completes with its best answer so far. False: not running. */
export async function cancelWorkflow({ client }: GateClient, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).cancel();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

export type Steered =
  | { readonly kind: 'applied'; readonly remarkId: string | null }
  /** `reason` says why the command makes no sense now. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not-running' };

/** Tells a running search something (design: hint, pause, resume, budget, veto, pin, stop). */
export async function steerQuestion({ client }: GateClient, searchId: string, steering: Steering): Promise<Steered> {
  const { kind, ...args } = steering;
  const updateId = randomUUID();
  const handle = client.workflow.getHandle(questionWorkflowId(searchId));
  const send = () => handle.executeUpdate<SteeringReply, [object]>(kind, { updateId, args: [args] });
  try {
    const reply = await retriedWhile(wasTaskLost, send);
    return { kind: 'applied', remarkId: reply.remarkId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'not-running' };
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    return { kind: 'refused', reason: (error.cause?.message ?? error.message).replace(`${kind} refused: `, '') };
  }
}

/**
 * The server drops an update whose workflow task it discards, as it does when a step ends while the search is being ended.
 * Sent again under the same id it is applied once.
 */
function wasTaskLost(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if ((at as { code?: unknown }).code === FAILED_PRECONDITION && at.message.includes('workflow task failure'))
      return true;
  return false;
}

const FAILED_PRECONDITION = 9;
const TASKS_LOST = 10;

async function retriedWhile<T>(isPassing: (error: unknown) => boolean, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || tries >= TASKS_LOST) throw error;
      await sleep(tries * 100);
    }
  }
}

/** null: no worker answers, or nothing is known yet. */
export async function questionProgress({ client }: GateClient, searchId: string): Promise<Progress | null> {
  return client.workflow.getHandle(questionWorkflowId(searchId)).query<Progress | null>('progress');
}

/** What a running search holds of this kind, as its query answers. */
export async function questionView<T>(
  { client }: GateClient,
  searchId: string,
  query: 'plan' | 'memory' | 'candidates',
): Promise<T> {
  return client.workflow.getHandle(questionWorkflowId(searchId)).query<T>(query);
}

/** A paused search makes hardly any events: its pause is among the newest, or what its run started with. */
const NEWEST_EVENTS = 200;

/** Whether a running search is paused, from its history: no worker is asked. */
export async function isPaused({ client }: GateClient, searchId: string): Promise<boolean> {
  const newest = await unlessGone(
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId: questionWorkflowId(searchId) },
      maximumPageSize: NEWEST_EVENTS,
    }),
  );
  for (const event of newest?.history?.events ?? []) {
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name;
    if (update === 'pause' || update === 'resume') return update === 'pause';
    const payloads = event.workflowExecutionStartedEventAttributes?.input?.payloads;
    if (!payloads) continue;
    const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
    return typeof (input as AnswerQuestionInput | undefined)?.pause?.since === 'number';
  }
  return false;
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
  /** Where it runs (`task-queues.ts`). */
  readonly taskQueue: string;
  /** What it was asked for with; null where a version before that began it. */
  readonly serving: ServingParts | null;
  readonly startedAt: Date;
  readonly closedAt: Date | null;
  readonly historyEvents: number;
  readonly historyBytes: number;
  readonly pending: readonly PendingStep[];
  /** Since when the worker has had the same workflow task: short steps run inside of it. null: it has none. */
  readonly busySince: Date | null;
}

/** null: Temporal does not know it (any more); the store may. */
export async function describeQuestion({ listing }: GateClient, searchId: string): Promise<QuestionDescription | null> {
  const workflowId = questionWorkflowId(searchId);
  try {
    const description = await listing.workflow.getHandle(workflowId).describe();
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
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Newest first. Temporal forgets closed workflows (the embedded server after 24 hours); the store does not. */
export async function listQuestions({ listing }: GateClient, limit = 100): Promise<readonly QuestionDescription[]> {
  const found: QuestionDescription[] = [];
  for await (const execution of listing.workflow.list({ query: "WorkflowType = 'answerQuestion'", pageSize: limit })) {
    const searchId = execution.workflowId.replace(/^question-/, '');
    found.push({ ...summaryOf(execution), searchId, pending: [], busySince: null });
    if (found.length >= limit) break;
  }
  return found;
}

export type RunningWorkflow = Pick<QuestionDescription, 'workflowId' | 'runId' | 'taskQueue' | 'serving'>;

/** null: it is not running. */
export async function runningWorkflow({ listing }: GateClient, workflowId: string): Promise<RunningWorkflow | null> {
  try {
    const described = await listing.workflow.getHandle(workflowId).describe();
    return described.status.name === 'RUNNING' ? summaryOf(described) : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

const RUNNING_PAGE = 500;

/** All of them, whoever asked. */
export async function runningQuestions({ listing }: GateClient, most = Infinity): Promise<readonly RunningWorkflow[]> {
  const query = "WorkflowType = 'answerQuestion' AND ExecutionStatus = 'Running'";
  const found: RunningWorkflow[] = [];
  for await (const execution of listing.workflow.list({ query, pageSize: RUNNING_PAGE })) {
    found.push(summaryOf(execution));
    if (found.length >= most) break;
  }
  return found;
}

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
  readonly taskQueue: string;
  readonly status: { readonly name: WorkflowExecutionStatusName };
  readonly startTime: Date;
  readonly closeTime?: Date;
  readonly historyLength: number;
  readonly historySize?: number;
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
    ...{ workflowId, runId, taskQueue },
    // A text where it was encrypted with a key that is missing here.
    serving: typeof memo?.['serving'] === 'object' ? (memo['serving'] as ServingParts | null) : null,
    status: execution.status.name,
    label: typeof memo?.['label'] === 'string' ? memo['label'] : workflowId,
    startedAt: execution.startTime,
    closedAt: execution.closeTime ?? null,
    historyEvents: execution.historyLength,
    historyBytes: execution.historySize ?? 0,
  };
}

async function awaitWorkflow<T>({ client }: GateClient, workflowId: string): Promise<Ended<T>> {
  try {
    return { kind: 'completed', value: (await client.workflow.getHandle(workflowId).result()) as T };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    let cause: Error = error;
    while (cause.cause instanceof Error) cause = cause.cause;
    return { kind: 'failed', message: cause.message };
  }
}
