/**
 * What one method came to on one set of questions, beside the intervals of a comparison: mean and standard deviation over
 * seeds, what a right answer cost, how answers ended, and the same by database and by difficulty.
 *
 * 1. Only judged answers enter an accuracy: an infrastructure failure is never a wrong answer (`comparison.ts`).
 * 2. Where a judge was asked, it decides: right answers, what one costs, and all groups are by its verdicts. Beside them stand
 *    accuracy by execution match and the official figures.
 * 3. The standard deviation is that of the sample of seeds (n - 1); one seed has none.
 */
import * as z from 'zod';
import { groupBy } from '../group-by';
import { countsOf, decidedVerdict, endedItself, mean, outcomeOf } from './comparison';
import { OUTCOMES, POINTS, type Outcome } from './verdict';
import type { ResultLine } from './result-line';

/** A benchmark's figures by name; null: nothing to take one of. */
export type Metrics = Readonly<Record<string, number | null>>;

const Spread = z.object({
  mean: z.number().describe('over the seeds'),
  sd: z.number().nullable().describe('standard deviation between seeds; null: there is one'),
  seeds: z.number().int(),
});
export type Spread = Readonly<z.infer<typeof Spread>>;

const Counts = z.object({
  right: z.number().int(),
  wrong: z.number().int(),
  declined: z.number().int(),
  failed: z.number().int().describe('infrastructure failures: in no score'),
  notScored: z.number().int().describe('without gold, cancelled, or not decided: in no score'),
  accuracy: z.number().nullable().describe('share of right ones among the judged'),
  calls: z.number().nullable().describe('mean of an answer'),
});

const Group = Counts.extend({ name: z.string(), questions: z.number().int() });
export type Group = Readonly<z.infer<typeof Group>>;

export const MethodFigures = z.object({
  method: z.string(),
  accuracy: Spread.nullable().describe('by execution match or the official verdicts, also where a judge decides'),
  judged: Spread.nullable().describe('accuracy by the judge; null: none was asked for, or it decided nothing'),
  calls: Spread.nullable().describe('of a question'),
  costUsd: Spread.nullable().describe('of a question'),
  metrics: z.record(z.string(), Spread.nullable()).describe("by the benchmark's official scorer"),
  perCorrect: z
    .object({ calls: z.number().nullable(), costUsd: z.number().nullable() })
    .describe('all calls and all cost by the number of right answers, as who decides counts them; null: none is right'),
  statuses: z.record(z.string(), z.number().int()).describe('how many answers have each'),
  verdicts: z.record(z.string(), z.number().int()).describe('by the judge where one was asked for, as in all groups'),
  bySeed: z.array(
    Counts.extend({
      seed: z.number().int(),
      batchId: z.string().describe('what gate batch status and gate-bench audit updates take'),
      costUsd: z.number().nullable().describe('mean of an answer'),
      metrics: z.record(z.string(), z.number().nullable()),
    }),
  ),
  byDatabase: z.array(Group),
  byDifficulty: z.array(Group).describe('empty: the questions say none'),
  reuse: z
    .object({
      searches: z.number().int().describe('those that made updates'),
      updates: z.number().int(),
      reused: z.number().int().describe('updates that another plan took over'),
      reuses: z.number().int(),
    })
    .nullable()
    .describe('null: the method makes no updates'),
});
export type MethodFigures = Readonly<z.infer<typeof MethodFigures>>;

export interface SeedRun {
  readonly seed: number;
  readonly batchId: string;
  /** null: the questions are of no benchmark. */
  readonly metrics: Metrics | null;
}

