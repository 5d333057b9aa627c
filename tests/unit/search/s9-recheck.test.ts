import fc from '../../helpers/property';
import {
  applyBody,
  assumedBody,
  holdBeside,
  markImmaterial,
  openRisk,
  otherBodies,
  removeBody,
} from '../../../src/search/plan-view';
import { applyMemory } from '../../../src/search/memory';
import { operator, planOf, updateFor } from '../../helpers/fake-steps';

const plan = planOf('p', [
  operator('op_a', { bodyId: 'a', risk: 0.6 }),
  operator('op_b', { bodyId: 'b', risk: 0.8, inputs: ['op_a'] }),
  operator('op_c', { bodyId: 'c', inputs: ['op_b'] }),
]);
const marks = (marked: typeof plan) => marked.operators.map(({ immaterial }) => immaterial);
const immaterialA = { operator: 'op_a', bodyId: 'a', relativeTo: ['b', 'c'] };

describe('rule S9: an immaterial reading', () => {
  test('is marked with the bodies of all other operators and carries no risk', () => {
    const { plan: marked, marked: names } = markImmaterial(plan, [immaterialA]);
    expect(names).toEqual(['op_a']);
    expect(marks(marked)).toEqual([['b', 'c'], null, null]);
    expect(openRisk(marked)).toBe(0.8);
  });

  test('is not marked relative to bodies that the plan does not have', () => {
    const { plan: marked, marked: names } = markImmaterial(plan, [{ ...immaterialA, relativeTo: ['b', 'x'] }]);
    expect(names).toEqual([]);
    expect(marked).toEqual(plan);
  });

  test('found jointly holds jointly: the bodies are written together', () => {
    const joint = [
      { operator: 'op_a', bodyId: 'a2', relativeTo: ['b2', 'c'] },
      { operator: 'op_b', bodyId: 'b2', relativeTo: ['a2', 'c'] },
    ];
    const { plan: marked, marked: names } = markImmaterial(plan, joint);
    expect(names).toEqual(['op_a', 'op_b']);
    expect(marked.operators.map(({ bodyId }) => bodyId)).toEqual(['a2', 'b2', 'c']);
    expect(marks(marked)).toEqual([['b2', 'c'], ['a2', 'c'], null]);
  });

  test('that rests on another one that does not hold falls with it', () => {
    const { plan: marked, marked: names } = markImmaterial(plan, [
      { operator: 'op_a', bodyId: 'a2', relativeTo: ['b', 'unknown'] },
      { operator: 'op_b', bodyId: 'b', relativeTo: ['a2', 'c'] },
    ]);
    expect(names).toEqual([]);
    expect(marked).toEqual(plan);
  });

  test.each([
    ['another body', 'op_c', 'c2', null],
    ['a proof of the same body', 'op_c', 'c', ['b', 'c']],
    ['its own new body', 'op_a', 'a2', null],
  ])('and then %s of an operator: %s', (_what, name, bodyId, mark) => {
    const { plan: marked } = markImmaterial(plan, [immaterialA]);
    const update = { bodyId, updateId: 'u1', risk: 0, assumptions: 0 };
    expect(marks(applyBody(marked, name, update))[0]).toEqual(mark);
  });

  test('is rechecked when a body is taken away', () => {
    const { plan: marked } = markImmaterial(plan, [immaterialA]);
    expect(marks(removeBody(marked, 'op_b'))[0]).toBeNull();
  });

  test('after any changes a mark names exactly the bodies that the others have', () => {
    const name = fc.constantFrom('op_a', 'op_b', 'op_c');
    const body = fc.constantFrom('a', 'b', 'c', 'd');
    const change = fc.oneof(
      fc.record({ kind: fc.constant('write' as const), name, body }),
      fc.record({ kind: fc.constant('remove' as const), name, body }),
      fc.record({ kind: fc.constant('mark' as const), name, body }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        let at = plan;
        for (const each of changes) {
          if (each.kind === 'write') at = applyBody(at, each.name, assumedBody(each.body));
          else if (each.kind === 'remove') at = removeBody(at, each.name);
          else {
            const reading = { operator: each.name, bodyId: each.body, relativeTo: otherBodies(at, each.name) };
            at = markImmaterial(at, [reading]).plan;
          }
          for (const each of at.operators)
            if (each.immaterial !== null) expect(each.immaterial).toEqual(otherBodies(at, each.name));
        }
      }),
    );
  });
});

