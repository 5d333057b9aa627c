/**
 * A laboratory is what `gate-bench compare` adds to a run: sets of questions of public benchmarks with their official scorers, a judge, and the
 * audit of updates. `gate` runs files of questions alone, and is given none.
 */
import type { BenchmarkItem, BoardScore, Comparison, Metrics } from '../questions';
import type { RunSet, Table } from '../report/run';
import type { JudgeMode } from '../domain/judge-modes';
import type { Scorer } from './batch-results';
import type { Comparing } from './compare-arms';
import type { Io } from './io';
import type { Ran } from './run-arms';
import type { RunQuestions } from './run-config';
import type { Services } from '../app/services';

/** A set of questions with rules of its own. */
export interface Board {
  readonly items: readonly BenchmarkItem[];
  readonly benchmark: NonNullable<RunSet['benchmark']>;
  /** Gaps of its data, a line for each. */
  readonly remarks: readonly string[];
  /** `given` as `--db` takes them, and those that its folder holds. */
  databases(items: readonly BenchmarkItem[], given: readonly string[]): readonly string[];
  /** The documentation of the question's database; null: there is none. */
  docs(item: BenchmarkItem): string | null;
  readonly score: Scorer;
  metrics(scores: ReadonlyMap<string, BoardScore>): Metrics;
}

export type JudgedRun = Pick<Ran, 'answers'> &
  Required<Pick<Comparison, 'judge'>> & { readonly isInterrupted: boolean; readonly paidUsd: number };

export interface AuditedRun {
  /** The audit as JSON. */
  readonly audit: Readonly<Record<string, unknown>>;
  readonly table: Omit<Table, 'title'>;
  readonly interrupted: boolean;
  readonly paidUsd: number;
}

export interface Laboratory {
  /** Names that the key `benchmark` of a set may have. */
  readonly benchmarks: readonly string[];
  /** `base`: where relative paths begin. */
  board(entry: RunQuestions, base: string, hiddenKnowledge: boolean): Promise<Board>;
  /** Throws before anything is asked where there is neither a model that judges nor a recording of one. */
  checkJudge(at: Comparing): Promise<void>;
  judged(at: Comparing, mode: JudgeMode, ran: Ran): Promise<JudgedRun>;
  /** `judge` null: updates are counted alone. */
  audited(
    services: Services,
    searches: readonly string[],
    judge: { readonly model: string; readonly maxCost: number | 'none' } | null,
    io: Io,
  ): Promise<AuditedRun>;
}
