/**
 * What the conformance suite knows of an engine: how a database of it is made and opened, and its words for what the claims
 * need. Everything else is asked of the engine itself.
 */
import type { Dialect, SqlValue } from '../../../src/domain';
import type { Opening } from '../../../src/adapters/kit/module';
import type { Instead } from '../../helpers/snowflake-claims';

export type TypeName =
  'integer' | 'bigint' | 'double' | 'decimal' | 'text' | 'boolean' | 'date' | 'timestamp' | 'bytes' | 'json';

/** What an expression gives that is an error. */
export const FAILS = { fails: true } as const;

export interface Words {
  /** As a table is made with them; decimal has 12 digits, 2 of them after the point. */
  readonly types: Readonly<Record<TypeName, string>>;
  /** As the description shows them, where that differs. */
  readonly shown: Partial<Record<TypeName, string>>;
  /** A query of the whole numbers from 1 in the column i. */
  readonly series: (to: number) => string;
  /** A query that never ends, and one that takes a second or so. */
  readonly endless: string;
  readonly slow: string;
  /** A query that fails while it runs. */
  readonly fails: string;
  /** A value of so many bytes. */
  readonly long: (bytes: number) => string;
  /** Literals. */
  readonly bytes: (hex: string) => string;
  readonly json: (text: string) => string;
  readonly timestamp: (text: string) => string;
  /** How truth and falsehood arrive. */
  readonly truth: readonly [SqlValue, SqlValue];
  /** What makes comments of a table and of its column; null: it keeps none. */
  readonly comment: ((table: string, column: string, text: string) => readonly string[]) | null;
  /** Two expressions, and whether they are the same value to GATE, in rows and in digests. */
  readonly same: readonly (readonly [left: string, right: string, same: boolean])[];
  /** Expressions and how their values arrive: docs/databases.md. */
  readonly values: readonly (readonly [expression: string, value: SqlValue])[];
  /** What the notes for prompts claim, in their words, and statements that bear it out: a value, or that it is an error. */
  readonly notes: readonly (readonly [says: string, expression: string, gives: SqlValue | typeof FAILS])[];
}

export interface Running {
  readonly opening: Pick<Opening, 'address'> & Partial<Opening>;
  /** One statement after the other, on a connection that may write. */
  write(...statements: readonly string[]): Promise<void>;
  /** Ends what the engine's sessions run, from outside; the number of those that were ended. */
  cutOff?(): Promise<number>;
  stop(): Promise<void>;
}

export interface Subject {
  readonly name: string;
  readonly dialect: Dialect;
  readonly words: Words;
  /** A new database, empty. */
  start(): Promise<Running>;
  /** A writer waits until no reader has the database open. */
  readonly locks?: boolean;
  /** A ceiling on what a statement is expected to cost, under which one row of a table is and a join of all is not. */
  readonly ceiling?: Pick<Opening, 'maxPlanCost' | 'maxScanBytes'>;
  /** By file and claim: how it is made where a stand-in cannot bear it out, or why it is not made. */
  readonly instead?: Partial<Readonly<Record<Part, Readonly<Record<string, Instead | string>>>>>;
}

/** The files of the suite: `engines-PART.test.ts`. */
export type Part = 'statements' | 'values' | 'schema';

export const recursiveSeries = (to: number): string =>
  `WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${to}) SELECT i FROM r`;
