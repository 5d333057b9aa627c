/**
 * Keys of stored objects: segments joined by `/`, readable, the same on every store. A key may hold any character; as a
 * file name it is written with percent signs wherever a file system could refuse, fold or misread it. Capitals are among
 * those, because macOS and Windows would let `A` and `a` share a file.
 */
import { StoreError } from '../../domain/ports';

const MAX_SEGMENT_BYTES = 240;

/** Throws a RangeError, which is not retried, for a key that no store can keep: that is a defect of the caller. */
export function assertKey(key: string): void {
  const complain = (why: string): never => {
    throw new RangeError(`Object key ${JSON.stringify(key.slice(0, 120))} ${why}`);
  };
  if (key === '') complain('is empty');
  for (const segment of key.split('/')) {
    if (segment === '') complain('has an empty segment');
    if (segment === '.' || segment === '..') complain('has a relative segment');
    if (/\p{Surrogate}/u.test(segment)) complain('is not well-formed text');
    if (encodeSegment(segment).length > MAX_SEGMENT_BYTES)
      complain(`has a segment longer than ${MAX_SEGMENT_BYTES} bytes`);
  }
}

/** False for a prefix that no key can have. */
export function isListable(prefix: string): boolean {
  const folders = prefix.split('/').slice(0, -1);
  return !folders.some((folder) => ['..', '.', ''].includes(folder));
}

/** The file's path below the store's folder, segment by segment. */
export function toPathSegments(key: string): string[] {
  return key.split('/').map(encodeSegment);
}

/** The reverse of `encodeSegment`; null for a file that this store did not write. */
export function fromPathSegment(name: string): string | null {
  try {
    const segment = decodeURIComponent(name);
    return encodeSegment(segment) === name ? segment : null;
  } catch {
    return null;
  }
}

/** Most segments need no encoding. */
const PLAIN = /^[a-z0-9_-](?:[a-z0-9_.-]*[a-z0-9_-])?$/;

function encodeSegment(segment: string): string {
  if (PLAIN.test(segment)) return segment;
  const last = segment.length - 1;
  return Array.from(segment, (char, index) => {
    const plain = /[a-z0-9_-]/.test(char) || (char === '.' && index > 0 && index < last);
    return plain ? char : percent(char);
  }).join('');
}

function percent(char: string): string {
  return Array.from(Buffer.from(char, 'utf8'), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** The only mapping from file system errors to `StoreError`. */

/** The system's code of an error (`ENOENT`), whatever realm it comes from; null when it has none. */
export function errorCode(error: unknown): string | null {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}

/** An error without a system code is a defect of the program and is returned unchanged. */
export function toStoreError(error: unknown, dir: string): unknown {
  const code = error instanceof StoreError ? null : errorCode(error);
  if (code === null) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StoreError('full', `No space left for the store in ${dir}: free some or set another folder`, {
      cause: error,
    });
  }
  return new StoreError(
    'unavailable',
    `The store in ${dir} cannot be used (${code}): check that it is a writable folder`,
    { cause: error },
  );
}
