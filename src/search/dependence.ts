/**
 * Dependence (rule S10): updates, facts and candidates list what they rest on; a refutation or a veto is an appended
 * event that withdraws all dependents. Nothing is deleted.
 */
import type { SearchState } from '../domain';

/** Withdraws an update or a fact and, to a fixed point, everything that rests on it. */
export function withdraw(state: SearchState, id: string, reason: string): SearchState {
  const gone = dependentsOf(state, id);
  const withdrawn = [...gone].map((subject) => ({
    iteration: state.iteration,
    kind: 'update-withdrawn' as const,
    subject,
    detail: subject === id ? reason : `rested on ${id}`,
  }));
  return {
    ...state,
    updates: state.updates.map((u) => (gone.has(u.id) ? { ...u, status: 'withdrawn' as const } : u)),
    facts: state.facts.map((f) => (gone.has(f.id) ? { ...f, status: 'withdrawn' as const } : f)),
    candidates: state.candidates.map((candidate) =>
      candidate.bodies.some((body) => body.updateId !== null && gone.has(body.updateId))
        ? { ...candidate, status: 'withdrawn' as const }
        : candidate,
    ),
    trajectories: state.trajectories.map((trajectory) =>
      trajectory.plan === null
        ? trajectory
        : {
            ...trajectory,
            status: reopened(
              trajectory.status,
              trajectory.plan.operators.some((o) => o.updateId !== null && gone.has(o.updateId)),
            ),
            plan: {
              ...trajectory.plan,
              operators: trajectory.plan.operators.map((operator) =>
                operator.updateId !== null && gone.has(operator.updateId)
                  ? { ...operator, state: 'unresolved' as const, bodyId: null, updateId: null, risk: 1, barren: 0 }
                  : operator,
              ),
            },
          },
    ),
    events: [...state.events, ...withdrawn],
  };
}

/** The id itself and everything active that depends on it, directly or not. */
export function dependentsOf(state: SearchState, id: string): ReadonlySet<string> {
  const gone = new Set([id]);
  const entries = [...state.updates, ...state.facts].filter((entry) => entry.status === 'active');
  for (let grown = true; grown;) {
    grown = false;
    for (const entry of entries) {
      if (!gone.has(entry.id) && entry.dependsOn.some((dependency) => gone.has(dependency))) {
        gone.add(entry.id);
        grown = true;
      }
    }
  }
  return gone;
}

function reopened<T extends string>(status: T, affected: boolean): T | 'open' {
  return affected && status === 'complete' ? 'open' : status;
}
