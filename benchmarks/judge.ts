/**
 * `gate-bench judge`: a model reads answers against the correct ones, and is compared with execution match or the official
 * verdicts. Answers are those of a batch, as they are stored, or those of a predictions file: its words, if it has some, and the
 * rows of its SQL. No search is asked again, and a judgement that was paid before costs nothing.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { questionDatabases } from '../src/app/run/question-databases';
import { replaceFile } from '../src/replace-file';
import { resultsIn, SUMMARY, summaryIn, withResultFolder } from '../src/app/run/results';
import { RESULTS } from '../src/app/run/stored-batches';
import { GateError, UsageError } from '../src/app/errors';
import { EXIT, type ExitCode } from '../src/cli/exit';
import { watchInterrupts } from '../src/cli/interrupts';
import type { Io } from '../src/cli/io';
import { checkModel, unpricedModels } from '../src/app/model-check';
import { openServices, recordOf } from '../src/app/services';
import type { Config } from '../src/config';
import type { Usage } from '../src/domain';
import { JUDGE_MODES, type JudgeMode } from '../src/domain/judge-modes';
import { SqlEngineError, type SqlEngine, type SqlOptions } from '../src/domain/ports';
import {
  agreementOf,
  describeFailure,
  hasGold,
  summarise,
  VERDICTS,
  type BenchmarkItem,
  type Verdict,
  loadQuestions,
} from '../src/questions';
import { runAsWritten } from '../src/questions/double-quoted';
import { counted, dollars, tokensText } from '../src/report/printable';
import type { Rows } from '../src/sql/equal';
import { compose, type Composition } from '../src/workers/composition';
import type { Submitted } from './benchmark';
import { resultOf } from './boards/execution';
import { JUDGE_VERSION } from './judge-prompt';
import {
  correctAnswerOf,
  JUDGED_ROWS,
  judgedOr,
  judgeName,
  needsDatabase,
  openJudge,
  type Judged,
  type JudgedRecord,
  type JudgeFlags,
} from './judging';
import { openPredictions, withScores, type PredictionFlags } from './score';

export interface JudgeCommandFlags extends JudgeFlags, Omit<PredictionFlags, 'benchmark' | 'data' | 'predictions'> {
  readonly judge: JudgeMode;
  readonly questions?: string;
  readonly benchmark?: string;
  readonly data?: string;
  readonly maxCost: number | 'none';
  readonly json?: boolean;
}

/** A line of `judged.jsonl`. */
export const JudgedLine = z.object({
  id: z.string().describe('the id of the question in its file'),
  searchId: z.string().nullable().describe('null: of a predictions file'),
  verdict: z.enum(VERDICTS).nullable().describe('null: not judged, for the reason beside it'),
  extracted: z.string().nullable().describe('the final answer as the judge read it'),
  reason: z.string(),
  execution: z
    .boolean()
    .nullable()
    .describe('execution match, or the official verdict on a prediction; null: it could not be decided'),
  judge: z.object({ mode: z.enum(JUDGE_MODES), model: z.string(), version: z.number().int() }),
});
export type JudgedLine = Readonly<z.infer<typeof JudgedLine>>;

/** One answer to judge. */
interface ToRead {
  readonly item: BenchmarkItem;
  readonly searchId: string | null;
  readonly execution: boolean | null;
  /** null: the store has none. */
  record(signal: AbortSignal): Promise<Found | null>;
  engine(): Promise<SqlEngine>;
}

export async function runJudge(given: string, flags: JudgeCommandFlags, io: Io): Promise<ExitCode> {
  const path = resolve(io.cwd, given);
  return existsSync(join(path, RESULTS)) || flags.benchmark === undefined
    ? judgeBatch(path, given, flags, io)
    : judgePredictions(path, given, { ...flags, benchmark: flags.benchmark }, io);
}

async function judgeBatch(folder: string, given: string, flags: JudgeCommandFlags, io: Io): Promise<ExitCode> {
  if (/\.(?:jsonl?|csv)$/i.test(given))
    throw new UsageError(`${given} is a file: say with --benchmark whose predictions these are (questions: your own)`);
  const lines = resultsIn(folder, given);
  const path = flags.questions ?? summaryIn(folder).file;
  if (path === undefined)
    throw new UsageError(`${given} has no ${SUMMARY}: name the file of its questions with --questions`);
  const items = new Map((await loadQuestions(resolve(io.cwd, path))).map((item) => [item.id, item]));
  const pairs = lines.map((line) => {
    const item = items.get(line.id);
    if (item === undefined)
      throw new UsageError(`--questions ${path}: it has no question ${line.id}, which ${given} has`);
    return { line, item };
  });
  const { config } = openServices(io);
  const selected = pairs.map(({ item }) => item).filter(needsDatabase);
  const databases = questionDatabases(config, flags.db ?? [], { selected, others: [] }, io.cwd);
  const composition = await compose(config, { adHoc: databases.all });
  try {
    const toRead = pairs.map(({ line: { searchId, execution }, item }): ToRead => ({
      ...{ item, searchId, execution },
      record: async () => {
        const record = await recordOf(composition.store, searchId);
        return record && { kind: 'answer', ...record };
      },
      engine: async () => (await composition.engine(databases.of(item).name)).engine,
    }));
    const write = (text: string): Promise<string> =>
      withResultFolder(folder, () => {
        replaceFile(join(folder, 'judged.jsonl'), text);
        return Promise.resolve(join(folder, 'judged.jsonl'));
      });
    return await judged({ composition, config }, toRead, flags, write, io);
  } finally {
    await composition.close();
  }
}

