import type { PlanView, Trajectory, Usage } from '../domain';
import type { CandidateInput, PlanRef, SearchSteps } from '../ports/search-steps';
import type { FindingsContext } from './findings';

/** What an expansion reads: a fixed view of the search, so that nothing depends on which of several ends first (rule S11). */
export interface ExpansionContext extends FindingsContext {
  readonly searchId: string;
  readonly steps: SearchSteps;
  readonly trajectory: Trajectory;
  /** The start of the positions of all its steps: iteration and trajectory, numbered if it is expanded several times. */
  readonly position: string;
  /** For the root only: which of several plans made at the same time this is, from 1. */
  readonly variant: { readonly index: number; readonly of: number } | null;
  readonly otherPlans: readonly PlanRef[];
  /** Reasons of earlier replies that the question is unanswerable. */
  readonly unanswerable: readonly string[];
  /** Turns of the conversation that came before the search. */
  readonly looked: readonly string[];
  /** The candidate run of this plan, if it would certainly be the next one; else null. */
  candidateOf(plan: PlanView): CandidateInput | null;
  /** For the progress line; `usage` is what this expansion has spent so far, `plan` the one it works on. */
  report(bottleneck: string | null, learned: string | null, usage: Usage, plan: PlanView | null): void;
}
