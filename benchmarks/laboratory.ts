/** The parts that `gate-bench compare` adds to a run: benchmarks with their official scorers, a judge, and the audit of updates. */
import { basename, resolve } from 'node:path';
import type { Scorer } from '../src/cli/batch-results';
import { isEmpty, withComposition, type Comparing } from '../src/cli/compare-arms';
import { UsageError } from '../src/app/errors';
import { watchInterrupts } from '../src/cli/interrupts';
import type { Board, JudgedRun, Laboratory } from '../src/cli/laboratory';
import { checkModel, unpricedModels } from '../src/app/model-check';
import type { Ran } from '../src/cli/run-arms';
import type { RunQuestions } from '../src/cli/run-config';
import type { AnswerRecord, Dialect } from '../src/domain';
import type { JudgeMode } from '../src/domain/judge-modes';
import type { BenchmarkItem, ComparedAnswer } from '../src/questions';
import { withoutComments } from '../src/sql/lexer';
import type { Composition } from '../src/workers/composition';
import { auditOf } from './audit';
import type { OpenBenchmark, Prediction } from './benchmark';
import { BENCHMARKS } from './boards';
import { paidLines } from './judge';
import { JUDGE_VERSION } from './judge-prompt';
import { correctAnswerOf, judgedOr, judgeName, openJudge, type CorrectAnswer } from './judging';
import { benchmarkOf, databaseSpecs } from './score';
import { auditFigures } from './update-audit-view';

export const LABORATORY: Laboratory = {
  benchmarks: Object.keys(BENCHMARKS),
  board,
  checkJudge,
  judged: (at, mode, ran) => withComposition(at, SCOPE, (composition) => judgedWith(composition, at, mode, ran)),
  audited: async (services, searches, judge, io) => {
    const { audit, interrupted, paidUsd } = await auditOf(services, searches, judge, io);
    const rows = auditFigures(audit).map((row) => [...row]);
    return { audit, table: { heads: ['figure', 'value'], rows }, interrupted, paidUsd };
  },
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

function checkJudge(at: Comparing): Promise<void> {
  const { services, files } = at;
  return withComposition(at, SCOPE, async (composition) => {
    const name = judgeName(composition, services.config.models, judgeOf(at), '--judge-model');
    if (files.replay === undefined) return checkModel(services.config, composition, [name]);
    if (isEmpty(composition))
      throw new UsageError(
        `--replay: ${basename(files.replay)} holds no judge; add it with --record, or leave --judge out`,
      );
  });
}

/** The model that all methods are asked with stands before the configured default. */
function judgeOf({ services, flags }: Pick<Comparing, 'services' | 'flags'>): string | undefined {
  return flags.judgeModel ?? services.config.models.roles.judge ?? flags.model?.default;
}

async function judgedWith(
  composition: Composition,
  { services, asked, flags, io }: Comparing,
  mode: JudgeMode,
  ran: Ran,
): Promise<JudgedRun> {
  const items = new Map(asked.items.map((item) => [item.id, item]));
  const spent = [...ran.records.values()].reduce((sum, { usage }) => sum + usage.costUsd, 0);
  const given = judgeOf({ services, flags });
  const interrupts = watchInterrupts(io);
  try {
    const signal = interrupts.quit;
    const judging = openJudge(
      composition,
      services.config,
      {
        ...(given !== undefined && { model: given }),
        ...{
          maxCost: flags.maxTotalCost === undefined ? 'none' : flags.maxTotalCost - spent,
          limit: '--max-total-cost',
        },
      },
      { now: () => io.now(), signal },
    );
    const known = new Map<string, Promise<CorrectAnswer>>();
    const correctOf = (item: BenchmarkItem): Promise<CorrectAnswer> => {
      const open = async () => (await composition.engine(asked.databases.of(item).name)).engine;
      const found = known.get(item.id) ?? correctAnswerOf(item, open, signal);
      known.set(item.id, found);
      return found;
    };
    const answers = await judging.each(ran.answers, async (answer): Promise<ComparedAnswer> => {
      const item = items.get(answer.id);
      if (item === undefined) throw new TypeError(`not asked: ${answer.id}`);
      const record = ran.records.get(answer.searchId) ?? null;
      const isInterrupted = interrupts.count() > 0;
      const { verdict, reason } = await judgedOr(judging, mode, isInterrupted, {
        ...{ item, record, correct: () => correctOf(item) },
      });
      return { ...answer, judged: { verdict, reason } };
    });
    const { name: model } = judging.judge;
    const paid = judging.paid();
    for (const line of paidLines({ paid, unpricedModels: unpricedModels(services.config, [model]) }))
      io.err(`judge: ${line}\n`);
    const isInterrupted = interrupts.count() > 0;
    return { answers, judge: { mode, model, version: JUDGE_VERSION }, isInterrupted, paidUsd: paid.costUsd };
  } finally {
    interrupts.stopListening();
  }
}
