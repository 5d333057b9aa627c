/** `gate compare --judge`: one model judges the answers of all methods by the same rules, beside execution match. */
import { basename } from 'node:path';
import type { BenchmarkItem, ComparedAnswer, Comparison } from '../benchmarks';
import type { JudgeMode } from '../domain/judge-modes';
import { JUDGE_VERSION } from '../prompts/judge';
import type { Composition } from '../workers/composition';
import { paidLines } from './batch-judge';
import { isEmpty, withComposition, type Comparing } from './compare-arms';
import { UsageError } from './errors';
import { watchInterrupts } from './interrupts';
import { correctAnswerOf, judgedOr, judgeName, openJudge, type CorrectAnswer } from './judging';
import { checkModel, unpricedModels } from './preflight';
import type { Ran } from './run-arms';

/** In a recording, beside the methods. */
const SCOPE = 'judge';

export type JudgedRun = Pick<Ran, 'answers'> &
  Required<Pick<Comparison, 'judge'>> & { readonly isInterrupted: boolean; readonly paidUsd: number };

/** Before anything is asked: there is a model that judges, or a recording of one. */
export function checkJudge(at: Comparing): Promise<void> {
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

export function judged(at: Comparing, mode: JudgeMode, ran: Ran): Promise<JudgedRun> {
  return withComposition(at, SCOPE, (composition) => judgedWith(composition, at, mode, ran));
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
