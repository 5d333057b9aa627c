/**
 * One public benchmark: how its folder is read, how its official scorer judges a prediction, and the file that it takes as
 * a submission. Rules are those of `source`, also where this project would judge otherwise.
 */
import type { SqlValue } from '../src/domain';
import type { SqlEngine, SqlOptions } from '../src/domain/ports';
import type { BenchmarkItem, BoardScore, Metrics } from '../src/questions';

export type { BoardScore, Metrics } from '../src/questions';

export interface Benchmark {
  readonly name: string;
  readonly title: string;
  /** The repository at a commit, or the file, whose rules these are. */
  readonly source: string;
  readonly licence: string;
  /** The first one is the default. */
  readonly splits: readonly string[];
  /** Throws `BenchmarkDataError` if the folder is incomplete. */
  open(folder: string, options: OpenOptions): Promise<OpenBenchmark>;
  readonly format: PredictionFormat;
}

export interface OpenOptions {
  readonly split?: string;
  /** Draws the questions of a split that is drawn. */
  readonly seed?: number;
  /** Shows the solver what the benchmark knows beside the question: another experiment. */
  readonly hiddenKnowledge?: boolean;
}

export interface OpenBenchmark {
  readonly items: readonly BenchmarkItem[];
  /** Gaps of the folder, and what cannot be scored here: a line for each, to be told before anything is spent. */
  readonly remarks?: readonly string[];
  /** The place where the question's database lies in the folder, as --db takes it; null: it has to be given with --db. */
  database(item: BenchmarkItem): string | null;
  /** SQL of this question is not run here, so it needs no database; left out: every question needs one. */
  isUnrun?(item: BenchmarkItem): boolean;
  /** The place where that database is documented in the folder, as --docs takes it; null or left out: nowhere. */
  docs?(item: BenchmarkItem): string | null;
  /** The official verdict on one prediction. Only the caller's abort is thrown. */
  score(id: string, prediction: Prediction, engine: SqlEngine, options: ScoreOptions): Promise<BoardScore>;
  /** The official figures over all; null: there is nothing to take it of. */
  metrics(scores: ReadonlyMap<string, BoardScore>): Metrics;
}

export interface ScoreOptions extends SqlOptions {
  /** The number of times that both queries run, by benchmarks that score time; left out: they are not timed. */
  readonly timings?: number;
}

export type Prediction =
  | { readonly kind: 'sql'; readonly statements: readonly string[] }
  | {
      readonly kind: 'rows';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly SqlValue[])[];
    }
  | { readonly kind: 'abstained' }
  /** The id is missing. */
  | { readonly kind: 'none' };

/** An entry of a predictions file: an answer in words too, which only a judge reads. */
export type Submitted = (Prediction & { readonly words?: string }) | { readonly kind: 'words'; readonly words: string };

export interface PredictionFormat {
  /** The name of its one file; null: it is a folder of files. */
  readonly file: string | null;
  /** Throws `BenchmarkDataError` with the line or the id, and what to change. */
  read(path: string, items: readonly BenchmarkItem[]): Promise<ReadonlyMap<string, Submitted>>;
  /** Writes the official file or folder; gives the paths it wrote. */
  write(
    to: string,
    items: readonly BenchmarkItem[],
    predictions: ReadonlyMap<string, Prediction>,
  ): Promise<readonly string[]>;
}

/** A benchmark's folder or a predictions file cannot be used. The message is one line: the file, what is wrong, what to do. */
export class BenchmarkDataError extends Error {
  readonly code = 'benchmark-data';
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'BenchmarkDataError';
  }
}
