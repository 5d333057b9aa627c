/** Telling an answer; rows beyond those that its record holds are read again with the same SQL. */
import type { AnswerRecord, SqlResult } from '../domain';
import { duration } from '../report/printable';
import type { SqlEngine } from '../domain/ports';
import type { Answer, Asked } from './app';
import { GateError } from './errors';
import type { Asking } from './start-search';

/** Tells an answer, with the rows that were asked for. */
export async function told(
  { app, engines, database, maxRows }: Pick<Asking, 'app' | 'engines' | 'database' | 'maxRows'>,
  { record, ui }: Pick<Answer, 'record' | 'ui'>,
): Promise<Asked> {
  const open = () => engines.engine(database.name);
  const shown = maxRows === undefined ? record : await withRowsUpTo(maxRows, record, open);
  const answer: Answer = { record: shown, ui, db: database.addressLabel, maxRows };
  await app.onEvent({ kind: 'answer', ...answer });
  return { kind: 'answer', ...answer };
}

/** An export may take longer than a query of a search. */
const EXPORT_MS = 600_000;

async function withRowsUpTo(
  max: number,
  record: AnswerRecord,
  open: () => Promise<{ readonly engine: SqlEngine }>,
): Promise<AnswerRecord> {
  const { sql, rows, truncated } = record;
  if (rows.length > max) return { ...record, rows: rows.slice(0, max), truncated: true };
  if (!truncated || rows.length === max || sql === null) return record;
  const { engine } = await open();
  const options = { timeoutMs: EXPORT_MS, maxRows: max, signal: AbortSignal.timeout(2 * EXPORT_MS), tag: 'gate ask' };
  const { results } = await engine.run([sql], options);
  const all = rowsOf(results[0], `its SQL gave no result within ${duration(EXPORT_MS)}; ask for fewer rows`);
  return { ...record, columns: all.columns, rows: all.rows, truncated: all.truncated };
}

export type Rows = Extract<SqlResult, { kind: 'rows' }>;

export function rowsOf(result: SqlResult | undefined, tooLong: string): Rows {
  if (result?.kind === 'rows') return result;
  if (result?.kind === 'timeout') throw new GateError(tooLong);
  const what = result?.kind === 'refused' ? 'refused' : 'SQL error';
  throw new GateError(`${what}: ${result?.message ?? 'no result'}`);
}
