import fc from '../../helpers/property';
import type { SqlResult, SqlValue } from '../../../src/domain';
import { COVERED, coverageText, readCoverage } from '../../../src/sql/coverage';

const rows = (values: SqlValue[][], names = ['asked', 'used'], truncated = false): SqlResult => ({
  kind: 'rows',
  columns: names.map((name) => ({ name, kind: 'number' })),
  rows: values,
  truncated,
  elapsedMs: 1,
});

const twoRows = rows([
  [1, 1],
  [2, 2],
]);

describe('two counts of one row', () => {
  test('are asked about and used, whatever the columns are called', () => {
    expect(readCoverage(rows([[1000, 312]], ['a', 'b']))).toEqual({ asked: 1000, used: 312 });
  });

  test('may come as text: PostgreSQL sums integers to a numeric', () => {
    expect(readCoverage(rows([['1000', '312']]))).toEqual({ asked: 1000, used: 312 });
  });

  test('may be zero', () => {
    expect(readCoverage(rows([[0, 0]]))).toEqual({ asked: 0, used: 0 });
  });

  test.each<[string, SqlResult, string]>([
    ['no row', rows([]), 'it must give one row of two counts, but gave no row'],
    ['two rows', twoRows, 'it must give one row of two counts, but gave 2 rows of 2 columns'],
    ['one column', rows([[7]], ['n']), 'it must give one row of two counts, but gave 1 row of 1 column'],
    [
      'a cut result',
      rows([[7, 7]], ['a', 'b'], true),
      'it must give one row of two counts, but gave more than 1 row of 2 columns',
    ],
    ['a sum over nothing', rows([[0, null]]), 'both numbers must be counts, but they are 0 and NULL'],
    ['a share', rows([[1, 0.31]]), 'both numbers must be counts, but they are 1 and 0.31'],
    ['an empty text', rows([['', 1]]), 'both numbers must be counts, but they are  and 1'],
    ['a negative number', rows([[3, -1]]), 'both numbers must be counts, but they are 3 and -1'],
    [
      'counts in the other order',
      rows([[312, 1000]]),
      'how many are asked about comes first, then how many of them are used, but 1000 is more than 312',
    ],
    ['an error', { kind: 'sql-error', message: 'no such column: x', code: null, elapsedMs: 1 }, 'no such column: x'],
    ['a refusal', { kind: 'refused', message: 'one SELECT only' }, 'one SELECT only'],
    ['a timeout', { kind: 'timeout', afterMs: 25_000 }, 'it took longer than 25000 ms'],
  ])('%s says what is wrong', (_, result, problem) => {
    expect(readCoverage(result)).toBe(problem);
  });
});

describe('the sentence', () => {
  test.each<[number, number, string | null]>([
    [1000, 312, 'Only 312 of the 1,000 asked about could be used (31 %).'],
    [1_234_567, 12_345, 'Only 12,345 of the 1,234,567 asked about could be used (under 1 %).'],
    [40, 0, 'Only 0 of the 40 asked about could be used (0 %).'],
    [1000, 949, 'Only 949 of the 1,000 asked about could be used (94 %).'],
    [1000, 950, null],
    [1000, 1000, null],
    [0, 0, null],
  ])('of %d asked about and %d used', (asked, used, text) => {
    expect(coverageText({ asked, used })).toBe(text);
  });

  test('never shows a share that would have been enough', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.double({ min: 0, max: 1, noNaN: true }), (asked, share) => {
        const used = Math.floor(asked * share);
        const text = coverageText({ asked, used });
        const shown = Number(/\((\d+) %\)/.exec(text ?? '')?.[1] ?? 0);
        expect(text === null).toBe(asked === 0 || used >= asked * COVERED);
        expect(shown).toBeLessThan(100 * COVERED);
      }),
    );
  });
});
