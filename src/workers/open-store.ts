/**
 * The configured object store: a folder or a bucket, encrypted when keys are configured. Nothing is touched before its first use.
 * Nothing of Temporal is imported: a command that only reads the store does not load it.
 *
 * A store carries one format version, `format.json`, written before its first object. A store of another format, or with
 * searches and no format, is refused before anything is read or written.
 */
import { createEncryptedStore, createKeyRing, type KeyRing } from '../adapters/encryption';
import { createLocalStore } from '../adapters/local/store';
import { createS3Store } from '../adapters/s3/store';
import type { Config } from '../config';
import { storeLocation } from '../config/store';
import { StoreError, type ObjectStore } from '../domain/ports';

export function openStore(config: Pick<Config, 'store' | 'encryption'>): ObjectStore {
  return createEncryptedStore(ofThisFormat(openPlainly(config), storeLocation(config.store)), keyRingOf(config));
}

/** null: encryption is off. */
export function keyRingOf({ encryption }: Pick<Config, 'encryption'>): KeyRing | null {
  if (encryption === null) return null;
  return createKeyRing(encryption.keys.map(({ id, key }) => ({ id, key: key.reveal() })));
}

function openPlainly({ store }: Pick<Config, 'store'>): ObjectStore {
  if (store.kind === 'directory') return createLocalStore(store.directory);
  return createS3Store({ ...store, credentials: store.credentials?.reveal() });
}

/** Counts up when what is stored changes. */
const FORMAT = 3;
const FORMAT_KEY = 'format.json';

export function ofThisFormat(store: ObjectStore, place: string): ObjectStore {
  let isKnown = false;
  /** Null while the store holds no search. A bucket may hold what is not ours. */
  const found = async (): Promise<string | null> => {
    const text = await store.get(FORMAT_KEY);
    if (text !== null || (await store.list('runs/', { limit: 1 })).length === 0) return text;
    // Another process may have begun the store meanwhile.
    return (await store.get(FORMAT_KEY)) ?? '{}';
  };
  const check = async (): Promise<boolean> => {
    const text = await found();
    if (text !== null && !text.startsWith(`{"format":${FORMAT},`))
      throw new StoreError(
        'misconfigured',
        `the store ${place} was written by another version of this program: set GATE_STORE to a new folder or bucket, or use that version`,
      );
    return text !== null;
  };
  let checking: Promise<boolean> | null = null;
  /** Whether the store has begun. All who ask at the same time ask once: a batch looks for a thousand answers before it writes. */
  const checked = async (): Promise<boolean> =>
    (isKnown ||= await (checking ??= check().finally(() => (checking = null))));
  const isOwn = (key: string): boolean => key !== FORMAT_KEY;
  return {
    ...store,
    get: async (key) => {
      await checked();
      return store.get(key);
    },
    put: async (key, text, options) => {
      if (!(await checked())) await store.put(FORMAT_KEY, JSON.stringify({ format: FORMAT, of: 'gate' }));
      return store.put(key, text, options);
    },
    list: async (prefix, options) => ((await checked()) ? (await store.list(prefix, options)).filter(isOwn) : []),
    entries: async (prefix) => ((await checked()) ? (await store.entries(prefix)).filter(({ key }) => isOwn(key)) : []),
    delete: async (key, options) => {
      await checked();
      return store.delete(key, options);
    },
  };
}
