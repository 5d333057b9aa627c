/**
 * Finds searches that wait in a queue without a worker: theirs is gone, and the running workers have another configuration
 * (`serving.ts`). Those do not take the searches; they only report them.
 */
import type { GateClient } from './client';
import { runningQuestions } from './workflow-views';
import { isPolled } from './running-elsewhere';
import { differenceText, endpointText, type Serving, type ServingParts } from './serving';
import { servedBy } from './task-queues';

export interface UnservedSearches {
  readonly taskQueue: string;
  /** At least, where more searches run than are looked at. */
  readonly searches: number;
  /** null: an earlier version began them. */
  readonly serving: ServingParts | null;
}

const LOOKED_AT = 200;

/** Searches of batches are left out: an interrupted batch waits for the command that goes on with it. */
export async function unservedSearches(
  gate: GateClient,
  nowMs: number,
  ours: readonly string[] = [],
): Promise<UnservedSearches[]> {
  const waiting = new Map<string, UnservedSearches>();
  for (const { taskQueue, serving } of await runningQuestions(gate, LOOKED_AT)) {
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
  if (serving === null) return `${line}an earlier version of gate began them`;
  return `${line}asked ${here === undefined ? `with ${endpointText(serving)}` : differenceText(serving, here.parts)}`;
}

export const UNSERVED_SEARCHES_FIX =
  'ask the question again to go on with your configuration, or start gate worker with the one it was asked with';
