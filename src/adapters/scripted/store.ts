/** An object store in memory, for tests and runs that keep nothing. Same contract as the others, byte for byte. */
import { StoreError, type ObjectStore } from '../../ports';
import { assertKey } from '../local/keys';

export interface MemoryStore extends ObjectStore {
  /** Counts of calls, for tests that claim what is read and written. */
  readonly calls: { readonly get: number; readonly put: number; readonly list: number };
}

export function createMemoryStore(): MemoryStore {
  const objects = new Map<string, string>();
  const calls = { get: 0, put: 0, list: 0 };
  return {
    calls,
    async get(key) {
      assertKey(key);
      calls.get += 1;
      return Promise.resolve(objects.get(key) ?? null);
    },
    async put(key, text, { overwrite = false } = {}) {
      assertKey(key);
      calls.put += 1;
      // Through UTF-8, as on disk: what no encoding can hold becomes U+FFFD here too.
      const stored = Buffer.from(text, 'utf8').toString('utf8');
      const existing = objects.get(key);
      if (existing !== undefined && existing !== stored && !overwrite) {
        throw new StoreError('conflict', `"${key}" is already stored with another text`);
      }
      objects.set(key, stored);
      return Promise.resolve();
    },
    async list(prefix) {
      calls.list += 1;
      return Promise.resolve([...objects.keys()].filter((key) => key.startsWith(prefix)).sort());
    },
  };
}
