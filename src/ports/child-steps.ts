/** A search that another one starts: it has an id, a history, a record and budgets of its own. */
import type { Question, SearchInput, Settings, Usage } from '../domain';
import type { AnswerRecord, Standing } from '../domain/answer';
import type { StepBase, StepOptions } from './step-parts';

/** The workflow's result. The full record is in the store under the search id (D3, D4). */
export type AnswerSummary = Pick<AnswerRecord, 'id' | 'status' | 'endedBy' | 'answer' | 'sql' | 'reason' | 'usage'> & {
  /** Absent: there is no answer. */
  readonly standing?: Standing;
  /** Short lines on what is proved and what is open; absent if there are none. */
  readonly proof?: readonly string[];
  /** Of an agent that may have helpers: its tool calls and theirs. */
  readonly toolCalls?: number;
  /** How much of it the semantic layer keeps; absent: nothing. */
  readonly kept?: number;
  /** What was proved is being read, to be kept, by a workflow of its own. Absent: no. */
  readonly keeping?: true;
};

/** What is left out is as the parent's. `settings.budgets`: what the parent hands down of its own. */
export interface ChildInput extends StepBase {
  readonly question?: Partial<Question>;
  readonly settings: Partial<Settings>;
  /** Added to the parent's seed. */
  readonly seedOffset?: number;
}

/** Its input is stored; the id follows from the parent's id and the position. */
export interface OpenedChild extends Pick<SearchInput, 'searchId' | 'settings'> {
  /** What it came to, if it has a final record. */
  readonly ended: { readonly summary: AnswerSummary; readonly isConclusive: boolean } | null;
}

/** Also of a child that failed, if it has a record: the parent is charged for it. */
export interface ChildRun {
  readonly id: string;
  readonly summary: AnswerSummary;
  readonly usage: Usage;
}

/** Takes over the answer of a child as a candidate. */
export interface AdoptInput extends StepBase {
  readonly child: string;
  readonly candidateId: string;
  /** Earlier candidates to compare the result with, oldest first (rule S5). */
  readonly against: readonly string[];
}

/** Stores the input of a child. */
export interface OpenChildStep {
  openChild(input: ChildInput, options?: StepOptions): Promise<OpenedChild>;
}

export interface ChildSteps {
  /** Runs it to its end. It is cancelled with its parent, and then ends with its best so far (D6). */
  child(input: ChildInput): Promise<ChildRun>;
}

export function childRun(summary: AnswerSummary): ChildRun {
  return { id: summary.id, summary, usage: summary.usage };
}
