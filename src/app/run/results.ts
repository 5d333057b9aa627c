/**
 * `results.jsonl` of a run: a line for each answer, scored in this process and appended as each ends. Scoring asks no model, so a
 * run that goes on is scored anew.
 *
 * 1. The file is replaced in one step, never emptied: a killed run leaves what was there.
 * 2. What a run found stored is written whole before anything is appended, so a second run adds no doubles.
 * 3. One process at a time writes a folder.
 */
import { accessSync, appendFileSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { BatchOutcome } from '../../domain/ports/batch';
import type { AnswerRecord } from '../../domain';
import { parsedJson } from '../../json';
import type { SqlEngine, SqlOptions } from '../../domain/ports';
import { OUTCOMES, ResultLine, scoreAnswer, type BenchmarkItem, type BoardScore, type Score } from '../../questions';
import { provedShare, standingOf } from '../../text/standing';
import { withFileLock } from '../../file-lock';
import { makeFolders } from '../../adapters/local/store';
import { replaceFile } from '../../replace-file';
import { UsageError } from '../errors';
import type { BatchQuestion } from './batch-plan';
import { RESULTS } from './stored-batches';

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

  /** Without a folder the lines are kept in memory alone. */
  constructor(folder: string | null) {
    this.path = folder === null ? null : join(folder, RESULTS);
  }

  /** The later line of a question replaces the earlier one. */
  add(line: ResultLine): void {
    const key = keyOf(line);
    const known = this.lines.has(key);
    this.lines.set(key, line);
    if (!this.appending || this.path === null) return;
    if (known) this.rewrite(this.all());
    else appendFileSync(this.path, `${JSON.stringify(line)}\n`);
  }

  /** From now on each new line is appended. */
  rewrite(lines: readonly ResultLine[]): void {
    for (const line of lines) this.lines.set(keyOf(line), line);
    if (this.path === null) return;
    replaceFile(this.path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    this.appending = true;
  }

  all(): ResultLine[] {
    return [...this.lines.values()];
  }
}

const keyOf = ({ set, method, seed, id }: Pick<ResultLine, 'set' | 'method' | 'seed' | 'id'>): string =>
  JSON.stringify([set, method, seed, id]);

export function checkWritable(folder: string): void {
  try {
    makeFolders(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    const why = isFile(folder) || isFile(dirname(folder)) ? 'a file is in the way' : `it cannot be written (${code})`;
    throw new UsageError(`--out ${folder}: ${why}; give a folder that can be written`);
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

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

interface Scoring {
  readonly of: Pick<ResultLine, 'set' | 'method' | 'seed'>;
  readonly engineOf: (database: string) => Promise<{ readonly engine: SqlEngine }>;
  readonly signal: AbortSignal;
  /** Decides in place of the question's own gold. */
  readonly scorer?: Scorer;
  readonly rows: boolean;
}

const SCORE_TIMEOUT_MS = 120_000;
const SCORE_MAX_ROWS = 100_000;

export async function resultLine(
  question: BatchQuestion,
  { outcome, record }: Ended,
  scoring: Scoring,
): Promise<ResultLine> {
  const { item, input } = question;
  const base = {
    ...scoring.of,
    ...{ id: item.id, searchId: input.searchId, question: item.question, database: item.database },
    difficulty: item.gold?.difficulty ?? null,
    ...(record?.reuse && { reuse: record.reuse }),
    usage: record?.usage ?? null,
    wallMs: record === null ? null : wallMs(record),
  };
  if (outcome.kind === 'infrastructure-failure' || record === null) {
    const message = outcome.kind === 'answer' ? 'it ended without a final record in the store' : outcome.message;
    return {
      ...base,
      ...{ status: 'infrastructure-failure', endedBy: null, sql: null, answer: null, standing: null, proved: null },
      ...verdictOf({ verdict: 'infrastructure', reason: message, execution: null, official: null }),
      error: message,
    };
  }
  const { status, endedBy, sql, answer } = record;
  const score = await scored(question, record, scoring);
  return {
    ...base,
    ...{ status, endedBy, sql, answer },
    ...{ standing: standingOf(record), proved: provedShare(record) },
    ...(scoring.rows && {
      columns: record.columns.map(({ name }) => name),
      rows: record.rows,
      truncated: record.truncated,
    }),
    ...verdictOf(score),
    error: score.verdict === 'infrastructure' ? score.reason : null,
  };
}

async function scored(
  { item, input, database }: BatchQuestion,
  record: AnswerRecord,
  { engineOf, signal, scorer }: Scoring,
): Promise<Score> {
  let engine: SqlEngine;
  try {
    ({ engine } = await engineOf(database.name));
  } catch (error) {
    // A database that cannot be opened says nothing about the answer.
    if (!(error instanceof Error) || !OUTSIDE.has(error.name)) throw error;
    return { verdict: 'infrastructure', reason: error.message, execution: null, official: null };
  }
  const options = {
    timeoutMs: SCORE_TIMEOUT_MS,
    maxRows: SCORE_MAX_ROWS,
    signal,
    tag: `gate score ${input.searchId}`,
  };
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

const Summary = z.object({
  sets: z.tuple([
    z.object({
      comparison: z.object({ file: z.string() }),
      figures: z.tuple([z.object({ bySeed: z.tuple([z.object({ batchId: z.string() })]) })]),
    }),
  ]),
});

/** What the folder's summary says of its batch, where it is one of one method, file and seed. */
export function summaryIn(folder: string): { readonly file?: string; readonly batchId?: string } {
  const summary = Summary.safeParse(parsedJson(readOrNull(join(folder, SUMMARY)) ?? 'null')).data;
  if (summary === undefined) return {};
  const [{ comparison, figures }] = summary.sets;
  return { file: comparison.file, batchId: figures[0].bySeed[0].batchId };
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