/** `answers`: those of the method. */
export function figuresOf(method: string, answers: readonly ResultLine[], seeds: readonly SeedRun[]): MethodFigures {
  const bySeed = seeds.map(({ seed, batchId, metrics }) => {
    const own = answers.filter((answer) => answer.seed === seed);
    return { seed, batchId, ...figuresIn(own), costUsd: meanOf(own, 'costUsd'), metrics: { ...metrics } };
  });
  const isJudged = answers.some(({ judged }) => judged !== undefined);
  const decided = spread(bySeed.map(({ accuracy }) => accuracy));
  const byExecution = seeds.map(({ seed }) =>
    accuracyOf(answers.flatMap((answer) => (answer.seed === seed ? [OUTCOMES[answer.verdict]] : []))),
  );
  const right = answers.filter((answer) => outcomeOf(answer) === 'right').length;
  const perCorrect = (key: 'llmCalls' | 'costUsd'): number | null =>
    right === 0 ? null : answers.reduce((sum, { usage }) => sum + (usage?.[key] ?? 0), 0) / right;
  const named = [...new Set(bySeed.flatMap(({ metrics }) => Object.keys(metrics)))];
  return {
    method,
    accuracy: spread(byExecution),
    judged: isJudged ? decided : null,
    calls: spread(bySeed.map(({ calls }) => calls)),
    costUsd: spread(bySeed.map(({ costUsd }) => costUsd)),
    metrics: Object.fromEntries(
      named.map((name) => [name, spread(bySeed.map(({ metrics }) => metrics[name] ?? null))]),
    ),
    perCorrect: { calls: perCorrect('llmCalls'), costUsd: perCorrect('costUsd') },
    statuses: counted(answers, ({ status }) => status),
    verdicts: counted(answers, decidedVerdict),
    bySeed,
    byDatabase: groups(answers, ({ database }) => database ?? ''),
    byDifficulty: groups(answers, ({ difficulty }) => difficulty ?? ''),
    reuse: reuseOf(answers),
  };
}

function counted(answers: readonly ResultLine[], of: (answer: ResultLine) => string): Record<string, number> {
  return Object.fromEntries([...groupBy(answers, of)].map(([name, some]) => [name, some.length]));
}

function figuresIn(answers: readonly ResultLine[]) {
  const outcomes = answers.map(outcomeOf);
  return { ...countsOf(outcomes), accuracy: accuracyOf(outcomes), calls: meanOf(answers, 'llmCalls') };
}

function accuracyOf(outcomes: readonly Outcome[]): number | null {
  return mean(outcomes.flatMap((outcome) => POINTS[outcome] ?? []));
}

function meanOf(answers: readonly ResultLine[], key: 'llmCalls' | 'costUsd'): number | null {
  return mean(answers.filter(endedItself).flatMap(({ usage }) => usage?.[key] ?? []));
}

/** null: there are no values. */
function spread(values: readonly (number | null)[]): Spread | null {
  const known = values.filter((value) => value !== null);
  const middle = mean(known);
  if (middle === null) return null;
  const squares = known.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return { mean: middle, sd: known.length === 1 ? null : Math.sqrt(squares / (known.length - 1)), seeds: known.length };
}

/** Difficulties as publishers call them, easiest first; others follow, by number or by name. */
const DIFFICULTIES = ['simple', 'easy', 'medium', 'moderate', 'hard', 'challenging', 'extra', 'extra hard'];

/** Empty where no answer has a name to group by. */
function groups(answers: readonly ResultLine[], nameOf: (answer: ResultLine) => string): Group[] {
  const rank = (name: string): number => (DIFFICULTIES.indexOf(name.toLowerCase()) + 100) % 100;
  const found = [...groupBy(answers, nameOf)].sort(
    ([one], [other]) => rank(one) - rank(other) || one.localeCompare(other, 'en', { numeric: true }),
  );
  if (found.every(([name]) => name === '')) return [];
  return found.map(([name, some]) => ({ name, questions: new Set(some.map(({ id }) => id)).size, ...figuresIn(some) }));
}

function reuseOf(answers: readonly ResultLine[]): MethodFigures['reuse'] {
  const found = answers.flatMap(({ reuse }) => (reuse === undefined || reuse.updates === 0 ? [] : [reuse]));
  if (found.length === 0) return null;
  const sum = (key: 'updates' | 'reused' | 'reuses'): number => found.reduce((total, one) => total + one[key], 0);
  return { searches: found.length, updates: sum('updates'), reused: sum('reused'), reuses: sum('reuses') };
}
