/** Queries that a model writes to look at rows: each one read-only SELECT, all run in one snapshot. */
import type { SqlResult } from '../domain';
import { normaliseSql } from '../sql/body';
import { clockOperator } from '../sql/clock';
import { compileSelect } from '../sql/compile';
import { openInspector, runSql, type SqlRun, type StepContext } from './context';

export interface QueryRun {
  /** As it was run, with the clock that it reads. */
  readonly sql: string;
  readonly result: SqlResult;
}

/** `runs`: in the order of `texts`. What is no single SELECT is refused, and the others run. */
export async function runQueries(
  context: StepContext,
  texts: readonly string[],
): Promise<Omit<SqlRun, 'results'> & { readonly runs: readonly QueryRun[] }> {
  const { inspector, dialect } = await openInspector(context);
  const { clock } = context.input;
  const read = texts.map((text) => {
    const sql = normaliseSql(text);
    const inspection = inspector.inspect(sql);
    if (inspection.kind !== 'select') return { sql, refused: inspection.message };
    if (clock === undefined) return { sql, refused: null };
    return { sql: compileSelect([clockOperator(clock, dialect)], { ...inspection, sql }, dialect), refused: null };
  });
  const { results, takenAt, usage } = await runSql(
    context,
    read.filter(({ refused }) => refused === null).map(({ sql }) => sql),
  );
  const pending = [...results];
  const runs = read.map(({ sql, refused }): QueryRun => ({
    sql,
    result: refused === null ? (pending.shift() ?? notRun('nothing was run')) : notRun(refused),
  }));
  return { runs, takenAt, usage };
}

export function notRun(message: string): SqlResult {
  return { kind: 'refused', message };
}