async function judgePredictions(
  path: string,
  given: string,
  flags: JudgeCommandFlags & { readonly benchmark: string },
  io: Io,
): Promise<ExitCode> {
  const data = flags.data ?? flags.questions;
  if (data === undefined) throw new UsageError(`--benchmark ${flags.benchmark}: give its folder with --data`);
  const wanted = { ...flags, data, predictions: given };
  const opened = await openPredictions(wanted, io);
  const { items } = opened.board;
  if (!items.some((item) => hasGold(item, true)))
    throw new UsageError(`no question of ${flags.benchmark} has a correct answer here (words, rows or SQL)`);
  const { config } = openServices(io);
  const composition = await compose(config);
  try {
    await checkModel(config, composition, [judgeName(composition, config.models, flags.model)]);
    return await withScores(opened, wanted, io, {
      asksAlso: needsDatabase,
      run: ({ scores, engineOf }) => {
        const timeoutMs = Math.round(flags.timeout * 1000);
        const toRead = items.map((item): ToRead => ({
          ...{ item, searchId: null, execution: EXECUTION[scores.get(item.id)?.verdict ?? 'undecided'] ?? null },
          record: (signal) => {
            const options = { timeoutMs, maxRows: JUDGED_ROWS, signal, tag: 'gate judge' };
            return submittedRecord(opened.predictions.get(item.id) ?? { kind: 'none' }, () => engineOf(item), options);
          },
          engine: () => Promise.resolve(engineOf(item)),
        }));
        const write = (text: string): Promise<string> => {
          writeFileSync(`${path}.judged.jsonl`, text);
          return Promise.resolve(`${path}.judged.jsonl`);
        };
        return judged({ composition, config }, toRead, flags, write, io);
      },
    });
  } finally {
    await composition.close();
  }
}

async function judged(
  { composition, config }: { readonly composition: Composition; readonly config: Config },
  toRead: readonly ToRead[],
  flags: JudgeCommandFlags,
  write: (text: string) => Promise<string>,
  io: Io,
): Promise<ExitCode> {
  const interrupts = watchInterrupts(io);
  try {
    const signal = interrupts.quit;
    const judging = openJudge(composition, config, flags, { now: () => io.now(), signal });
    const by = { mode: flags.judge, model: judging.judge.name, version: JUDGE_VERSION };
    const read = async (one: ToRead): Promise<Judged> => {
      const { item } = one;
      if (!hasGold(item, true))
        return { verdict: 'no-gold', extracted: null, reason: 'the file has no gold for this question' };
      const isOver = interrupts.asked.aborted || judging.isSpent();
      const found = isOver ? null : await one.record(signal);
      if (found?.kind === 'nothing')
        return {
          verdict: item.gold?.answerable === false ? 'wrong-answered' : 'wrong',
          extracted: null,
          reason: found.reason,
        };
      const correct = () => correctAnswerOf(item, () => one.engine(), signal);
      return judgedOr(judging, flags.judge, interrupts.asked.aborted, { item, record: found, correct });
    };
    const lines = await judging.each(toRead, async (one): Promise<JudgedLine> => {
      const { item, searchId, execution } = one;
      return { id: item.id, searchId, execution, judge: by, ...(await whileConnected(read(one))) };
    });
    const file = await write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const summary = judgeSummary(lines, judging.paid(), unpricedModels(config, [judging.judge.name]));
    io.out(flags.json ? `${JSON.stringify(summary, null, 2)}\n` : judgeText(summary));
    io.err(`${file}\n`);
    return interrupts.asked.aborted ? EXIT.cancelled : EXIT.ok;
  } catch (error) {
    if (!interrupts.quit.aborted) throw error;
    throw new GateError('stopped; the same command pays for no judgement twice', 'cancelled', { cause: error });
  } finally {
    interrupts.stopListening();
  }
}

/** A database that fails says nothing of an answer. */
async function whileConnected(judgement: Promise<Judged>): Promise<Judged> {
  try {
    return await judgement;
  } catch (error) {
    if (!(error instanceof SqlEngineError)) throw error;
    return { verdict: null, extracted: null, reason: error.message };
  }
}

