/** The steps of a watch: all checks of a layer run, and what they changed is told outside. */
import { driftAt, driftReport } from '../layer/drift';
import { layerOf } from '../layer/state';
import type { Tell, WatchSteps } from '../ports/drift';
import { appendToLayer, readLayer, type LayerPlace } from '../record/layer-store';
import { identityKey } from '../record/search-id';
import type { StepDeps } from './context';
import { lowerOf, verifyEntries } from './verify-layer';

/** A run without drift is written at most this often: whoever reads the layer reads all that was written. */
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
      const all = [...events, ...verified.events];
      const { broke, fell, heldAgain } = driftAt(all, at);
      const isTelling = broke.length + fell.length + heldAgain.length > 0;
      if (isTelling || verifiedAt === null || Date.parse(at) - Date.parse(verifiedAt) >= QUIET_MS)
        await appendToLayer(place, verified.events);
      const broken = verified.entries.filter(({ why }) => why !== null).length;
      const counts = { checked: verified.entries.length, unseen: verified.unseen, broken };
      const lower = lowerOf(verified, layerOf(all)).length;
      return { ...counts, lower, broke: broke.length, fell: fell.length, heldAgain: heldAgain.length };
    },
    async reportDrift({ database, identity, at, found, to }, { signal = new AbortController().signal }) {
      const drift = driftAt(await readLayer(placeOf(identity)), at);
      const { checked, broken } = found;
      await deps.tell(to, driftReport(drift, { database, at, checked, broken }), signal);
    },
  };
}
