/**
 * Contents that this process wrote or read before, parsed and checked, so that a step which loads input, schema, plan and
 * bodies again pays for one parse (D1).
 *
 * 1. As a rule the store is asked each time, and what is remembered counts only while the text there is the same: a step
 *    whose first try still runs somewhere may write its observation, update or checkpoint again with other contents.
 * 2. Not even read again is what can have one text only under its id: a body, named by the hash of what it holds, and
 *    what a model step makes of one journalled reply, whose id holds the try (`plan`, `proposal`).
 * 3. A content is frozen, since many steps get the same one. The journal is its own memory: a call is made once.
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
  /** null: written here and not read yet. */
  readonly content: unknown;
}

export interface RememberedContents {
  /** Null when it is not there. */
  read(kind: Kind, key: string, parse: (text: string) => Promise<unknown>): Promise<unknown>;
  put(kind: Kind, key: string, text: string, options: { readonly overwrite: boolean }): Promise<void>;
  delete(key: string): Promise<void>;
}

const OF_STORES = new WeakMap<ObjectStore, RememberedContents>();

/** One memory per store of this process. */
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
