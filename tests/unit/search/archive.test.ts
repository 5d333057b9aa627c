import { SearchState, type Settings } from '../../../src/domain';
import { compactArchive, KEPT, nextTrajectory, rootTrajectory } from '../../../src/search/remember';
import { runSearch } from '../../../src/search/search';
import { initialState } from '../../../src/search/run';
import { ROOT } from '../../../src/domain/control-view';
import { FakeSteps, operator, planOf, testHooks, testSettings } from '../../helpers/fake-steps';
import { randomWorld } from '../../helpers/random-world';

/** Settings under which nothing but the number of iterations ends a search. */
function endless(iterations: number, more: Partial<Settings> = {}): Settings {
  const unlimited = { cMin: 100_000, cMax: 100_000, maxPlans: 100_000 };
  return testSettings('fast', { ...unlimited, iterations, ...more });
}

async function long(world: number, settings: Settings) {
  const steps = new FakeSteps(randomWorld(world));
  await runSearch({ searchId: 's', settings, state: null }, steps, testHooks());
  return { steps, sizes: steps.states.map((state) => JSON.stringify(state).length) };
}

describe.each([1, 2])('a search of 300 iterations in world %i', (world) => {
  let steps: FakeSteps;
  let sizes: readonly number[];
  beforeAll(async () => {
    ({ steps, sizes } = await long(world, endless(300)));
  });

  test('holds a bounded state', () => {
    expect(steps.finished?.state.iteration).toBe(301);
    expect(steps.finished?.endedBy).toBe('iterations');
    const atHundred = Math.max(...sizes.slice(90, 110));
    const atEnd = Math.max(...sizes.slice(-20));
    // Proofs and candidates still add up; plans, evidence and events do not.
    expect(atEnd).toBeLessThan(3 * atHundred);
    expect(atEnd).toBeLessThan(400_000);
    for (const state of steps.states.slice(-3)) {
      expect(SearchState.parse(state)).toEqual(state);
      expect(state.trajectories.filter(({ plan }) => plan !== null).length).toBeLessThanOrEqual(KEPT);
    }
  });

  test('shows a step no more than a prompt has room for', () => {
    for (const { input } of steps.log) {
      const {
        attempts = [],
        otherPlans = [],
        memory,
      } = input as {
        attempts?: readonly string[];
        otherPlans?: readonly unknown[];
        memory?: { readonly updates: readonly string[]; readonly facts: readonly string[] };
      };
      // What one expansion tried itself comes on top of the evidence it inherited.
      expect(attempts.length).toBeLessThanOrEqual(60);
      expect(otherPlans.length).toBeLessThanOrEqual(8);
      expect(memory?.updates.length ?? 0).toBeLessThanOrEqual(60);
      expect(memory?.facts.length ?? 0).toBeLessThanOrEqual(60);
    }
  });

  test('never uses an id twice, whatever the archive has let go of', () => {
    const made = new Map<string, string>();
    for (const state of steps.states) {
      for (const { id, parent, iteration, via } of state.trajectories) {
        const birth = JSON.stringify([parent, iteration, via]);
        if ((made.get(id) ?? birth) !== birth) throw new Error(`${id} was used twice`);
        made.set(id, birth);
      }
    }
    expect(made.size).toBeGreaterThan(KEPT);
  });
});

test('ended trajectories lose their plan before open ones, and ancestors of what is left stay', () => {
  const plan = planOf('p', [operator('op_a')]);
  const made = (n: number, status: 'open' | 'merged', parent: string) => ({
    ...rootTrajectory(),
    ...{ id: `t${n}`, parent, depth: 1, plan, status },
  });
  const state: SearchState = {
    ...initialState('s', 0),
    trajectories: [
      rootTrajectory(),
      made(1, 'merged', ROOT),
      made(2, 'merged', 't1'),
      ...Array.from({ length: KEPT }, (_, n) => made(3 + n, 'open', n === 0 ? 't1' : ROOT)),
    ],
  };
  const kept = compactArchive(state).trajectories;
  expect(kept.filter((t) => t.plan !== null).every(({ status }) => status === 'open')).toBe(true);
  expect(kept.find(({ id }) => id === 't1')).toMatchObject({ plan: null, status: 'merged' });
  expect(kept.some(({ id }) => id === 't2')).toBe(false);
  expect(nextTrajectory(compactArchive(state))).toBe(`t${3 + KEPT}`);
});

test('makes no more plans than the root may have', async () => {
  const steps = new FakeSteps(randomWorld(7));
  await runSearch({ searchId: 's', settings: endless(5, { maxPlans: 3 }), state: null }, steps, testHooks());
  const plans = steps.inputs<{ tryNumber: number; revise: unknown }>('plan');
  expect(plans.filter(({ tryNumber, revise }) => tryNumber === 0 && revise === null).length).toBeLessThanOrEqual(3);
});
