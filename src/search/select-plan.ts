/**
 * Which trajectory to expand next (rule S6; Algorithm 1, SelectPlan). The model estimates; the exploration term is
 * arithmetic:  score = potential - b + p, lowest first. Without plan evaluation the distance, which is what execution alone
 * says, takes the place of the estimate.
 */
import type { PlanView, SearchState, Settings, Trajectory } from '../domain';
import { compareText } from '../domain/canonical';
import { ROOT } from '../domain/control-view';
import { hasBottleneck, isComplete, needsWork } from './plan-view';
import { derivations } from './candidate';

export const START_DISTANCE = 60;

/** Distance changes by outcome; the summariser's own delta replaces them when it gives one. */
export const DISTANCE = { usefulRows: -1.0, sqlError: 1.0, empty: 0.4, otherTool: -0.15 } as const;

/** Selections of a trajectory and its ancestors over its depth. */
export function density(trajectory: Trajectory, archive: readonly Trajectory[]): number {
  const selections = lineage(trajectory, archive).reduce((sum, each) => sum + each.selections, 0);
  return selections / Math.max(1, trajectory.depth);
}

/** The trajectory, its parent, and so on up to the root. */
export function lineage(trajectory: Trajectory, archive: readonly Trajectory[]): readonly Trajectory[] {
  const found: Trajectory[] = [];
  for (let at: Trajectory | undefined = trajectory; at !== undefined;) {
    found.push(at);
    const { parent }: Trajectory = at;
    at = archive.find(({ id }) => id === parent);
  }
  return found;
}

/** b, a bonus for trajectories that were rarely selected: falls from 3 to 1 over densities 0 to 1.5, then 0. */
export function freshness(densityValue: number): number {
  return densityValue <= 1.5 ? 3 - (2 * densityValue) / 1.5 : 0;
}

/** p, a penalty for trajectories that were often selected without coming closer. */
export function staleness(densityValue: number, trajectory: Trajectory): number {
  const fallen = trajectory.distanceAtSelection === null || trajectory.distance < trajectory.distanceAtSelection;
  return densityValue > 2.5 && !fallen ? Math.min(5, densityValue - 0.5) : 0;
}

type Scoring = Pick<Settings, 'exploration' | 'without'>;

export function score(
  trajectory: Trajectory,
  archive: readonly Trajectory[],
  { exploration, without }: Scoring,
): number {
  const estimate = without === 'plan-evaluation' ? trajectory.distance : trajectory.potential;
  if (exploration === 'model') return estimate;
  const value = density(trajectory, archive);
  return estimate - freshness(value) + staleness(value, trajectory);
}

/** Best first; ties by distance, depth, id. */
export function rankTrajectories(
  candidates: readonly Trajectory[],
  archive: readonly Trajectory[],
  scoring: Scoring,
): readonly Trajectory[] {
  return [...candidates].sort(
    (a, b) =>
      score(a, archive, scoring) - score(b, archive, scoring) ||
      a.distance - b.distance ||
      a.depth - b.depth ||
      compareText(a.id, b.id),
  );
}

/** The trajectories that may be expanded next, best first. */
export function frontierOf({ trajectories }: SearchState, settings: Settings): readonly Trajectory[] {
  return rankTrajectories(selectable(trajectories), trajectories, settings).slice(0, settings.frontier);
}

/** The best trajectory. Without plan selection: an arbitrary one, the same for the same search and iteration. */
export function selectPlan(state: SearchState, settings: Settings): Trajectory {
  const frontier = frontierOf(state, settings);
  const lot = ({ id }: Trajectory): number => mixed(`${id} ${state.iteration} ${state.searchId}`);
  const [best] =
    settings.without === 'plan-selection'
      ? [...frontier].sort((a, b) => lot(a) - lot(b) || compareText(a.id, b.id))
      : frontier;
  // A search without an open trajectory has ended (`stop.ts`).
  if (best === undefined) throw new Error('no trajectory is open');
  return best;
}

/** 32 bits of a text (FNV-1a, with the finalizer of MurmurHash3, without which similar texts give near numbers). */
function mixed(text: string): number {
  let bits = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * The root, as long as there are fewer derivations than `cMin`: a second derivation says more about open doubts than
 * further attempts on the first, and choosing it needs no evaluation. Not in method `paper`.
 */
export function secondDerivation(state: SearchState, settings: Settings): Trajectory | null {
  if (!settings.followOn || settings.without === 'plan-selection') return null;
  const made = derivations(state.candidates).length;
  if (made === 0 || made >= settings.cMin) return null;
  return selectable(state.trajectories).find(({ id }) => id === ROOT) ?? null;
}

/**
 * Which trajectories may be selected (rule S7): open ones, and ones whose plan may only be revised. The root stays open
 * until `maxPlans` plans were made from it. With nothing left to select, the search ends.
 */

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
