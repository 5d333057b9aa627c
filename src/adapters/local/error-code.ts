/** The system's code of an error (`ENOENT`), whatever realm it comes from; null when it has none. */
export function errorCode(error: unknown): string | null {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}