describe('rule S9: a proof beside rivals that give the same answer', () => {
  const grounded = (beside: string[]) => {
    const update = { ...updateFor('u1', plan, 'op_a', 'a'), beside };
    const body = { bodyId: 'a', updateId: 'u1', risk: 0, assumptions: 0 };
    return { update, plan: holdBeside(applyBody(plan, 'op_a', body), [update], [update]) };
  };
  const stateOf = (at: typeof plan) => at.operators[0];

  test('holds as long as the other operators keep their bodies', () => {
    const { plan: held, update } = grounded(['b', 'c']);
    expect(stateOf(held)).toMatchObject({ state: 'grounded', updateId: 'u1', beside: ['b', 'c'] });
    const proved = { bodyId: 'b', updateId: 'u2', risk: 0, assumptions: 0 };
    expect(stateOf(applyBody(held, 'op_b', proved, [update]))).toMatchObject({ state: 'grounded' });
  });

  test('is an assumption once one of them changes, and where they never were these', () => {
    const { plan: held, update } = grounded(['b', 'c']);
    const doubtful = { state: 'assumed', bodyId: 'a', updateId: null, risk: 0.5 };
    expect(stateOf(applyBody(held, 'op_c', assumedBody('c2'), [update]))).toMatchObject(doubtful);
    expect(stateOf(removeBody(held, 'op_c', [update]))).toMatchObject(doubtful);
    expect(stateOf(grounded(['b', 'x']).plan)).toMatchObject(doubtful);
  });

  test('a later proof without such rivals stands alone', () => {
    const { plan: held, update } = grounded(['b', 'c']);
    const again = applyBody(held, 'op_a', { bodyId: 'a', updateId: 'u2', risk: 0, assumptions: 0 }, [update]);
    expect(again.operators[0]).not.toHaveProperty('beside');
    expect(stateOf(applyBody(again, 'op_c', assumedBody('c2'), [update]))).toMatchObject({ state: 'grounded' });
  });

  test('is reused only in a plan whose other operators have the same bodies', () => {
    const { update } = grounded(['b', 'c']);
    const doubted = planOf('p', [operator('op_a', { bodyId: 'x', risk: 0.6 }), ...plan.operators.slice(1)]);
    expect(applyMemory(doubted, [update])).toMatchObject({
      reused: ['u1'],
      plans: [{ operators: [{ bodyId: 'a', updateId: 'u1', beside: ['b', 'c'] }, {}, {}] }],
    });
    expect(applyMemory(applyBody(doubted, 'op_c', assumedBody('c2')), [update]).reused).toEqual([]);
  });
});

describe('a proof over inputs that change (rule S10)', () => {
  const proved = planOf('p', [
    operator('op_a', { bodyId: 'a' }),
    operator('op_b', { bodyId: 'b', updateId: 'u1', inputs: ['op_a'] }),
    operator('op_c', { bodyId: 'c', updateId: 'u2', inputs: ['op_b'] }),
  ]);
  const u1 = updateFor('u1', proved, 'op_b', 'b');
  const u2 = { ...updateFor('u2', proved, 'op_c', 'c'), inputs: [{ local: 'op_elsewhere', bodyId: 'b' }] };

  test('falls back to assumed, or to unresolved where its text binds the names of another plan', () => {
    const changed = applyBody(proved, 'op_a', assumedBody('a2'), [u1, u2]);
    expect(changed.operators.map(({ state, bodyId, updateId }) => [state, bodyId, updateId])).toEqual([
      ['assumed', 'a2', null],
      ['assumed', 'b', null],
      ['unresolved', null, null],
    ]);
  });

  test('is unresolved where the names that its text uses stand for other operators here', () => {
    // Proved elsewhere over op_x reading as `a` and op_y as `b`; here the names stand the other way round.
    const swapped = planOf('p', [
      operator('op_x', { bodyId: 'b' }),
      operator('op_y', { bodyId: 'a' }),
      operator('op_z', { bodyId: 'z', updateId: 'u3', inputs: ['op_x', 'op_y'] }),
    ]);
    const inputs = [
      { local: 'op_x', bodyId: 'a' },
      { local: 'op_y', bodyId: 'b' },
    ];
    const u3 = { ...updateFor('u3', swapped, 'op_z', 'z'), inputs };
    expect(applyBody(swapped, 'op_x', assumedBody('b2'), [u3]).operators[2]).toMatchObject({ state: 'unresolved' });
    expect(removeBody(swapped, 'op_y', [u3]).operators[2]).toMatchObject({ state: 'unresolved' });
  });

  test('falls back, too, when an input loses its body', () => {
    const without = removeBody(proved, 'op_a', [u1, u2]);
    expect(without.operators.map(({ state }) => state)).toEqual(['unresolved', 'assumed', 'unresolved']);
  });

  test('stays when an input is proved as it stands', () => {
    const body = { bodyId: 'a', updateId: 'u0', risk: 0, assumptions: 0 };
    const changed = applyBody(proved, 'op_a', body, [u1, u2]);
    expect(changed.operators.map(({ state }) => state)).toEqual(['grounded', 'grounded', 'grounded']);
  });
});
