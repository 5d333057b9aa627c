/**
 * One question's line in `results.jsonl`, scored in this process: predicted and gold SQL run through the same guarded
 * engine as the search, with more time. Scoring asks no model, so a batch run again is scored anew.
 */
import { z } from 'zod';
import { scoreAnswer, VERDICTS, type Score } from '../benchmarks';
import type { BatchOutcome } from '../activities/batch';
import { AnswerStatus, EndedBy, Usage, type AnswerRecord } from '../domain';
import type { SqlEngine } from '../ports';
import type { BatchQuestion } from './batch-plan';

/** Its JSON schema is `docs/schemas/results.schema.json`. */
export const ResultLine = z.object({
  id: z.string().describe('the id of the question in its file'),
  searchId: z.string().describe('what gate result, report and trace take'),
  database: z.string().nullable().describe('as the file names it'),
  status: z.enum([...AnswerStatus.options, 'infrastructure-failure']),
  endedBy: EndedBy.nullable(),
  sql: z.string().nullable(),
  answer: z.string().nullable().describe('the answer in words; null with --output sql'),
  verdict: z.enum(VERDICTS),
  verdictReason: z.string(),
  execution: z.boolean().nullable().describe('execution match by itself; null: it could not be decided'),
  official: z.boolean().nullable().describe("the rule of the benchmark's publisher; null: it could not be decided"),
  usage: Usage.nullable(),
  wallMs: z.number().nullable().describe('from the start of the search to its end, in milliseconds'),
  error: z.string().nullable().describe('what went wrong around the search; null: nothing did'),
});
export type ResultLine = Readonly<z.infer<typeof ResultLine>>;

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
): Promise<ResultLine> {
  const base = { id: item.id, searchId: input.searchId, database: item.database };
  if (outcome.kind === 'infrastructure-failure' || record === null) {
    const message = outcome.kind === 'answer' ? 'it ended without a final record in the store' : outcome.message;
    return {
      ...base,
      status: 'infrastructure-failure',
      endedBy: null,
      sql: null,
      answer: null,
      ...verdictOf({ verdict: 'infrastructure', reason: message, execution: null, official: null }),
      usage: record?.usage ?? null,
      wallMs: record === null ? null : wallMs(record),
      error: message,
    };
  }
  const { status, endedBy, sql, answer, usage, reason } = record;
  const score = await scored(item, record, () => engineOf(database.name), signal, input.searchId);
  return {
    ...base,
    ...{ status, endedBy, sql, answer },
    ...verdictOf(score),
    usage,
    wallMs: wallMs(record),
    error: status === 'failed' ? (reason ?? 'failed') : score.verdict === 'infrastructure' ? score.reason : null,
  };
}

async function scored(
  item: BatchQuestion['item'],
  record: AnswerRecord,
  open: () => Promise<{ readonly engine: SqlEngine }>,
  signal: AbortSignal,
  searchId: string,
): Promise<Score> {
  let engine: SqlEngine;
  try {
    ({ engine } = await open());
  } catch (error) {
    // A database that cannot be opened says nothing about the answer.
    if (!(error instanceof Error) || !OUTSIDE.has(error.name)) throw error;
    return { verdict: 'infrastructure', reason: error.message, execution: null, official: null };
  }
  const options = { timeoutMs: SCORE_TIMEOUT_MS, maxRows: SCORE_MAX_ROWS, signal, tag: `gate score ${searchId}` };
  return scoreAnswer(item, record, engine, options);
}

const OUTSIDE = new Set(['SqlEngineError', 'ConfigError']);

function verdictOf({ verdict, reason, execution, official }: Score) {
  return { verdict, verdictReason: reason, execution, official };
}

function wallMs({ startedAt, endedAt }: AnswerRecord): number {
  return Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
}
