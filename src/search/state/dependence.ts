/**
 * Dependence (rule S10): updates, facts and candidates list what they rest on; a refutation or a veto is an appended
 * event that withdraws all dependents. Nothing is deleted.
 */
import type { SearchState, Trajectory, UpdateView } from '../../domain';
import { removeBody } from '../remember/update';

/** Withdraws an update, a fact or an assumed body and, to a fixed point, everything that rests on it. */
export function withdraw(state: SearchState, id: string, reason: string): SearchState {
  const gone = dependentsOf(state, id);
  const next = marked(state, gone, (subject) => (subject === id ? reason : `rested on ${id}`));
  return { ...next, trajectories: next.trajectories.map((trajectory) => reopen(trajectory, gone, state.updates)) };
}

/**
 * Withdraws updates and facts that were established over an assumed body which has lost to a proof since. As long as a plan
 * that counts uses one of them, all of them stay: the plan adopts the proof when it is next expanded or merged.
 */
export function withdrawOver(state: SearchState, bodies: ReadonlySet<string>): SearchState {
  const entries = [...state.updates, ...state.facts].filter(({ status }) => status === 'active');
  const lost = [...bodies].filter((body) => entries.some(({ dependsOn }) => dependsOn.includes(body)));
  return lost.reduce((at, body) => {
    const gone = new Set([...dependentsOf(at, body)].filter((id) => id !== body));
    if (at.trajectories.some((trajectory) => uses(trajectory, gone))) return at;
    return marked(at, gone, () => `rested on ${body}, and another reading was proved`);
  }, state);
}

/** Marks the updates and facts in `gone`, and candidates that use them, as withdrawn; an event for each id says why. */
function marked(state: SearchState, gone: ReadonlySet<string>, why: (id: string) => string): SearchState {
  const mark = <T extends { readonly id: string }>(entry: T) =>
    gone.has(entry.id) ? { ...entry, status: 'withdrawn' as const } : entry;
  const events = [...gone].map((subject) => ({
    ...{ iteration: state.iteration, kind: 'update-withdrawn' as const, subject },
    detail: why(subject),
  }));
  return {
    ...state,
    updates: state.updates.map(mark),
    facts: state.facts.map(mark),
    candidates: state.candidates.map((candidate) =>
      candidate.bodies.some((body) => gone.has(body.updateId ?? body.bodyId))
        ? { ...candidate, status: 'withdrawn' as const }
        : candidate,
    ),
    events: [...state.events, ...events],
  };
}

/** Whether the plan of a trajectory still counts: not if it was merged or found impossible. */
export const counts = ({ status }: Pick<Trajectory, 'status'>): boolean =>
  status !== 'merged' && status !== 'impossible';

function uses(trajectory: Trajectory, ids: ReadonlySet<string>): boolean {
  if (!counts(trajectory)) return false;
  return trajectory.plan?.operators.some(({ updateId }) => updateId !== null && ids.has(updateId)) === true;
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

/** Removes bodies one by one, so that proofs over them and immaterial readings beside them are checked again each time. */
function reopen(trajectory: Trajectory, gone: ReadonlySet<string>, updates: readonly UpdateView[]): Trajectory {
  const lost = (trajectory.plan?.operators ?? []).filter((o) => gone.has(o.updateId ?? o.bodyId ?? ''));
  if (trajectory.plan === null || lost.length === 0) return trajectory;
  const names = new Set(lost.map((operator) => operator.name));
  const without = lost.reduce((plan, operator) => removeBody(plan, operator.name, updates), trajectory.plan);
  const operators = without.operators.map((o) => (names.has(o.name) ? { ...o, barren: 0 } : o));
  const reopens = trajectory.status === 'complete' || trajectory.status === 'replan';
  return { ...trajectory, status: reopens ? 'open' : trajectory.status, plan: { ...without, operators } };
}
