/** Key rings of tests: the same letter is the same key. */
import { createHash } from 'node:crypto';
import { createKeyRing, type KeyRing } from '../../../../src/adapters/encryption';

export function ringOf(...ids: readonly string[]): KeyRing {
  return createKeyRing(
    ids.map((id) => ({ id: id.split('=')[0] ?? id, key: createHash('sha256').update(id).digest() })),
  );
}
