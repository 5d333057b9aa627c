/**
 * Finds model calls that wait in a queue without a worker. A search stays on the queue of a model with limits that it began
 * with (`model-queues.ts`), even if the entry is removed, or the configured endpoint or store changes. A worker does not serve
 * such a queue automatically, since it could exceed the limits of others; it only reports the waiting calls.
 */
import { each } from '../limiter';
import type { GateClient } from './client';
import { MODEL_QUEUE_PREFIX } from './model-queues';
import { unlessGone } from './grpc-status';
import { isPolled } from './running-elsewhere';
import { first, RUNNING_QUESTIONS, runningQuestions } from './workflow-views';
import { differenceText, endpointText, type Serving, type ServingParts } from './serving';
import { servedBy } from './task-queues';

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
