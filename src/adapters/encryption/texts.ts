/**
 * Sealed texts: one header line that names the key and the compression, then base64. Compression saves more than base64
 * adds. A text without the header is plain: it was written before encryption was switched on.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { DamagedError, type KeyRing } from './key-ring';

const HEADER = /^gate-sealed 1 (\S+) (br|plain)\n/;
const WORTH_PACKING_BYTES = 256;
const PACKING = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** `place` is the key of the stored object. It is authenticated: the text opens under no other key. */
export function sealText(ring: KeyRing, text: string, place: string): string {
  const plain = Buffer.from(text, 'utf8');
  const packing = plain.length < WORTH_PACKING_BYTES ? 'plain' : 'br';
  const bytes = packing === 'br' ? brotliCompressSync(plain, PACKING) : plain;
  const sealed = ring.seal(bytes, purposeOf(place, packing));
  return `gate-sealed 1 ${sealed.keyRef} ${packing}\n${sealed.bytes.toString('base64')}`;
}

/** The reference of the key that a text was sealed with; null for a plain one. */
export function keyOfText(stored: string): string | null {
  return HEADER.exec(stored)?.[1] ?? null;
}

/** A plain text comes back as it is. Throws `UnknownKeyError`, `DamagedError`. */
export function openText(ring: KeyRing, stored: string, place: string): string {
  const match = HEADER.exec(stored);
  if (match === null) return stored;
  const [header, keyRef = '', packing = ''] = match;
  const bytes = ring.open(
    { keyRef, bytes: Buffer.from(stored.slice(header.length), 'base64') },
    purposeOf(place, packing),
  );
  if (packing === 'plain') return bytes.toString('utf8');
  try {
    return brotliDecompressSync(bytes).toString('utf8');
  } catch (error) {
    throw new DamagedError('it cannot be unpacked', { cause: error });
  }
}

function purposeOf(place: string, packing: string): string {
  return `object ${packing} ${place}`;
}
