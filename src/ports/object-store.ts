/**
 * Immutable text objects under readable keys (`runs/<search id>/plans/p1.json`). `put` is atomic and idempotent: the
 * same text again is a no-op, another text under an existing key replaces it only with `overwrite`.
 */
export interface ObjectStore {
  get(key: string): Promise<string | null>;
  put(key: string, text: string, options?: { readonly overwrite?: boolean }): Promise<void>;
  /** Keys with the prefix, in code-unit order. */
  list(prefix: string): Promise<readonly string[]>;
}

export type StoreErrorCode = 'corrupt' | 'missing' | 'conflict' | 'unavailable' | 'full';

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
