/** The judge as commands use it: which model it is, what it may cost, and what it is shown of an answer. */
import { anySignal } from '../src/any-signal';
import type { BenchmarkItem } from '../src/questions';
import type { Config } from '../src/config';
import { looksLikeReasoning, MODEL_DEFAULTS } from '../src/config/presets';
import type { AnswerRecord, SqlResult, Usage } from '../src/domain';
import { NO_USAGE } from '../src/domain/control-view';
import { each } from '../src/limiter';
import type { SqlEngine } from '../src/domain/ports';
import { addUsage } from '../src/search/budgets';
import type { JudgeMode } from '../src/domain/judge-modes';
import { judgeAnswer, type Judge, type Judgement } from './judge-step';
import { resultText, toCsv } from '../src/text/result-text';
import type { Composition } from '../src/workers/composition';
import { offeredModels } from '../src/app/question-input';
import { UsageError } from '../src/app/errors';
import type { Io } from '../src/cli/io';

export interface JudgeFlags {
  readonly model?: string;
  readonly maxCost?: number | 'none';
}

export interface Judging {
  readonly judge: Judge;
  /** Everything paid since it was opened. */
  paid(): Usage;
  /** The limit of cost is reached: nothing more may be asked. */
  isSpent(): boolean;
  /** The option that sets it. */
  readonly limit: string;
  /** Results of `work`, one for each; after the first failure nothing more is begun. */
  each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]>;
}

const AT_ONCE = 8;

/** `option`: how a command takes the name. */
export function judgeName(
  composition: Composition,
  models: Config['models'],
  given: string | undefined,
  option = '--model',
): string {
  const name = given ?? models.roles.judge ?? models.default ?? offeredModels(composition)[0];
  if (name === undefined) throw new UsageError(`the judge has no model: give ${option} NAME, or set GATE_MODEL_JUDGE`);
  return name;
}

export function openJudge(
  composition: Composition,
  { models }: Config,
  flags: JudgeFlags & { readonly maxCost: number | 'none'; readonly limit?: string },
  { now, signal }: { readonly now: Io['now']; readonly signal: AbortSignal },
): Judging {
  const name = judgeName(composition, models, flags.model);
  const { outputTokens, reasoningOutputTokens } = LIMITS;
  const { store, model } = composition;
  let spent = NO_USAGE;
  const calls = new Set<string>();
  const failed = new AbortController();
  const ended = anySignal([signal, failed.signal]);
  const most = flags.maxCost === 'none' ? Number.POSITIVE_INFINITY : flags.maxCost;
  return {
    judge: {
      ...{ store, model, name, clock: { now }, signal: ended },
      maxOutputTokens: (models.reasoning ?? looksLikeReasoning(name)) ? reasoningOutputTokens : outputTokens,
      onPaid: (usage, call) => {
        if (!calls.has(call)) spent = addUsage(spent, usage);
        calls.add(call);
      },
    },
    paid: () => spent,
    isSpent: () => spent.costUsd >= most,
    limit: flags.limit ?? '--max-cost',
    each: (items, work) =>
      each(
        items,
        async (item) => {
          ended.throwIfAborted();
          try {
            return await work(item);
          } catch (error) {
            failed.abort(error);
            throw error;
          }
        },
        AT_ONCE,
      ),
  };
}

/** The longest reply. A reply is a few sentences, and a reasoning model thinks before. */
const LIMITS = { outputTokens: 1_024, reasoningOutputTokens: MODEL_DEFAULTS.reasoningOutputTokens };
/** The longest text of the answer, and of the correct one, in characters. */
const SHOWN_CHARS = 8_000;

/** The fields of an answer that are judged. */
export type JudgedRecord = Pick<AnswerRecord, 'status' | 'answer' | 'reason' | 'columns' | 'rows' | 'truncated'> &
  Partial<Pick<AnswerRecord, 'endedBy'>>;

export interface ToJudge {
  readonly item: BenchmarkItem;
  /** null: the store has none. */
  readonly record: JudgedRecord | null;
  readonly correct: () => Promise<CorrectAnswer>;
}

