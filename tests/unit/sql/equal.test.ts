import fc from '../../helpers/property';
import type { ResultColumn, SqlResult, SqlValue } from '../../../src/domain';
import { equalResults, isTrivial, canMatch, closeNumbers, type Vector } from '../../../src/sql/equal';
import { computingMs } from '../../helpers/computing';

type Kind = ResultColumn['kind'];
const result = (columns: [string, Kind][], rows: SqlValue[][], truncated = false): SqlResult => ({
  kind: 'rows',
  columns: columns.map(([name, kind]) => ({ name, kind })),
  rows,
  truncated,
  elapsedMs: 1,
});
const one = (value: SqlValue, kind: Kind = 'number'): SqlResult => result([['v', kind]], [[value]]);
const bag = { ordered: false };
const sequence = { ordered: true };

describe('S5: equal results', () => {
  test('rows are compared as a multiset, or as a sequence where the question orders', () => {
    const left = result([['a', 'text']], [['x'], ['y'], ['y']]);
    const right = result([['a', 'text']], [['y'], ['x'], ['y']]);
    expect(equalResults(left, right, bag)).toBe(true);
    expect(equalResults(left, right, sequence)).toBe(false);
    expect(equalResults(left, result([['a', 'text']], [['y'], ['x'], ['x']]), bag)).toBe(false);
  });

  test('columns are matched by name in any case and order, else by position', () => {
    const left = result(
      [
        ['a', 'text'],
        ['B', 'number'],
      ],
      [['x', 1]],
    );
    expect(
      equalResults(
        left,
        result(
          [
            ['b', 'number'],
            ['A', 'text'],
          ],
          [[1, 'x']],
        ),
        bag,
      ),
    ).toBe(true);
    expect(
      equalResults(
        left,
        result(
          [
            ['c', 'text'],
            ['d', 'number'],
          ],
          [['x', 1]],
        ),
        bag,
      ),
    ).toBe(true);
    expect(equalResults(left, result([['a', 'text']], [['x']]), bag)).toBe(false);
  });

  test.each<[string, SqlValue, Kind, SqlValue, Kind, boolean]>([
    ['a fraction within tolerance', 100.00001, 'number', 100, 'number', true],
    ['a fraction out of tolerance', 100.001, 'number', 100, 'number', false],
    ['whole numbers are exact', 10_000_000, 'number', 10_000_001, 'number', false],
    ['large identifiers are exact', '90071992547409931', 'number', '90071992547409932', 'number', false],
    ['a large number with a scale is as exact', '90071992547409931.0', 'number', '90071992547409932', 'number', false],
    ['a scale says nothing', '90071992547409931.00', 'number', '90071992547409931', 'number', true],
    ['a fraction beyond every double', `1${'0'.repeat(400)}.5`, 'number', `2${'0'.repeat(400)}.5`, 'number', false],
    ['a double that stands for its neighbours', 100000000000000000000, 'number', '100000000000000000007', 'number', true],
    ['a code beside a number', '012', 'text', 12, 'number', false],
    ['zero as a decimal beside a number', '0.0', 'text', 0, 'number', true],
    ['numeric text of a number column', '12.50', 'number', 12.5, 'number', true],
    ['numeric text beside a number', '12', 'text', 12, 'number', true],
    ['digits of a text column are text', '012', 'text', '12', 'text', false],
    ['TRUE beside 1', true, 'boolean', 1, 'number', true],
    ['FALSE beside 1', false, 'boolean', 1, 'number', false],
    ['NULL beside zero', null, 'number', 0, 'number', false],
    ['the dust of a cancelled sum', 5.5e-17, 'number', 0, 'number', true],
    ['two ways to write midnight', '2024-01-02T00:00:00.000Z', 'time', '2024-01-02', 'time', true],
    ['midnight before Christ', '0044-03-15 00:00:00+00 BC', 'time', '0044-03-15 BC', 'time', true],
    ['midnight after the year 9999', '10000-01-01 00:00:00', 'time', '10000-01-01', 'time', true],
    ['zeros of a second', '10:00:00.500+00', 'time', '10:00:00.5', 'time', true],
    ['a zone is not UTC', '2024-01-02 00:00:00+02', 'time', '2024-01-02', 'time', false],
    ['zeros of a year are no fraction', '1.1.2000', 'time', '1.1.200', 'time', false],
    ['different days', '2024-01-02', 'time', '2024-01-03', 'time', false],
  ])('%s', (_, left, leftKind, right, rightKind, expected) => {
    expect(equalResults(one(left, leftKind), one(right, rightKind), bag)).toBe(expected);
    expect(equalResults(one(right, rightKind), one(left, leftKind), sequence)).toBe(expected);
  }); // prettier-ignore

  test('a result beyond the cap is compared by what the database counted and hashed, never by its sample', () => {
    const capped = result([['a', 'number']], [[1]], true);
    const digest = { count: 20_000, hash: 'h' };
    expect(equalResults(capped, capped, bag)).toBe(false);
    expect(equalResults(capped, capped, { ordered: false, digests: [digest, digest] })).toBe(true);
    expect(equalResults(capped, capped, { ordered: false, digests: [digest, { ...digest, hash: 'x' }] })).toBe(false);
    expect(equalResults(capped, result([['a', 'number']], [[1]]), { ordered: false, digests: [digest, digest] })).toBe(
      false,
    );
  });

  test('a hash says nothing of the order: where the question orders, the rows that were fetched must stand in one, too', () => {
    const capped = (rows: number[][]) => result([['a', 'number']], rows, true);
    const digest = { count: 20_000, hash: 'h' };
    const ordered = { ordered: true, digests: [digest, digest] as const };
    expect(equalResults(capped([[1], [2], [3]]), capped([[9], [8], [7]]), ordered)).toBe(false);
    expect(equalResults(capped([[1], [2], [3]]), capped([[1], [2]]), ordered)).toBe(true);
    expect(equalResults(capped([[1], [2]]), capped([[2], [1]]), { ...ordered, ordered: false })).toBe(true);
  });

  test('a hash fixes the places of columns: under it they are not paired by name', () => {
    const capped = (names: [string, string]): SqlResult =>
      result(names.map((name): [string, Kind] => [name, 'number']), [[1, 2]], true); // prettier-ignore
    const digest = { count: 20_000, hash: 'h' };
    const digests = [digest, digest] as const;
    expect(equalResults(capped(['a', 'b']), capped(['x', 'y']), { ordered: false, digests })).toBe(true);
    expect(equalResults(capped(['a', 'b']), capped(['b', 'a']), { ordered: false, digests })).toBe(false);
  });

  test('a failed result equals nothing, not even itself', () => {
    const failed: SqlResult = { kind: 'timeout', afterMs: 25_000 };
    expect(equalResults(failed, failed, bag)).toBe(false);
  });

  test('ten thousand rows of near-equal fractions take well under two seconds', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => [index % 3, (index % 50) + 0.5, index / 7]);
    const moved = rows.map(([a = 0, b = 0, c = 0]) => [a, b * (1 + 3e-7), c * (1 - 3e-7)]).reverse();
    const columns: [string, Kind][] = [
      ['a', 'number'],
      ['b', 'number'],
      ['c', 'number'],
    ];
    const compare = () => expect(equalResults(result(columns, rows), result(columns, moved), bag)).toBe(true);
    expect(computingMs(compare)).toBeLessThan(2_000);
  });
});

