/**
 * The port between the control loop and the contents (design D1). A step is one model call or one SQL round trip. It gets a
 * structural position, ids and scalars, loads the contents from the store, applies the pure functions, stores
 * new contents under ids derived from the position, and returns only what the control loop reads.
 *
 * 1. A step is idempotent: the same position gives the same ids, and a journalled model call is not paid again (D2).
 * 2. Failures that the search can learn from are values; only infrastructure errors are thrown (D5).
 * 3. Everything in and out is plain JSON and small: it becomes Temporal history (D3).
 */
import type { SearchState } from '../domain';
import type { AnswerStatus } from '../domain/answer';
import type { EndedBy } from '../domain/state';
import type { AdoptInput, AnswerSummary, ChildSteps } from './child-steps';
import type { ModelSteps } from './model-steps';
import type { CandidateRun, SqlSteps, WebInput, WebRun } from './sql-steps';
import type { StepOptions } from './step-parts';

export * from './child-steps';
export * from './model-steps';
export * from './sql-steps';
export type * from './step-parts';

export interface FinishInput {
  readonly searchId: string;
  readonly state: SearchState;
  readonly status: AnswerStatus;
  readonly endedBy: EndedBy;
  readonly chosen: string | null;
  readonly reason: string | null;
}

/** What came of the reading of what a search proved; its usage is that of the whole search. */
export interface AmendInput {
  readonly searchId: string;
  readonly usage: SearchState['usage'];
  /** Why nothing was kept; null: it was read. */
  readonly notKept: string | null;
}

export interface KeptAfter {
  readonly kept: number;
  readonly notKept: string | null;
}

/** `mayRetry`: the caller will try once more if a site does not answer. */
export interface WebOptions extends StepOptions {
  readonly mayRetry?: boolean;
}

export interface AllSteps extends ModelSteps, SqlSteps {
  web(input: WebInput, options?: WebOptions): Promise<WebRun>;
  checkpoint(state: SearchState, options?: StepOptions): Promise<void>;
  finish(input: FinishInput, options?: StepOptions): Promise<AnswerSummary>;
  /** Adds to the final record what was kept after it was written. */
  amend(input: AmendInput, options?: StepOptions): Promise<KeptAfter>;
  adopt(input: AdoptInput, options?: StepOptions): Promise<CandidateRun>;
}

/** With the one that the caller runs: as a workflow of its own, or within this process. */
export type MethodSteps = AllSteps & ChildSteps;

/** What every way of searching asks for. */
type Common = 'prepare' | 'web' | 'checkpoint' | 'finish';
type Judging = 'evaluate' | 'plan' | 'propose' | 'ground' | 'select';
type Keeping = 'keep' | 'recount' | 'restate' | 'amend';
/** The search (Algorithm 1). */
export type SearchSteps = Pick<AllSteps, Common | Judging | 'check' | 'probe' | 'settle' | 'candidate'>;
/** The conversation with which a search by `look-then-prove` begins. */
export type LookSteps = Pick<AllSteps, 'look' | 'queries' | 'commit'>;
/** Learning a database without a question. */
export type LearnSteps = Pick<AllSteps, Common | 'learn' | 'prove' | 'keep' | 'recount'>;
/** Keeping what was proved. */
export type KeepSteps = Pick<AllSteps, Keeping>;
/** The ReAct agent. */
export type ReactSteps = Pick<AllSteps, Common | 'react' | 'tool' | 'final'>;
/** An agent that may have helpers. */
export type RedelSteps = Pick<AllSteps, Common | 'redel' | 'tool' | 'final'> & ChildSteps;

/** The votes of `reforce-…`. */
export type ReforceSteps = Pick<
  AllSteps,
  | Common
  | ('reforce-link' | 'reforce-format' | 'reforce-explore' | 'reforce-generate' | 'reforce-choose' | 'reforce-answer')
  | ('compress' | 'explore' | 'refine' | 'agree')
>;
