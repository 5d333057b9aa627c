import type { SqlResult, SqlValue } from '../../../src/domain';
import { agree, countsInVote, flawOf, repeats } from '../../../src/methods/reforce/same-results';

function rows(...given: readonly (readonly SqlValue[])[]): SqlResult {
  const columns = (given[0] ?? []).map((_, at) => ({ name: `c${at}`, kind: 'text' as const }));
  return { kind: 'rows', columns, rows: given.map((row) => [...row]), truncated: false, elapsedMs: 1 };
}

describe('two votes agree', () => {
  test.each([
    ['in another order of rows', rows(['a', 1], ['b', 2]), rows(['b', 2], ['a', 1]), true],
    ['in another order of columns', rows(['a', 1], ['b', 2]), rows([1, 'a'], [2, 'b']), true],
    ['by less than 0.001', rows([1.0004], [2]), rows([2], [1]), true],
    ['not by more', rows([1.002]), rows([1]), false],
    ['where a number is written as text', rows(['1.50']), rows([1.5]), true],
    ['where nothing is written in two ways', rows([null], ['a']), rows([''], ['a']), true],
    ['not with a column more', rows(['a']), rows(['a', 'a']), false],
    ['not with a row more', rows(['a']), rows(['a'], ['a']), false],
    ['not where a code loses its zeros', rows(['007']), rows([7]), false],
    ['not where a query failed', rows(['a']), { kind: 'timeout', afterMs: 1 } as const, false],
  ])('%s', (_, one, other, expected) => {
    expect(agree(one, other)).toBe(expected);
    expect(agree(other, one)).toBe(expected);
  });
});

test('a column without a value but zero does not count in a vote, unless columns were explored', () => {
  const empty = rows(['a', 0], ['b', null]);
  expect(flawOf(empty)).toEqual({ kind: 'empty', where: ['c1'] });
  expect([countsInVote(empty, false), countsInVote(empty, true)]).toEqual([false, true]);
  expect(countsInVote(rows(['a', 0], ['b', 1]), false)).toBe(true);
});

test('a value of several lines never counts', () => {
  const nested = rows(['[\na\n]']);
  expect(flawOf(nested)).toEqual({ kind: 'nested', where: ['c0'] });
  expect(countsInVote(nested, true)).toBe(false);
});

test('a result of the same conversation is repeated by its first column, to two decimals', () => {
  expect(repeats(rows([1.234, 'x']), rows([1.2301, 'y']))).toBe(true);
  expect(repeats(rows([1.234, 'x']), rows([1.24, 'x']))).toBe(false);
  expect(repeats(rows(['a']), rows(['a'], ['a']))).toBe(false);
});
