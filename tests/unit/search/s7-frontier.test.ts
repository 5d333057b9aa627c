import type { OperatorView } from '../../../src/domain';
import { runSearch } from '../../../src/search/search';
import { plansOfRoot, selectable, statusOf } from '../../../src/search/select-plan';
import { rootTrajectory } from '../../../src/search/remember';
import { BLOCKED_AFTER, chooseBottlenecks, isTestable } from '../../../src/search/plan-view';
import {
  FakeSteps,
  judged,
  operator,
  planned,
  planOf,
  testHooks,
  toEnd,
  testSettings,
  type Script,
} from '../../helpers/fake-steps';
import type { Given } from '../../../src/domain/ports/steps';

const choose = (operators: readonly OperatorView[], more: Partial<Parameters<typeof chooseBottlenecks>[1]> = {}) =>
  chooseBottlenecks(planOf('p', operators), { breadth: 4, preferred: null, proof: 'execution', ...more });
const execution = { proof: 'execution' as const };

describe('rule S7: what may be attempted', () => {
  const base = operator('op_a');
  const reader = operator('op_b', { inputs: ['op_a'] });

  test('an operator is testable once all its inputs have a body', () => {
    expect(isTestable(planOf('p', [base, reader]), reader)).toBe(false);
    expect(isTestable(planOf('p', [operator('op_a', { bodyId: 'b' }), reader]), reader)).toBe(true);
    expect(choose([base, reader])).toEqual(['op_a']);
  });

  test('unresolved operators come in plan order, then assumptions by falling risk; the preferred one is first', () => {
    const all = [
      operator('op_low', { bodyId: 'b1', risk: 0.4 }),
      operator('op_high', { bodyId: 'b2', risk: 0.9 }),
      operator('op_sure', { bodyId: 'b3', risk: 0.1 }),
      operator('op_open'),
    ];
    expect(choose(all)).toEqual(['op_open', 'op_high', 'op_low']);
    expect(choose(all, { preferred: 'op_low' })).toEqual(['op_low', 'op_open', 'op_high']);
    expect(choose(all, { preferred: 'op_sure', breadth: 1 })).toEqual(['op_open']);
    expect(choose(all, { proof: 'model' })).toEqual(['op_open']);
  });

  test('targets of one attempt do not depend on each other', () => {
    const doubtful = [
      operator('op_a', { bodyId: 'b1', risk: 0.5 }),
      operator('op_b', { bodyId: 'b2', risk: 0.9, inputs: ['op_a'] }),
      operator('op_c', { bodyId: 'b3', risk: 0.4 }),
    ];
    expect(choose(doubtful)).toEqual(['op_b', 'op_c']);
  });

  test('a blocked or immaterial operator is no target', () => {
    const blocked = operator('op_a', { barren: BLOCKED_AFTER });
    const immaterial = operator('op_b', { bodyId: 'b', risk: 0.9, immaterial: [] });
    expect(choose([blocked, immaterial])).toEqual([]);
  });
});

describe('rule S7: the frontier', () => {
  test('a plan is open while something can be attempted, complete when written, and else only replanned', () => {
    expect(statusOf(planOf('p', [operator('op_a')]), execution)).toBe('open');
    expect(statusOf(planOf('p', [operator('op_a', { bodyId: 'b' })]), execution)).toBe('complete');
    expect(statusOf(planOf('p', [operator('op_a', { barren: 2 })]), execution)).toBe('replan');
    expect(statusOf(planOf('p', [operator('op_a', { bodyId: 'b', risk: 1, barren: 2 })]), execution)).toBe('complete');
  });

  test('only open trajectories and those to replan are selectable; plans of the root are its children', () => {
    const statuses = ['open', 'replan', 'complete', 'merged', 'exhausted', 'impossible'] as const;
    const archive = statuses.map((status, index) => ({
      ...rootTrajectory(),
      id: `t${index}`,
      parent: index === 0 ? null : index < 3 ? 't0' : 't1',
      status,
    }));
    expect(selectable(archive).map(({ status }) => status)).toEqual(['open', 'replan']);
    expect(plansOfRoot(archive).map(({ id }) => id)).toEqual(['t1', 't2']);
  });
});

const containing = (text: string): string => expect.stringContaining(text) as string;

