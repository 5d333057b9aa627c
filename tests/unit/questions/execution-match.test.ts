import fc from '../../helpers/property';
import { executionMatch } from '../../../src/questions';
import type { SqlResult, SqlValue } from '../../../src/domain';

type Rows = Extract<SqlResult, { kind: 'rows' }>;
const kindOf = (values: readonly SqlValue[]) =>
  values.some((value) => typeof value === 'number') ? ('number' as const) : ('text' as const);
const result = (
  rows: readonly (readonly SqlValue[])[],
  names: readonly string[] = [],
  width = rows[0]?.length ?? 1,
): Rows => ({
  kind: 'rows',
  columns: Array.from({ length: width }, (_, index) => ({
    name: names[index] ?? `x${index}`,
    kind: kindOf(rows.map((row) => row[index] ?? null)),
  })),
  rows: rows.map((row) => [...row]),
  truncated: false,
  elapsedMs: 1,
});
const kind = (predicted: SqlResult, ...golds: SqlResult[]) => executionMatch(predicted, golds).kind;
const error: SqlResult = { kind: 'sql-error', message: 'no such column', code: null, elapsedMs: 1 };

test('equal rows in another order match; duplicates count', () => {
  expect(kind(result([['a'], ['b'], ['b']]), result([['b'], ['a'], ['b']]))).toBe('match');
  expect(kind(result([['a'], ['b'], ['b']]), result([['a'], ['a'], ['b']]))).toBe('different');
  expect(kind(result([['a'], ['b']]), result([['a'], ['b'], ['b']]))).toBe('different');
});

/** `a 1, b 2`: rows of cells; digits are numbers. */
const table = (text: string, ...names: string[]): Rows =>
  result(
    text.split(', ').map((row) => row.split(' ').map((cell) => (/^\d+$/.test(cell) ? Number(cell) : cell))),
    names,
  );

test.each([
  ['names of columns do not matter', 'match', table('a 1', 'n', 'c'), table('a 1', 'name', 'count')],
  ['their order does not matter', 'match', table('1 a, 2 b'), table('a 1, b 2')],
  ['their number does', 'different', table('1 a'), table('a')],
  ['equal names do not force a pairing', 'match', table('1 2, 3 4', 'a', 'b'), table('2 1, 4 3', 'a', 'b')],
  ['columns equal one by one, but not row by row', 'different', table('1 a, 2 b'), table('1 b, 2 a')],
])('%s: %s', (_claim, expected, predicted, gold) => {
  expect(kind(predicted, gold)).toBe(expected);
});

test('numbers with a fraction match to 1e-6 relative, whole numbers exactly', () => {
  expect(kind(result([[0.1 + 0.2]]), result([[0.3]]))).toBe('match');
  expect(kind(result([[1_000_000.5]]), result([[1_000_000.6]]))).toBe('match');
  expect(kind(result([[1.001]]), result([[1.002]]))).toBe('different');
  expect(kind(result([[1_000_000]]), result([[1_000_001]]))).toBe('different');
});

test('a number that arrives as text is that number', () => {
  const text = result([['12.50']]);
  expect(kind({ ...text, columns: [{ name: 'x', kind: 'number' }] }, result([[12.5]]))).toBe('match');
});

test('NULL equals NULL and nothing else', () => {
  expect(kind(result([[null]]), result([[null]]))).toBe('match');
  expect(kind(result([[null]]), result([[0]]))).toBe('different');
  expect(kind(result([[null]]), result([['']]))).toBe('different');
});

test('two empty results of one width match, of another width do not', () => {
  expect(kind(result([], [], 2), result([], [], 2))).toBe('match');
  expect(kind(result([], [], 2), result([], [], 1))).toBe('different');
  expect(kind(result([], [], 1), result([['a']]))).toBe('different');
});

test('any gold is enough, and the match says which', () => {
  expect(executionMatch(result([['b']]), [result([['a']]), result([['b']])])).toEqual({ kind: 'match', gold: 1 });
});

test('a gold that fails is never a wrong answer, unless another gold matches', () => {
  expect(kind(result([['a']]), error)).toBe('gold-failed');
  expect(kind(result([['a']]), error, result([['b']]))).toBe('gold-failed');
  expect(kind(result([['a']]), error, result([['a']]))).toBe('match');
  expect(kind(result([['a']]), { kind: 'timeout', afterMs: 5 })).toBe('gold-failed');
  expect(kind(result([['a']]))).toBe('gold-failed');
  expect(kind(error, error)).toBe('gold-failed');
});

test.each([
  [error, /SQL error: no such column/],
  [{ kind: 'timeout', afterMs: 25_000 } as const, /no result within 25000 ms/],
  [{ kind: 'refused', message: 'writes' } as const, /refused: writes/],
])('a predicted query that does not run is different, with its reason', (predicted, reason) => {
  expect(executionMatch(predicted, [result([['a']])])).toEqual({
    kind: 'different',
    reason: expect.stringMatching(reason) as string,
  });
});

