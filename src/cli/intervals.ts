/** Intervals as a user writes them: `30m`, `1h`, `1d`, `1w`. */
import { InvalidArgumentError } from 'commander';

/** Longest first. */
const UNITS = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;
const LONGEST_MS = 53 * 604_800_000;

/** In milliseconds. */
export function interval(text: string): number {
  const [, digits, wanted] = /^([1-9]\d{0,5})([mhdw])$/.exec(text) ?? [];
  const size = UNITS.find(([unit]) => unit === wanted)?.[1] ?? NaN;
  const ms = Number(digits) * size;
  if (!(ms <= LONGEST_MS))
    throw new InvalidArgumentError('give whole minutes, hours, days or weeks up to a year, such as 30m, 1h, 1d or 1w');
  return ms;
}

export function intervalText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['m', 60_000];
  return `${Math.round(ms / size)}${unit}`;
}
