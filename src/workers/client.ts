/**
 * The client side: connect, start or join a question or a batch, wait for it, cancel it. Starting twice under one id
 * joins the first (design D4).
 */
import { setImmediate as afterTimers, setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  WorkflowFailedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  type ConnectionOptions,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Settings } from '../domain';
import type { AnswerSummary } from '../domain/ports/step-parts';
import { reasonOf } from '../search/findings';
import type { answerQuestion, AnswerQuestionInput } from '../workflows/answer-question';
import type { BatchPause, BatchProgress } from '../workflows/batch-progress';
import { batchWorkflowId, keepWorkflowId, questionWorkflowId } from '../workflows/ids';
import { startAttributes, type ShownAttributes } from '../workflows/search-attributes';
import type { runBatch, RunBatchInput } from '../workflows/run-batch';
import { telemetry, tracedClient } from './telemetry/tracing';
import { connectionProblem, TemporalUnreachableError, type TemporalProblem } from './connection-problem';
import { unlessGone } from './grpc-status';
import { dataConverter, forListing } from './payloads';
import { hasSearchAttributes, isUnknownAttribute } from './search-attributes';
import type { Serving, ServingParts } from './serving';
import type { QuestionQueues } from './task-queues';
import type { KeptAfter } from '../domain/ports/steps';

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
  /** How values become history (`payloads.ts`); default: nothing is encrypted. */
  readonly dataConverter?: DataConverter;
}

export async function connectClient(to: TemporalAddress): Promise<GateClient> {
  const { address, namespace, connectionOptions } = to;
  const converter = to.dataConverter ?? dataConverter;
  const retries = retriesUntilClosed();
  const { interceptors } = retries;
  const connection = await Connection.connect({
    connectTimeout: 5_000,
    interceptors,
    ...connectionOptions,
    address,
  }).catch(async (error: unknown) => {
    const problem = await connectionProblem(address, connectionOptions ?? {}, error);
    throw new TemporalUnreachableError(problem, { cause: error });
  });
  const gate: GateClient = {
    client: new Client({ connection, namespace, dataConverter: converter, interceptors: { workflow: [tracedClient] } }),
    listing: new Client({ connection, namespace, dataConverter: forListing(converter) }),
    encrypts: converter.failureConverterPath !== undefined,
    async close() {
      await retries.end();
      await telemetry.tracing?.flush();
      await connection.close();
    },
  };
  const problem = connectionOptions === undefined ? null : await loginProblem(gate.client, to);
  if (problem === null) return gate;
  await gate.close();
  throw new TemporalUnreachableError(problem);
}

interface GrpcRetries {
  readonly interceptors: NonNullable<ConnectionOptions['interceptors']>;
  /** Resolves when no retry can come any more. */
  end(): Promise<void>;
}

/** Timers of the same length may fire a moment apart. */
const SLACK_MS = 20;

/**
 * The client's own retries, until it closes. The SDK retries from a timer, and a retry on a closed channel throws where nobody
 * can catch it. That happens whenever a long poll is open while the client and then its server are closed. So nothing is
 * retried any more once the client closes, and it waits for the retry that is already due (at most 6 s, and only where
 * Temporal did not answer).
 */
function retriesUntilClosed(): GrpcRetries {
  const usual = defaultGrpcRetryOptions();
  const due = new Set<Promise<void>>();
  let closing = false;
  const interceptor = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !closing && usual.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const delayMs = usual.delayFunction(attempt, status);
      const retried = sleep(delayMs + SLACK_MS)
        .then(() => afterTimers())
        .then(() => void due.delete(retried));
      due.add(retried);
      return delayMs;
    },
  });
  return {
    interceptors: [interceptor],
    async end() {
      closing = true;
      await Promise.all(due);
    },
  };
}

const LOGIN_WITHIN_MS = 5_000;

/**
 * Null: the server lets this caller into its namespace. A connection does not say so: some gateways let anybody ask for the
 * server's version. And a call that nothing answers would wait without end.
 */
export async function loginProblem(
  { connection }: Client,
  { address, namespace, connectionOptions = {} }: Omit<TemporalAddress, 'dataConverter'>,
  withinMs = LOGIN_WITHIN_MS,
): Promise<TemporalProblem | null> {
  const asked = connection.withDeadline(Date.now() + withinMs, () =>
    connection.workflowService.describeNamespace({ namespace }),
  );
  // A namespace that is not there is told of by what needs it.
  return unlessGone(asked).then(
    () => null,
    (error: unknown) => connectionProblem(address, connectionOptions, error),
  );
}

