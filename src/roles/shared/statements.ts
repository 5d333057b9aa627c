/** Statements that run together in one snapshot. Each part reads its own results, so nobody counts where they stand. */
import type { SqlResult } from '../../domain';
import type { Compiled } from './load-plan';

export interface Statements<Read> {
  readonly statements: readonly string[];
  /** `results`: of these statements alone, in their order. */
  readonly read: (results: readonly SqlResult[]) => Read;
}

/** One statement; null where there is none to run. */
export function single(sql: string): Statements<SqlResult>;
export function single(sql: string | null): Statements<SqlResult | null>;
export function single(sql: string | null): Statements<SqlResult | null> {
  if (sql === null) return { statements: [], read: () => null };
  return { statements: [sql], read: ([result = refused('the query was not run')]) => result };
}

export function refused(message: string): SqlResult {
  return { kind: 'refused', message };
}

/** Its error as the result where it does not compile. */
export function orRefused({ sql, error }: Compiled): Statements<SqlResult> {
  return sql === null ? { statements: [], read: () => refused(error) } : single(sql);
}

type ReadOf<Part> = Part extends Statements<infer Read> ? Read : never;

export function together<Parts extends readonly Statements<unknown>[] | []>(
  parts: Parts,
): Statements<{ -readonly [At in keyof Parts]: ReadOf<Parts[At]> }> {
  return {
    statements: parts.flatMap(({ statements }) => statements),
    read: (results) => {
      let at = 0;
      const read = parts.map((part) => part.read(results.slice(at, (at += part.statements.length))));
      return read as { -readonly [At in keyof Parts]: ReadOf<Parts[At]> };
    },
  };
}
