/** From the setting `encryption` to what uses it: the key ring, the data converter and the store around another. */
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import { createEncryptedStore, createKeyRing, createPlainStore, type KeyRing } from '../adapters/encryption';
import type { Config } from '../config';
import type { ObjectStore } from '../ports';
import { createDataConverter, forListing } from './payloads';

type Encrypted = Pick<Config, 'encryption'>;

/** null: encryption is off. */
export function keyRingOf({ encryption }: Encrypted): KeyRing | null {
  if (encryption === null) return null;
  return createKeyRing(encryption.keys.map(({ id, key }) => ({ id, key: key.reveal() })));
}

/** `store`: for payloads too large for a history. */
export function dataConverterOf(config: Encrypted, store: ObjectStore | null = null): DataConverter {
  return createDataConverter(keyRingOf(config), store);
}

/** For the codec server: what cannot be decrypted becomes a text that names the key. */
export function codecsOf(config: Encrypted): readonly PayloadCodec[] {
  return forListing(dataConverterOf(config)).payloadCodecs ?? [];
}

/** Around every store that is opened: without keys it tells an encrypted object from a damaged one. */
export function privateStore(config: Encrypted, store: ObjectStore): ObjectStore {
  const ring = keyRingOf(config);
  return ring === null ? createPlainStore(store) : createEncryptedStore(store, ring);
}
