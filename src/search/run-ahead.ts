/**
 * A step that control will most likely ask for next runs in the same round trip as the step before it (design D3): the probe
 * or the candidate run after a `check` (`plan.ts`), the candidate run after a `settle` (`settle.ts`). The step before is
 * charged for both. When control then asks for exactly this step, its output is there.
 */
import type { PlanView, Settings } from '../domain';
import { canonical } from '../domain/canonical';
import type { CandidateInput, CandidateRun, FollowUp, Probed, ProbeInput } from '../ports/search-steps';
import { hasBottleneck } from './bottleneck';
import { isComplete } from './state/plan-view';

export interface RanAhead {
  readonly input: FollowUp;
  readonly output: Probed | CandidateRun;
}

/** Null if no step was asked to run ahead, or if it did not run. */
export function takeAhead(input: FollowUp | null, { next }: { readonly next?: RanAhead['output'] }): RanAhead | null {
  return input === null || next === undefined ? null : { input, output: next };
}

/** The output of the step that ran ahead, if it has exactly this input. */
export function ranAhead(ahead: RanAhead | null | undefined, input: ProbeInput): Probed | null;
export function ranAhead(ahead: RanAhead | null | undefined, input: CandidateInput): CandidateRun | null;
export function ranAhead(ahead: RanAhead | null | undefined, input: FollowUp): RanAhead['output'] | null {
  return ahead && canonical(ahead.input) === canonical(input) ? ahead.output : null;
}

/** The run of a plan that has all its SQL and no doubt worth an attempt; else null. */
export function candidateAhead(plan: PlanView, { settings, candidateOf }: CandidateAhead): CandidateInput | null {
  return isComplete(plan) && !hasBottleneck(plan, settings.proof) ? candidateOf(plan) : null;
}

interface CandidateAhead {
  readonly settings: Pick<Settings, 'proof'>;
  readonly candidateOf: (plan: PlanView) => CandidateInput | null;
}
