/**
 * Finds searches and batches that another process works on, or nobody, because they run on another queue: with another model
 * endpoint, store or access list (`serving.ts`), or on the queue of a model that has no limits any more (`task-queues.ts`).
 * A worker does not take such work by itself, since it could exceed the limits of others; it only reports it.
 */
import { each } from '../limiter';
import type { GateClient } from './client';
import { unlessGone } from './grpc-status';
import { isGone } from './process-identity';
import { differenceText, endpointText, type Serving, type ServingParts } from './serving';
import { MODEL_QUEUE_PREFIX, servedBy } from './task-queues';
import { first, RUNNING_QUESTIONS, runningQuestions } from './workflow-views';

export interface Running {
  readonly taskQueue: string;
  /** null: its memo does not say. */
  readonly serving: ServingParts | null;
}

export interface Asked {
  readonly taskQueue: string;
  readonly serving: Serving;
}

export type Elsewhere =
  /** On the queue that is asked for: it is joined. */
  | { readonly kind: 'here' }
  /** `difference` follows on "runs". */
  | { readonly kind: 'served'; readonly difference: string }
  /** Nobody works on it. */
  | { readonly kind: 'abandoned'; readonly difference: string };

/** Starting a search again would join it under settings that were not announced: what to do instead depends on who works on it. */
export async function whereItRuns(gate: GateClient, running: Running, asked: Asked, nowMs: number): Promise<Elsewhere> {
  if (running.taskQueue === asked.taskQueue) return { kind: 'here' };
  const difference =
    running.serving === null ? 'with another configuration' : differenceText(running.serving, asked.serving.parts);
  return { kind: (await isPolled(gate, running.taskQueue, nowMs)) ? 'served' : 'abandoned', difference };
}

/** A poll takes up to a minute and is remembered from its beginning. */
const POLLED_WITHIN_MS = 75_000;
/** Of the server's enumeration; its type comes from a package that is no dependency of this one. */
const QUEUE_TYPES = { workflow: 1 as never, activity: 2 as never } as const;

/** Whether a process takes work from the queue; one of this machine that has ended does not, whatever the server remembers. */
export async function isPolled(
  { listing }: GateClient,
  name: string,
  nowMs: number,
  type: keyof typeof QUEUE_TYPES = 'workflow',
): Promise<boolean> {
  const { namespace } = listing.options;
  const { pollers } = await listing.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: QUEUE_TYPES[type],
  });
  return pollers.some(
    ({ lastAccessTime, identity }) =>
      Number(lastAccessTime?.seconds ?? 0) * 1_000 > nowMs - POLLED_WITHIN_MS && !isGone(identity ?? ''),
  );
}

export interface UnservedQueue {
  readonly taskQueue: string;
  /** Calls of running searches; at least, where more searches run than are looked at. */
  readonly waiting: number;
}

const LOOKED_AT = 200;
const AT_ONCE = 8;
/** Of the server's enumerations. */
const SCHEDULED = 1;

/** `ours`: queues that this process serves, also while it only begins to. */
export async function unservedModelQueues(
  gate: GateClient,
  nowMs: number,
  ours: readonly string[] = [],
): Promise<UnservedQueue[]> {
  const waiting = new Map<string, number>();
  for (const taskQueue of await waitingCalls(gate))
    if (!ours.includes(taskQueue)) waiting.set(taskQueue, (waiting.get(taskQueue) ?? 0) + 1);
  const found: UnservedQueue[] = [];
  for (const [taskQueue, calls] of [...waiting].sort()) {
    if (!(await isPolled(gate, taskQueue, nowMs, 'activity'))) found.push({ taskQueue, waiting: calls });
  }
  return found;
}

export function unservedLine({ taskQueue, waiting }: UnservedQueue): string {
  const calls = waiting === 1 ? '1 model call waits' : `${String(waiting)} model calls wait`;
  return `${calls} in the queue ${taskQueue}, which no worker serves`;
}

export const UNSERVED_FIX =
  'put the entry of that model back into "models.limits", with the same endpoint and store, until its searches are done';

/** The queue of each call that no worker has taken. */
async function waitingCalls({ listing }: GateClient): Promise<string[]> {
  const running = await first(LOOKED_AT, listing.workflow.list({ query: RUNNING_QUESTIONS, pageSize: LOOKED_AT }));
  const ids = running.map(({ workflowId }) => workflowId);
  const { namespace } = listing.options;
  // The raw one: the client's own would decode what the search is called, with a key that may be missing here.
  const describe = (workflowId: string) =>
    unlessGone(listing.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }));
  const pending = (await each(ids, describe, AT_ONCE)).flatMap((described) => described?.pendingActivities ?? []);
  return pending
    .filter(({ state }) => (state as number) === SCHEDULED)
    .map(({ activityOptions }) => activityOptions?.taskQueue?.name ?? '')
    .filter((name) => name.startsWith(MODEL_QUEUE_PREFIX));
}

interface UnservedSearches {
  readonly taskQueue: string;
  /** At least, where more searches run than are looked at. */
  readonly searches: number;
  /** null: a batch began them. */
  readonly serving: ServingParts | null;
}

const SEARCHES_LOOKED_AT = 200;

/**
 * Finds searches that wait in a queue without a worker: theirs is gone, and the running workers have another configuration
 * (`serving.ts`). Those do not take the searches; they only report them.
 *
 * Searches on queues of a batch's own are left out: an interrupted batch waits for the command that goes on with it.
 */
export async function unservedSearches(
  gate: GateClient,
  nowMs: number,
  ours: readonly string[] = [],
): Promise<UnservedSearches[]> {
  const waiting = new Map<string, UnservedSearches>();
  for (const { taskQueue, serving } of await runningQuestions(gate, SEARCHES_LOOKED_AT)) {
    if (servedBy(taskQueue) === null || ours.includes(taskQueue)) continue;
    waiting.set(taskQueue, { taskQueue, serving, searches: (waiting.get(taskQueue)?.searches ?? 0) + 1 });
  }
  const found: UnservedSearches[] = [];
  for (const [taskQueue, searches] of [...waiting].sort())
    if (!(await isPolled(gate, taskQueue, nowMs))) found.push(searches);
  return found;
}

/** `ours`: what this process answers with, by the name of the database. */
export function unservedSearchesLine(
  { taskQueue, searches, serving }: UnservedSearches,
  ours: ReadonlyMap<string, Serving> = new Map(),
): string {
  const served = servedBy(taskQueue) ?? '';
  const name = [...ours.keys()].find((each) => served.startsWith(`${each}-`));
  const here = name === undefined ? undefined : ours.get(name);
  const wait = searches === 1 ? '1 search waits' : `${String(searches)} searches wait`;
  const line = `${wait} in the queue ${taskQueue}, which no process serves; `;
  if (serving === null) return `${line}a batch began them`;
  return `${line}asked ${here === undefined ? `with ${endpointText(serving)}` : differenceText(serving, here.parts)}`;
}

export const UNSERVED_SEARCHES_FIX =
  'ask the question again to go on with your configuration, or start gate ops worker with the one it was asked with';
