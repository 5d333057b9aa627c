/** From the setting `encryption` to how values become history, and to what the codec server decodes. */
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import type { Config } from '../config';
import type { ObjectStore } from '../ports';
import { keyRingOf } from './open-store';
import { createDataConverter, forListing } from './payloads';

type Encrypted = Pick<Config, 'encryption'>;

/** `store`: for payloads too large for a history. */
export function dataConverterOf(config: Encrypted, store: ObjectStore | null = null): DataConverter {
  return createDataConverter(keyRingOf(config), store);
}

/** For the codec server: what cannot be decrypted becomes a text that names the key. */
export function codecsOf(config: Encrypted): readonly PayloadCodec[] {
  return forListing(dataConverterOf(config)).payloadCodecs ?? [];
}
