/**
 * Which trajectory to expand next (rule S6; paper, trajectory evaluation prompt). The model estimates; the exploration
 * term is arithmetic:  score = potential - b + p, lowest first.
 */
import type { Trajectory } from '../domain';
import { compareText } from '../domain/canonical';

export const START_DISTANCE = 60;

/** Distance changes by outcome; the summariser's own delta replaces them when it gives one. */
export const DISTANCE = { usefulRows: -1.0, sqlError: 1.0, empty: 0.4, otherTool: -0.15 } as const;

/** Selections of a trajectory and its ancestors over its depth. */
export function density(trajectory: Trajectory, archive: readonly Trajectory[]): number {
  let selections = 0;
  for (let at: Trajectory | undefined = trajectory; at !== undefined; at = parentOf(at, archive))
    selections += at.selections;
  return selections / Math.max(1, trajectory.depth);
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

export function score(trajectory: Trajectory, archive: readonly Trajectory[], exploration: 'code' | 'model'): number {
  if (exploration === 'model') return trajectory.potential;
  const value = density(trajectory, archive);
  return trajectory.potential - freshness(value) + staleness(value, trajectory);
}

/** Best first; ties by distance, depth, id. */
export function rankTrajectories(
  candidates: readonly Trajectory[],
  archive: readonly Trajectory[],
  exploration: 'code' | 'model',
): readonly Trajectory[] {
  return [...candidates].sort(
    (a, b) =>
      score(a, archive, exploration) - score(b, archive, exploration) ||
      a.distance - b.distance ||
      a.depth - b.depth ||
      compareText(a.id, b.id),
  );
}

function parentOf(trajectory: Trajectory, archive: readonly Trajectory[]): Trajectory | undefined {
  return archive.find((other) => other.id === trajectory.parent);
}
