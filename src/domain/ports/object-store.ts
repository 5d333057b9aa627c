/**
 * Text objects under readable keys (`runs/<search id>/plans/p1.json`).
 *
 * 1. `put` is atomic and idempotent: a reader sees a whole object or none, writing the same text again does nothing, and a
 *    different text under an existing key is a conflict. With `overwrite` the text is always written, which resets its age.
 * 2. `delete` of a missing object does nothing. With `unmodifiedSinceMs` an object that was written later is kept, so that
 *    `gate ops gc` does not delete an object that was just written.
 */
export interface ObjectStore {
  get(key: string): Promise<string | null>;
  put(key: string, text: string, options?: { readonly overwrite?: boolean }): Promise<void>;
  /**
   * Keys with the prefix, in code-unit order; at most the first `limit` of those that come after a text. What comes before it is
   * not looked at; below folders of such a list, keys are of `a-z`, `0-9`, `-`, `_`, `.` and `/`.
   */
  list(prefix: string, options?: { readonly limit?: number; readonly after?: string }): Promise<readonly string[]>;
  /** The same keys with size and age, by the store's own clock. */
  entries(prefix: string): Promise<readonly ObjectEntry[]>;
  delete(key: string, options?: { readonly unmodifiedSinceMs?: number }): Promise<void>;
  /** Names an object by its content. Used where a plain hash would reveal too much; default: SHA-256. */
  readonly nameOf?: (text: string) => string;
}

export interface ObjectEntry {
  readonly key: string;
  /** As stored: encrypted objects are larger than their texts. */
  readonly bytes: number;
  readonly modifiedMs: number;
}

export type StoreErrorCode =
  | 'corrupt'
  | 'missing'
  | 'conflict'
  /** Temporary: retried. */
  | 'unavailable'
  | 'full'
  /** Encrypted with a key that is not configured here; another worker may have it. */
  | 'wrong-key'
  /** No bucket, no right to write, a wrong key: the message names the setting to change. */
  | 'misconfigured';

export class StoreError extends Error {
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'StoreError';
  }
}
