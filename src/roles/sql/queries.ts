/** Queries that a model writes to look at rows: each one read-only SELECT, all run in one snapshot. */
import type { Dialect, SqlResult } from '../../domain';
import type { LookReply } from '../../domain/turns';
import { normaliseSql } from '../../sql/body';
import { compileSelect, type SelectText } from '../../sql/compile';
import { engineScope, selectText, type Made, type SearchScope } from '../shared/bodies';
import { addDeltas, openEngine, runSql, type SqlRun, type StepContext } from '../shared/context';
import { profileExtra, showTables } from '../shared/shown-tables';
import { clockOf } from '../shared/load-plan';
import { refused, single, together, type Statements } from '../shared/statements';
import type { Given, Gives } from '../../domain/ports/steps';

export interface QueryRun {
  /** As it was run, with the clock that it reads; as it was written where it is no single SELECT. */
  readonly sql: string;
  readonly result: SqlResult;
}

type QueriesRun = Omit<SqlRun, 'results'> & { readonly runs: readonly QueryRun[] };

/** `runs`: in the order of `texts`. What is no single SELECT is refused, and the others run. */
export async function runQueries(context: StepContext, texts: readonly string[]): Promise<QueriesRun> {
  const { engine, inspector } = await openEngine(context);
  const selects = texts.map((text): Written => {
    const sql = normaliseSql(text);
    const inspection = inspector.inspect(sql);
    if (inspection.kind !== 'select') return { kind: 'invalid', error: inspection.message, sql };
    return { kind: 'ok', value: { ...inspection, sql }, sql };
  });
  return runSelects(context, engine.dialect, selects);
}

type Written = Made<SelectText> & { readonly sql: string };

/** The same of SELECTs that were checked before. */
export async function runSelects(
  context: StepContext,
  dialect: Dialect,
  selects: readonly Written[],
): Promise<QueriesRun> {
  const { clock } = clockOf(context, { dialect });
  const parts = selects.map((made): Statements<QueryRun> => {
    if (made.kind === 'invalid')
      return { statements: [], read: () => ({ sql: made.sql, result: refused(made.error) }) };
    const sql = compileSelect(clock === null ? [] : [clock], made.value, dialect);
    const { statements, read } = single(sql);
    return { statements, read: (results) => ({ sql, result: read(results) }) };
  });
  const { statements, read } = together(parts);
  const { results, ...run } = await runSql(context, statements);
  return { ...run, runs: read(results) };
}

/** Observations need an operator; this name stands for a look, which has none. */
export const LOOK = 'op_look';

export async function queries(context: StepContext, step: Given<'queries'>): Promise<Gives<'queries'>> {
  const { reply } = await context.run.get('turn', step.turnId);
  const scope = await engineScope(context);
  const written = selectsOf(reply, scope);
  const { runs, takenAt, usage } = await runSelects(context, scope.description.dialect, written);
  const tests = written.map((each, at) => ({
    operator: LOOK,
    probeSql: each.kind === 'ok' ? each.value.sql : each.sql,
    result: runs[at]?.result ?? refused('it was not run'),
    hypotheses: [],
    materiality: null,
  }));
  const observationId = step.turnId;
  await context.run.put('observation', observationId, { observationId, proposalId: step.turnId, tests, takenAt });
  const read = written.flatMap((each) => (each.kind === 'ok' ? each.value.relations : []));
  await showTables(context, step.turnId, read, '', reply.tables);
  const profiled = await profileExtra(context, step.turnId);
  return { observationId, usage: addDeltas(usage, profiled) };
}

/** The queries of a look, or what is wrong with each. */
export function selectsOf({ queries }: LookReply, scope: SearchScope) {
  return queries.map(({ sql }, at) => ({ ...selectText(sql, `query ${at + 1}`, scope), sql }));
}
