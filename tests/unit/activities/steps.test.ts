import { MockActivityEnvironment } from '@temporalio/testing';
import { createStepActivities } from '../../../src/activities/steps';
import type { RemarkStep, StoredSteps } from '../../../src/domain/ports/steps';
import type { ModelCall, StepOptions } from '../../../src/domain/ports/step-parts';

/** Steps that do nothing, and how each was asked. */
function recorded() {
  const asked: (boolean | undefined)[] = [];
  const step = (_input: unknown, { holding }: StepOptions) => {
    asked.push(holding?.holdsAll);
    return Promise.resolve({});
  };
  const steps = { plan: step, probe: step } as unknown as StoredSteps & RemarkStep;
  return { asked, activities: createStepActivities(steps) };
}

test('what one set of steps holds, another one in the same process does not', async () => {
  const [own, other] = [recorded(), recorded()];
  const run = (work: () => Promise<{ readonly by: string }>) =>
    new MockActivityEnvironment().run<[], string, () => Promise<string>>(async () => (await work()).by);
  const at = { searchId: 'q', position: 'i1' };
  const call = { ...at, role: 'plan' } as ModelCall;
  const heldBy = await run(() => own.activities.callModel(call));
  expect(await run(() => own.activities.executeSql({ ...at, purpose: 'probe', heldBy }))).toBe(heldBy);
  expect(await run(() => other.activities.callModel({ ...call, heldBy }))).not.toBe(heldBy);
  expect([own.asked, other.asked]).toEqual([[false, true], [false]]);
});
