/** The figures of a comparison as text: the same in a terminal and on a page. */
import type { ComparedMethod, Estimate } from '../benchmarks';

/** `62.0 % [50.1, 73.4]`. */
export function accuracyText(accuracy: Estimate | null): string {
  if (accuracy === null) return '';
  const { value, low, high } = accuracy;
  return `${percentage(value)} % [${percentage(low)}, ${percentage(high)}]`;
}

/** `+4.0 [-2.0, +10.1]`, in percentage points unless `scale` is given; empty: there is none. */
export function differenceText(difference: Estimate | null, scale = 100): string {
  if (difference === null) return '';
  const { value, low, high } = difference;
  return `${signed(scale * value)} [${signed(scale * low)}, ${signed(scale * high)}]`;
}

export function shareText(share: number | null): string {
  return share === null ? '' : `${Math.round(100 * share)} %`;
}

/** What a judge found of a method, column by column. */
export const JUDGED: readonly (readonly [
  string,
  (judged: NonNullable<ComparedMethod['judged']>) => string | number,
])[] = [
  ['right', ({ right }) => right],
  ['wrong', ({ wrong }) => wrong],
  ['declined', ({ declined }) => declined],
  ['apart', ({ apart }) => apart],
  ['accuracy', ({ accuracy }) => accuracyText(accuracy)],
  ['agrees with execution', ({ agreement: { share, compared } }) => `${shareText(share)} of ${compared}`],
  ['kappa', ({ agreement: { kappa } }) => kappa?.toFixed(2) ?? ''],
];

const percentage = (value: number): string => (100 * value).toFixed(1);

function signed(value: number): string {
  const text = value.toFixed(1);
  return Number(text) === 0 ? '0.0' : value > 0 ? `+${text}` : text;
}
