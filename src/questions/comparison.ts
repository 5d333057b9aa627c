/**
 * What several methods came to on the same questions: counts of outcomes, means per question with intervals, and the paired
 * differences to the first method.
 *
 * 1. A question counts once: its seeds are averaged before anything is averaged or drawn over questions.
 * 2. Only judged answers enter an accuracy, and only questions judged for both methods a difference. An infrastructure failure
 *    is never a wrong answer; it is counted apart, and so is what cannot be scored.
 * 3. Where a judge was asked, it decides: `decidedVerdict` gives the verdict that counts. What execution match says is kept
 *    beside it, so a comparison has both, and how far they agree.
 * 4. Calls, tokens, cost and time are means over the answers that ended by themselves, right or not.
 */
import * as z from 'zod';
import type { ResultLine } from './result-line';
import { JUDGE_MODES } from '../domain/judge-modes';
import { groupBy } from '../group-by';
import { OUTCOMES, POINTS, type Outcome, type Verdict } from './verdict';
import { Agreement, agreementOf, estimate, Estimate } from './statistics';

const Estimates = z.object({
  accuracy: Estimate.nullable(),
  calls: Estimate.nullable(),
  promptTokens: Estimate.nullable(),
  completionTokens: Estimate.nullable(),
  costUsd: Estimate.nullable(),
  wallMs: Estimate.nullable(),
});
export type Estimates = Readonly<z.infer<typeof Estimates>>;

export const ComparedMethod = z.object({
  method: z.string().describe('with its settings'),
  models: z.record(z.string(), z.string()),
  right: z.number().int().describe('answers that match the gold, and right declines'),
  wrong: z.number().int(),
  declined: z.number().int().describe('no answer although there is one'),
  failed: z.number().int().describe('infrastructure failures: in no score'),
  notScored: z.number().int().describe('without gold, cancelled, or not decided: in no score'),
  missing: z.number().int().describe('not ended yet'),
  perQuestion: Estimates,
  proved: z.number().nullable().describe('mean share of what the answers assume that is proved'),
  difference: Estimates.nullable().describe('to the first method, paired by question; null: it is the first'),
  failures: z.record(z.string(), z.number()).describe('reasons of the infrastructure failures, with how many'),
  judged: z
    .object({
      right: z.number().int(),
      wrong: z.number().int(),
      declined: z.number().int(),
      apart: z.number().int().describe('failed, not judged, or not decided: in no score'),
      accuracy: Estimate.nullable(),
      difference: Estimate.nullable().describe(
        'of accuracy to the first method, paired by question; null: it is the first',
      ),
      agreement: Agreement.describe('with the verdicts of execution match, where both decided'),
    })
    .optional()
    .describe('the same by the judge; left out: none was asked for'),
});
export type ComparedMethod = Readonly<z.infer<typeof ComparedMethod>>;

export type Entrant = Pick<ComparedMethod, 'method' | 'models'>;

/** A part of `docs/schemas/run.schema.json`. */
export const Comparison = z.object({
  file: z.string().describe('the file of questions'),
  questions: z.number().int(),
  seeds: z
    .number()
    .int()
    .describe('how often each method was asked each question; the most, where methods differ in it'),
  replayed: z.boolean().describe('the model was a recording: times are those of the replay'),
  resamples: z.number().int().describe('of the bootstrap behind every interval'),
  judge: z
    .object({ mode: z.enum(JUDGE_MODES), model: z.string(), version: z.number().int() })
    .optional()
    .describe('a model that judged each answer; left out: none was asked for'),
  methods: z.array(ComparedMethod),
});
export type Comparison = Readonly<z.infer<typeof Comparison>>;

/** `expected`: answers that a method gives once it has ended: questions times seeds. */
export function compareMethods(
  entrants: readonly Entrant[],
  answers: readonly ResultLine[],
  expected: (method: string) => number,
): ComparedMethod[] {
  const byMethod = groupBy(answers, ({ method }) => method);
  const [first] = entrants;
  const firstOwn = byMethod.get(first?.method ?? '') ?? [];
  const base = perQuestion(firstOwn);
  return entrants.map((entrant, at) => {
    const own = byMethod.get(entrant.method) ?? [];
    const values = perQuestion(own);
    const failed = own.filter(({ verdict }) => OUTCOMES[verdict] === 'failed');
    return {
      ...{ ...entrant, ...countsOf(own.map(({ verdict }) => OUTCOMES[verdict])) },
      missing: expected(entrant.method) - own.length,
      perQuestion: estimates((key) => [...values[key].values()]),
      proved: mean(own.flatMap(({ proved }) => proved ?? [])),
      difference: at === 0 ? null : estimates((key) => differences(values[key], base[key])),
      failures: Object.fromEntries(
        [...groupBy(failed, ({ verdictReason }) => verdictReason)].map(([reason, some]) => [reason, some.length]),
      ),
      ...judgedOf(own, at === 0 ? null : firstOwn),
    };
  });
}