describe('beyond the row cap', () => {
  const cut = (rows: Rows): Rows => ({ ...rows, truncated: true });
  const both = [cut(result([['a']])), cut(result([['a']]))] as const;
  const match = (one: { count: number; hash: string } | null, two: { count: number; hash: string } | null) =>
    executionMatch(both[0], [both[1]], { digests: { predicted: one, golds: [two] } }).kind;

  test('two cut results are not compared by their first rows', () => {
    expect(kind(...both)).toBe('undecided');
    expect(match(null, null)).toBe('undecided');
  });
  test('equal digests match, unequal counts differ, unequal hashes of equal counts decide nothing', () => {
    expect(match({ count: 9, hash: 'h' }, { count: 9, hash: 'h' })).toBe('match');
    expect(match({ count: 9, hash: 'h' }, { count: 8, hash: 'h' })).toBe('different');
    expect(match({ count: 9, hash: 'h' }, { count: 9, hash: 'i' })).toBe('undecided');
  });
  test('where the question orders, equal digests decide nothing', () => {
    const digest = { count: 9, hash: 'h' };
    const digests = { predicted: digest, golds: [digest] };
    expect(executionMatch(both[0], [both[1]], { digests, orders: [{ kind: 'sequence' }] }).kind).toBe('undecided');
    expect(executionMatch(both[0], [both[1]], { digests, orders: [{ kind: 'any' }] }).kind).toBe('match');
  });
  test('a cut result and a whole one differ', () => {
    expect(kind(both[0], result([['a']]))).toBe('different');
    expect(kind(result([['a']]), both[0])).toBe('different');
  });
  test('a result that was cut because of its size, before it had as many rows as the other, decides nothing', () => {
    const whole = result([['a'], ['b'], ['c']]);
    expect([kind(both[0], whole), kind(whole, both[0])]).toEqual(['undecided', 'undecided']);
  });
});

const BY_COUNT = { kind: 'keys' as const, columns: [1] };
const IN_PLACE = { kind: 'sequence' as const };
test.each([
  ['ties may stand in any order', 'a 3, c 2, b 2', BY_COUNT, 'match'],
  ['other rows may not', 'b 2, a 3, c 2', BY_COUNT, 'different'],
  ['sort keys are followed through a change of columns', '3 a, 2 c, 2 b', BY_COUNT, 'match'],
  ['there too other rows may not', '2 c, 3 a, 2 b', BY_COUNT, 'different'],
  ['without keys in the output every row has its place', 'a 3, c 2, b 2', IN_PLACE, 'different'],
  ['its place, whatever the order of columns', '3 a, 2 b, 2 c', IN_PLACE, 'match'],
])('where the question orders, %s', (_claim, predicted, order, expected) => {
  expect(executionMatch(table(predicted), [table('a 3, b 2, c 2')], { orders: [order] }).kind).toBe(expected);
});

const cell = fc.oneof(
  fc.constantFrom('a', 'b', 'c'),
  fc.integer({ min: 0, max: 3 }),
  fc.constant(null),
  fc.constantFrom(0.1, 0.25, 1 / 3),
);
const tables = fc
  .integer({ min: 1, max: 4 })
  .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }));
const shuffled = <T>(items: readonly T[], seeds: readonly number[]): T[] =>
  items
    .map((item, index) => [seeds[index % seeds.length]! + index / 1000, item] as const)
    .sort((a, b) => a[0] - b[0])
    .map(([, item]) => item);
const seeds = fc.array(fc.nat(99), { minLength: 8, maxLength: 8 });

test('shuffled rows and columns always match', () => {
  fc.assert(
    fc.property(tables, seeds, seeds, (rows, rowSeeds, columnSeeds) => {
      const order = shuffled([...rows[0]!.keys()], columnSeeds);
      const other = shuffled(rows, rowSeeds).map((row) => order.map((column) => row[column]!));
      expect(kind(result(other), result(rows))).toBe('match');
    }),
  );
});

test('one changed cell never matches its original when the multiset of cells changes', () => {
  fc.assert(
    fc.property(tables, fc.nat(), fc.nat(), (rows, atRow, atColumn) => {
      const row = atRow % rows.length;
      const column = atColumn % rows[0]!.length;
      const other = rows.map((cells, index) =>
        cells.map((value, place) => (index === row && place === column ? 'changed' : value)),
      );
      expect(kind(result(other), result(rows))).toBe('different');
      expect(kind(result(rows), result(other))).toBe('different');
    }),
  );
});

test('many identical columns are matched without trying every pairing', () => {
  const rows = Array.from({ length: 50 }, (_, index) => Array.from({ length: 30 }, () => index % 2));
  expect(kind(result(rows), result(rows))).toBe('match');
});

function permutations(width: number): number[][] {
  if (width === 0) return [[]];
  return permutations(width - 1).flatMap((rest) =>
    Array.from({ length: width }, (_, at) => [...rest.slice(0, at), width - 1, ...rest.slice(at)]),
  );
}

test('the verdict is that of trying every pairing of columns', () => {
  const small = fc.integer({ min: 0, max: 2 });
  const pair = fc.integer({ min: 1, max: 4 }).chain((width) => {
    const table = fc.array(fc.array(small, { minLength: width, maxLength: width }), { minLength: 3, maxLength: 3 });
    return fc.tuple(fc.constant(width), table, table);
  });
  const sorted = (rows: readonly (readonly number[])[]) =>
    rows
      .map((row) => row.join())
      .sort()
      .join(';');
  fc.assert(
    fc.property(pair, ([width, one, two]) => {
      const equal = permutations(width).some(
        (order) => sorted(one.map((row) => order.map((column) => row[column]!))) === sorted(two),
      );
      expect(kind(result(one), result(two))).toBe(equal ? 'match' : 'different');
    }),
    { numRuns: 1000 },
  );
});
