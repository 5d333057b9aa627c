/** Assumed readings that lose to a proof of the same operator (rule S10). */
import type { OperatorView, PlanView, SearchState } from '../../domain';
import { counts, withdrawOver } from '../state/dependence';
import { fittingUpdates } from './reuse';

/**
 * Withdraws everything that rests on an assumed body if a proof now gives the same operator another body: the reading has
 * lost (rule S10). Its plan continues with the proved body and can become a candidate of its own.
 */
export function withdrawRefuted(state: SearchState): SearchState {
  return withdrawOver(withdrawCandidates(state), refutedBodies(state));
}

function withdrawCandidates(state: SearchState): SearchState {
  const refuted = new Map<string, string>();
  for (const candidate of state.candidates) {
    const plan = state.trajectories.find((trajectory) => trajectory.id === candidate.trajectory)?.plan ?? null;
    const loser = plan === null ? undefined : refutedReading(plan, state);
    const counts = candidate.status === 'active' && candidate.bodies.some((body) => body.bodyId === loser?.bodyId);
    if (loser !== undefined && counts) refuted.set(candidate.id, loser.name);
  }
  return {
    ...state,
    candidates: state.candidates.map((c) => (refuted.has(c.id) ? { ...c, status: 'withdrawn' as const } : c)),
    events: [
      ...state.events,
      ...[...refuted].map(([subject, operator]) => ({
        iteration: state.iteration,
        kind: 'update-withdrawn' as const,
        subject,
        detail: `another reading of ${operator} was proved`,
      })),
    ],
  };
}

/** Assumed bodies that have lost, unless another plan still uses the same body for a reading that is not refuted. */
function refutedBodies(state: SearchState): ReadonlySet<string> {
  const [lost, kept] = [new Set<string>(), new Set<string>()];
  for (const trajectory of state.trajectories) {
    const { plan } = trajectory;
    for (const operator of plan?.operators ?? []) {
      if (plan === null || operator.bodyId === null) continue;
      if (isRefuted(plan, operator, state)) lost.add(operator.bodyId);
      else if (counts(trajectory)) kept.add(operator.bodyId);
    }
  }
  return new Set([...lost].filter((body) => !kept.has(body)));
}

/** An assumed body of the plan that has lost, if any. */
export function refutedReading(plan: PlanView, state: SearchState): OperatorView | undefined {
  return plan.operators.find((operator) => isRefuted(plan, operator, state));
}

/**
 * Whether the operator's assumed body has lost to a proof that the plan has not adopted yet. Beside a proof that was made
 * beside rivals with the same answer it may be one of them.
 */
function isRefuted(plan: PlanView, operator: OperatorView, { updates }: SearchState): boolean {
  const fits = operator.state === 'assumed' ? fittingUpdates(plan, operator, updates) : [];
  const proved = fits.filter(({ beside }) => beside === undefined);
  return proved.length > 0 && proved.every((update) => update.bodyId !== operator.bodyId);
}