/** Verdicts by comparing results: an abstention agrees with nobody. */
const EXECUTION: Partial<Record<Verdict, boolean>> = { correct: true, wrong: false };

/** `nothing`: there is nothing that a judge could read. */
type Found = (JudgedRecord & { readonly kind: 'answer' }) | { readonly kind: 'nothing'; readonly reason: string };

async function submittedRecord(submitted: Submitted, engine: () => SqlEngine, options: SqlOptions): Promise<Found> {
  switch (submitted.kind) {
    case 'none':
      return { kind: 'nothing', reason: 'there is no prediction for it' };
    case 'abstained':
      return answer('abstained', null, null);
    case 'words':
      return answer('answered', submitted.words, null);
    case 'rows':
      return answer('answered', submitted.words ?? null, resultOf(submitted));
    case 'sql': {
      const { words = null, statements } = submitted;
      const { results } = await runAsWritten(statements, engine(), options, 0);
      const result = results.find(({ kind }) => kind !== 'rows') ?? results.at(-1);
      if (result?.kind === 'rows') return answer('answered', words, result);
      if (words !== null) return answer('answered', words, null);
      return { kind: 'nothing', reason: result === undefined ? 'no result' : describeFailure(result) };
    }
  }
}

function answer(status: 'answered' | 'abstained', words: string | null, result: Rows | null): Found {
  const { columns = [], rows = [], truncated = false } = result ?? {};
  return { kind: 'answer', status, answer: words, reason: null, columns, rows, truncated };
}

export type JudgeSummary = ReturnType<typeof judgeSummary>;

function judgeSummary(lines: readonly JudgedLine[], paid: Usage, unpriced: readonly string[]) {
  const verdicts = lines.map(({ verdict }) => verdict).filter((verdict) => verdict !== null);
  const { counts, judged, accuracy, accuracyAnswerable } = summarise(verdicts);
  const compared = lines.flatMap(({ id, verdict, execution }) =>
    execution === null || verdict === null || verdict === 'undecided'
      ? []
      : [{ id, judge: verdict === 'correct', execution }],
  );
  const notJudged: Record<string, number> = {};
  for (const { verdict, reason } of lines) if (verdict === null) notJudged[reason] = (notJudged[reason] ?? 0) + 1;
  return {
    schemaVersion: 1,
    judge: lines[0]?.judge ?? null,
    questions: lines.length,
    verdicts: counts,
    judged,
    // Share of right ones among the judged; right abstentions count.
    accuracy,
    accuracyAnswerable,
    // Agreement with execution match, where both decided; `differ`: the ids of the questions.
    agreement: {
      ...agreementOf(compared),
      differ: compared.filter((one) => one.judge !== one.execution).map(({ id }) => id),
    },
    notJudged,
    // Paid by this command; what was paid before is not asked again.
    paid,
    // Cost counts as 0 for these.
    unpricedModels: unpriced,
  };
}

function judgeText(summary: JudgeSummary): string {
  const { judge, questions, verdicts, judged, accuracy, agreement, notJudged } = summary;
  const { compared, share, kappa, judgeRight, executionRight, differ } = agreement;
  const said = Object.entries(verdicts).filter(([, count]) => count > 0);
  const lines = [
    `correct ${percent(accuracy)} of ${counted(judged, 'judged question')} (${judge?.mode ?? ''} judge, version ${judge?.version ?? 0}, ${judge?.model ?? ''})`,
    `${counted(questions, 'question')}: ${said.map(([verdict, count]) => `${count} ${verdict}`).join(', ') || 'none judged'}`,
    compared === 0
      ? 'execution match decided none of them'
      : `agrees with execution on ${percent(share)} of ${compared} (Cohen's kappa ${kappa === null ? 'not defined' : kappa.toFixed(2)}); right by the judge alone ${judgeRight}, by execution alone ${executionRight}`,
    ...(differ.length === 0
      ? []
      : [`they differ on ${differ.slice(0, 20).join(', ')}${differ.length > 20 ? ' …' : ''}`]),
    ...Object.entries(notJudged).map(([reason, count]) => `not judged (${count}): ${reason}`),
    ...paidLines(summary),
  ];
  return `${lines.join('\n')}\n`;
}

export function paidLines({ paid, unpricedModels: unpriced }: Pick<JudgeSummary, 'paid' | 'unpricedModels'>): string[] {
  if (paid.llmCalls === 0) return ['nothing was paid: every judgement is from before'];
  return [
    `${counted(paid.llmCalls, 'model call')}, ${tokensText(paid)}, ${dollars(paid.costUsd)}`,
    ...(unpriced.length === 0 ? [] : [`No price is known for ${unpriced.join(', ')}: it counts as $0.`]),
  ];
}

const percent = (share: number | null): string => (share === null ? '' : `${(100 * share).toFixed(1)} %`);