/** `first`: answers of the first method; null: these are they. */
function judgedOf(answers: readonly ResultLine[], first: readonly ResultLine[] | null): Pick<ComparedMethod, 'judged'> {
  if (answers.every(({ judged }) => judged === undefined)) return {};
  const outcomes = answers.map((answer) => ({ judge: outcomeOf(answer), execution: OUTCOMES[answer.verdict] }));
  const { failed, notScored, ...counts } = countsOf(outcomes.map(({ judge }) => judge));
  const both = outcomes.filter(({ judge, execution }) => POINTS[judge] !== null && POINTS[execution] !== null);
  const pairs = both.map(({ judge, execution }) => ({ judge: judge === 'right', execution: execution === 'right' }));
  const pointsOf = (some: readonly ResultLine[]) => byQuestion(some, (answer) => POINTS[outcomeOf(answer)]);
  const points = pointsOf(answers);
  return {
    judged: {
      ...{ ...counts, apart: failed + notScored, accuracy: estimate([...points.values()]) },
      difference: first && estimate(differences(points, pointsOf(first))),
      agreement: agreementOf(pairs),
    },
  };
}

export function countsOf(outcomes: readonly Outcome[]) {
  const count = (outcome: Outcome): number => outcomes.filter((one) => one === outcome).length;
  return {
    ...{ right: count('right'), wrong: count('wrong'), declined: count('declined') },
    ...{ failed: count('failed'), notScored: count('not-scored') },
  };
}

/** The judge decides where one was asked, else execution. What it was not asked of is not decided. */
export function decidedVerdict(answer: ResultLine): Verdict {
  const { verdict, judged } = answer;
  if (judged === undefined) return verdict;
  return judged.verdict ?? (endedItself(answer) ? 'undecided' : verdict);
}

export const outcomeOf = (answer: ResultLine): Outcome => OUTCOMES[decidedVerdict(answer)];

type Key = keyof Estimates;
/** The mean over seeds, by question. */
type Values = Readonly<Record<Key, ReadonlyMap<string, number>>>;

function perQuestion(answers: readonly ResultLine[]): Values {
  const used = (measure: (answer: ResultLine) => number | null | undefined) =>
    byQuestion(answers, (answer) => (endedItself(answer) ? (measure(answer) ?? null) : null));
  return {
    accuracy: byQuestion(answers, ({ verdict }) => POINTS[OUTCOMES[verdict]]),
    calls: used(({ usage }) => usage?.llmCalls),
    promptTokens: used(({ usage }) => usage?.promptTokens),
    completionTokens: used(({ usage }) => usage?.completionTokens),
    costUsd: used(({ usage }) => usage?.costUsd),
    wallMs: used(({ wallMs }) => wallMs),
  };
}

/** Means over seeds. A question without a value is left out. */
function byQuestion(
  answers: readonly ResultLine[],
  value: (answer: ResultLine) => number | null,
): ReadonlyMap<string, number> {
  return new Map(
    [...groupBy(answers, ({ id }) => id)].flatMap(([id, some]): [string, number][] => {
      const found = mean(some.flatMap((answer) => value(answer) ?? []));
      return found === null ? [] : [[id, found]];
    }),
  );
}

export const endedItself = ({ verdict }: ResultLine): boolean =>
  verdict !== 'infrastructure' && verdict !== 'cancelled';

function estimates(values: (key: Key) => readonly number[]): Estimates {
  const of = (key: Key) => estimate(values(key));
  return {
    ...{ accuracy: of('accuracy'), calls: of('calls'), promptTokens: of('promptTokens') },
    ...{ completionTokens: of('completionTokens'), costUsd: of('costUsd'), wallMs: of('wallMs') },
  };
}

function differences(own: ReadonlyMap<string, number>, base: ReadonlyMap<string, number>): number[] {
  return [...own].flatMap(([id, value]) => {
    const other = base.get(id);
    return other === undefined ? [] : [value - other];
  });
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
