import fc from '../../helpers/property';
import { SearchState, type Settings, type Trajectory } from '../../../src/domain';
import { canonical } from '../../../src/domain/canonical';
import { runSearch } from '../../../src/search/search';
import {
  FakeSteps,
  MODEL_STEPS,
  reordering,
  testHooks,
  toEnd,
  testSettings,
  type Gate,
} from '../../helpers/fake-steps';
import { MAX_OPERATORS, randomWorld } from '../../helpers/random-world';

const settings = fc
  .record({
    preset: fc.constantFrom('fast' as const, 'thorough' as const, 'paper' as const),
    breadth: fc.integer({ min: 1, max: 4 }),
    attempts: fc.integer({ min: 1, max: 3 }),
    rounds: fc.integer({ min: 1, max: 3 }),
    iterations: fc.integer({ min: 1, max: 6 }),
    maxPlans: fc.integer({ min: 1, max: 4 }),
    parseRetries: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ preset, ...overrides }) => testSettings(preset, overrides));
const seed = fc.integer({ min: 0, max: 1_000_000 });
const NUM_RUNS = 100;

async function search(world: number, given: Settings, gate?: Gate) {
  const steps = new FakeSteps(randomWorld(world), gate);
  const outcome = await toEnd(runSearch({ searchId: 's', settings: given, state: null }, steps, testHooks()));
  return { steps, outcome, end: steps.finished };
}

/** Calls in an order that does not depend on which of two concurrent ones was made first. */
const sorted = (steps: FakeSteps) => steps.log.map((call) => canonical(call)).sort();

describe('rule S11: the same script gives the same search', () => {
  test('the same seed gives the same inputs in the same order and the same end', async () => {
    await fc.assert(
      fc.asyncProperty(seed, settings, async (world, given) => {
        const [first, second] = [await search(world, given), await search(world, given)];
        expect(second.steps.log).toEqual(first.steps.log);
        expect(second.end).toEqual(first.end);
      }),
      { numRuns: 40 },
    );
  });

  test('the order in which concurrent steps return changes nothing', async () => {
    const orders = fc.array(fc.nat(3), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(seed, settings, orders, async (world, given, order) => {
        let turn = 0;
        const plain = await search(world, given);
        const shuffled = await search(
          world,
          given,
          reordering(() => order[turn++ % order.length] ?? 0),
        );
        expect(sorted(shuffled.steps)).toEqual(sorted(plain.steps));
        expect(shuffled.end).toEqual(plain.end);
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test('a position names one step: no two calls share position, try and role', async () => {
    await fc.assert(
      fc.asyncProperty(seed, settings, async (world, given) => {
        const { steps } = await search(world, given);
        const keys = steps.log
          .filter((call) => call.step !== 'finish')
          .map(({ step, input }) => {
            const { position, tryNumber } = input as { position: string; tryNumber?: number };
            return `${position} ${tryNumber ?? ''} ${step}`;
          });
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test('a search ends within a bound that its settings give', async () => {
    await fc.assert(
      fc.asyncProperty(seed, settings, async (world, given) => {
        const { steps, outcome } = await search(world, given);
        expect(outcome.kind).toBe('finished');
        expect(steps.log.length).toBeLessThanOrEqual(mostSteps(given));
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test('every reply is charged once, to the state and in the end', async () => {
    await fc.assert(
      fc.asyncProperty(seed, settings, async (world, given) => {
        const { steps, end } = await search(world, given);
        expect(end?.state.usage).toEqual(steps.charged);
        expect(end?.state.usage.llmCalls).toBe(steps.count(...MODEL_STEPS));
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test('the state is plain JSON and follows its schema', async () => {
    await fc.assert(
      fc.asyncProperty(seed, settings, async (world, given) => {
        const { steps, end } = await search(world, given);
        for (const state of [...steps.states, end!.state]) {
          expect(SearchState.parse(state)).toEqual(state);
          expect(JSON.parse(JSON.stringify(state))).toEqual(state);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('a search continued from any checkpoint ends like one that was never interrupted', async () => {
    await fc.assert(
      fc.asyncProperty(
        seed,
        settings,
        fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
        async (world, given, cuts) => {
          const whole = await search(world, given);
          const steps = new FakeSteps(randomWorld(world));
          let cut = 0;
          const hooks = testHooks({ afterIteration: () => (cuts[cut++ % cuts.length] ? 'continue-as-new' : 'go-on') });
          let outcome = await toEnd(runSearch({ searchId: 's', settings: given, state: null }, steps, hooks));
          while (outcome.kind === 'continue') {
            const state = JSON.parse(JSON.stringify(outcome.state)) as typeof outcome.state;
            outcome = await toEnd(runSearch({ searchId: 's', settings: given, state }, steps, hooks));
          }
          expect(steps.finished).toEqual(whole.end);
          expect(steps.log).toEqual(whole.steps.log);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('an iteration leaves earlier trajectories as they were but for counters, and closed ones stay closed', async () => {
    await fc.assert(
      fc.asyncProperty(seed, settings, async (world, given) => {
        const { steps } = await search(world, given);
        steps.states.slice(1).forEach((state, index) => {
          for (const before of steps.states[index]!.trajectories) {
            const after = state.trajectories.find((each) => each.id === before.id)!;
            expect(lasting(after)).toEqual(lasting(before));
            expect(after.selections).toBeGreaterThanOrEqual(before.selections);
            if (['merged', 'impossible'].includes(before.status)) expect(after.status).toBe(before.status);
            if (before.status === 'exhausted') expect(['exhausted', 'merged']).toContain(after.status);
          }
        });
      }),
      { numRuns: NUM_RUNS },
    );
  });
});

function lasting({ id, parent, depth, iteration, via, plan }: Trajectory) {
  return { id, parent, depth, iteration, via, plan };
}

function mostSteps(s: Settings): number {
  const tries = 1 + s.parseRetries;
  const attempt = s.rounds * (tries + 1) + 2 * tries + 1;
  const expansion = 2 * tries + (s.followOn ? MAX_OPERATORS + 1 : 1) * s.attempts * attempt;
  // Rivals: at most four plans of one memory application, and one for each second proof of an operator.
  const candidates = s.iterations * (4 + s.attempts * MAX_OPERATORS) * 4;
  return 2 + tries + s.iterations * (tries + expansion + 1) + candidates;
}
