import type { PlanView, SearchState, Trajectory, UpdateView, Usage } from '../domain';
import type { MemoryRef, PlanRef, SearchSteps } from '../ports/search-steps';
import { webOf, type Findings, type FindingsContext, type SearchNow } from './findings';
import { plansOfRoot } from './state/frontier';
import { planRef } from './state/plan-view';

/** What an expansion reads: a fixed view of the search (rule S11). */
export interface ExpansionContext extends FindingsContext {
  readonly searchId: string;
  readonly steps: SearchSteps;
  readonly trajectory: Trajectory;
  /** The start of the positions of all its steps: iteration and trajectory. */
  readonly position: string;
  readonly otherPlans: readonly PlanRef[];
  /** Reasons of earlier replies that the question is unanswerable. */
  readonly unanswerable: readonly string[];
  /** Turns of the conversation that came before the search. */
  readonly looked: readonly string[];
  /** For the progress line; `usage` is what this expansion has spent so far, `plan` the one it works on. */
  report(bottleneck: string | null, learned: string | null, usage: Usage, plan: PlanView | null): void;
}

/**
 * What a proposal and a judgement are told of earlier attempts on the bottleneck (paper, "Summarizing execution evidence").
 * Without it each attempt is a retry of its own.
 */
export function evidence(
  { settings, trajectory }: ExpansionContext,
  findings: Findings,
  memory: MemoryRef,
): { readonly memory: MemoryRef; readonly attempts: readonly string[] } {
  return settings.without === 'evidence-summary'
    ? { memory: { ...memory, facts: [] }, attempts: [] }
    : { memory, attempts: [...trajectory.attempts, ...findings.attempts] };
}

/** How many other plans a planner is shown, newest last. */
const SHOWN_PLANS = 8;

/** Of updates that no other plan may take over, those of its own plan. */
function knownUpdates(updates: readonly UpdateView[], { plan }: Trajectory): readonly UpdateView[] {
  const own = plan?.operators.map(({ updateId }) => updateId) ?? [];
  return updates.filter(({ id, reusable }) => reusable !== false || own.includes(id));
}

export function expansionContext(
  state: SearchState,
  trajectory: Trajectory,
  search: SearchNow & Pick<ExpansionContext, 'steps' | 'report'>,
): ExpansionContext {
  return {
    ...search,
    searchId: state.searchId,
    iteration: state.iteration,
    trajectory,
    trajectoryId: trajectory.id,
    position: `i${state.iteration}.${trajectory.id}`,
    updates: knownUpdates(state.updates, trajectory),
    facts: state.facts,
    otherPlans: plansOfRoot(state.trajectories)
      .flatMap(({ plan }) => (plan === null ? [] : [planRef(plan)]))
      .slice(-SHOWN_PLANS),
    unanswerable: state.events.filter(({ kind }) => kind === 'unanswerable').map(({ detail }) => detail),
    looked: state.looking?.turns ?? [],
    usageBefore: state.usage,
    ...webOf(state, search.settings),
  };
}
