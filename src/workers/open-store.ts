/**
 * The configured object store: a folder or a bucket, encrypted when keys are configured. Nothing is touched before its first use.
 * Nothing of Temporal is imported: a command that only reads the store does not load it.
 */
import { createEncryptedStore, createKeyRing, createPlainStore, type KeyRing } from '../adapters/encryption';
import { createLocalStore } from '../adapters/local/store';
import { createS3Store } from '../adapters/s3';
import type { Config } from '../config';
import type { ObjectStore } from '../ports';

/** Around every store that is opened: without keys it tells an encrypted object from a damaged one. */
export function openStore(config: Pick<Config, 'store' | 'encryption'>): ObjectStore {
  const store = openPlainly(config);
  const ring = keyRingOf(config);
  return ring === null ? createPlainStore(store) : createEncryptedStore(store, ring);
}

/** null: encryption is off. */
export function keyRingOf({ encryption }: Pick<Config, 'encryption'>): KeyRing | null {
  if (encryption === null) return null;
  return createKeyRing(encryption.keys.map(({ id, key }) => ({ id, key: key.reveal() })));
}

function openPlainly({ store }: Pick<Config, 'store'>): ObjectStore {
  if (store.kind === 'directory') return createLocalStore(store.directory);
  const { kind: _kind, credentials, forcePathStyle, ...rest } = store;
  return createS3Store({
    ...rest,
    credentials: credentials?.() ?? null,
    forcePathStyle: forcePathStyle ?? undefined,
  });
}
