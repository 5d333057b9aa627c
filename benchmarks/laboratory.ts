/** The parts that `gate-bench compare` adds to a run: benchmarks with their official scorers, and a judge. */
import { basename, resolve } from 'node:path';
import type { Scorer } from '../src/app/run/results';
import { isEmpty } from '../src/app/run/arms';
import { UsageError } from '../src/app/errors';
import type { Bench, Board, JudgedSet, JudgeSet, Laboratory, ToJudge } from '../src/app/run/laboratory';
import { checkModel, unpricedModels } from '../src/app/model-check';
import type { RunQuestions } from '../src/app/run/run-config';
import type { AnswerRecord, Dialect } from '../src/domain';
import type { Services } from '../src/app/services';
import type { BenchmarkItem } from '../src/questions';
import { withoutComments } from '../src/sql/lexer';
import type { Composition } from '../src/workers/composition';
import type { OpenBenchmark, Prediction } from './benchmark';
import { BENCHMARKS } from './boards';
import { paidLines } from './judge';
import { JUDGE_VERSION } from './judge-prompt';
import { correctAnswerOf, judgedOr, judgeName, openJudge, type CorrectAnswer } from './judging';
import { benchmarkOf, databaseSpecs } from './score';

export const LABORATORY: Laboratory = {
  benchmarks: Object.keys(BENCHMARKS),
  board,
  checkJudge,
  judged: (bench, set) => set.withComposition(SCOPE, (composition) => judgedWith(composition, bench, set)),
};

async function board(
  { benchmark: wanted = '', data = '', split, draw }: RunQuestions,
  base: string,
  hiddenKnowledge: boolean,
): Promise<Board> {
  const benchmark = await benchmarkOf(wanted);
  const opened = await benchmark.open(resolve(base, data), { hiddenKnowledge, split, seed: draw });
  const { name, title, source, licence, splits } = benchmark;
  return {
    items: opened.items,
    benchmark: { name, title, source, licence, split: split ?? splits[0] ?? '' },
    remarks: opened.remarks ?? [],
    databases: (items, given) => databaseSpecs(opened, items, given),
    docs: (item) => opened.docs?.(item) ?? null,
    score: scorerOf(opened),
    metrics: (scores) => opened.metrics(scores),
  };
}

function scorerOf(board: OpenBenchmark): Scorer {
  return async (item, record, engine, options) => {
    const prediction = predictionOf(record, engine.dialect);
    const { status, reason } = record;
    if (prediction === null)
      return { verdict: status === 'cancelled' ? 'cancelled' : 'infrastructure', points: {}, reason: reason ?? status };
    return board.score(item.id, prediction, engine, options);
  };
}

/** The answer as it would be submitted. null: the search ended for a reason outside it, which says nothing of an answer. */
function predictionOf({ status, endedBy, sql }: AnswerRecord, dialect: Dialect): Prediction | null {
  switch (status) {
    case 'answered':
      return sql === null || sql.trim() === ''
        ? { kind: 'none' }
        : { kind: 'sql', statements: [withoutComments(sql, dialect)] };
    case 'abstained':
    case 'unanswerable':
      return { kind: 'abstained' };
    case 'failed':
      return endedBy === 'unusable' ? { kind: 'none' } : null;
    case 'cancelled':
      return null;
    default:
      return status satisfies never;
  }
}

/** The judge's exchanges in a recording, beside those of the methods. */
const SCOPE = 'judge';

function checkJudge({ services }: Bench, wanted: ToJudge): Promise<void> {
  return wanted.withComposition(SCOPE, async (composition) => {
    const name = judgeName(composition, services.config.models, judgeOf(services, wanted), '--judge-model');
    if (wanted.replay === undefined) return checkModel(services.config, composition, [name]);
    if (isEmpty(composition))
      throw new UsageError(
        `--replay: ${basename(wanted.replay)} holds no judge; add it with --record, or leave --judge out`,
      );
  });
}

/** The model that all methods are asked with stands before the configured default. */
function judgeOf({ config }: Services, { judge, model }: ToJudge): string | undefined {
  return judge.model ?? config.models.roles.judge ?? model;
}

async function judgedWith(composition: Composition, bench: Bench, set: JudgeSet): Promise<JudgedSet> {
  const { services, now, stopping, note } = bench;
  const { judge, databases, records } = set;
  const items = new Map(set.items.map((item) => [item.id, item]));
  const { asked, quit: signal } = stopping;
  const flags = { model: judgeOf(services, set), maxCost: set.maxCost, limit: '--max-total-cost' };
  const judging = openJudge(composition, services.config, flags, { now, signal });
  const known = new Map<string, Promise<CorrectAnswer>>();
  const correctOf = (item: BenchmarkItem): Promise<CorrectAnswer> => {
    const open = async () => (await composition.engine(databases.of(item).name)).engine;
    const found = known.get(item.id) ?? correctAnswerOf(item, open, signal);
    known.set(item.id, found);
    return found;
  };
  const lines = await judging.each(set.lines, async (line) => {
    const item = items.get(line.id);
    if (item === undefined) throw new TypeError(`not asked: ${line.id}`);
    const record = records.get(line.searchId) ?? null;
    const toJudge = { item, record, correct: () => correctOf(item) };
    const { verdict, reason } = await judgedOr(judging, judge.mode, asked.aborted, toJudge);
    return { ...line, judged: { verdict, reason } };
  });
  const { name: model } = judging.judge;
  const paid = judging.paid();
  for (const line of paidLines({ paid, unpricedModels: unpricedModels(services.config, [model]) }))
    note(`judge: ${line}`);
  const told = { mode: judge.mode, model, version: JUDGE_VERSION };
  return { lines, judge: told, interrupted: asked.aborted, paidUsd: paid.costUsd };
}
