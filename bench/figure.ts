/**
 * What the benches have in common. Each runs in a process of its own (`main.ts`), and its figures leave it as they come, a line
 * of JSON each, so that what was measured is kept whatever happens after it.
 */
import { basename } from 'node:path';

/** One measured figure, with the target it is held against and what was done to get it. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The most and the least it may be. */
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly how: string;
  /** Of a comparison: whose figure it is, and how many times that of GATE. */
  readonly contestant?: string;
  readonly ratio?: number | null;
  /** Of a comparison: which direction is the better one; default `lower`. */
  readonly better?: 'lower' | 'higher';
  /** Why it could not be measured; then it has no value. */
  readonly failed?: string;
}

/** A bench gives figures on its way with `give`, and the last ones as its result. */
export function bench(measure: () => Promise<readonly Figure[]>): void {
  // A signal lets what stops servers at the exit of this process do so.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      say(`stopped by ${signal}`);
      process.exit(1);
    });
  void attempt(basename(process.argv[1] ?? '', '.js'), measure).then(() => setTimeout(() => process.exit(), 100));
}

/**
 * A part of a bench: if it fails, a figure says so, and the bench goes on. `--only TEXT` runs the parts whose names have the
 * text in them.
 */
export async function part(name: string, measure: () => Promise<readonly Figure[]>): Promise<void> {
  if (ONLY === undefined || name.includes(ONLY)) await attempt(name, measure);
}

export function give(...figures: readonly Figure[]): void {
  for (const figure of figures) process.stdout.write(`${FIGURE}${JSON.stringify(figure)}\n`);
}

async function attempt(name: string, measure: () => Promise<readonly Figure[]>): Promise<void> {
  try {
    give(...(await measure()));
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    give(failure(name, error));
    process.exitCode = 1;
  }
}

export function failure(name: string, error: unknown): Figure {
  const [failed = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return { name, value: Number.NaN, unit: '', how: '', failed };
}

/** How a line with a figure begins. */
const FIGURE = 'figure ';

/** null: another line. A number that is none is null in JSON. */
export function figureIn(line: string): Figure | null {
  if (!line.startsWith(FIGURE)) return null;
  const figure = JSON.parse(line.slice(FIGURE.length)) as Omit<Figure, 'value'> & { readonly value: number | null };
  return { ...figure, value: figure.value ?? Number.NaN };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function isMet({ value, atMost, atLeast, failed }: Figure): boolean {
  if (failed !== undefined) return false;
  return !(atMost !== undefined && !(value <= atMost)) && !(atLeast !== undefined && !(value >= atLeast));
}

/** `-- --short`: fewer repeats, for a quick look. */
export const SHORT = process.argv.includes('--short');
const ONLY = /^--only=(.*)$/m.exec(process.argv.join('\n'))?.[1];

export function say(line: string): void {
  console.error(`  ${line}`);
}
