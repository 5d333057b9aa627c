/** Prints a final record, has its report written, and gives the exit code of its status. */
import type { AnswerRecord } from '../domain';
import { capital, counted, visible } from '../report/printable';
import { coverageText } from '../sql/coverage';
import { csv as csvText } from '../text/result-text';
import { standingText } from '../text/standing';
import { withheldTexts } from '../text/claim-text';
import { formattedSql } from '../report/sql-section';
import type { Answer, App } from '../app/app';
import { GateError } from '../app/errors';
import { writeReport } from '../app/report';
import { EXIT, type ExitCode } from './exit';
import type { Io } from './io';
import { answerJson, answerText } from './show-answer';
import { cutText } from './table';

export interface Printing {
  readonly json?: boolean;
  /** The rows alone. */
  readonly csv?: boolean;
  /** The SQL alone. */
  readonly sql?: boolean;
}

export async function printAnswer(
  app: Pick<App, 'config' | 'store' | 'cwd'>,
  { record, ui, db, maxRows, traceId }: Answer & { readonly traceId?: string | null },
  io: Pick<Io, 'out' | 'err' | 'columns'>,
  { json = false, csv = false, sql = false }: Printing,
): Promise<ExitCode> {
  // A report is plain: with encryption on it is written only when asked for (gate show --report).
  const report = app.config.encryption === null ? await writeReport(record.id, app, { db }) : null;
  if (csv) {
    printRows(record, io);
    if (record.truncated) throw new GateError(cutRows(record, maxRows));
    return exitCodeFor(record.status);
  }
  if (sql && !json) {
    printSql(record, io);
    return exitCodeFor(record.status);
  }
  const isNamed = app.config.databases[record.database] !== undefined;
  const places = { report, ui, traceId, db: isNamed ? record.database : db };
  io.out(json ? answerJson(record, places) : answerText(record, places, io.columns));
  return exitCodeFor(record.status);
}

/** A CSV that is not whole is an error: nothing in it says so. */
function cutRows({ rows }: AnswerRecord, max: number | undefined): string {
  if (max !== undefined) return cutText(rows.length, max);
  return `cut after ${counted(rows.length, 'row')}: the result has more; gate ask with the same question, --csv and --max-rows gives them`;
}

function exitCodeFor(status: AnswerRecord['status']): ExitCode {
  if (status === 'cancelled') return EXIT.cancelled;
  return status === 'failed' ? EXIT.failed : EXIT.ok;
}

/**
 * `--csv`: the rows of a result and nothing else on standard output; what a reader of the rows must know goes to standard
 * error. The values are exact: a program reads them. The file of a report guards texts that a spreadsheet would run.
 */
export function printRows(record: AnswerRecord, io: Pick<Io, 'out' | 'err'>): void {
  const { columns, rows } = record;
  if (columns.length === 0) {
    io.err(`no rows, ${outcome(record)}\n`);
    return;
  }
  const names = columns.map(({ name }) => name);
  io.out(csvText(names, rows));
  tellDoubts(record, 'these are the rows of the best candidate', io);
}

/** `--output sql`: the statement and nothing else on standard output. */
function printSql(record: AnswerRecord, io: Pick<Io, 'out' | 'err'>): void {
  if (record.sql === null) {
    io.err(`no SQL, ${outcome(record)}\n`);
    return;
  }
  io.out(`${formattedSql(record.sql)}\n`);
  tellDoubts(record, 'this is the SQL of the best candidate', io);
}

function outcome({ status, reason }: AnswerRecord): string {
  return reason === null ? status : `${status}: ${visible(reason).replace(/\s+/g, ' ')}`;
}

/** What a reader of the rows or the SQL alone must know. */
function tellDoubts(record: AnswerRecord, best: string, io: Pick<Io, 'err'>): void {
  const { id, status, coverage } = record;
  if (status !== 'answered') io.err(`${capital(outcome(record))}; ${best}\n`);
  const partial = coverage === undefined ? null : coverageText(coverage);
  if (partial !== null) io.err(`${partial}\n`);
  for (const text of withheldTexts(record)) io.err(`${text}\n`);
  io.err(`${standingText(record)}; gate show ${id} shows the evidence\n`);
}
