/**
 * All checks of a layer run again, and what they count otherwise than before becomes an event: for `gate layer verify`, and as
 * the step of a watch.
 */
import type { DatabaseDescription, LayerEvent, SqlResult } from '../../domain';
import { canonical } from '../../domain/canonical';
import { driftAt } from '../../layer/drift';
import { hasFallen, layerOf, type HeldEntry, type Layer } from '../../layer/state';
import type { SqlEngine, SqlOptions } from '../../domain/ports';
import type { Receivers, ScheduledSteps } from '../../domain/ports/notices';
import { appendToLayer, readLayer } from '../../record/layer-store';
import { identityKey } from '../../record/search-id';
import type { StepDeps } from '../shared/context';
import { countsOf, recounted, visibleEntries, type Recounted } from './entries';

export interface Verified {
  readonly entries: readonly Recounted[];
  /** Entries that this reader may not see, or that the database did not answer. */
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

/** A run without drift is written at most this often: whoever reads the layer reads all that was written. */
const QUIET_MS = 24 * 60 * 60_000;

export function createWatchSteps(
  deps: Pick<StepDeps, 'store' | 'engine'> & { readonly receivers: Receivers },
): Pick<ScheduledSteps, 'verifyLayer'> {
  return {
    async verifyLayer({ database, identity, at, timeoutMs }, { signal = new AbortController().signal }) {
      const place = { ...deps, database: identityKey(identity) };
      const { engine } = await deps.engine(database, identity);
      const description = await engine.describe({ signal });
      const events = await readLayer(place);
      // Without what an earlier try of this run wrote.
      const { entries, verifiedAt } = layerOf(events.filter((event) => event.at < at));
      const verified = await verifyEntries(entries, { engine, description, timeoutMs, signal, at });
      const all = [...events, ...verified.events];
      const { broke, fell, heldAgain } = driftAt(all, at);
      const isTelling = broke.length + fell.length + heldAgain.length > 0;
      if (isTelling || verifiedAt === null || Date.parse(at) - Date.parse(verifiedAt) >= QUIET_MS)
        await appendToLayer(place, verified.events);
      return {
        checked: verified.entries.length,
        unseen: verified.unseen,
        broken: verified.entries.filter(({ why }) => why !== null).length,
        lower: lowerOf(verified, layerOf(all)).length,
        broke: broke.length,
        fell: fell.length,
        heldAgain: heldAgain.length,
        ...(broke.length + fell.length > 0 && deps.receivers.wanting('layer.drift').length > 0 && { tells: true }),
      };
    },
  };
}

/** Checks of one snapshot: a read-only transaction must not stay open for long. */
const AT_ONCE = 50;

export type CheckOptions = Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>;

/** In the order of the checks. `progress` is told how many have run. */
export async function runInBatches(
  engine: SqlEngine,
  checks: readonly string[],
  options: CheckOptions,
  progress: (done: number) => void = () => undefined,
): Promise<readonly SqlResult[]> {
  const results: SqlResult[] = [];
  for (let at = 0; at < checks.length; at += AT_ONCE) {
    const ran = await engine.run(checks.slice(at, at + AT_ONCE), { ...options, maxRows: 2 });
    results.push(...ran.results);
    progress(results.length);
  }
  return results;
}
