/** What the engine and its child process say to each other: one request, one reply, in order. */
import type { ResultColumn, SqlValue } from '../../domain';

/** `asBytes`: read text as bytes and decode it in the child, because libsql aborts the process on invalid UTF-8. */
interface InSnapshot {
  /** Begin the snapshot first. Its time counts as part of the request. */
  readonly begins?: boolean;
  /** End the snapshot after the statement. */
  readonly ends?: boolean;
}

export type ChildRequest =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'begin' }
  | ({
      readonly kind: 'query';
      readonly sql: string;
      readonly maxRows: number;
      readonly maxBytes: number;
      readonly asBytes: boolean;
    } & InSnapshot)
  | ({ readonly kind: 'digest'; readonly sql: string; readonly asBytes: boolean } & InSnapshot)
  | { readonly kind: 'rollback' }
  /** Attempts a fixed list of writes that the child holds: the request carries no SQL. */
  | { readonly kind: 'attempt-writes' };

export type ChildReply =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'rows';
      readonly columns: ResultColumn[];
      readonly rows: SqlValue[][];
      readonly truncated: boolean;
    }
  | { readonly kind: 'digest'; readonly count: number; readonly hash: string }
  | {
      readonly kind: 'attempts';
      /** `code` null: the write was executed. */
      readonly attempts: readonly { readonly what: string; readonly code: string | null; readonly message: string }[];
    }
  | { readonly kind: 'refused'; readonly message: string }
  /** `code` is SQLite's, for example `SQLITE_ERROR`. `outside`: beginning or ending the snapshot failed, not the statement. */
  | { readonly kind: 'error'; readonly message: string; readonly code: string; readonly outside?: boolean };
