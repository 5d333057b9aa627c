/** Prints a final record, writes its report into a file, and gives the exit code of its status. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { AnswerRecord } from '../domain';
import { loadTrace, type Trace, renderReport } from '../report';
import { capital, counted, cut, duration, visible } from '../report/printable';
import { STEP_STATES } from '../report/words';
import { coverageText } from '../sql/coverage';
import { provedText } from '../text/standing';
import { withheldTexts } from '../text/claim-text';
import { formattedSql } from '../report/sql-section';
import type { SqlEngine } from '../ports';
import { GateError } from '../app/errors';
import { EXIT, type ExitCode } from './exit';
import { cutLine, rowsOf } from './sql-run';
import type { Io } from './io';
import { sha256, type Services } from '../app/services';
import { answerJson, answerText } from './show-answer';
import { csv as csvText } from './table';

interface Printing {
  readonly json: boolean;
  /** The rows alone. */
  readonly csv?: boolean;
  /** The SQL alone. */
  readonly sql?: boolean;
  /** How many rows are asked for; more than the record holds are read again. */
  readonly rows?: { readonly max: number | undefined; readonly engine: () => Promise<{ readonly engine: SqlEngine }> };
  readonly ui: string | null;
  readonly showPlan?: boolean;
  /** The value of `--db` without secrets, when it is not a configured name. */
  readonly db?: string;
}

export async function printAnswer(
  services: Services,
  stored: AnswerRecord,
  io: Pick<Io, 'out' | 'err' | 'columns'>,
  { json, csv = false, sql = false, rows, ui, showPlan = false, db }: Printing,
): Promise<ExitCode> {
  const record = rows?.max === undefined ? stored : await withRowsUpTo(rows.max, stored, rows.engine);
  // A report is plain: with encryption on it is written only when asked for (gate report).
  const report = services.config.encryption === null ? await writeReport(services, record.id, { db }) : null;
  if (csv) {
    printRows(record, io);
    if (record.truncated) throw new GateError(cutText(record, rows?.max));
    return exitCodeFor(record.status);
  }
  if (sql && !json) {
    printSql(record, io);
    return exitCodeFor(record.status);
  }
  const isNamed = services.config.databases[record.database] !== undefined;
  const places = { report, ui, db: isNamed ? record.database : db };
  if (showPlan && !json) io.out(planText(await loadTrace(services.store, record.id, sha256), io.columns));
  io.out(json ? answerJson(record, places) : answerText(record, places, io.columns));
  return exitCodeFor(record.status);
}

/** An export may take longer than a query of a search. */
const EXPORT_MS = 600_000;

async function withRowsUpTo(
  max: number,
  record: AnswerRecord,
  open: NonNullable<Printing['rows']>['engine'],
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

/** A CSV that is not whole is an error: nothing in it says so. */
function cutText({ rows }: AnswerRecord, max: number | undefined): string {
  if (max !== undefined) return cutLine(rows.length, max);
  return `cut after ${counted(rows.length, 'row')}: the result has more; gate ask with the same question, --csv and --max-rows gives them`;
}

function exitCodeFor(status: AnswerRecord['status']): ExitCode {
  if (status === 'cancelled') return EXIT.cancelled;
  return status === 'failed' ? EXIT.failed : EXIT.ok;
}

/** The plan whose query was chosen, each operator with what it means and what it rests on. */
function planText(trace: Trace | null, width: number): string {
  const chosen = trace?.record?.candidates.find((candidate) => candidate.chosen);
  const candidate = trace?.state?.candidates.find(({ id }) => id === chosen?.id);
  const view = trace?.state?.trajectories.find(({ id }) => id === candidate?.trajectory)?.plan;
  if (!trace || !view) return '';
  const outline = trace.plans[view.planId]?.outline;
  const lines = view.operators.map(({ name, state, intent, assumptions }) => {
    const isPlain = trace.record?.claims !== undefined && state === 'assumed' && assumptions === 0;
    const says = isPlain ? 'nothing claimed' : STEP_STATES[state].says;
    return `  ${name}  ${says}  ${cut(intent, width - name.length - says.length - 6)}`;
  });
  return `Plan${outline ? `  ${cut(outline, width - 6)}` : ''}\n${lines.join('\n')}\n\n`;
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
  io.out(
    csvText(
      columns.map(({ name }) => name),
      rows,
    ),
  );
  tellDoubts(record, 'these are the rows of the best candidate', io);
}

/** `--sql` and `--output sql`: the statement and nothing else on standard output. */
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
  io.err(`${provedText(record)}; gate result ${id} shows the evidence\n`);
}

/**
 * Null when the store knows no such search. `db`: where an unconfigured database is, for the commands of the report; the
 * store remembers it where it is not given.
 */
export async function writeReport(
  { config, store }: Services,
  searchId: string,
  place: { readonly out?: string; readonly cwd?: string; readonly db?: string } = {},
): Promise<string | null> {
  const trace = await loadTrace(store, searchId, sha256);
  if (trace === null) return null;
  const name = trace.record?.database ?? trace.input?.question.database ?? '';
  const database = config.databases[name] === undefined ? (place.db ?? null) : name;
  const path =
    place.out === undefined ? join(reportsBeside(config), `${searchId}.html`) : resolve(place.cwd ?? '.', place.out);
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}.tmp`;
  // It holds rows: beside the store it is its owner's, as the store's own files are.
  await writeFile(fresh, renderReport(trace, { database }), place.out === undefined ? { mode: 0o600 } : {});
  await rename(fresh, path);
  return path;
}

function reportsBeside({ store, folders }: Services['config']): string {
  return join(store.kind === 'directory' ? dirname(store.directory) : folders.data, 'reports');
}
