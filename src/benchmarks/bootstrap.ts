/**
 * The mean of per-question values with its percentile bootstrap interval: questions are drawn again with replacement, as often
 * as there are. Differences of two methods go in question by question, which makes the interval a paired one. Seeded: the same
 * values always give the same interval.
 */
import { z } from 'zod';
import { random } from '../random';

export const RESAMPLES = 10_000;
export const CONFIDENCE = 0.95;
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

/** null: there are no values. */
export function estimate(values: readonly number[], resamples = RESAMPLES): Estimate | null {
  const { length } = values;
  if (length === 0) return null;
  const draw = random(SEED);
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let drawn = 0; drawn < length; drawn += 1) sum += values[floor(draw() * length)] ?? 0;
    return sum / length;
  }).sort();
  const at = (share: number): number => means[Math.round(share * (resamples - 1))] ?? 0;
  const tail = (1 - CONFIDENCE) / 2;
  const value = values.reduce((sum, each) => sum + each, 0) / length;
  return { value, low: at(tail), high: at(1 - tail), questions: length };
}
