/**
 * `results.jsonl` of a batch: one line per question, scored in this process and appended as each ends. Scoring asks no model,
 * so a batch run again is scored anew.
 *
 * 1. The file is replaced in one step, never emptied: a killed run leaves what was there.
 * 2. What a run found stored is written whole before anything is appended, so a second run adds no doubles.
 * 3. One process at a time writes a folder.
 */
import {
  appendFileSync,
  accessSync,
  constants,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parsedJson } from '../json';
import { withFileLock } from '../workers/file-lock';
import { UsageError } from '../app/errors';
import { RESULTS } from '../app/run/stored-batches';
import { OUTCOMES, scoreAnswer, VERDICTS, type BenchmarkItem, type BoardScore, type Score } from '../questions';
import type { BatchOutcome } from '../activities/batch';
import { AnswerStatus, EndedBy, SqlValue, Standing, Usage, type AnswerRecord } from '../domain';
import type { SqlEngine, SqlOptions } from '../ports';
import { standingOf } from '../text/standing';
import type { BatchQuestion } from './batch-plan';

export { RESULTS };
export const SUMMARY = 'summary.json';

/** The folder exists, can be written and is this process's own while `work` runs. */
export async function withResultFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  checkWritable(folder);
  return withFileLock(join(folder, '.gate-batch.lock'), work, () => {
    throw new UsageError(`--out ${folder}: another process is writing there; wait for it or give another folder`);
  });
}

export class ResultFile {
  private readonly lines = new Map<string, ResultLine>();
  private appending = false;
  private readonly path: string | null;

  /** `order`: the ids of the questions, as the file lists them. Without a folder the lines are kept in memory alone. */
  constructor(
    folder: string | null,
    private readonly order: readonly string[],
  ) {
    this.path = folder === null ? null : join(folder, RESULTS);
  }

  /** The later line of a question replaces the earlier one. */
  add(line: ResultLine): void {
    const known = this.lines.has(line.id);
    this.lines.set(line.id, line);
    if (!this.appending || this.path === null) return;
    if (known) this.rewrite();
    else appendFileSync(this.path, `${JSON.stringify(line)}\n`);
  }

  /** Writes all lines in the file's order; from now on each new one is appended. */
  rewrite(): void {
    if (this.path === null) return;
    replaceFile(
      this.path,
      this.all()
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    this.appending = true;
  }

  all(): ResultLine[] {
    return this.order.flatMap((id) => this.lines.get(id) ?? []);
  }
}

export function replaceFile(path: string, text: string): void {
  const fresh = `${path}.${String(process.pid)}.new`;
  writeFileSync(fresh, text);
  renameSync(fresh, path);
}

function checkWritable(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    const why = isFile(folder) || isFile(dirname(folder)) ? 'a file is in the way' : `it cannot be written (${code})`;
    throw new UsageError(`--out ${folder}: ${why}; give a folder that can be written`);
  }
}

/** One folder at a time: the recursive form of `mkdirSync` never returns where nothing can be made (`/proc`). */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Its JSON schema is `docs/schemas/results.schema.json`. */
export const ResultLine = z.object({
  id: z.string().describe('the id of the question in its file'),
  searchId: z.string().describe('what gate result, report and trace take'),
  question: z.string().describe('as the file asks it'),
  database: z.string().nullable().describe('as the file names it'),
  status: z.enum([...AnswerStatus.options, 'infrastructure-failure']),
  endedBy: EndedBy.nullable(),
  sql: z.string().nullable(),
  answer: z.string().nullable().describe('the answer in words; null with --output sql'),
  standing: Standing.nullable().describe('how far the answer stands proved; null: it gave no answer'),
  columns: z.array(z.string()).optional().describe('with --rows: the names of the columns of the answer'),
  rows: z
    .array(z.array(SqlValue))
    .optional()
    .describe('with --rows: the rows of the answer, as far as the search keeps them'),
  truncated: z.boolean().optional().describe('with --rows: whether there are more rows than these'),
  verdict: z.enum(VERDICTS),
  verdictReason: z.string(),
  execution: z.boolean().nullable().describe('execution match by itself; null: it could not be decided'),
  official: z.boolean().nullable().describe("the rule of the benchmark's publisher; null: it could not be decided"),
  usage: Usage.nullable(),
  wallMs: z.number().nullable().describe('from the start of the search to its end, in milliseconds'),
  error: z.string().nullable().describe('what went wrong around the search; null: nothing did'),
});
export type ResultLine = Readonly<z.infer<typeof ResultLine>>;