export interface Judged extends Pick<Judgement, 'extracted' | 'reason'> {
  /** null: not judged, for the reason beside it. */
  readonly verdict: Judgement['verdict'] | 'no-gold' | 'gold-failed' | null;
}

/** The judge's verdict on one answer, or why it is not asked. */
export async function judgedOr(
  judging: Judging,
  mode: JudgeMode,
  isInterrupted: boolean,
  { item, record, correct }: ToJudge,
): Promise<Judged> {
  const not = (reason: string): Judged => ({ verdict: null, extracted: null, reason });
  if (isInterrupted) return not('interrupted');
  if (judging.isSpent()) return not(`the limit of cost was reached (${judging.limit})`);
  if (record === null) return not('the store has no answer of this search');
  const known = await correct();
  if (known.kind !== 'known') return { verdict: known.kind, extracted: null, reason: known.reason };
  return (await judgeRecord(judging.judge, item, record, known.text, mode)) ?? not(`the search is ${record.status}`);
}

/** null: it was not answered for a reason outside the search, so there is nothing to judge. */
function judgeRecord(
  judge: Judge,
  item: Pick<BenchmarkItem, 'question' | 'context'>,
  record: JudgedRecord,
  correctAnswer: string | null,
  mode: JudgeMode,
): Promise<Judgement> | null {
  if (record.endedBy === 'unusable') {
    const verdict = correctAnswer === null ? 'wrong-answered' : 'wrong';
    return Promise.resolve({ verdict, extracted: null, reason: record.reason ?? 'no usable reply' });
  }
  if (record.status === 'failed' || record.status === 'cancelled') return null;
  const { question, context } = item;
  const abstained = record.status !== 'answered';
  return judgeAnswer(judge, { question, context, abstained, correctAnswer, response: responseOf(record) }, mode);
}

/** The answer as a user has it: its sentence, if it has one, and its rows. */
function responseOf({ answer, reason, columns, rows, truncated }: JudgedRecord): string {
  const csv = toCsv({ columns, rows, truncated }, { maxChars: SHOWN_CHARS, nulls: 'NULL' });
  return [answer ?? reason, columns.length === 0 ? null : `rows:\n${csv}`].filter((part) => part !== null).join('\n\n');
}

export type CorrectAnswer =
  /** `text` null: the question cannot be answered. */
  | { readonly kind: 'known'; readonly text: string | null }
  | { readonly kind: 'no-gold' | 'gold-failed'; readonly reason: string };

/** True if the correct answer has to be read from the database. */
export function needsDatabase({ gold }: Pick<BenchmarkItem, 'gold'>): boolean {
  return gold !== null && gold.answerable && gold.text === null && gold.answer === null && gold.sql.length > 0;
}

/** The correct answer: the words of the file, else its rows, else those of its first gold query. */
export async function correctAnswerOf(
  item: Pick<BenchmarkItem, 'gold'>,
  open: () => Promise<SqlEngine>,
  signal: AbortSignal,
): Promise<CorrectAnswer> {
  const { gold } = item;
  if (gold === null) return { kind: 'no-gold', reason: 'the file has no gold for this question' };
  if (!gold.answerable) return { kind: 'known', text: null };
  if (gold.text !== null) return { kind: 'known', text: gold.text };
  if (gold.answer !== null) return { kind: 'known', text: gold.answer.map((row) => row.join(', ')).join('\n') };
  const [sql] = gold.sql;
  if (sql === undefined) return { kind: 'no-gold', reason: 'the file has no gold for this question' };
  const result = await runGold(await open(), sql, signal);
  if (result.kind !== 'rows') return { kind: 'gold-failed', reason: resultText(result, 300) };
  return { kind: 'known', text: resultText(result, SHOWN_CHARS) };
}

/** Far more rows than a judge is shown. */
export const JUDGED_ROWS = 1_000;

async function runGold(engine: SqlEngine, sql: string, signal: AbortSignal): Promise<SqlResult> {
  const options = { timeoutMs: 120_000, maxRows: JUDGED_ROWS, signal, tag: 'gate judge' };
  const { results } = await engine.run([sql], options);
  return results[0] ?? { kind: 'refused', message: 'the database gave no result' };
}
