import fc from 'fast-check';
import type { SqlResult, SqlValue } from '../../../src/domain';
import {
  decideMateriality,
  materialityCombinations,
  operatorMateriality,
  MAX_COMBINATIONS,
} from '../../../src/search/materiality';

const value = (cell: SqlValue, truncated = false): SqlResult => ({
  kind: 'rows',
  columns: [{ name: 'n', kind: 'number' }],
  rows: [[cell]],
  truncated,
  elapsedMs: 1,
});

describe('S9: materiality', () => {
  test('equal answers under all readings make the choice immaterial', () => {
    expect(decideMateriality([value(4), value(4)], false).immaterial).toBe(true);
    expect(decideMateriality([value(4), value(5)], false).immaterial).toBe(false);
  });

  test.each<[string, SqlResult]>([
    ['empty', { kind: 'rows', columns: [], rows: [], truncated: false, elapsedMs: 1 }],
    ['NULL', value(null)],
    ['zero', value(0)],
    ['truncated', value(4, true)],
    ['failed', { kind: 'sql-error', message: 'no', code: null, elapsedMs: 1 }],
  ])('a result that is %s never establishes it', (_, weak) => {
    expect(decideMateriality([weak, weak], false).immaterial).toBe(false);
    expect(decideMateriality([value(4), weak], false).immaterial).toBe(false);
  });

  test('a single run compares nothing', () => expect(decideMateriality([value(4)], false).immaterial).toBe(false));

  test('every combination of readings is run, at most eight', () => {
    const both = materialityCombinations([
      { operator: 'op_a', bodies: ['b1', 'b2'], current: null },
      { operator: 'op_b', bodies: ['b3', 'b4', 'b3'], current: null },
    ]);
    expect(both).toHaveLength(4);
    expect(both?.[0]).toEqual({ op_a: 'b1', op_b: 'b3' });
  });

  test('a reading without SQL leaves nothing to run, unless a current body stands for its operator', () => {
    expect(materialityCombinations([{ operator: 'op_a', bodies: ['b1', null], current: null }])).toBeNull();
    const held = materialityCombinations([
      { operator: 'op_a', bodies: ['b1', null], current: 'b0' },
      { operator: 'op_b', bodies: ['b3', 'b4'], current: null },
    ]);
    expect(held).toEqual([
      { op_a: 'b0', op_b: 'b3' },
      { op_a: 'b0', op_b: 'b4' },
    ]);
  });

  test('there are never more than eight combinations and never fewer than two', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            bodies: fc.array(fc.constantFrom('b1', 'b2', 'b3', 'b4'), { minLength: 1, maxLength: 4 }),
            held: fc.boolean(),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        (made) => {
          const readings = made.map(({ bodies, held }, index) => ({
            operator: `op_${index}`,
            bodies,
            current: held ? 'b0' : null,
          }));
          const combinations = materialityCombinations(readings);
          expect(combinations === null || (combinations.length >= 2 && combinations.length <= MAX_COMBINATIONS)).toBe(
            true,
          );
        },
      ),
    ));

  const combinations = [
    { op_a: 'b1', op_b: 'b3' },
    { op_a: 'b1', op_b: 'b4' },
    { op_a: 'b2', op_b: 'b3' },
    { op_a: 'b2', op_b: 'b4' },
  ];

  test('a joint answer makes each operator immaterial relative to the bodies taken for the others', () => {
    const runs = { combinations, results: [value(4), value(4), value(4), value(4)], ordered: false };
    const made = operatorMateriality('op_a', runs, { current: { op_a: null, op_b: null }, fixed: ['b9'] });
    expect(made).toMatchObject({ immaterial: true, bodyId: 'b1', relativeTo: ['b3', 'b9'], combinations: 4 });
  });

  test('where another operator changes the answer, it holds only relative to the body that one has now', () => {
    const runs = { combinations, results: [value(4), value(5), value(4), value(5)], ordered: false };
    const now = { op_a: null, op_b: 'b4' };
    expect(operatorMateriality('op_a', runs, { current: now, fixed: [] })).toMatchObject({
      immaterial: true,
      relativeTo: ['b4'],
    });
    expect(operatorMateriality('op_b', runs, { current: { op_a: 'b1', op_b: null }, fixed: [] }).immaterial).toBe(
      false,
    );
    expect(operatorMateriality('op_a', runs, { current: { op_a: null, op_b: null }, fixed: [] }).immaterial).toBe(
      false,
    );
  });
});