describe('S5: a trivial result', () => {
  test.each<[string, SqlResult, boolean]>([
    ['no rows', result([['a', 'number']], []), true],
    ['all NULL', result([['a', 'text'], ['b', 'number']], [[null, null]]), true],
    ['zero', one(0), true],
    ['zero as a decimal text', one('0.00'), true],
    ['a zero beside a label', result([['a', 'text'], ['b', 'number']], [['x', 0]]), false],
    ['a false, which SQLite writes as 0', one(false, 'boolean'), true],
    ['a true', one(true, 'boolean'), false],
    ['the text 0', one('0', 'text'), false],
    ['a value', one(4), false],
    ['an error', { kind: 'timeout', afterMs: 1 }, true],
  ])('%s', (_, value, expected) => expect(isTrivial(value)).toBe(expected)); // prettier-ignore
});

const cell = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom<SqlValue[]>(0.5, 0.5000004, 0.4999996, 2.25, null, 'x', '1', true),
);
const results = fc
  .tuple(fc.array(fc.tuple(cell, cell), { maxLength: 12 }), fc.constantFrom<Kind[]>('number', 'text', 'other'))
  .map(([rows, kind]) =>
    result(
      [
        ['a', kind],
        ['b', 'number'],
      ],
      rows.map((row) => [...row]),
    ),
  );

test.each<[string, Kind]>([
  [`${'1'.repeat(100_000)}x`, 'number'],
  [`12:00:00.${'0'.repeat(100_000)}x`, 'time'],
])('texts of any length are compared at once', (text, kind) => {
  const compare = () => expect(equalResults(one(text, kind), one(`${text}y`, kind), bag)).toBe(false);
  expect(computingMs(compare)).toBeLessThan(2_000);
});

test('equality is reflexive and does not depend on the order of rows', () =>
  fc.assert(
    fc.property(results, fc.infiniteStream(fc.nat(1000)), (value, order) => {
      expect(equalResults(value, value, sequence)).toBe(true);
      const rows = value.kind === 'rows' ? value.rows : [];
      const shuffled = rows.map((row) => ({ row, at: order.next().value as number })).sort((a, b) => a.at - b.at);
      expect(
        equalResults(
          value,
          { ...(value as Extract<SqlResult, { kind: 'rows' }>), rows: shuffled.map(({ row }) => row) },
          bag,
        ),
      ).toBe(true);
    }),
  ));

test('equality is symmetric', () =>
  fc.assert(
    fc.property(results, results, fc.boolean(), (left, right, ordered) => {
      expect(equalResults(left, right, { ordered })).toBe(equalResults(right, left, { ordered }));
    }),
  ));

test('a change within the tolerance keeps results equal, a larger one does not', () =>
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.01, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 30 }),
      (numbers) => {
        const of = (factor: number): SqlResult =>
          result([['v', 'number']], [[0.5], ...numbers.map((number) => [number * factor])]);
        expect(equalResults(of(1), of(1 + 9e-7), bag)).toBe(true);
        expect(equalResults(of(1), of(1.01), bag)).toBe(false);
      },
    ),
  ));

/** Tries every assignment. */
function bruteForce(left: readonly Vector[], right: readonly Vector[]): boolean {
  const [first, ...rest] = left;
  if (first === undefined) return right.length === 0;
  return right.some(
    (candidate, index) =>
      first.every((value, axis) => closeNumbers(value, candidate[axis] ?? Number.NaN)) &&
      bruteForce(
        rest,
        right.filter((_, other) => other !== index),
      ),
  );
}

test('tolerant matching finds a pairing exactly when one exists, chains of near neighbours included', () =>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.nat(6), fc.infiniteStream(fc.nat(5)), (width, size, stream) => {
      const next = (): number => 1 + (stream.next().value as number) * 6e-7;
      const side = (): Vector[] => Array.from({ length: size }, () => Array.from({ length: width }, next));
      const [left, right] = [side(), side()];
      expect(canMatch(left, right)).toBe(bruteForce(left, right));
    }),
    { numRuns: 500 },
  ));
