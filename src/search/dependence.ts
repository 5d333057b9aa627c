/**
 * Dependence (rule S10): updates, facts and candidates list what they rest on; a refutation or a veto is an appended
 * event that withdraws all dependents. Nothing is deleted.
 */
import type { SearchState, Trajectory, UpdateView } from '../domain';
import { removeBody } from './apply';

/** Withdraws an update, a fact or an assumed body and, to a fixed point, everything that rests on it. */
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
      candidate.bodies.some((body) => gone.has(body.updateId ?? body.bodyId))
        ? { ...candidate, status: 'withdrawn' as const }
        : candidate,
    ),
    trajectories: state.trajectories.map((trajectory) => reopen(trajectory, gone, state.updates)),
    events: [...state.events, ...withdrawn],
  };
}

/**
 * Withdraws what was established over bodies that were assumed then and have lost to a proof since, once no plan that counts
 * uses any of it: one that does takes the proof up when it is next expanded or merged, and what stands above it falls then.
 */
export function withdrawOver(state: SearchState, bodies: ReadonlySet<string>): SearchState {
  const entries = [...state.updates, ...state.facts].filter(({ status }) => status === 'active');
  const lost = [...bodies].filter((body) => entries.some(({ dependsOn }) => dependsOn.includes(body)));
  return lost.reduce((at, body) => {
    const gone = new Set([...dependentsOf(at, body)].filter((id) => id !== body));
    if (at.trajectories.some((trajectory) => uses(trajectory, gone))) return at;
    const rests = ({ bodies: all }: SearchState['candidates'][number]) => all.some((b) => gone.has(b.updateId ?? ''));
    return {
      ...at,
      updates: at.updates.map((u) => (gone.has(u.id) ? { ...u, status: 'withdrawn' as const } : u)),
      facts: at.facts.map((f) => (gone.has(f.id) ? { ...f, status: 'withdrawn' as const } : f)),
      candidates: at.candidates.map((c) => (rests(c) ? { ...c, status: 'withdrawn' as const } : c)),
      events: [
        ...at.events,
        ...[...gone].map((subject) => ({
          ...{ iteration: at.iteration, kind: 'update-withdrawn' as const, subject },
          detail: `rested on ${body}, and another reading was proved`,
        })),
      ],
    };
  }, state);
}

function uses({ status, plan }: Trajectory, ids: ReadonlySet<string>): boolean {
  if (status === 'merged' || status === 'impossible') return false;
  return plan?.operators.some(({ updateId }) => updateId !== null && ids.has(updateId)) === true;
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

/** Bodies are taken away one by one, so that what was proved over them and what was immaterial beside them is rechecked. */
function reopen(trajectory: Trajectory, gone: ReadonlySet<string>, updates: readonly UpdateView[]): Trajectory {
  const lost = (trajectory.plan?.operators ?? []).filter((o) => gone.has(o.updateId ?? o.bodyId ?? ''));
  if (trajectory.plan === null || lost.length === 0) return trajectory;
  const names = new Set(lost.map((operator) => operator.name));
  const without = lost.reduce((plan, operator) => removeBody(plan, operator.name, updates), trajectory.plan);
  const operators = without.operators.map((o) => (names.has(o.name) ? { ...o, barren: 0 } : o));
  const reopens = trajectory.status === 'complete' || trajectory.status === 'replan';
  return { ...trajectory, status: reopens ? 'open' : trajectory.status, plan: { ...without, operators } };
}
