/**
 * The one cache of contents that this process wrote or read, parsed and checked. Every step loads input, schema, plan and
 * bodies, and so parses them only once (D1).
 *
 * 1. Usually the text is read from the store each time, and the cached content is used only if the text is the same: a first
 *    try of a step that still runs elsewhere may write its observation, update or checkpoint again with other contents.
 * 2. Contents that can have only one text under their id are not read again: a body, named by its hash, the result of one
 *    journalled reply, whose id includes the try (`plan`, `proposal`), and an object (`objects.ts`).
 * 3. Contents are frozen, because many steps share them. The journal is not cached: each call is made once.
 */
import { BoundedMap } from '../bounded-map';
import type { ObjectStore } from '../domain/ports';
import type { Kind } from './contents';

const MAX_CHARS = 48 * 1024 * 1024;
const FIXED: ReadonlySet<Kind> = new Set(['body', 'plan', 'proposal']);
const READ_ONCE: ReadonlySet<Kind> = new Set(['intent', 'reply', 'checkpoint', 'result', 'step']);

interface Cached {
  /** null: an object, whose name tells its text. */
  readonly text: string | null;
  /** null: written by this process and not parsed yet. */
  readonly content: unknown;
}

const cacheOf = perStore(() => new BoundedMap<Cached>(MAX_CHARS));

/** The content of an object by its name. `load` gives it with the length of its text. */
export async function cachedObject<T>(
  store: ObjectStore,
  name: string,
  load: () => Promise<{ readonly content: T; readonly chars: number }>,
): Promise<T> {
  const cache = cacheOf(store);
  const cached = cache.get(name);
  if (cached !== undefined) return cached.content as T;
  const { content, chars } = await load();
  cache.set(name, { text: null, content: frozen(content) }, chars);
  return content;
}

/** The content under a key, whose text `parse` reads; null if it is not stored. */
export async function readCached<T>(
  store: ObjectStore,
  kind: Kind,
  key: string,
  parse: (text: string) => Promise<T>,
): Promise<T | null> {
  const cache = cacheOf(store);
  const before = cache.get(key);
  const text = (FIXED.has(kind) ? before?.text : null) ?? (await store.get(key));
  if (text === null) return null;
  if (before !== undefined && before.content !== null && before.text === text) return before.content as T;
  const content = await parse(text);
  if (!READ_ONCE.has(kind)) cache.set(key, { text, content: frozen(content) }, text.length);
  return content;
}

export async function putCached(
  store: ObjectStore,
  kind: Kind,
  key: string,
  text: string,
  options: { readonly overwrite: boolean },
): Promise<void> {
  const cache = cacheOf(store);
  cache.delete(key);
  await store.put(key, text, options);
  if (FIXED.has(kind)) cache.set(key, { text, content: null }, text.length);
}

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

/** What this process remembers beside a store, made on first use. */
export function perStore<T>(make: () => T): (store: ObjectStore) => T {
  const known = new WeakMap<ObjectStore, T>();
  return (store) => {
    const found = known.get(store) ?? make();
    known.set(store, found);
    return found;
  };
}
