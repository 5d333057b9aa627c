/**
 * A laboratory is what `gate-bench compare` adds to a run: sets of questions of public benchmarks with their official scorers, and a
 * judge. `gate` runs files of questions alone, and is given none.
 */
import type { AnswerRecord } from '../../domain';
import type { JudgeMode } from '../../domain/judge-modes';
import type { BenchmarkItem, BoardScore, Comparison, Metrics, ResultLine } from '../../questions';
import type { RunSet } from '../../report/run';
import type { Composition } from '../../workers/composition';
import type { Services } from '../services';
import type { Stopping } from './events';
import type { QuestionDatabases } from './question-databases';
import type { Scorer } from './results';
import type { RunQuestions } from './run-config';

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

/** What a laboratory may use of a run. */
export interface Bench {
  readonly services: Services;
  readonly now: () => number;
  readonly note: (line: string) => void;
  readonly stopping: Stopping;
}

export interface WantedJudge {
  readonly mode: JudgeMode;
  /** Left out: the configured judge, else the model that answers. */
  readonly model?: string;
}

export interface ToJudge {
  readonly judge: WantedJudge;
  /** The default model of the run, where it names one. */
  readonly model?: string;
  /** Opens the model of this part of a recording, or the one that all arms share. */
  readonly withComposition: <T>(scope: string, work: (composition: Composition) => Promise<T>) => Promise<T>;
  /** The recording that answers in place of a model. */
  readonly replay?: string;
}

export interface JudgeSet extends ToJudge {
  readonly items: readonly BenchmarkItem[];
  readonly databases: QuestionDatabases;
  readonly lines: readonly ResultLine[];
  readonly records: ReadonlyMap<string, AnswerRecord>;
  readonly maxCost: number | 'none';
}

export interface JudgedSet extends Required<Pick<Comparison, 'judge'>> {
  readonly lines: readonly ResultLine[];
  readonly interrupted: boolean;
  readonly paidUsd: number;
}

export interface Laboratory {
  /** Names that the key `benchmark` of a set may have. */
  readonly benchmarks: readonly string[];
  /** `base`: where relative paths begin. */
  board(entry: RunQuestions, base: string, hiddenKnowledge: boolean): Promise<Board>;
  /** Throws before anything is asked where there is neither a model that judges nor a recording of one. */
  checkJudge(bench: Bench, wanted: ToJudge): Promise<void>;
  judged(bench: Bench, set: JudgeSet): Promise<JudgedSet>;
}
