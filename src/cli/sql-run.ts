/** What `gate sql` does. */
import type { SqlResult } from '../domain';
import { loadConfig } from '../config';
import { resolveDatabase } from '../config/databases';
import { counted } from '../report/printable';
import { compose } from '../workers/composition';
import { onlyDatabase, questionText } from './ask-input';
import { CommandFailed } from './errors';
import type { Io } from './io';
import { csv, textTable } from './table';

export interface SqlFlags {
  readonly db?: string;
  readonly format?: 'csv' | 'json' | 'table';
  readonly json?: boolean;
  readonly maxRows: number;
  readonly timeout: number;
}

export async function runSql(argument: string, flags: SqlFlags, io: Io): Promise<void> {
  const query = await questionText(argument, io, 'query');
  const config = loadConfig(io);
  const database = resolveDatabase(config, flags.db ?? onlyDatabase(config), io.cwd);
  const composition = await compose(config, { adHoc: database.adHoc ? [database] : [] });
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  try {
    const { engine } = await composition.engine(database.name);
    const timeoutMs = Math.round(flags.timeout * 1000);
    const options = { timeoutMs, maxRows: flags.maxRows, signal: stop.signal, tag: 'gate sql' };
    const { results } = await engine.run([query], options);
    print(rowsOf(results[0], flags), flags, io);
  } finally {
    stopListening();
    await composition.close();
  }
}

type Rows = Extract<SqlResult, { kind: 'rows' }>;

function rowsOf(result: SqlResult | undefined, { timeout }: SqlFlags): Rows {
  if (result?.kind === 'rows') return result;
  if (result?.kind === 'timeout')
    throw new CommandFailed(`no result within ${timeout} s; narrow the query or raise --timeout`);
  const what = result?.kind === 'refused' ? 'refused' : 'SQL error';
  throw new CommandFailed(`${what}: ${result?.message ?? 'no result'}`);
}

function print({ columns, rows, truncated }: Rows, flags: SqlFlags, io: Io): void {
  const names = columns.map(({ name }) => name);
  const format = flags.json ? 'json' : (flags.format ?? (io.outIsTerminal ? 'table' : 'csv'));
  if (format === 'json') io.out(`${JSON.stringify({ columns, rows, truncated })}\n`);
  else if (format === 'csv') io.out(csv(names, rows));
  else io.out(`${textTable(names, rows, { width: io.columns })}\n`);
  if (truncated) io.err(`${cutLine(rows.length, flags.maxRows)}\n`);
}

/** Rows are cut by their number, or by the size of them all. */
export function cutLine(rows: number, maxRows: number): string {
  if (rows >= maxRows) return `cut after ${counted(maxRows, 'row')}; --max-rows raises the limit`;
  return `cut after ${counted(rows, 'row')}: the result is too large; select fewer columns or parts of the values`;
}
