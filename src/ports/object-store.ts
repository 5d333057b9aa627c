/**
 * Text objects under readable keys (`runs/<search id>/plans/p1.json`).
 *
 * 1. `put` is atomic and idempotent: a reader sees a whole object or none, the same text again is a no-op, another text
 *    under an existing key is a conflict. With `overwrite` the text is written in any case and its age begins anew.
 * 2. `delete` of what is not there is a no-op. With `unmodifiedSinceMs` an object that was written later is kept, so that
 *    a sweeper does not take what a writer has just put.
 */
export interface ObjectStore {
  get(key: string): Promise<string | null>;
  put(key: string, text: string, options?: { readonly overwrite?: boolean }): Promise<void>;
  /** Keys with the prefix, in code-unit order. */
  list(prefix: string): Promise<readonly string[]>;
  /** The same keys with size and age, by the store's own clock. */
  entries(prefix: string): Promise<readonly ObjectEntry[]>;
  delete(key: string, options?: { readonly unmodifiedSinceMs?: number }): Promise<void>;
  /** A delete with `unmodifiedSinceMs` looks first and deletes then: somebody may write in between (`steps/swept.ts`). */
  readonly deletesInTwoRequests?: boolean;
  /** Names an object by its content where a plain hash would tell too much of it; default: SHA-256. */
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
  /** Passing: retried. */
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
