/** The steps of a watch: all checks of a layer run, and what they changed is told outside. */
import type { LayerEvent } from '../domain';
import { driftAt, driftReport } from '../layer/drift';
import { layerOf } from '../layer/state';
import type { Tell, WatchSteps } from '../ports/drift';
import { appendToLayer, readLayer, type LayerPlace } from '../record/layer-store';
import { identityKey, type StepDeps } from './context';
import { verifyEntries } from './verify-layer';

/** A run that changes nothing is written at most this often: whoever reads the layer reads all that was written. */
const QUIET_MS = 24 * 60 * 60_000;

export function createWatchSteps(
  deps: Pick<StepDeps, 'store' | 'hash' | 'engine'> & { readonly tell: Tell },
): WatchSteps {
  const placeOf = (identity: string): LayerPlace => ({ ...deps, database: identityKey(identity) });
  return {
    async verifyLayer({ database, identity, at, timeoutMs }, { signal = new AbortController().signal }) {
      const place = placeOf(identity);
      const { engine } = await deps.engine(database, identity);
      const description = await engine.describe({ signal });
      const events = await readLayer(place);
      // Without what an earlier try of this run wrote.
      const { entries, verifiedAt } = layerOf(events.filter((event) => event.at < at));
      const verified = await verifyEntries(entries, { engine, description, timeoutMs, signal, at });
      if (isTelling(verified.events) || verifiedAt === null || Date.parse(at) - Date.parse(verifiedAt) >= QUIET_MS)
        await appendToLayer(place, verified.events);
      const { broke, heldAgain } = driftAt([...events, ...verified.events], at);
      const broken = verified.entries.filter(({ why }) => why !== null).length;
      const counts = { checked: verified.entries.length, unseen: verified.unseen, broken };
      return { ...counts, broke: broke.length, heldAgain: heldAgain.length };
    },
    async reportDrift({ database, identity, at, found, to }, { signal = new AbortController().signal }) {
      const drift = driftAt(await readLayer(placeOf(identity)), at);
      const { checked, broken } = found;
      await deps.tell(to, driftReport(drift, { database, at, checked, broken }), signal);
    },
  };
}

function isTelling(events: readonly LayerEvent[]): boolean {
  return events.some(({ kind }) => kind !== 'verified');
}
