/** `gate layer verify`: all checks of a layer run again, and what they count otherwise than before becomes an event. */
import type { DatabaseDescription, LayerEvent } from '../domain';
import { canonical } from '../domain/canonical';
import { hasFallen, type HeldEntry, type Layer } from '../layer/state';
import type { SqlEngine } from '../ports';
import { runInBatches } from './check-batches';
import { countsOf, recounted, visibleEntries, type Recounted } from './layer-entries';

export interface Verified {
  readonly entries: readonly Recounted[];
  /** Those that this reader may not see, or that the database did not answer. */
  readonly unseen: number;
  /** To append to the layer. */
  readonly events: readonly LayerEvent[];
}

/** Of what was checked, the entries that hold for a smaller share of the rows than is kept. `layer`: with the events. */
export function lowerOf({ entries }: Verified, layer: Layer): readonly HeldEntry[] {
  const holding = new Set(entries.flatMap(({ entry, why }) => (why === null ? [entry.entryId] : [])));
  return layer.entries.filter((held) => holding.has(held.entry.entryId) && hasFallen(held));
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
  const changed = told.flatMap(({ held: { entry, counts: later, ...before }, why, counts }): LayerEvent[] => {
    const { entryId } = entry;
    if (
      (before.status === 'broken' ? before.why : null) === why &&
      canonical(counts) === canonical(later ?? countsOf(entry))
    )
      return [];
    return [why === null ? { kind: 'counted', entryId, at, counts } : { kind: 'broken', entryId, at, why, counts }];
  });
  return {
    entries: told,
    unseen: held.length - told.length,
    events: [...changed, { kind: 'verified', at, checked: told.map((each) => each.entry.entryId) }],
  };
}
