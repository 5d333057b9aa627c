/** What `gate db sql` does. */
import { loadConfig } from '../config';
import { counted } from '../report/printable';
import { askedDatabase, questionText } from '../app/question-input';
import { rowsOf, type Rows } from '../app/rows';
import { onDatabase } from './interrupts';
import { GateError } from '../app/errors';
import { argumentText, type Io } from './io';
import { csv, textTable } from './table';

export interface SqlFlags {
  readonly db?: string;
  readonly format?: 'csv' | 'json' | 'table';
  readonly json?: boolean;
  readonly maxRows: number;
  readonly timeout: number;
}

export async function runSql(argument: string, flags: SqlFlags, io: Io): Promise<void> {
  const query = questionText(await argumentText(argument, io), 'query');
  const config = loadConfig(io);
  const database = askedDatabase(config, flags, io);
  await onDatabase({ config, database }, io, async ({ engines, signal }) => {
    const { engine } = await engines.engine(database.name);
    const timeoutMs = Math.round(flags.timeout * 1000);
    const { results } = await engine.run([query], { timeoutMs, maxRows: flags.maxRows, signal, tag: 'gate db sql' });
    const tooLong = `no result within ${flags.timeout} s; narrow the query or raise --timeout`;
    print(rowsOf(results[0], tooLong), flags, io);
  });
}

function print({ columns, rows, truncated }: Rows, flags: SqlFlags, io: Io): void {
  const names = columns.map(({ name }) => name);
  const format = flags.json ? 'json' : (flags.format ?? (io.outIsTerminal ? 'table' : 'csv'));
  if (format === 'json') io.out(`${JSON.stringify({ columns, rows, truncated })}\n`);
  else if (format === 'csv') io.out(csv(names, rows));
  else io.out(`${textTable(names, rows, { width: io.columns })}\n`);
  if (!truncated) return;
  const cut = cutLine(rows.length, flags.maxRows);
  // CSV cannot say itself that rows are missing.
  if (format === 'csv') throw new GateError(cut);
  io.err(`${cut}\n`);
}

/** Rows are cut by their number, or by the size of them all. */
export function cutLine(rows: number, maxRows: number): string {
  if (rows >= maxRows) return `cut after ${counted(maxRows, 'row')}; --max-rows raises the limit`;
  return `cut after ${counted(rows, 'row')}: the result is too large; select fewer columns or parts of the values`;
}
