/** The only mapping from file system errors to `StoreError`. */
import { StoreError } from '../../ports';

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
