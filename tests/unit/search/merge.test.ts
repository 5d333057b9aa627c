import type { PlanView, SearchState, Trajectory } from '../../../src/domain';
import { NO_USAGE } from '../../../src/domain/control-view';
import { initialState } from '../../../src/search/run';
import type { Expansion } from '../../../src/search/findings';
import { mergeExpansion, planStateKey, rootTrajectory } from '../../../src/search/remember';
import { expansionOf, operator, planOf, testSettings, trajectoryOf, updateFor } from '../../helpers/fake-steps';

const settings = testSettings('fast');
const open = planOf('p1', [
  operator('op_a', { shape: 'S', intent: 'paid' }),
  operator('op_b', { bodyId: 'b', risk: 0.9 }),
]);
const trajectory = (id: string, plan: PlanView, more: Partial<Trajectory> = {}): Trajectory =>
  trajectoryOf(id, { depth: 1, via: 'plan', plan, potential: 3, ...more });
const at = (...trajectories: Trajectory[]): SearchState => ({
  ...initialState('s', 0),
  iteration: 2,
  trajectories: [rootTrajectory(), ...trajectories],
});
const proved = (plan: PlanView, name: string, bodyId: string, updateId: string): PlanView => ({
  ...plan,
  operators: plan.operators.map((each) =>
    each.name === name ? { ...each, state: 'grounded', bodyId, updateId, risk: 0 } : each,
  ),
});
const short = (state: SearchState) => state.trajectories.map(({ id, status, mergedInto }) => [id, status, mergedInto]);

describe('taking an expansion into the archive', () => {
  test('a step makes a child with the evidence and the distance of both', () => {
    const parent = trajectory('t1', open, { attempts: ['o1'], distance: 58 });
    const after = mergeExpansion(
      at(parent),
      expansionOf('t1', [proved(open, 'op_a', 'x', 'u1')], { attempts: ['o2', 'g2'], distanceDelta: -1 }),
      settings,
    );
    const child = after.trajectories[2];
    expect(child).toMatchObject({ id: 't2', parent: 't1', depth: 2, iteration: 2, distance: 57, status: 'open' });
    expect(child?.attempts).toEqual(['o1', 'o2', 'g2']);
    expect(child?.progress).toBe(1);
    expect(after.trajectories[1]).toMatchObject({
      selections: 1,
      distanceAtSelection: 58,
      distance: 58,
      status: 'open',
    });
  });

  test('the root closes when it has had its plans, a trajectory to replan after its revision', () => {
    const root = { ...rootTrajectory(), selections: settings.maxPlans - 1 };
    const state = {
      ...at(trajectory('t1', open, { status: 'replan' })),
      trajectories: [root, trajectory('t1', open, { status: 'replan' })],
    };
    const revised = mergeExpansion(state, expansionOf('t1', []), settings);
    const after = mergeExpansion(revised, expansionOf('t0', []), settings);
    expect(short(after)).toEqual([
      ['t0', 'exhausted', null],
      ['t1', 'exhausted', null],
    ]);
  });

  test('what its own evidence calls impossible is closed with its parent; the root stays open for other plans', () => {
    const state = at(trajectory('t1', open));
    const after = mergeExpansion(state, expansionOf('t1', [open], { impossible: 'not stored' }), settings);
    expect(short(after).map(([, status]) => status)).toEqual(['open', 'impossible', 'impossible']);
    const atRoot = mergeExpansion(at(), expansionOf('t0', [open], { impossible: 'not stored', via: 'plan' }), settings);
    expect(short(atRoot).map(([, status]) => status)).toEqual(['open', 'impossible']);
  });

  test('charges, facts, updates and events of expansions are booked in their order', () => {
    const u = (id: string) => updateFor(id, open, 'op_a', id);
    const gains = (id: string): Partial<Expansion> => ({
      updates: [u(id)],
      facts: [{ id: `f-${id}`, status: 'active', dependsOn: [] }],
      usage: { ...NO_USAGE, llmCalls: 2 },
    });
    const first = mergeExpansion(at(trajectory('t1', open)), expansionOf('t1', [], gains('u1')), settings);
    const after = mergeExpansion(first, expansionOf('t0', [], gains('u2')), settings);
    expect(after.updates.map(({ id }) => id)).toEqual(['u1', 'u2']);
    expect(after.facts.map(({ id }) => id)).toEqual(['f-u1', 'f-u2']);
    expect(after.usage.llmCalls).toBe(4);
  });
});

