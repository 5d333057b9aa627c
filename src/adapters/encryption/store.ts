/**
 * An object store whose texts are encrypted before they reach the store behind it. Keys of objects stay readable: they
 * are ids and counters and carry no value.
 *
 * 1. The rules of the port hold for the plain texts, although each encryption of a text gives other bytes.
 * 2. An object opens only under the key it was put under, so one cannot be passed off as another.
 * 3. What was stored before encryption was switched on stays readable; whatever is written from then on is encrypted.
 * 4. An object that was encrypted with an unknown key is never replaced, so a wrong configuration loses no data.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { StoreError, type ObjectStore } from '../../domain/ports';
import { DamagedError, noKey, type KeyRing } from './key-ring';

/** Without a ring nothing is encrypted, and an encrypted object gives an error that names its key, instead of passing for a damaged one. */
export function createEncryptedStore(inner: ObjectStore, ring: KeyRing | null): ObjectStore {
  const get = async (key: string): Promise<string | null> => {
    const stored = await inner.get(key);
    return stored === null ? null : openText(ring, stored, key);
  };
  if (ring === null) return { ...inner, get };
  /** Whether the object holds exactly this text. A damaged object may be replaced, one with an unknown key may not. */
  const holds = async (key: string, text: string, overwrite: boolean): Promise<boolean> => {
    try {
      return (await get(key)) === text;
    } catch (error) {
      if (overwrite && error instanceof StoreError && error.code === 'corrupt') return false;
      throw error;
    }
  };
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

function isConflict(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'conflict';
}

const HEADER = /^gate-sealed 1 (\S+) (br|plain)\n/;
const WORTH_PACKING_BYTES = 256;
const PACKING = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/**
 * Sealed texts: one header line that names the key and the compression, then base64. Compression saves more than base64
 * adds. A text without the header is plain: it was written before encryption was switched on.
 *
 * `place` is the key of the stored object. It is authenticated: the text opens under no other key.
 */
function sealText(ring: KeyRing, text: string, place: string): string {
  const plain = Buffer.from(text, 'utf8');
  const packing = plain.length < WORTH_PACKING_BYTES ? 'plain' : 'br';
  const bytes = packing === 'br' ? brotliCompressSync(plain, PACKING) : plain;
  const sealed = ring.seal(bytes, purposeOf(place, packing));
  return `gate-sealed 1 ${sealed.keyRef} ${packing}\n${Buffer.from(sealed.bytes).toString('base64')}`;
}

/** A plain text comes back as it is. */
function openText(ring: KeyRing | null, stored: string, key: string): string {
  const match = HEADER.exec(stored);
  if (match === null) return stored;
  const [header, keyRef = '', packing = ''] = match;
  try {
    if (ring === null) throw noKey(keyRef);
    const bytes = Buffer.from(stored.slice(header.length), 'base64');
    const plain = ring.open({ keyRef, bytes }, purposeOf(key, packing));
    return (packing === 'plain' ? plain : brotliDecompressSync(plain)).toString('utf8');
  } catch (error) {
    if (error instanceof StoreError) throw new StoreError(error.code, `${key} is ${error.message}`);
    const why = error instanceof DamagedError ? error.message : 'it cannot be unpacked';
    const message = `${key} is damaged (${why}): restore it, or delete it and ask with --fresh`;
    throw new StoreError('corrupt', message, { cause: error });
  }
}

function purposeOf(place: string, packing: string): string {
  return `object ${packing} ${place}`;
}
