/**
 * Events of a database's layer in the store: `layer/<database>/<time>-<hash>[.<search id>].json`, each object a list of events
 * that were written together, and the search that they come from. Objects are named by their content and never changed or deleted, so several workers and machines can
 * append at the same time, and none loses what another one wrote.
 */
import { z } from 'zod';
import { LayerEvent } from '../domain';
import { StoreError, type ObjectStore } from '../ports';
import { canonical } from '../domain/canonical';
import type { Hash } from '../sql/body';
import { BoundedMap } from '../bounded-map';
import { perStore } from './per-store';
import { readEnvelope, writeEnvelope } from './run-store';

export const LAYER = 'layer/';
const KIND = 'layer';
const Batch = z.object({ schemaVersion: z.literal(1), events: z.array(LayerEvent) });
/** Objects that are read at the same time. */
const AT_ONCE = 32;
const MAX_CHARS = 32 * 1024 * 1024;

export interface LayerPlace {
  readonly store: ObjectStore;
  readonly hash: Hash;
  /** As `databaseKey` gives it. */
  readonly database: string;
}

/** Appending the same events again does nothing. `searchId`: the search that proved them, which `gate gc` then keeps. */
export async function appendToLayer(
  place: LayerPlace,
  events: readonly LayerEvent[],
  searchId: string | null = null,
): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  const batch = Batch.parse({ schemaVersion: 1, events });
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

/** In no particular order: `layerOf` sorts them. */
export async function readLayer(place: LayerPlace): Promise<readonly LayerEvent[]> {
  const keys = await place.store.list(folderOf(place));
  const batches: (readonly LayerEvent[])[] = [];
  for (let at = 0; at < keys.length; at += AT_ONCE)
    batches.push(...(await Promise.all(keys.slice(at, at + AT_ONCE).map((key) => readBatch(place, key)))));
  return batches.flat();
}

const cacheOf = perStore(() => new BoundedMap<readonly LayerEvent[]>(MAX_CHARS));

/** An object never changes, so this process reads it once. */
async function readBatch({ store, hash }: LayerPlace, key: string): Promise<readonly LayerEvent[]> {
  const cache = cacheOf(store);
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const text = await store.get(key);
  if (text === null) throw new StoreError('missing', `${key} is missing from the store: restore it`);
  const { events } = readEnvelope(text, { key, kind: KIND, schema: Batch, hash });
  cache.set(key, events, text.length);
  return events;
}

function folderOf({ database }: LayerPlace): string {
  return `${LAYER}${encodeURIComponent(database)}/`;
}
