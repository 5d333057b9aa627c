/** What is told of a running search, after every step that changes it. */
import type { PlanView, SearchState, Usage } from '../domain';
import { frontierOf, score } from './select-plan';
import { addUsage } from './state/budgets';
import type { ControlSettings } from './state/control-settings';

export interface Progress {
  readonly iteration: number;
  readonly iterations: number;
  readonly trajectories: number;
  readonly open: number;
  readonly bottleneck: string | null;
  /** The finding of the last judgement, in one sentence. */
  readonly learned: string | null;
  readonly candidates: number;
  readonly usage: Usage;
  readonly plan: readonly { readonly name: string; readonly state: string; readonly updateId: string | null }[];
  readonly frontier: readonly {
    readonly id: string;
    readonly score: number;
    readonly status: string;
    readonly bottleneck: string | null;
  }[];
}

/** `now`: what the step under way works on and has spent, which the state does not show yet. */
export function progressOf(
  state: SearchState,
  settings: ControlSettings,
  now: Pick<Progress, 'bottleneck' | 'learned'> & { readonly underWay: Usage; readonly plan: PlanView | null },
): Progress {
  const open = frontierOf(state, settings);
  const shown = [...state.trajectories].reverse().find((trajectory) => trajectory.plan !== null);
  const { operators } = now.plan ?? shown?.plan ?? { operators: [] };
  return {
    iteration: Math.min(state.iteration, settings.iterations),
    iterations: settings.iterations,
    trajectories: state.trajectories.length,
    open: open.length,
    bottleneck: now.bottleneck,
    learned: now.learned,
    candidates: state.candidates.length,
    usage: addUsage(state.usage, now.underWay),
    plan: operators.map(({ name, state: is, updateId }) => ({ name, state: is, updateId })),
    frontier: open.map((trajectory) => ({
      id: trajectory.id,
      score: score(trajectory, state.trajectories, settings),
      status: trajectory.status,
      bottleneck: trajectory.bottleneck,
    })),
  };
}
