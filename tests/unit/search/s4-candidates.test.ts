import type { OperatorView, PlanView, SearchState } from '../../../src/domain';
import { runCandidates } from '../../../src/search/candidate';
import { initialState } from '../../../src/search/run';
import { rootTrajectory } from '../../../src/search/remember';
import { trajectoryOf, FakeSteps, operator, planOf } from '../../helpers/fake-steps';

const twoBodies = (planId: string, a: Partial<OperatorView>, b: Partial<OperatorView>) =>
  planOf(planId, [operator('op_a', { bodyId: 'a', ...a }), operator('op_b', { bodyId: 'b', ...b })]);
const guessed = twoBodies('p1', { risk: 0.6, assumptions: 1 }, { risk: 0.6, assumptions: 1 });
const proved = twoBodies('p1', { updateId: 'u1' }, { risk: 0.6, assumptions: 1 });
/** The same SQL under other intents, which the proof does not fit, by a planner that doubts it less. */
const elsewhere = twoBodies('p2', { intent: 'x', risk: 0.1 }, { intent: 'y', risk: 0.3 });

const trajectory = (id: string, plan: PlanView) =>
  trajectoryOf(id, { depth: 1, status: 'complete', via: 'plan', plan });

async function run(plans: readonly PlanView[], from: SearchState = initialState('s', 0)): Promise<SearchState> {
  const trajectories = [rootTrajectory(), ...plans.map((plan, index) => trajectory(`t${index + 1}`, plan))];
  return runCandidates({ ...from, trajectories }, new FakeSteps({}), () => true);
}

describe('rule S4: a candidate whose derivation is met again', () => {
  test('is updated in place when one of its assumptions is proved, or doubted less', async () => {
    const first = await run([guessed]);
    expect(first.candidates).toMatchObject([{ openRisk: 0.6, bodies: [{ updateId: null }, { updateId: null }] }]);
    const then = await run([guessed, proved], first);
    expect(then.candidates).toMatchObject([
      { id: 'c1', trajectory: 't2', bodies: [{ updateId: 'u1', counts: false }, {}] },
    ]);
    expect((await run([guessed, elsewhere], first)).candidates).toMatchObject([{ openRisk: 0.3, trajectory: 't2' }]);
  });

  test.each([
    ['before', [elsewhere, proved]],
    ['after', [proved, elsewhere]],
  ])('keeps its proof, whether less doubt without one comes %s it', async (_, plans) => {
    const { candidates } = await run(plans);
    expect(candidates).toMatchObject([{ bodies: [{ bodyId: 'a', updateId: 'u1' }, { bodyId: 'b' }], openRisk: 0.6 }]);
  });
});
