/**
 * Which trajectories may be selected at all (rule S7): open ones, and ones whose plan may only be revised. The root stays
 * open until it has had its share of plans; with nothing left, the search ends.
 */
import type { PlanView, Settings, Trajectory } from '../domain';
import { chooseTargets, isComplete, needsWork } from './plan-view';

export const ROOT = 't0';

/** Trajectories whose plan still counts: worked on, to be revised, or finished with a candidate. */
export const LIVE: readonly Trajectory['status'][] = ['open', 'replan', 'complete'];

export function selectable(archive: readonly Trajectory[]): readonly Trajectory[] {
  return archive.filter((trajectory) => trajectory.status === 'open' || trajectory.status === 'replan');
}

/** Plans made from nothing: revisions and reuses descend from one of these. */
export function plansOfRoot(archive: readonly Trajectory[]): readonly Trajectory[] {
  return archive.filter((trajectory) => trajectory.parent === ROOT);
}

/** The state of a trajectory that carries this plan after an expansion. */
export function statusOf(plan: PlanView, settings: Pick<Settings, 'proof'>): Trajectory['status'] {
  const targets = chooseTargets(plan, { breadth: 1, preferred: null, proof: settings.proof });
  if (targets.length > 0) return 'open';
  if (!isComplete(plan)) return 'replan';
  // Complete with only blocked doubts left: its candidate stands, and no further attempt would tell us more.
  return 'complete';
}

/** Open doubts of a plan: what evaluation falls back on when no model score is at hand. */
export function openWork(plan: PlanView, settings: Pick<Settings, 'proof'>): number {
  return plan.operators.filter((operator) => needsWork(operator, settings.proof)).length;
}
