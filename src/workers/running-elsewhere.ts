/**
 * Detects a search or batch with this id that already runs on another queue: with another model endpoint, store or access
 * list (`serving.ts`), or started by a version whose queues had no fingerprint. Starting it again would join it under settings
 * that were not announced. What to do instead depends on whether a process works on it.
 */
import type { GateClient } from './client';
import { isGone } from './process-identity';
import { differenceText, type Serving, type ServingParts } from './serving';

export interface Running {
  readonly taskQueue: string;
  /** null: an earlier version began it. */
  readonly serving: ServingParts | null;
}

export interface Asked {
  readonly taskQueue: string;
  /** The name of the queue in versions before the fingerprint. */
  readonly earlierQueue: string;
  readonly serving: Serving;
}

export type Elsewhere =
  /** On the queue that is asked for: it is joined. */
  | { readonly kind: 'here' }
  /** `difference` follows on "runs". */
  | { readonly kind: 'served'; readonly difference: string }
  /** Nobody works on it. */
  | { readonly kind: 'abandoned'; readonly difference: string }
  /** Nobody works on it, and only a process that serves its queue, too, can go on with it. */
  | { readonly kind: 'earlier-version' };

export async function whereItRuns(gate: GateClient, running: Running, asked: Asked, nowMs: number): Promise<Elsewhere> {
  if (running.taskQueue === asked.taskQueue) return { kind: 'here' };
  const isEarlier = running.taskQueue === asked.earlierQueue;
  const difference = isEarlier
    ? 'in an earlier version of gate, which does not say where it sends rows'
    : running.serving === null
      ? 'with another configuration'
      : differenceText(running.serving, asked.serving.parts);
  if (await isPolled(gate, running.taskQueue, nowMs)) return { kind: 'served', difference };
  return isEarlier ? { kind: 'earlier-version' } : { kind: 'abandoned', difference };
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
