/** How tests ask an engine of databases, and wait for what happens on a server. */
import { SqlResult } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports/sql-engine';

export const ENDLESS = 'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r';

export function options(more: Partial<SqlOptions> = {}): SqlOptions {
  const signal = new AbortController().signal;
  // A ceiling: what is to end by its limit is given one of its own.
  return { timeoutMs: 240_000, maxRows: 10_000, signal, tag: 's1 i1.probe', ...more };
}

export async function runOne(engine: SqlEngine, sql: string, more: Partial<SqlOptions> = {}): Promise<SqlResult> {
  const { results } = await engine.run([sql], options(more));
  return SqlResult.parse(results[0]);
}

export function rowsOf(result: SqlResult | undefined): unknown[][] {
  if (result?.kind !== 'rows') throw new Error(`expected rows, got ${JSON.stringify(result)}`);
  return result.rows;
}

/** What `look` sees as soon as it holds; left out: as soon as it is true. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  holds: (seen: T) => boolean = (seen) => seen === true,
): Promise<T> {
  for (const started = Date.now(); ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() - started > 240_000) throw new Error(`still ${JSON.stringify(seen)} after four minutes`);
  }
}
