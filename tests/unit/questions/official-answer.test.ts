import { officialAnswerMatch } from '../../../src/questions';
import { officialCell, officialForm } from '../../../src/questions/official-answer';
import type { SqlResult, SqlValue } from '../../../src/domain';

const result = (rows: readonly (readonly SqlValue[])[], truncated = false): SqlResult => ({
  kind: 'rows',
  columns: (rows[0] ?? []).map((_, index) => ({ name: `c${index}`, kind: 'other' as const })),
  rows: rows.map((row) => [...row]),
  truncated,
  elapsedMs: 1,
});

/** Second column: what Python prints for `str(round(float(x), 3))`, or the text where `float` refuses. */
test.each([
  ['4', '4.0'],
  [4, '4.0'],
  [126.8168, '126.817'],
  ['126.817', '126.817'],
  [0.0625, '0.062'],
  [0.1875, '0.188'],
  [-0.0625, '-0.062'],
  [2.0005, '2.001'],
  [1.0005, '1.0'],
  [-0.0001, '-0.0'],
  [0, '0.0'],
  [1e16, '1e+16'],
  [1.5e300, '1.5e+300'],
  [123456789012345, '123456789012345.0'],
  [' 7 ', '7.0'],
  ['1_000', '1000.0'],
  ['1e3', '1000.0'],
  ['.5', '0.5'],
  ['5.', '5.0'],
  ['nan', 'nan'],
  ['Infinity', 'inf'],
  ['-inf', '-inf'],
  [true, '1.0'],
  [null, 'None'],
  ['2100-05-19 21:24:00', '2100-05-19 21:24:00'],
  ['iv', 'iv'],
  ['', ''],
  ['1__0', '1__0'],
  ['0x10', '0x10'],
  ['1,5', '1,5'],
] as const)('the cell %p reads %s', (value, expected) => {
  expect(officialCell(value)).toBe(expected);
});

test('a number and its text are the same cell, to three places', () => {
  expect(officialAnswerMatch(result([[0.92921]]), [['0.929']]).kind).toBe('match');
  expect(officialAnswerMatch(result([[0.9286]]), [['0.928']]).kind).toBe('different');
});

test('rows match in any order, with their duplicates', () => {
  expect(officialAnswerMatch(result([['b'], ['a'], ['b']]), [['a'], ['b'], ['b']]).kind).toBe('match');
  expect(officialAnswerMatch(result([['b'], ['a']]), [['a'], ['b'], ['b']])).toEqual({
    kind: 'different',
    reason: 'other rows (2 instead of 3) than the official answer',
  });
});

test('columns keep their order', () => {
  expect(officialAnswerMatch(result([['a', 1]]), [[1, 'a']]).kind).toBe('different');
});

test('an answer cut at a hundred rows is compared with the first hundred', () => {
  const all = Array.from({ length: 150 }, (_, index) => [`n${String(index).padStart(3, '0')}`]);
  expect(officialAnswerMatch(result([...all].reverse()), all.slice(0, 100)).kind).toBe('match');
  expect(officialAnswerMatch(result(all.slice(1)), all.slice(0, 100)).kind).toBe('different');
});

test('a result beyond the row cap cannot be cut like the official one', () => {
  const rows = Array.from({ length: 100 }, (_, index) => [index]);
  expect(officialAnswerMatch(result(rows, true), rows).kind).toBe('undecided');
  expect(officialAnswerMatch(result(rows, true), rows.slice(0, 5)).kind).toBe('different');
  const five = rows.slice(0, 5);
  expect(officialAnswerMatch(result(five, true), five).kind).toBe('different');
  expect(officialAnswerMatch(result(five, true), rows.slice(0, 6)).kind).toBe('undecided');
});

test('texts sort by code points, as Python sorts them', () => {
  expect(officialForm([['\u{1f331}'], ['\uffee']])).toEqual([['\uffee'], ['\u{1f331}']]);
  expect(officialForm([['ab'], ['a'], ['B']])).toEqual([['B'], ['a'], ['ab']]);
});

test('a query that fails is different, with its reason', () => {
  expect(officialAnswerMatch({ kind: 'sql-error', message: 'bad', code: null, elapsedMs: 1 }, [['a']])).toMatchObject({
    kind: 'different',
    reason: 'SQL error: bad',
  });
});
