/**
 * Runs the step that the control loop will most likely ask for next, in the same round trip (design D3). Its output is
 * stored at its own position. Its cost is returned separately, because the current step is charged for it.
 */
import type { CandidateRun, FollowUp, Probed, UsageDelta } from '../../ports/search-steps';
import { candidate } from './candidate';
import type { StepContext } from '../shared/context';
import { probe } from './probe';

export interface RunAhead {
  readonly output: { readonly next: Probed | CandidateRun };
  readonly usage: UsageDelta;
}

export async function runAhead(context: StepContext, next: FollowUp | undefined): Promise<RunAhead | null> {
  if (next === undefined) return null;
  const at = { ...context, position: next.position };
  const { usage, ...output } = next.purpose === 'probe' ? await probe(at, next) : await candidate(at, next);
  return { output: { next: { ...output, usage: {} } }, usage };
}
