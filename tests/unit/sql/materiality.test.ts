import fc from '../../helpers/property';
import type { SqlResult, SqlValue } from '../../../src/domain';
import {
  decideMateriality,
  materialityCombinations,
  operatorMateriality,
  sameAnswers,
  MAX_COMBINATIONS,
} from '../../../src/sql/materiality';

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

  test('the current body comes first where a reading has no SQL, and stands alone where none is left', () => {
    const op_b = { operator: 'op_b', bodies: ['b3', 'b4'], current: null };
    const under = (bodies: (string | null)[], current: string | null) =>
      materialityCombinations([{ operator: 'op_a', bodies, current }, op_b])?.map(({ op_a }) => op_a);
    expect(under(['b1', null], 'b0')).toEqual(['b0', 'b0', 'b1', 'b1']);
    expect(under(['b1', null], null)).toEqual(['b1', 'b1']);
    expect(under([], 'b0')).toEqual(['b0', 'b0']);
    expect(under([null], null)).toBeUndefined();
    expect(materialityCombinations([{ operator: 'op_a', bodies: ['b1', null], current: null }])).toBeNull();
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

  test('two readings give the same answer relative to the bodies of the others under which both were run', () => {
    const runs = { combinations, results: [value(4), value(5), value(4), value(6)], ordered: false };
    expect(sameAnswers('op_a', runs, ['b9'])('b1', 'b2')).toEqual([['b3', 'b9']]);
    expect(sameAnswers('op_a', runs, ['b9'])('b2', 'b1')).toEqual([['b3', 'b9']]);
    expect(sameAnswers('op_b', runs, ['b9'])('b3', 'b4')).toEqual([]);
    expect(sameAnswers('op_a', runs, ['b9'])('b1', 'b7')).toEqual([]);
    const nothing = { ...runs, results: runs.results.map(() => value(0)) };
    expect(sameAnswers('op_a', nothing, [])('b1', 'b2')).toEqual([]);
  });

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
