/**
 * `gate score --judge`: a model judges the predictions by the rules of `gate batch judge`: their answers in words, if the file has
 * some, and the rows of their SQL as it stands there. It changes none of the official figures.
 */
import { describeFailure, hasGold, type BenchmarkItem, type Submitted, type Verdict } from '../benchmarks';
import { resultOf } from '../benchmarks/boards/execution';
import { runAsWritten } from '../benchmarks/double-quoted';
import type { Config } from '../config';
import type { JudgeMode } from '../domain/judge-modes';
import { SqlEngineError, type SqlEngine, type SqlOptions } from '../ports';
import { JUDGE_VERSION } from '../prompts/judge';
import type { Rows } from '../sql/equal';
import { compose, type Composition } from '../workers/composition';
import { judgeSummary, judgeText, type JudgeSummary } from './batch-judge';
import { CommandFailed, EXIT, UsageError } from './errors';
import { watchInterrupts } from './interrupts';
import type { Io } from './io';
import {
  correctAnswerOf,
  JUDGED_ROWS,
  judgedOr,
  judgeName,
  needsDatabase,
  openJudge,
  type Judged,
  type JudgedRecord,
} from './judging';
import { checkModel, unpricedModels } from './preflight';

export interface ScoreJudgeFlags {
  readonly judge?: JudgeMode;
  readonly judgeModel?: string;
  readonly maxCost: number | 'none';
}

export interface ScoreJudge {
  /** Whether the correct answer has to be read from the database. */
  needsDatabase(item: BenchmarkItem): boolean;
  /** Rejects with a complete message where the judge fails for good, or is told to quit. */
  judged(scored: Scored, io: Io): Promise<JudgedScores>;
  close(): Promise<void>;
}

export interface Scored {
  readonly items: readonly BenchmarkItem[];
  readonly submittedOf: (item: BenchmarkItem) => Submitted;
  readonly engineOf: (item: BenchmarkItem) => SqlEngine;
  /** The official verdict. */
  readonly verdictOf: (item: BenchmarkItem) => Verdict;
  readonly timeoutMs: number;
}

export interface JudgedScores {
  readonly byId: ReadonlyMap<string, Judged>;
  readonly summary: JudgeSummary;
  /** The summary as a person reads it. */
  readonly text: string;
  readonly isInterrupted: boolean;
}

/** What is missing is said before anything is run or paid. */
export async function openScoreJudge(
  mode: JudgeMode,
  { judgeModel, maxCost }: ScoreJudgeFlags,
  { config, benchmark, items }: Pick<Judging, 'config'> & { benchmark: string; items: readonly BenchmarkItem[] },
): Promise<ScoreJudge> {
  if (!items.some((item) => hasGold(item, true)))
    throw new UsageError(
      `--judge: no question of ${benchmark} has a correct answer here (words, rows or SQL); leave it out`,
    );
  const composition = await compose(config);
  const close = (): Promise<void> => composition.close();
  try {
    const model = judgeName(composition, config.models, judgeModel, '--judge-model');
    await checkModel(config, composition, [model]);
    const judge = { mode, model, maxCost, config, composition };
    return { needsDatabase, judged: (scored, io) => judgedScores(judge, scored, io), close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Judging {
  readonly mode: JudgeMode;
  readonly model: string;
  readonly maxCost: number | 'none';
  readonly config: Config;
  readonly composition: Composition;
}

async function judgedScores(
  { mode, model, maxCost, config, composition }: Judging,
  { items, submittedOf, engineOf, verdictOf, timeoutMs }: Scored,
  io: Io,
): Promise<JudgedScores> {
  const interrupts = watchInterrupts(io);
  try {
    const signal = interrupts.quit;
    const judging = openJudge(composition, config, { model, maxCost }, { now: () => io.now(), signal });
    const options = { timeoutMs, maxRows: JUDGED_ROWS, signal, tag: 'gate judge' };
    const judgedOne = async (item: BenchmarkItem): Promise<Judged> => {
      if (!hasGold(item, true)) return { verdict: 'no-gold', extracted: null, reason: 'no correct answer is known' };
      const engine = (): SqlEngine => engineOf(item);
      const isOver = interrupts.count() > 0 || judging.isSpent();
      const record = isOver ? null : await recordOf(submittedOf(item), engine, options);
      if (record?.kind === 'nothing') return nothing(item, record.reason);
      const correct = () => correctAnswerOf(item, () => Promise.resolve(engine()), signal);
      return judgedOr(judging, mode, interrupts.count() > 0, { item, record, correct });
    };
    const judged = await judging.each(items, async (item) => [item, await whileConnected(judgedOne(item))] as const);
    const by = { mode, model, version: JUDGE_VERSION };
    const lines = judged.map(([item, one]) => ({
      ...{ id: item.id, judge: by, ...one },
      execution: EXECUTION[verdictOf(item)] ?? null,
    }));
    const summary = judgeSummary(lines, judging.paid(), unpricedModels(config, [model]));
    const byId = new Map(judged.map(([{ id }, one]) => [id, one]));
    return { byId, summary, text: judgeText(summary), isInterrupted: interrupts.count() > 0 };
  } catch (error) {
    const [how, code] = interrupts.quit.aborted
      ? (['was stopped', EXIT.cancelled] as const)
      : ([`failed: ${(error as Error).message}`, EXIT.failed] as const);
    const again = 'the same command pays for no judgement twice';
    throw new CommandFailed(`the judge ${how}; the official figures are complete, and ${again}`, code, {
      cause: error,
    });
  } finally {
    interrupts.stopListening();
  }
}

/** Where results were compared: an abstention agrees with nobody. */
const EXECUTION: Partial<Record<Verdict, boolean>> = { correct: true, wrong: false };

/** A database that fails says nothing of an answer. */
async function whileConnected(judged: Promise<Judged>): Promise<Judged> {
  try {
    return await judged;
  } catch (error) {
    if (!(error instanceof SqlEngineError)) throw error;
    return { verdict: null, extracted: null, reason: error.message };
  }
}

/** There is nothing that a judge could read. */
function nothing({ gold }: BenchmarkItem, reason: string): Judged {
  return { verdict: gold?.answerable === false ? 'wrong-answered' : 'wrong', extracted: null, reason };
}

type Found = (JudgedRecord & { readonly kind: 'answer' }) | { readonly kind: 'nothing'; readonly reason: string };

async function recordOf(submitted: Submitted, engine: () => SqlEngine, options: SqlOptions): Promise<Found> {
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