describe('rule S7: an operator that yields nothing', () => {
  const unresolved = planOf('p1', [operator('op_a'), operator('op_b', { inputs: ['op_a'] })]);
  const nothingFound: Script = {
    plan: (input) => (input.revise === null ? planned(unresolved) : { invalid: 'no other idea' }),
    probe: () => [{ operator: 'op_a', outcome: 'empty', immaterial: null }],
    ground: (input) => judged(input, [{ operator: 'op_a', winner: null, bodyId: null, decided: false }]),
  };

  test('is blocked after two iterations, and then its plan may only be revised', async () => {
    const steps = new FakeSteps(nothingFound);
    const settings = testSettings('fast', { maxPlans: 1, iterations: 9, attempts: 2 });
    await toEnd(runSearch({ searchId: 's', settings, state: null }, steps, testHooks()));
    const iterations = steps.inputs<Given<'propose'>>('propose').map(({ position }) => position.split('.')[0]);
    expect([...new Set(iterations)]).toEqual(['i1', 'i2']);
    expect(iterations).toHaveLength(BLOCKED_AFTER * 2);
    const revisions = steps.inputs<Given<'plan'>>('plan').filter(({ revise }) => revise !== null);
    expect(revisions[0]?.revise).toMatchObject({ blocked: ['op_a'], plan: { planId: 'p1' } });
    expect(revisions[0]?.position).toMatch(/^i3\./);
    expect(steps.finished).toMatchObject({ status: 'failed', reason: containing('no usable plan') });
  });

  test('counts once an iteration, even if another operator moves on beside it', async () => {
    const two = planOf('p1', [operator('op_a'), operator('op_b')]);
    const steps = new FakeSteps({
      plan: () => planned(two),
      probe: (input) => [{ operator: input.proposalId, outcome: 'rows', immaterial: null }],
      ground: (input) =>
        judged(input, [
          { operator: 'op_a', winner: null, bodyId: null, decided: false },
          { operator: 'op_b', winner: null, bodyId: null, decided: true },
        ]),
    });
    const settings = testSettings('fast', { maxPlans: 1, iterations: 1, attempts: 1 });
    await toEnd(runSearch({ searchId: 's', settings, state: null }, steps, testHooks()));
    const operators = steps.finished!.state.trajectories[1]!.plan!.operators;
    expect(operators.map(({ name, barren }) => [name, barren])).toEqual([
      ['op_a', 1],
      ['op_b', 0],
    ]);
  });

  test('that is assumed is left as it is when two iterations of verdicts change nothing about it', async () => {
    const steps = new FakeSteps({
      plan: () => planned(planOf('p1', [operator('op_a', { bodyId: 'guess', risk: 0.6, assumptions: 1 })])),
      probe: () => [{ operator: 'op_a', outcome: 'rows', immaterial: null }],
      ground: (input) =>
        judged(input, [{ operator: 'op_a', winner: null, bodyId: null, decided: true }], {
          nextProposalId: `${input.position}.next`,
          nextOperators: ['op_a'],
        }),
    });
    const settings = testSettings('fast', { maxPlans: 1, iterations: 9, attempts: 2 });
    await toEnd(runSearch({ searchId: 's', settings, state: null }, steps, testHooks()));
    // J attempts in each of the two iterations, though every judgement brought another test along.
    expect(steps.count('ground')).toBe(2 * BLOCKED_AFTER);
    expect(steps.finished).toMatchObject({ endedBy: 'exhausted', status: 'answered' });
  });

  test('is blocked, too, when its reading is found again and again and its SQL never runs', async () => {
    const steps = new FakeSteps({
      ...nothingFound,
      probe: () => [{ operator: 'op_a', outcome: 'rows', immaterial: null }],
      ground: (input) => judged(input, [{ operator: 'op_a', winner: 'h1', bodyId: 'b1', decided: true }]),
      settle: () => [
        { operator: 'op_a', bodyId: 'b1', update: null, assumed: false, error: 'no such function: median' },
      ],
    });
    const settings = testSettings('fast', { maxPlans: 1, iterations: 9, attempts: 1, parseRetries: 1 });
    await toEnd(runSearch({ searchId: 's', settings, state: null }, steps, testHooks()));
    expect(steps.count('ground')).toBe(2 * BLOCKED_AFTER);
    expect(steps.finished).toMatchObject({ status: 'failed', reason: containing('no usable plan') });
  });

  test('is not blocked by SQL that fails while other readings of it fall', async () => {
    const steps = new FakeSteps({
      ...nothingFound,
      probe: () => [{ operator: 'op_a', outcome: 'rows', immaterial: null }],
      ground: (input) => judged(input, [{ operator: 'op_a', winner: null, bodyId: null, decided: true }]),
    });
    const settings = testSettings('fast', { maxPlans: 1, iterations: 5, attempts: 1 });
    await toEnd(runSearch({ searchId: 's', settings, state: null }, steps, testHooks()));
    expect(steps.finished).toMatchObject({ endedBy: 'iterations' });
  });

  test('is not tried again in a plan that the revision merely repeats', async () => {
    const steps = new FakeSteps({ ...nothingFound, plan: () => planned(unresolved) });
    const settings = testSettings('fast', { maxPlans: 1, iterations: 20 });
    await toEnd(runSearch({ searchId: 's', settings, state: null }, steps, testHooks()));
    expect(steps.finished?.endedBy).toBe('exhausted');
    const revisions = steps.inputs<Given<'plan'>>('plan').filter(({ revise }) => revise !== null);
    expect(revisions).toHaveLength(1);
  });
});
