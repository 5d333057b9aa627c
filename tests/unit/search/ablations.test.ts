/** The paper's ablations: each leaves out its part of the search, and only that. */
import type { StepBase } from '../../../src/domain/ports/step-parts';
import type { Ablation, Settings } from '../../../src/domain';
import { runSearch } from '../../../src/search/search';
import {
  FakeSteps,
  judged,
  operator,
  planned,
  planOf,
  testHooks,
  testSettings,
  toEnd,
  updateFor,
  type Script,
} from '../../helpers/fake-steps';
import { randomWorld } from '../../helpers/random-world';
import type { Given } from '../../../src/domain/ports/steps';

async function search(script: Script, without: Ablation | null, more: Partial<Settings> = {}, searchId = 's') {
  const settings = testSettings('paper', { iterations: 2, attempts: 1, rounds: 1, ...more });
  const steps = new FakeSteps(script);
  const start = { searchId, settings: without === null ? settings : { ...settings, without }, state: null };
  await toEnd(runSearch(start, steps, testHooks()));
  return { steps, end: steps.finished!, called: steps.log.map(({ step }) => step) };
}

/** Plans of two operators that no test resolves; the model's scores prefer another plan of the root. */
const open = (outcome: 'rows' | 'sql-error'): Script => ({
  plan: (input) => planned(planOf(input.position, [operator('op_a'), operator('op_b')])),
  probe: () => [{ operator: 'op_a', outcome, immaterial: null }],
  evaluate: ({ trajectories }) => ({
    scores: trajectories.map(({ id }) => ({
      ...{ trajectory: id, progress: 0, potential: id === 't0' ? 1 : 9, bottleneck: id === 't0' ? null : 'op_b' },
    })),
  }),
});
const positions = (steps: FakeSteps, ...names: readonly ('plan' | 'propose')[]) =>
  steps.log
    .filter(({ step }) => (names as string[]).includes(step))
    .map(({ input }) => (input as Given<'plan'>).position);

describe('without plan evaluation', () => {
  test('no model scores the plans: what the probes showed says which comes next', async () => {
    const whole = await search(open('rows'), null);
    expect(positions(whole.steps, 'plan')).toEqual(['i1.t0.plan', 'i2.t0.plan']);
    const { steps } = await search(open('rows'), 'plan-evaluation');
    expect(steps.count('evaluate')).toBe(0);
    expect(positions(steps, 'plan', 'propose')).toEqual([
      'i1.t0.plan',
      'i1.t0.s1.a1.r1.propose',
      'i2.t1.s1.a1.r1.propose',
    ]);
  });

  test('where scores and probes agree, the evaluation is all that is missing', async () => {
    const whole = await search(open('sql-error'), null);
    const { called } = await search(open('sql-error'), 'plan-evaluation');
    expect(whole.called).toContain('evaluate');
    expect(called).toEqual(whole.called.filter((step) => step !== 'evaluate'));
  });

  test('a bottleneck is the first open operator, not the one that a model names', async () => {
    const scored: Script = {
      ...open('rows'),
      evaluate: ({ trajectories }) => ({
        scores: trajectories.map(({ id }) => ({
          trajectory: id,
          progress: 0,
          potential: id === 't1' ? 1 : 9,
          bottleneck: 'op_b',
        })),
      }),
    };
    const targets = async (without: Ablation | null) =>
      (await search(scored, without)).steps.inputs<Given<'propose'>>('propose').map((input) => input.targets);
    expect(await targets(null)).toEqual([['op_a'], ['op_b']]);
    expect(await targets('plan-evaluation')).toEqual([['op_a'], ['op_a']]);
  });
});

test('without plan selection plans are scored alike, but the next one is drawn: each about equally often', async () => {
  const whole = await search(open('rows'), null);
  const chosen: string[] = [];
  for (let n = 0; n < 60; n++) {
    const { steps } = await search(open('rows'), 'plan-selection', {}, `q-${n}`);
    expect(steps.inputs<Given<'evaluate'>>('evaluate').map(({ trajectories }) => trajectories)).toEqual(
      whole.steps.inputs<Given<'evaluate'>>('evaluate').map(({ trajectories }) => trajectories),
    );
    chosen.push(positions(steps, 'plan', 'propose')[2]!.slice(0, 5));
  }
  const again = chosen.filter((position) => position === 'i2.t0').length;
  expect(chosen.filter((position) => position === 'i2.t1')).toHaveLength(60 - again);
  expect(again).toBeGreaterThan(20);
  expect(again).toBeLessThan(40);
});

