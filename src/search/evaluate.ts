import type { SearchState, Trajectory } from '../domain';
import { type Findings, type Tried, tryModel } from './findings';
import { density } from './select-plan';
import { planRef } from './plan-view';
import { counted } from '../counted';
import type { Evaluation, SearchSteps } from '../domain/ports/steps';

/** One model call scores the open trajectories (Algorithm 1, EvaluatePlans). */
export function evaluatePlans(
  steps: SearchSteps,
  { searchId, trajectories }: SearchState,
  open: readonly Trajectory[],
  position: string,
  findings: Findings,
): Promise<Tried<Evaluation> | null> {
  return tryModel<Evaluation>(findings, (thisTry) =>
    steps.evaluate(
      {
        role: 'evaluate',
        searchId,
        position,
        ...thisTry,
        trajectories: open.map((trajectory) => ({
          id: trajectory.id,
          depth: trajectory.depth,
          plan: trajectory.plan === null ? null : planRef(trajectory.plan),
          distance: trajectory.distance,
          density: density(trajectory, trajectories),
          attempts: trajectory.attempts,
        })),
      },
      { label: `compare ${counted(open.length, 'trajectory', 'trajectories')}` },
    ),
  );
}

export function withScores(state: SearchState, { scores }: Evaluation): SearchState {
  const byId = new Map(scores.map((item) => [item.trajectory, item]));
  const trajectories = state.trajectories.map((trajectory) => {
    const scored = byId.get(trajectory.id);
    if (scored === undefined) return trajectory;
    return { ...trajectory, progress: scored.progress, potential: scored.potential, bottleneck: scored.bottleneck };
  });
  return { ...state, trajectories };
}
