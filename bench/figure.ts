/** One measured figure, with the target it is held against and what was done to get it. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The most it may be; null where there is no target. */
  readonly atMost: number | null;
  readonly how: string;
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
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