/** Decides one answer as a benchmark's own code does. Only the caller's abort is thrown. */
export type Scorer = (
  item: BenchmarkItem,
  record: AnswerRecord,
  engine: SqlEngine,
  options: SqlOptions,
) => Promise<BoardScore>;

export interface Ended {
  readonly outcome: BatchOutcome;
  readonly record: AnswerRecord | null;
}

const SCORE_TIMEOUT_MS = 120_000;
const SCORE_MAX_ROWS = 100_000;

export async function resultLine(
  { item, input, database }: BatchQuestion,
  { outcome, record }: Ended,
  engineOf: (database: string) => Promise<{ readonly engine: SqlEngine }>,
  signal: AbortSignal,
  { scorer, rows = false }: { readonly scorer?: Scorer; readonly rows?: boolean } = {},
): Promise<ResultLine> {
  const base = { id: item.id, searchId: input.searchId, question: item.question, database: item.database };
  if (outcome.kind === 'infrastructure-failure' || record === null) {
    const message = outcome.kind === 'answer' ? 'it ended without a final record in the store' : outcome.message;
    return {
      ...base,
      status: 'infrastructure-failure',
      endedBy: null,
      sql: null,
      answer: null,
      standing: null,
      ...verdictOf({ verdict: 'infrastructure', reason: message, execution: null, official: null }),
      usage: record?.usage ?? null,
      wallMs: record === null ? null : wallMs(record),
      error: message,
    };
  }
  const { status, endedBy, sql, answer, usage } = record;
  const score = await scored(
    item,
    record,
    () => engineOf(database.name),
    { signal, tag: `gate score ${input.searchId}` },
    scorer,
  );
  return {
    ...base,
    ...{ status, endedBy, sql, answer },
    standing: standingOf(record),
    ...(rows && { columns: record.columns.map(({ name }) => name), rows: record.rows, truncated: record.truncated }),
    ...verdictOf(score),
    usage,
    wallMs: wallMs(record),
    error: score.verdict === 'infrastructure' ? score.reason : null,
  };
}

async function scored(
  item: BatchQuestion['item'],
  record: AnswerRecord,
  open: () => Promise<{ readonly engine: SqlEngine }>,
  run: Pick<SqlOptions, 'signal' | 'tag'>,
  scorer: Scorer | undefined,
): Promise<Score> {
  let engine: SqlEngine;
  try {
    ({ engine } = await open());
  } catch (error) {
    // A database that cannot be opened says nothing about the answer.
    if (!(error instanceof Error) || !OUTSIDE.has(error.name)) throw error;
    return { verdict: 'infrastructure', reason: error.message, execution: null, official: null };
  }
  const options = { timeoutMs: SCORE_TIMEOUT_MS, maxRows: SCORE_MAX_ROWS, ...run };
  if (scorer === undefined) return scoreAnswer(item, record, engine, options);
  const { verdict, reason } = await scorer(item, record, engine, options);
  const outcome = OUTCOMES[verdict];
  const official = outcome === 'right' || (outcome === 'wrong' ? false : null);
  return { verdict, reason, execution: null, official };
}

const OUTSIDE = new Set(['SqlEngineError', 'ConfigError']);

function verdictOf({ verdict, reason, execution, official }: Score) {
  return { verdict, verdictReason: reason, execution, official };
}

function wallMs({ startedAt, endedAt }: AnswerRecord): number {
  return Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
}

/** The lines of a folder of results; `given`: as the user named it. */
export function resultsIn(folder: string, given: string): ResultLine[] {
  const text = readOrNull(join(folder, RESULTS));
  if (text === null) throw new UsageError(`${given} has no ${RESULTS}: give the --out folder of gate batch run`);
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, at) => {
      const parsed = ResultLine.safeParse(parsedJson(line));
      if (parsed.success) return parsed.data;
      throw new UsageError(`${join(given, RESULTS)}, line ${at + 1}: no result of a question: run the batch again`);
    });
}

const Summary = z.object({ file: z.string().optional(), batchId: z.string().optional() });

/** What the folder's summary says of its batch; without one, nothing. */
export function summaryIn(folder: string): z.infer<typeof Summary> {
  return Summary.safeParse(parsedJson(readOrNull(join(folder, SUMMARY)) ?? 'null')).data ?? {};
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
