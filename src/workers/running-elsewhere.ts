/**
 * Detects a search or batch with this id that already runs on another queue: with another model endpoint, store or access
 * list (`serving.ts`). Starting it again would join it under settings that were not announced. What to do instead depends on
 * whether a process works on it.
 */
import type { GateClient } from './client';
import { isGone } from './process-identity';
import { differenceText, type Serving, type ServingParts } from './serving';

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
    ...{ namespace, taskQueue: { name }, taskQueueType: QUEUE_TYPES[type] },
  });
  return pollers.some(
    ({ lastAccessTime, identity }) =>
      Number(lastAccessTime?.seconds ?? 0) * 1_000 > nowMs - POLLED_WITHIN_MS && !isGone(identity ?? ''),
  );
}
