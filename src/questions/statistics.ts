/** Intervals of means over questions, and the agreement of two judges. */
import * as z from 'zod';
import { random } from '../random';

export const RESAMPLES = 10_000;
const CONFIDENCE = 0.95;
const SEED = 1;
/** Looked up once: a sum is made of a million draws. */
const { floor } = Math;

export const Estimate = z.object({
  value: z.number().describe('the mean over the questions'),
  low: z.number().describe('lower end of the 95 % bootstrap interval'),
  high: z.number().describe('upper end of the 95 % bootstrap interval'),
  questions: z.number().int().describe('how many questions it is made of'),
});
export type Estimate = z.infer<typeof Estimate>;

/**
 * The mean of per-question values with its percentile bootstrap interval: questions are drawn again with replacement, as often
 * as there are. Differences of two methods go in question by question, which makes the interval a paired one. Seeded: the same
 * values always give the same interval. Null: there are no values.
 */
export function estimate(values: readonly number[]): Estimate | null {
  const { length } = values;
  if (length === 0) return null;
  const draw = random(SEED);
  const means = Float64Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let drawn = 0; drawn < length; drawn += 1) sum += values[floor(draw() * length)] ?? 0;
    return sum / length;
  }).sort();
  const at = (share: number): number => means[Math.round(share * (RESAMPLES - 1))] ?? 0;
  const tail = (1 - CONFIDENCE) / 2;
  const value = values.reduce((sum, each) => sum + each, 0) / length;
  return { value, low: at(tail), high: at(1 - tail), questions: length };
}

/** The agreement of a judge with execution match, where both have decided: as a share, and beyond chance (Cohen's kappa). */
export const Agreement = z.object({
  compared: z.number().int(),
  bothRight: z.number().int(),
  bothWrong: z.number().int(),
  judgeRight: z.number().int().describe('by the judge alone'),
  executionRight: z.number().int().describe('by execution match alone'),
  share: z.number().nullable().describe('null: nothing was compared'),
  kappa: z
    .number()
    .nullable()
    .describe('1: always; 0: as often as by chance; null: nothing was compared, or both say the same of everything'),
});
export type Agreement = Readonly<z.infer<typeof Agreement>>;

export function agreementOf(pairs: readonly { readonly judge: boolean; readonly execution: boolean }[]): Agreement {
  const count = (judge: boolean, execution: boolean): number =>
    pairs.filter((pair) => pair.judge === judge && pair.execution === execution).length;
  const [bothRight, bothWrong] = [count(true, true), count(false, false)];
  const [judgeRight, executionRight] = [count(true, false), count(false, true)];
  const compared = pairs.length;
  const share = compared === 0 ? null : (bothRight + bothWrong) / compared;
  const [ofJudge, ofExecution] = [bothRight + judgeRight, bothRight + executionRight];
  const byChance = (ofJudge * ofExecution + (compared - ofJudge) * (compared - ofExecution)) / compared ** 2;
  const kappa = share === null || byChance === 1 ? null : (share - byChance) / (1 - byChance);
  return { compared, bothRight, bothWrong, judgeRight, executionRight, share, kappa };
}
