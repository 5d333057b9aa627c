/** `gate layer verify`: all checks of a layer run again, and what broke or holds again becomes an event. */
import type { DatabaseDescription, LayerEvent } from '../domain';
import type { HeldEntry } from '../layer/state';
import type { SqlEngine } from '../ports';
import { runInBatches } from './check-batches';
import { recounted, visibleEntries, type Recounted } from './layer-entries';

export interface Verified {
  readonly entries: readonly Recounted[];
  /** Those that this reader may not see, or that the database did not answer. */
  readonly unseen: number;
  /** To append to the layer. */
  readonly events: readonly LayerEvent[];
}

/** Entries that a person rejected are left out. */
export async function verifyEntries(
  entries: readonly HeldEntry[],
  options: {
    readonly engine: SqlEngine;
    readonly description: Pick<DatabaseDescription, 'tables'>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    /** The time of the events (ISO). */
    readonly at: string;
    readonly progress?: (done: number, of: number) => void;
  },
): Promise<Verified> {
  const held = entries.filter(({ status }) => status !== 'rejected');
  const visible = visibleEntries(held, options.description);
  const { engine, timeoutMs, signal, at } = options;
  const checks = visible.map(({ entry }) => entry.check);
  const results = await runInBatches(engine, checks, { timeoutMs, signal, tag: 'gate layer verify' }, (done) =>
    options.progress?.(done, checks.length),
  );
  const told = recounted(visible, results).filter(({ unseen }) => !unseen);
  const changed = told.flatMap(({ held: { entry, status, why: before }, why, counts }): LayerEvent[] => {
    const { entryId } = entry;
    if (why === null) return status === 'broken' ? [{ kind: 'held-again', entryId, at, counts }] : [];
    return status === 'broken' && why === before ? [] : [{ kind: 'broken', entryId, at, why, counts }];
  });
  const broken = told.flatMap(({ held: { entry }, why }) => (why === null ? [] : [entry.entryId]));
  return {
    entries: told,
    unseen: held.length - told.length,
    events: [...changed, { kind: 'verified', at, checked: told.length, broken }],
  };
}