describe('without evidence summary', () => {
  const telling: Script = {
    ...open('rows'),
    ground: (input) =>
      judged(input, [], { facts: [{ id: `${input.position}.fact`, status: 'active', dependsOn: [] }] }),
  };
  const run = (without: Ablation | null) => search(telling, without, { attempts: 3, rounds: 2 });

  test('the steps are the same, but an attempt is told nothing of those before it', async () => {
    const [whole, ablated] = [await run(null), await run('evidence-summary')];
    expect(ablated.called).toEqual(whole.called);
    const told = (steps: FakeSteps) =>
      [...steps.inputs<Given<'propose'>>('propose'), ...steps.inputs<Given<'ground'>>('ground')].map(
        ({ attempts, memory }) => [attempts.length, memory.facts.length],
      );
    expect(told(whole.steps).some(([attempts, facts]) => attempts! > 0 && facts! > 0)).toBe(true);
    expect(told(ablated.steps)).toEqual(told(whole.steps).map(() => [0, 0]));
  });

  test('an attempt still sees its own rollout, and plans and scores what they saw', async () => {
    const [whole, ablated] = [await run(null), await run('evidence-summary')];
    for (const step of ['plan', 'evaluate', 'probe'] as const)
      expect(ablated.steps.inputs(step)).toEqual(whole.steps.inputs(step));
    const rollouts = (steps: FakeSteps) => steps.inputs<Given<'propose'>>('propose').map(({ rollout }) => rollout);
    expect(rollouts(ablated.steps)).toEqual(rollouts(whole.steps));
    const observed = (steps: FakeSteps) =>
      steps.inputs<Given<'ground'>>('ground').map(({ observations }) => observations);
    expect(observed(ablated.steps)).toEqual(observed(whole.steps));
  });
});

describe('without update reuse', () => {
  /** Both plans have the same operator, and the second one a further one. */
  const shared: Script = {
    ...open('rows'),
    plan: ({ position }) => {
      const more = position.startsWith('i1') ? [] : [operator('op_more')];
      return planned(planOf(position, [operator('op_a'), ...more]));
    },
    ground: (input) => judged(input, [{ operator: 'op_a', winner: 'h1', bodyId: 'x', decided: true }]),
    settle: ({ position, plan }) => {
      const update = updateFor(position, planOf(plan.planId, [operator('op_a')]), 'op_a', 'x');
      return [{ operator: 'op_a', bodyId: 'x', update, assumed: false, error: null }];
    },
  };
  const run = (without: Ablation | null) => search(shared, without, { cMin: 3 });

  test('a second plan is not told what the first one proved, and proves it itself', async () => {
    const [whole, ablated] = [await run(null), await run('update-reuse')];
    const told = (steps: FakeSteps) => steps.inputs<Given<'plan'>>('plan').map(({ memory }) => memory.updates.length);
    expect(told(whole.steps)).toEqual([0, 1]);
    expect(told(ablated.steps)).toEqual([0, 0]);
    const targets = (steps: FakeSteps) => steps.inputs<Given<'propose'>>('propose').map((input) => input.targets);
    expect(targets(whole.steps)).toEqual([['op_a'], ['op_more']]);
    expect(targets(ablated.steps)).toEqual([['op_a'], ['op_a']]);
  });

  test('nothing else is different: the first plan goes the same way, and its proof grounds it', async () => {
    const [whole, ablated] = [await run(null), await run('update-reuse')];
    const first = ({ steps }: typeof whole) => steps.log.slice(0, ofSecondPlan(steps));
    const ofSecondPlan = ({ log }: FakeSteps) =>
      log.findIndex(({ input }) => /^i2\./.test((input as StepBase).position));
    expect(first(ablated)).toEqual(first(whole));
    const grounded = ({ end }: typeof whole) =>
      end.state.trajectories.find(({ id }) => id === 't1')?.plan?.operators[0]?.state;
    expect([grounded(whole), grounded(ablated)]).toEqual(['grounded', 'grounded']);
    expect(whole.end.state.updates[0]?.reuses).toBe(1);
    expect(ablated.end.state.updates.map(({ reuses }) => reuses)).toEqual([0, 0]);
  });
});

test.each(['plan-evaluation', 'plan-selection', 'evidence-summary', 'update-reuse'] as const)(
  'in any world a search without %s ends, by the same steps each time',
  async (without) => {
    for (let seed = 0; seed < 25; seed++) {
      const run = () => search(randomWorld(seed), without, { iterations: 5, attempts: 2, rounds: 2 });
      const [first, second] = [await run(), await run()];
      expect(first.end).not.toBeNull();
      expect(second.steps.log).toEqual(first.steps.log);
      if (without === 'plan-evaluation') expect(first.called).not.toContain('evaluate');
      if (without === 'update-reuse') expect(first.end.state.updates.every(({ reuses }) => reuses === 0)).toBe(true);
    }
  },
);
