/**
 * One database, read-only by construction. What a statement does is a value (`SqlResult`): rows, an SQL error, a
 * timeout, a refusal. Only infrastructure throws: `SqlEngineError`.
 */
import type { DatabaseDescription, Dialect, SqlResult } from '..';

export interface SqlOptions {
  readonly timeoutMs: number;
  readonly maxRows: number;
  readonly signal: AbortSignal;
  /** Shown to a DBA (application name or comment): the search and the step that ask. */
  readonly tag: string;
  /** Of the trace that asks, as a W3C traceparent: told to the database beside the statement. Left out: no trace. */
  readonly traceparent?: string;
  /** Told of each statement that ran, where the database bills by bytes. */
  readonly onBilled?: (scan: Scan) => void;
}

/** What a statement reads, and its price. */
export interface Scan {
  readonly bytes: number;
  readonly usd: number;
}

export interface SqlSnapshot {
  readonly takenAt: string;
  readonly results: readonly SqlResult[];
}

export interface SqlEngine {
  readonly dialect: Dialect;
  /**
   * Runs the statements in order in one read-only repeatable-read snapshot. A statement that fails does not keep the
   * later ones from running. A timeout is reported after one retry on a fresh connection.
   */
  run(statements: readonly string[], options: SqlOptions): Promise<SqlSnapshot>;
  describe(options: { readonly signal: AbortSignal }): Promise<DatabaseDescription>;
  /**
   * A cheap revision of everything that `describe` reads, for caching descriptions: it changes with the structure, with the
   * rights of the reader, and when tables grow or shrink a lot. Without it, descriptions are not cached.
   */
  revision?(options: { readonly signal: AbortSignal }): Promise<string>;
  /** Row count and an order-independent hash of a SELECT's whole result, for results beyond the row cap (rule S5). */
  digest(sql: string, options: SqlOptions): Promise<{ readonly count: number; readonly hash: string } | SqlResult>;
  /** What a statement would scan at most; null: it may not run. Only where the database bills by bytes. */
  estimate?(sql: string, options: SqlOptions): Promise<Scan | null>;
  close(): Promise<void>;
}

/** `lost`: the server was gone, without a word, while a statement ran; the statement may be why. */
export type SqlEngineErrorCode =
  'connection' | 'lost' | 'authentication' | 'not-found' | 'not-configured' | 'not-read-only';

export class SqlEngineError extends Error {
  constructor(
    readonly code: SqlEngineErrorCode,
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'SqlEngineError';
  }
}
