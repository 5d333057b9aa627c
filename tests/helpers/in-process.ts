/** A question in this process: its children are nested runs. In a workflow they are workflows (`workflows/children.ts`). */
import { childRun } from '../../src/domain/ports/step-parts';
import type { SearchHooks, SearchOutcome, SearchStart } from '../../src/search/run';
import { keepAfter } from '../../src/search/keep-proved';
import { runMethod } from '../../src/methods';
import type { MethodSteps, StoredSteps } from '../../src/domain/ports/steps';

export async function runInProcess(start: SearchStart, steps: StoredSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  const ofChild: SearchHooks = {
    now: () => hooks.now(),
    stopRequested: () => (hooks.stopRequested() === null ? null : 'cancel'),
    onProgress: () => undefined,
  };
  const all: MethodSteps = {
    ...steps,
    async child(input) {
      const { searchId, settings, ended } = await steps.openChild(input);
      if (ended?.isConclusive) return childRun(ended.summary);
      try {
        const outcome = await runMethod({ searchId, settings, state: null }, all, ofChild);
        if (outcome.kind === 'finished') return childRun(outcome.summary);
        throw new Error(`${searchId} asked to be continued`);
      } catch (error) {
        const { ended: failed } = await steps.openChild(input);
        if (failed === null) throw error;
        return childRun(failed.summary);
      }
    },
  };
  const outcome = await runMethod(start, all, hooks);
  if (outcome.kind === 'finished' && outcome.keeping !== null) await keepAfter(outcome.keeping, start.settings, steps);
  return outcome;
}
