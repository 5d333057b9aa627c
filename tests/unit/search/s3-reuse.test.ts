import fc from '../../helpers/property';
import type { PlanView, UpdateView } from '../../../src/domain';
import { applyBody } from '../../../src/search/plan-view';
import { applyMemory, fittingUpdates, structuralKey, updateKey } from '../../../src/search/memory';
import { operator, planOf, updateFor } from '../../helpers/fake-steps';
import { Draw, randomWorld } from '../../helpers/random-world';

const plan = planOf('p1', [
  operator('op_a', { shape: 'S', intent: 'paid orders' }),
  operator('op_b', { shape: 'T', intent: 'their total', inputs: ['op_a'], readsBase: false }),
]);
const state = (applied: PlanView | undefined) => applied?.operators.map((o) => [o.state, o.bodyId, o.updateId]);

describe('rule S3: reuse of grounding updates', () => {
  test('an update grounds an operator of equal structure and intent, whatever its name', () => {
    const elsewhere = planOf('p0', [operator('op_other', { shape: 'S', intent: 'paid orders' })]);
    const { plans, reused, conflicts } = applyMemory(plan, [updateFor('u1', elsewhere, 'op_other', 'b1')]);
    expect(plans.map(state)).toEqual([
      [
        ['grounded', 'b1', 'u1'],
        ['unresolved', null, null],
      ],
    ]);
    expect(reused).toEqual(['u1']);
    expect(conflicts).toEqual([]);
  });

  test.each([
    ['another intent', { intent: 'all orders' }],
    ['another shape', { shape: 'S2' }],
    ['other inputs', { inputs: [{ local: 'op_x', bodyId: 'bx' }] }],
    ['a withdrawal', { status: 'withdrawn' as const }],
  ])('%s keeps an update from applying', (_difference, change) => {
    const update = { ...updateFor('u1', plan, 'op_a', 'b1'), ...change };
    const { plans, reused } = applyMemory(plan, [update]);
    expect(plans).toEqual([plan]);
    expect(reused).toEqual([]);
  });

  test('updates apply along the plan: a body just grounded gives the key of what reads it', () => {
    const written = planOf('p0', [{ ...plan.operators[0]!, bodyId: 'b1' }, plan.operators[1]!]);
    const updates = [updateFor('u2', written, 'op_b', 'b2'), updateFor('u1', plan, 'op_a', 'b1')];
    const { plans, reused } = applyMemory(plan, updates);
    expect(plans.map(state)).toEqual([
      [
        ['grounded', 'b1', 'u1'],
        ['grounded', 'b2', 'u2'],
      ],
    ]);
    expect(reused).toEqual(['u1', 'u2']);
  });

  test('a key is unknown while an input has no body, and does not depend on the order of inputs', () => {
    expect(structuralKey(plan, plan.operators[1]!)).toBeNull();
    const inputs = [operator('op_a', { bodyId: 'x' }), operator('op_b', { bodyId: 'y' })];
    const one = operator('op_c', { inputs: ['op_a', 'op_b'] });
    const other = { ...one, inputs: ['op_b', 'op_a'] };
    expect(structuralKey(planOf('p', [...inputs, one]), one)).toBe(
      structuralKey(planOf('p', [...inputs, other]), other),
    );
  });

  test('two bodies that fit make two rival plans and a conflict; the same body proved twice makes none', () => {
    const [u1, u2] = [updateFor('u1', plan, 'op_a', 'b1'), updateFor('u2', plan, 'op_a', 'b2')];
    const rivals = applyMemory(plan, [u1, u2]);
    expect(rivals.plans.map((each) => each.operators[0]?.bodyId)).toEqual(['b1', 'b2']);
    expect(rivals.conflicts).toEqual([{ operator: 'op_a', updates: ['u1', 'u2'] }]);
    expect(rivals.reused).toEqual(['u1', 'u2']);
    const twice = applyMemory(plan, [u1, { ...u1, id: 'u3' }]);
    expect(twice.plans).toHaveLength(1);
    expect(twice.conflicts).toEqual([]);
  });

  test('a grounded operator keeps its proof, an assumed one takes the proved body', () => {
    const grounded = planOf('p', [
      operator('op_a', { ...plan.operators[0], bodyId: 'b9', updateId: 'u9', state: 'grounded' }),
    ]);
    const assumed = planOf('p', [
      operator('op_a', { ...plan.operators[0], bodyId: 'b9', state: 'assumed', risk: 0.1 }),
    ]);
    const update = updateFor('u1', plan, 'op_a', 'b1');
    expect(applyMemory(grounded, [update]).plans).toEqual([grounded]);
    expect(applyMemory(assumed, [update]).plans.map(state)).toEqual([[['grounded', 'b1', 'u1']]]);
  });

  describe('an update whose inputs read other operators', () => {
    const chain = planOf('p', [
      operator('op_a', { bodyId: 'a', risk: 0.5 }),
      operator('op_b', { bodyId: 'b', inputs: ['op_a'] }),
      operator('op_c', { bodyId: 'c', updateId: 'u1', inputs: ['op_b'] }),
    ]);
    const u1 = updateFor('u1', chain, 'op_c', 'c', { dependsOn: ['a', 'b'] });
    const proving = (bodyId: string) => updateFor('u2', chain, 'op_a', bodyId);
    const after = (bodyId: string, proved = u1) => {
      const proof = { bodyId, updateId: 'u2', risk: 0, assumptions: 0 };
      const known = [proved, proving(bodyId)];
      return applyMemory(applyBody(chain, 'op_a', proof, known), known);
    };

    test('does not come back over another body of one of these, although its own inputs read the same', () => {
      const { plans, reused } = after('a2');
      expect(plans.map(state)).toEqual([
        [
          ['grounded', 'a2', 'u2'],
          ['assumed', 'b', null],
          ['assumed', 'c', null],
        ],
      ]);
      expect(reused).toEqual([]);
    });

    test('stays over the same body, assumed or proved', () => {
      expect(after('a').plans.map(state)[0]?.[2]).toEqual(['grounded', 'c', 'u1']);
      const elsewhere = planOf('p2', [
        operator('op_a', { bodyId: 'a', updateId: 'u2' }),
        operator('op_b', { bodyId: 'b', inputs: ['op_a'] }),
        operator('op_c', { inputs: ['op_b'] }),
      ]);
      for (const dependsOn of [
        ['a', 'b'],
        ['u2', 'b'],
      ])
        expect(applyMemory(elsewhere, [{ ...u1, dependsOn }, proving('a')]).reused).toEqual(['u1']);
    });

    test('waits until all below has a body', () => {
      const [, b, c] = chain.operators;
      const open = planOf('p3', [operator('op_a'), b!, { ...c!, state: 'unresolved', bodyId: null, updateId: null }]);
      expect(applyMemory(open, [u1]).reused).toEqual([]);
      expect(applyMemory(open, [u1, proving('a')]).reused).toEqual(['u2', 'u1']);
    });

    test('applies by its key alone where it does not say what it rests on', () =>
      expect(after('a2', { ...u1, dependsOn: [] }).reused).toEqual(['u1']));
  });

  test('conflicting updates are never applied blindly, and nothing else is touched', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
        const { plan: made, updates } = randomMemory(seed);
        const { plans, reused, conflicts } = applyMemory(made, updates);
        expect(plans.length).toBeGreaterThan(0);
        for (const rival of plans) {
          rival.operators.forEach((after, index) => {
            const before = made.operators[index]!;
            if (after.updateId === null) return;
            const update = updates.find((each) => each.id === after.updateId)!;
            expect(update.status).toBe('active');
            expect(updateKey(update)).toBe(structuralKey(rival, after));
            expect(after.bodyId).toBe(update.bodyId);
            expect(reused).toContain(update.id);
            // The alternatives, as this rival saw them, are in the record and (up to the cap) in rivals of their own.
            const fits = fittingUpdates(rival, before, updates);
            if (fits.length < 2) return;
            const recorded = conflicts.find((conflict) => conflict.operator === after.name);
            expect(recorded?.updates).toEqual(expect.arrayContaining(fits.map((each) => each.id)));
            expect(plans.length).toBeGreaterThan(1);
          });
          expect(rival.operators.map(({ name, shape, intent, inputs }) => [name, shape, intent, inputs])).toEqual(
            made.operators.map(({ name, shape, intent, inputs }) => [name, shape, intent, inputs]),
          );
        }
        expect(new Set(plans.map((each) => JSON.stringify(each))).size).toBe(plans.length);
      }),
      { numRuns: 500 },
    );
  });
});

/** A random plan and updates made for random operators of it and of its kin. */
function randomMemory(seed: number): { plan: PlanView; updates: UpdateView[] } {
  const step = { searchId: 's', tryNumber: 0, memory: { updates: [], facts: [] }, otherPlans: [], revise: null };
  const makes = (position: string) => randomWorld(seed).plan!({ ...step, role: 'plan', position });
  const plans = Array.from({ length: 40 }, (_, index) => makes(`p${index}`)).flatMap((made) =>
    'plan' in made ? [made.plan] : [],
  );
  const random = new Draw(`memory ${seed}`);
  const updates = random.some(plans.slice(1), 0.2).flatMap((each, at) =>
    random.some(each.operators).map((target) =>
      updateFor(`u${at}.${target.name}`, each, target.name, `b${random.below(3)}`, {
        status: random.chance(0.9) ? 'active' : 'withdrawn',
      }),
    ),
  );
  return { plan: plans[0]!, updates };
}
