/**
 * Events of a database's layer in the store: `layer/<database>/<time>-<hash>[.<search id>].json`, each object a list of events that
 * were written together, and the search that they come from. Objects are named by their content and never changed or deleted, so
 * several workers and machines can append at the same time, and none loses what another one wrote.
 */
import * as z from 'zod';
import { LayerEvent } from '../domain';
import { StoreError, type ObjectStore } from '../domain/ports';
import { canonical } from '../domain/canonical';
import { sha256 } from '../sha256';
import { BoundedMap } from '../bounded-map';
import { each } from '../limiter';
import { perStore } from './per-store';
import { readEnvelope, writeEnvelope } from './envelope';

export const LAYER = 'layer/';
const KIND = 'layer';
const Batch = z.object({ events: z.array(LayerEvent) });
/** Objects that are read at the same time. */
const AT_ONCE = 32;
/** Of all layers that this process remembers; of one, a quarter. */
const MAX_EVENTS = 400_000;

export interface LayerPlace {
  readonly store: ObjectStore;
  /** As `identityKey` gives it. */
  readonly database: string;
}

/** Appending the same events again does nothing. `searchId`: the search that proved them, which `gate ops gc` then keeps. */
export async function appendToLayer(
  place: LayerPlace,
  events: readonly LayerEvent[],
  searchId: string | null = null,
): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  const batch = Batch.parse({ events });
  const name = `${first.at.replace(/[^0-9TZ]/g, '')}-${(place.store.nameOf ?? sha256)(canonical(batch)).slice(0, 24)}`;
  const from = searchId === null ? '' : `.${searchId}`;
  await place.store.put(`${folderOf(place)}${name}${from}.json`, writeEnvelope(KIND, batch), {
    overwrite: true,
  });
}

/** The searches whose proofs any layer of the store holds. */
export async function searchesInLayers(store: ObjectStore): Promise<ReadonlySet<string>> {
  const keys = await store.list(LAYER);
  return new Set(keys.flatMap((key) => /[^/.]+\.([^/.]+)\.json$/.exec(key)?.[1] ?? []));
}

/** What was read of objects. */
interface Seen {
  readonly keys: ReadonlySet<string>;
  readonly events: readonly LayerEvent[];
}

const NOTHING: Seen = { keys: new Set(), events: [] };

/** By the folder of the database. An object never changes, so this process reads it once. */
const seenIn = perStore(() => new BoundedMap<Seen>(MAX_EVENTS));

/** In no particular order: `layerOf` sorts them. The same array as long as nothing is added. */
export async function readLayer(place: LayerPlace): Promise<readonly LayerEvent[]> {
  const folder = folderOf(place);
  const keys = await place.store.list(folder);
  const known = seenIn(place.store).get(folder);
  const before = known !== undefined && isAmong(known, keys) ? known : NOTHING;
  const missing = keys.filter((key) => !before.keys.has(key));
  if (before === known && missing.length === 0) return before.events;
  const events = [...before.events, ...(await each(missing, (key) => readBatch(place, key), AT_ONCE)).flat()];
  seenIn(place.store).set(folder, { keys: new Set(keys), events }, events.length);
  return events;
}

/** Whatever was read is still there. */
function isAmong({ keys }: Seen, all: readonly string[]): boolean {
  const stored = new Set(all);
  return [...keys].every((key) => stored.has(key));
}

async function readBatch({ store }: LayerPlace, key: string): Promise<readonly LayerEvent[]> {
  const text = await store.get(key);
  if (text === null) throw new StoreError('missing', `${key} is missing from the store: restore it`);
  return readEnvelope(text, { key, kind: KIND, schema: Batch }).events;
}

function folderOf({ database }: LayerPlace): string {
  return `${LAYER}${encodeURIComponent(database)}/`;
}