export interface StartQuestion extends Pick<AnswerQuestionInput, 'searchId' | 'modelTimeoutMs' | 'modelOutageMs'> {
  readonly settings: Settings;
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
export const ITERATIONS_PER_RUN = 20;
const POLICIES = {
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
} as const;

export function startQuestion(gate: GateClient, start: StartQuestion): Promise<QuestionHandle> {
  const { searchId, settings, modelTimeoutMs, modelOutageMs, queues, label, ifRunning = 'join' } = start;
  return withAttributes(gate, (shown) =>
    gate.client.workflow.start<typeof answerQuestion>('answerQuestion', {
      ...POLICIES,
      ...(ifRunning === 'fail' ? { workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL } : {}),
      workflowId: questionWorkflowId(searchId),
      taskQueue: queues.workflow,
      args: [
        {
          searchId,
          settings,
          modelTimeoutMs,
          modelOutageMs,
          taskQueues: queues.models === undefined ? {} : { models: queues.models },
          state: start.state ?? null,
          iterationsPerRun: start.iterationsPerRun ?? ITERATIONS_PER_RUN,
          searchAttributes: shown ?? undefined,
        },
      ],
      staticSummary: label,
      staticDetails: start.details,
      memo: { label, ...servingMemo(start.serving) },
      typedSearchAttributes: shown ? startAttributes(shown, { ...start, method: settings.method }) : undefined,
    }),
  );
}

/** Null where the namespace does not know the attributes: a workflow that sets them there cannot start. */
export async function shownAttributes({
  client,
  encrypts,
}: Pick<GateClient, 'client' | 'encrypts'>): Promise<ShownAttributes | null> {
  if (!(await hasSearchAttributes(client))) return null;
  return encrypts ? 'counters' : 'all';
}

async function withAttributes<T>(
  { client, encrypts }: GateClient,
  start: (shown: ShownAttributes | null) => Promise<T>,
): Promise<T> {
  const shown = await shownAttributes({ client, encrypts });
  try {
    return await start(shown);
  } catch (error) {
    if (shown === null || !isUnknownAttribute(error)) throw error;
    return start(null);
  }
}

export type Ended<T> =
  { readonly kind: 'completed'; readonly value: T } | { readonly kind: 'failed'; readonly message: string };

/** Follows continue-as-new. A failed workflow gives its innermost message: the line that says what to change. */
export async function awaitQuestion(gate: GateClient, searchId: string): Promise<Ended<AnswerSummary>> {
  return awaitWorkflow<AnswerSummary>(gate, questionWorkflowId(searchId));
}

/** Of what reads and keeps what an answered search proved. */
export function awaitKept(gate: GateClient, searchId: string): Promise<Ended<KeptAfter>> {
  return awaitWorkflow<KeptAfter>(gate, keepWorkflowId(searchId));
}

export function awaitBatch(gate: GateClient, batchId: string): Promise<Ended<BatchProgress>> {
  return awaitWorkflow<BatchProgress>(gate, batchWorkflowId(batchId));
}

export function startBatch(gate: GateClient, input: RunBatchInput, queue: string, label: string, serving?: Serving) {
  const { question } = input;
  return withAttributes(gate, (shown) =>
    gate.client.workflow.start<typeof runBatch>('runBatch', {
      ...POLICIES,
      workflowId: batchWorkflowId(input.batchId),
      taskQueue: queue,
      args: [{ ...input, question: { ...question, searchAttributes: shown ?? undefined } }],
      staticSummary: label,
      memo: { label, ...servingMemo(serving) },
      typedSearchAttributes: shown ? startAttributes(shown, { label, method: question.settings.method }) : undefined,
    }),
  );
}

function servingMemo(serving: Serving | undefined): { readonly serving?: ServingParts } {
  return serving === undefined ? {} : { serving: serving.parts };
}

/** Heard by the batch's own workflow as soon as a worker has it. False: not running. */
export async function signalBatch(
  { client }: GateClient,
  batchId: string,
  kind: 'pause' | 'resume' | 'concurrency',
  told: Partial<BatchPause> | Pick<RunBatchInput, 'concurrency'>,
): Promise<boolean> {
  return (await unlessGone(client.workflow.getHandle(batchWorkflowId(batchId)).signal(kind, told))) !== null;
}

/** Asks a question or batch to stop; it then completes with its best answer so far. False: not running. */
export async function cancelWorkflow({ client }: GateClient, workflowId: string): Promise<boolean> {
  return (await unlessGone(client.workflow.getHandle(workflowId).cancel())) !== null;
}

export async function awaitWorkflow<T>(
  { client }: Pick<GateClient, 'client'>,
  workflowId: string,
  runId?: string,
): Promise<Ended<T>> {
  try {
    return { kind: 'completed', value: (await client.workflow.getHandle(workflowId, runId).result()) as T };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { kind: 'failed', message: reasonOf(error) };
  }
}
