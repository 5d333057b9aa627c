/** An object store in memory, for tests and runs that keep nothing. Same contract as the others, byte for byte. */
import { StoreError, type ObjectStore } from '../../../src/domain/ports';
import { assertKey } from '../../../src/adapters/local/keys';

export interface MemoryStore extends ObjectStore {
  /** Counts of calls, for tests that claim what is read and written. */
  readonly calls: { readonly get: number; readonly put: number; readonly list: number };
}

export function createMemoryStore(now: () => number = () => Date.now()): MemoryStore {
  const objects = new Map<string, { readonly text: string; readonly modifiedMs: number }>();
  const keysWith = (prefix: string): string[] => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  const calls = { get: 0, put: 0, list: 0 };
  return {
    calls,
    async get(key) {
      assertKey(key);
      calls.get += 1;
      return Promise.resolve(objects.get(key)?.text ?? null);
    },
    async put(key, text, { overwrite = false } = {}) {
      assertKey(key);
      calls.put += 1;
      // Through UTF-8, as on disk: what no encoding can hold becomes U+FFFD here too.
      const stored = Buffer.from(text, 'utf8').toString('utf8');
      const existing = objects.get(key)?.text;
      if (existing === stored && !overwrite) return Promise.resolve();
      if (existing !== undefined && !overwrite) {
        throw new StoreError('conflict', `"${key}" is already stored with another text`);
      }
      objects.set(key, { text: stored, modifiedMs: now() });
      return Promise.resolve();
    },
    async list(prefix, { limit, after = '' } = {}) {
      calls.list += 1;
      return Promise.resolve(
        keysWith(prefix)
          .filter((key) => key > after)
          .slice(0, limit),
      );
    },
    async entries(prefix) {
      return Promise.resolve(
        keysWith(prefix).flatMap((key) => {
          const object = objects.get(key);
          return object ? [{ key, bytes: Buffer.byteLength(object.text), modifiedMs: object.modifiedMs }] : [];
        }),
      );
    },
    async delete(key, { unmodifiedSinceMs = Infinity } = {}) {
      assertKey(key);
      if ((objects.get(key)?.modifiedMs ?? Infinity) <= unmodifiedSinceMs) objects.delete(key);
      return Promise.resolve();
    },
  };
}
