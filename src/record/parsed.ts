/**
 * A cache of contents that this process wrote or read, parsed and checked. Every step loads input, schema, plan and bodies,
 * and so parses them only once (D1).
 *
 * 1. Usually the text is read from the store each time, and the cached content is used only if the text is the same: a first
 *    try of a step that still runs elsewhere may write its observation, update or checkpoint again with other contents.
 * 2. Contents that can have only one text under their id are not read again: a body, named by its hash, and the result of
 *    one journalled reply, whose id includes the try (`plan`, `proposal`).
 * 3. Contents are frozen, because many steps share them. The journal is not cached: each call is made once.
 */
import { BoundedMap } from '../bounded-map';
import type { ObjectStore } from '../ports';
import type { Kind } from './contents';
import { frozen } from './objects';

const MAX_CHARS = 16 * 1024 * 1024;
const FIXED: ReadonlySet<Kind> = new Set(['body', 'plan', 'proposal']);
const READ_ONCE: ReadonlySet<Kind> = new Set(['intent', 'reply', 'checkpoint', 'result', 'step']);

interface Remembered {
  readonly text: string;
  /** null: written by this process and not parsed yet. */
  readonly content: unknown;
}

export interface RememberedContents {
  /** Null if it is not stored. */
  read(kind: Kind, key: string, parse: (text: string) => Promise<unknown>): Promise<unknown>;
  put(kind: Kind, key: string, text: string, options: { readonly overwrite: boolean }): Promise<void>;
  delete(key: string): Promise<void>;
}

const OF_STORES = new WeakMap<ObjectStore, RememberedContents>();

/** One cache per store of this process. */
export function rememberedContents(store: ObjectStore): RememberedContents {
  const found = OF_STORES.get(store) ?? remembering(store, new BoundedMap(MAX_CHARS));
  OF_STORES.set(store, found);
  return found;
}

function remembering(store: ObjectStore, known: BoundedMap<Remembered>): RememberedContents {
  return {
    async read(kind, key, parse) {
      const before = known.get(key);
      const text = before !== undefined && FIXED.has(kind) ? before.text : await store.get(key);
      if (text === null) return null;
      if (before !== undefined && before.content !== null && before.text === text) return before.content;
      const content = await parse(text);
      if (!READ_ONCE.has(kind)) known.set(key, { text, content: frozen(content) }, text.length);
      return content;
    },
    async put(kind, key, text, options) {
      known.delete(key);
      await store.put(key, text, options);
      if (FIXED.has(kind)) known.set(key, { text, content: null }, text.length);
    },
    delete: (key) => {
      known.delete(key);
      return store.delete(key);
    },
  };
}
