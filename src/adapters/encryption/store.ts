/**
 * An object store whose texts are encrypted before they reach the store behind it. Keys of objects stay readable: they
 * are ids and counters and carry no value.
 *
 * 1. The rules of the port hold for the plain texts, although each encryption of a text gives other bytes.
 * 2. An object opens only under the key it was put under, so one cannot be passed off as another.
 * 3. What was stored before encryption was switched on stays readable; whatever is written from then on is encrypted.
 * 4. An object that was encrypted with an unknown key is never replaced, so a wrong configuration loses no data.
 */
import { StoreError, type ObjectStore } from '../../ports';
import { DamagedError, noKeys, UnknownKeyError, type KeyRing } from './key-ring';
import { keyOfText, openText, sealText } from './texts';

export function createEncryptedStore(inner: ObjectStore, ring: KeyRing): ObjectStore {
  async function get(key: string): Promise<string | null> {
    const stored = await inner.get(key);
    return stored === null ? null : opened(stored, key);
  }
  function opened(stored: string, key: string): string {
    try {
      return openText(ring, stored, key);
    } catch (error) {
      throw explained(error, key);
    }
  }
  /** Whether the object holds exactly this text. A damaged object may be replaced, one with an unknown key may not. */
  async function holds(key: string, text: string, overwrite: boolean): Promise<boolean> {
    const stored = await inner.get(key);
    if (stored === null) return false;
    try {
      return opened(stored, key) === text;
    } catch (error) {
      if (overwrite && error instanceof StoreError && error.code === 'corrupt') return false;
      throw error;
    }
  }
  return {
    ...inner,
    nameOf: (text) => ring.nameOf(text),
    get,
    async put(key, text, { overwrite = false } = {}) {
      // Every store keeps UTF-8: compare with what it gives back.
      const kept = Buffer.from(text, 'utf8').toString('utf8');
      // Read first even when overwriting (rule 4).
      if ((await holds(key, kept, overwrite)) && !overwrite) return;
      try {
        await inner.put(key, sealText(ring, kept, key), { overwrite });
      } catch (error) {
        // Another writer was faster, or another text was there: compare the plain texts.
        if (overwrite || !isConflict(error) || !(await holds(key, kept, false))) throw error;
      }
    },
  };
}

/** Without keys: an encrypted object gives an error that names its key, instead of passing for a damaged one. */
export function createPlainStore(inner: ObjectStore): ObjectStore {
  return {
    ...inner,
    async get(key) {
      const stored = await inner.get(key);
      const keyRef = stored === null ? null : keyOfText(stored);
      if (keyRef !== null) throw explained(noKeys(keyRef), key);
      return stored;
    },
  };
}

function explained(error: unknown, key: string): unknown {
  if (error instanceof UnknownKeyError) return new StoreError(error.code, `${key} is ${error.message}`);
  if (!(error instanceof DamagedError)) return error;
  const message = `${key} is damaged (${error.message}): restore it, or delete it and ask with --fresh`;
  return new StoreError('corrupt', message, { cause: error });
}

function isConflict(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'conflict';
}
