/** One measured figure, with the target it is held against and what was done to get it. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The most it may be; null where there is no target. */
  readonly atMost: number | null;
  /** The least it may be. */
  readonly atLeast?: number;
  readonly how: string;
  /** Of a comparison: whose figure it is, and how many times that of GATE. */
  readonly contestant?: string;
  readonly ratio?: number | null;
  /** Of a comparison: which direction is the better one; default `lower`. */
  readonly better?: 'lower' | 'higher';
}

/** The last line of a figure's process is its figures as JSON. */
export function printFigures(measured: Promise<readonly Figure[]>): void {
  measured
    .then((figures) => console.log(JSON.stringify(figures)))
    .catch((error: unknown) => {
      console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
      process.exitCode = 1;
    })
    .finally(() => setTimeout(() => process.exit(), 100));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function isMet({ value, atMost, atLeast }: Figure): boolean {
  return (atMost === null || value <= atMost) && (atLeast === undefined || value >= atLeast);
}

/** `-- --short`: fewer repeats, for a quick look. */
export const SHORT = process.argv.includes('--short');

export function say(line: string): void {
  console.error(`  ${line}`);
}
