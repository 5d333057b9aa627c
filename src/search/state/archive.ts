/**
 * Keeps the state of a long search small. Checkpoints and continue-as-new carry it through hundreds of iterations, so it
 * holds only what may still be worked on. What is dropped is still in earlier checkpoints.
 *
 * 1. At most `KEPT` trajectories carry a plan: ended ones lose theirs first, oldest first, then open ones by rank.
 * 2. A trajectory without a plan stays while it is an ancestor of one with a plan: density counts ancestors (rule S6).
 * 3. What rules still read is always kept: reasons of unanswerable replies, remarks of people, active candidates.
 */
import type { SearchEvent, SearchState, Trajectory } from '../../domain';
import { ROOT } from '../../domain/control-view';
import { rankTrajectories } from '../select-plan';

export const KEPT = 64;
const KEPT_EVENTS = 200;
/** How many evidence ids a trajectory keeps for prompts, newest last. */
const KEPT_EVIDENCE = 40;

/** A new id. Ids are never reused, even after trajectories were dropped. */
export function nextTrajectory(state: SearchState, index = 0): string {
  const newest = Math.max(...state.trajectories.map(({ id }) => Number(id.slice(1))));
  return `t${newest + 1 + index}`;
}

export function newestEvidence(attempts: readonly string[]): string[] {
  return attempts.slice(-KEPT_EVIDENCE);
}

export function compactArchive(state: SearchState): SearchState {
  const withPlan = state.trajectories.filter(({ plan }) => plan !== null);
  if (withPlan.length <= KEPT && state.events.length <= KEPT_EVENTS) return state;
  const lost = new Set(losers(withPlan, state).slice(0, Math.max(0, withPlan.length - KEPT)));
  const trajectories = state.trajectories.map((t) => (lost.has(t.id) ? withoutPlan(t) : t));
  return { ...state, trajectories: withAncestors(trajectories), events: newestEvents(state.events) };
}

/** Trajectories in the order in which they lose their plans. */
function losers(withPlan: readonly Trajectory[], state: SearchState): string[] {
  const answered = new Set(state.candidates.filter(({ status }) => status === 'active').map((c) => c.trajectory));
  const isOpen = (t: Trajectory) => t.status === 'open' || t.status === 'replan';
  const ended = withPlan.filter((t) => !isOpen(t) && !answered.has(t.id));
  const open = rankTrajectories(withPlan.filter(isOpen), state.trajectories, { exploration: 'code' });
  const rest = withPlan.filter((t) => !isOpen(t) && answered.has(t.id));
  return [...ended, ...[...open].reverse(), ...rest].map(({ id }) => id);
}

function withoutPlan(trajectory: Trajectory): Trajectory {
  const isOpen = trajectory.status === 'open' || trajectory.status === 'replan';
  return { ...trajectory, plan: null, attempts: [], status: isOpen ? 'exhausted' : trajectory.status };
}

function withAncestors(trajectories: readonly Trajectory[]): Trajectory[] {
  const byId = new Map(trajectories.map((t) => [t.id, t]));
  const needed = new Set([ROOT]);
  for (const trajectory of trajectories) {
    let at = trajectory.plan === null ? undefined : trajectory;
    while (at !== undefined && !needed.has(at.id)) {
      needed.add(at.id);
      at = at.parent === null ? undefined : byId.get(at.parent);
    }
  }
  return trajectories.filter(({ id }) => needed.has(id));
}

function newestEvents(events: readonly SearchEvent[]): SearchEvent[] {
  const isRead = ({ kind }: SearchEvent) => kind === 'unanswerable' || kind === 'steered';
  const cut = Math.max(0, events.length - KEPT_EVENTS);
  return events.filter((event, at) => at >= cut || isRead(event));
}
