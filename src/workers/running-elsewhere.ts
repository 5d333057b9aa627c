/**
 * Finds searches and batches that another process works on, or nobody, because they run on another queue: with another model
 * endpoint, store or access list (`serving.ts`), or on the queue of a model that has no limits any more (`task-queues.ts`).
 * A worker does not take such work by itself, since it could exceed the limits of others; it only reports it.
 */
import type { GateClient } from './client';
import { isGone } from './process-identity';
import { differenceText, endpointText, type Serving, type ServingParts } from './serving';
import { batchOf, servedBy } from './task-queues';
import { runningQuestions } from './workflow-views';

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
  return {
    kind: (await isPolled(gate, running.taskQueue, nowMs)) ? 'served' : 'abandoned',
    difference: differenceOf(running, asked),
  };
}

function differenceOf({ taskQueue, serving }: Running, asked: Asked): string {
  const [batch, ours] = [batchOf(taskQueue), batchOf(asked.taskQueue)];
  if (batch !== null && batch !== ours) return `in the batch ${batch}`;
  return serving === null ? 'with another configuration' : differenceText(serving, asked.serving.parts);
}

/** A poll takes up to a minute and is remembered from its beginning. */
const POLLED_WITHIN_MS = 75_000;
/** Of workflows, by the server's enumeration; its type comes from a package that is no dependency of this one. */
const QUEUE_TYPE = 1 as never;

/** Whether a process takes work from the queue; one of this machine that has ended does not, whatever the server remembers. */
export async function isPolled({ listing }: GateClient, name: string, nowMs: number): Promise<boolean> {
  const { namespace } = listing.options;
  const { pollers } = await listing.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: QUEUE_TYPE,
  });
  return pollers.some(
    ({ lastAccessTime, identity }) =>
      Number(lastAccessTime?.seconds ?? 0) * 1_000 > nowMs - POLLED_WITHIN_MS && !isGone(identity ?? ''),
  );
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
export async function unservedSearches(gate: GateClient, nowMs: number): Promise<UnservedSearches[]> {
  const waiting = new Map<string, UnservedSearches>();
  for (const { taskQueue, serving } of await runningQuestions(gate, SEARCHES_LOOKED_AT)) {
    if (servedBy(taskQueue) === null) continue;
    waiting.set(taskQueue, { taskQueue, serving, searches: (waiting.get(taskQueue)?.searches ?? 0) + 1 });
  }
  const found: UnservedSearches[] = [];
  for (const [taskQueue, searches] of [...waiting].sort())
    if (!(await isPolled(gate, taskQueue, nowMs))) found.push(searches);
  return found;
}

export function unservedSearchesLine({ taskQueue, searches, serving }: UnservedSearches): string {
  const wait = searches === 1 ? '1 search waits' : `${String(searches)} searches wait`;
  const asked = serving === null ? 'a batch began them' : `asked with ${endpointText(serving)}`;
  return `${wait} in the queue ${taskQueue}, which no process serves; ${asked}`;
}

export const UNSERVED_SEARCHES_FIX =
  'ask the question again to go on with your configuration, or start gate ops worker with the one it was asked with';
