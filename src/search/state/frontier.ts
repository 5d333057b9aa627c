/**
 * Which trajectories may be selected (rule S7): open ones, and ones whose plan may only be revised. The root stays open
 * until `maxPlans` plans were made from it. With nothing left to select, the search ends.
 */
import type { PlanView, SearchState, Settings, Trajectory } from '../../domain';
import { ROOT } from '../../domain/control-view';
import { hasBottleneck } from '../bottleneck';
import { isComplete, needsWork } from './plan-view';

/** Trajectories whose plan still counts: worked on, to be revised, or finished with a candidate. */
export const LIVE: readonly Trajectory['status'][] = ['open', 'replan', 'complete'];

export function rootOf({ trajectories }: Pick<SearchState, 'trajectories'>): Trajectory {
  const root = trajectories.find(({ id }) => id === ROOT);
  if (root === undefined) throw new Error('the search has no root');
  return root;
}

export function selectable(archive: readonly Trajectory[]): readonly Trajectory[] {
  return archive.filter((trajectory) => trajectory.status === 'open' || trajectory.status === 'replan');
}

/** Plans made from nothing: revisions and reuses descend from one of these. */
export function plansOfRoot(archive: readonly Trajectory[]): readonly Trajectory[] {
  return archive.filter((trajectory) => trajectory.parent === ROOT);
}

/** The state of a trajectory that carries this plan after an expansion. */
export function statusOf(plan: PlanView, settings: Pick<Settings, 'proof'>): Trajectory['status'] {
  if (hasBottleneck(plan, settings.proof)) return 'open';
  if (!isComplete(plan)) return 'replan';
  // Complete, and its remaining doubts are blocked: its candidate stays, further attempts would not help.
  return 'complete';
}

/** The number of open doubts in a plan, used in place of a model score. */
export function openWork(plan: PlanView, settings: Pick<Settings, 'proof'>): number {
  return plan.operators.filter((operator) => needsWork(operator, settings.proof)).length;
}
