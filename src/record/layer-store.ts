/**
 * Events of a database's layer in the store: `layer/<database>/<time>-<hash>[.<search id>].json`, each object a list of events that
 * were written together, and the search that they come from.
 *
 * 1. Objects are named by their content and never changed or deleted, so several workers and machines can append at the same
 *    time, and none loses what another one wrote.
 * 2. A process that read many objects one by one writes a snapshot of them (`layer-snapshots/`), and the next one reads that and
 *    then only what it does not list. The objects stay, and without a snapshot the layer is the same.
 */
import { z } from 'zod';
import { LayerEvent } from '../domain';
import { StoreError, type ObjectStore } from '../ports';
import { canonical } from '../domain/canonical';
import type { Hash } from '../sql/body';
import { BoundedMap } from '../bounded-map';
import { perStore } from './content-cache';
import { readEnvelope, writeEnvelope } from './run-store';

export const LAYER = 'layer/';
/** Outside `layer/`: a copy of what stands there. */
export const SNAPSHOTS = 'layer-snapshots/';
const KIND = 'layer';
const Batch = z.object({ events: z.array(LayerEvent) });
const SNAPSHOT = 'layer-snapshot';
/** `objects`: the names of the objects that it holds the events of. */
const Snapshot = z.object({ objects: z.array(z.string()), events: z.array(LayerEvent) });
/** Objects that are read at the same time. */
const AT_ONCE = 32;
/** Of all layers that this process remembers; of one, a quarter. */
const MAX_EVENTS = 400_000;
/** Objects that are read one by one; beyond, a snapshot serves the next process. */
const MANY = 200;

export interface LayerPlace {
  readonly store: ObjectStore;
  readonly hash: Hash;
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
  const name = `${first.at.replace(/[^0-9TZ]/g, '')}-${(place.store.nameOf ?? place.hash)(canonical(batch)).slice(0, 24)}`;
  const from = searchId === null ? '' : `.${searchId}`;
  await place.store.put(`${folderOf(place)}${name}${from}.json`, writeEnvelope(KIND, batch, place.hash), {
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
  const before = known !== undefined && isAmong(known, keys) ? known : await newestSnapshot(place, keys);
  const missing = keys.filter((key) => !before.keys.has(key));
  if (before === known && missing.length === 0) return before.events;
  const events = [...before.events, ...(await readBatches(place, missing))];
  seenIn(place.store).set(folder, { keys: new Set(keys), events }, events.length);
  if (missing.length > MANY && missing.length > keys.length / 4) await writeSnapshot(place, keys, events);
  return events;
}

/** Whatever was read is still there. */
function isAmong({ keys }: Seen, all: readonly string[]): boolean {
  const stored = new Set(all);
  return [...keys].every((key) => stored.has(key));
}

async function readBatches(place: LayerPlace, keys: readonly string[]): Promise<readonly LayerEvent[]> {
  const batches: (readonly LayerEvent[])[] = [];
  for (let at = 0; at < keys.length; at += AT_ONCE)
    batches.push(...(await Promise.all(keys.slice(at, at + AT_ONCE).map((key) => readBatch(place, key)))));
  return batches.flat();
}

async function readBatch({ store, hash }: LayerPlace, key: string): Promise<readonly LayerEvent[]> {
  const text = await store.get(key);
  if (text === null) throw new StoreError('missing', `${key} is missing from the store: restore it`);
  return readEnvelope(text, { key, kind: KIND, schema: Batch, hash }).events;
}

/** The one of the most objects that can be read; it is only a copy, so one that cannot be read is passed over. */
async function newestSnapshot(place: LayerPlace, keys: readonly string[]): Promise<Seen> {
  if (keys.length <= MANY) return NOTHING;
  const { store, hash } = place;
  const names = [...(await store.list(snapshotsOf(place)))].sort().reverse();
  for (const key of names) {
    try {
      const text = await store.get(key);
      if (text === null) continue;
      const snapshot = readEnvelope(text, { key, kind: SNAPSHOT, schema: Snapshot, hash });
      const folder = folderOf(place);
      const seen = { keys: new Set(snapshot.objects.map((name) => `${folder}${name}`)), events: snapshot.events };
      if (isAmong(seen, keys)) return seen;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code === 'unavailable') throw error;
    }
  }
  return NOTHING;
}

/** Named by the number of its objects and its content, so several workers may write at the same time. */
async function writeSnapshot(place: LayerPlace, keys: readonly string[], events: readonly LayerEvent[]): Promise<void> {
  const { store, hash } = place;
  const objects = keys.map((key) => key.slice(folderOf(place).length));
  const name = (store.nameOf ?? hash)(canonical(objects)).slice(0, 24);
  const key = `${snapshotsOf(place)}${String(keys.length).padStart(8, '0')}-${name}.json`;
  const text = writeEnvelope(SNAPSHOT, { objects, events }, hash);
  try {
    await store.put(key, text, { overwrite: true });
  } catch (error) {
    // Whoever may only read this store reads the objects themselves.
    if (!(error instanceof StoreError)) throw error;
  }
}

function folderOf({ database }: LayerPlace): string {
  return `${LAYER}${encodeURIComponent(database)}/`;
}

function snapshotsOf({ database }: LayerPlace): string {
  return `${SNAPSHOTS}${encodeURIComponent(database)}/`;
}