describe('reuse over the archive (rule S3)', () => {
  const update = updateFor('u1', open, 'op_a', 'x');
  const elsewhere = planOf('p2', [operator('op_q', { shape: 'S', intent: 'paid' }), operator('op_r', { bodyId: 'r' })]);
  const grounded = expansionOf('t1', [proved(open, 'op_a', 'x', 'u1')], { updates: [update] });

  test.each(['open', 'replan'] as const)('a new update reaches a compatible %s plan of another root', (status) => {
    const blocked =
      status === 'replan'
        ? { ...elsewhere, operators: elsewhere.operators.map((o) => ({ ...o, barren: 2 })) }
        : elsewhere;
    const after = mergeExpansion(at(trajectory('t1', open), trajectory('t2', blocked, { status })), grounded, settings);
    const receiver = after.trajectories.find(({ parent }) => parent === 't2');
    expect(receiver).toMatchObject({ via: 'reuse', status: 'complete', selections: 0 });
    expect(receiver?.plan?.operators[0]).toMatchObject({ state: 'grounded', bodyId: 'x', updateId: 'u1' });
    expect(after.trajectories[2]).toMatchObject({ id: 't2', status: 'merged', mergedInto: receiver?.id });
    expect(after.updates[0]?.reuses).toBe(1);
  });

  test('the worked trajectory and its ancestors do not receive what they proved themselves', () => {
    const after = mergeExpansion(at(trajectory('t1', open)), grounded, settings);
    expect(after.updates[0]?.reuses).toBe(0);
    expect(after.trajectories.filter(({ via }) => via === 'reuse')).toEqual([]);
  });

  test('conflicting updates of one iteration both stay, and a receiver gets a child for each', () => {
    const rival = updateFor('u2', open, 'op_a', 'y');
    const both = expansionOf('t1', [proved(open, 'op_a', 'x', 'u1'), proved(open, 'op_a', 'y', 'u2')], {
      updates: [update, rival],
    });
    const after = mergeExpansion(at(trajectory('t1', open), trajectory('t2', elsewhere)), both, settings);
    const children = after.trajectories.filter(({ parent }) => parent === 't2');
    expect(children.map(({ plan }) => plan?.operators[0]?.bodyId)).toEqual(['x', 'y']);
    expect(after.events.filter(({ kind }) => kind === 'reuse-conflict')).toHaveLength(1);
    expect(after.updates.map(({ reuses }) => reuses)).toEqual([1, 1]);
    // The parent's rivals all stand in the archive: selecting it again could only repeat them.
    expect(after.trajectories[1]?.status).toBe('merged');
  });
});

describe('equal plan states are merged', () => {
  test('a parent goes into the child that is what the memory makes of it, with all evidence', () => {
    const update = updateFor('u1', open, 'op_a', 'x');
    const child = expansionOf('t1', [proved(open, 'op_a', 'x', 'u1')], { updates: [update], attempts: ['o1'] });
    const after = mergeExpansion(at(trajectory('t1', open, { attempts: ['o0'] })), child, settings);
    expect(short(after)[1]).toEqual(['t1', 'merged', 't2']);
    expect(after.trajectories[2]?.attempts).toEqual(['o0', 'o1']);
    expect(after.events).toMatchObject([{ kind: 'trajectories-merged', subject: 't1', detail: 't2' }]);
  });

  test('a finished one survives an open one, and a blocked count survives a fresh start', () => {
    const done = {
      ...open,
      operators: open.operators.map((o) => ({ ...o, bodyId: 'b', state: 'assumed' as const, risk: 0 })),
    };
    const finished = trajectory('t1', done, { status: 'complete' });
    const again = mergeExpansion(
      at(finished),
      expansionOf('t0', [{ ...done, planId: 'p9' }], { via: 'plan' }),
      settings,
    );
    expect(short(again)[2]).toEqual(['t2', 'merged', 't1']);
  });

  test('the plan of an exhausted trajectory is not begun again', () => {
    const spent = trajectory('t1', open, { status: 'exhausted' });
    const after = mergeExpansion(at(spent), expansionOf('t0', [{ ...open, planId: 'p9' }], { via: 'plan' }), settings);
    expect(short(after).slice(1)).toEqual([
      ['t1', 'exhausted', null],
      ['t2', 'merged', 't1'],
    ]);
  });

  test('names and plan ids do not tell states apart; bodies, proofs, intents and wiring do', () => {
    const [a, b] = open.operators;
    const renamed = planOf('p9', [
      { ...a!, name: 'op_x' },
      { ...b!, name: 'op_y' },
    ]);
    expect(planStateKey(renamed)).toBe(planStateKey(open));
    for (const change of [{ bodyId: 'z' }, { intent: 'z' }, { shape: 'z' }, { inputs: ['op_a'] }, { immaterial: [] }])
      expect(planStateKey(planOf('p9', [a!, { ...b!, ...change }]))).not.toBe(planStateKey(open));
  });
});
