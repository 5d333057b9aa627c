import type { SqlResult, SqlValue } from '../../../src/domain';
import { resultPreview, resultText, resultTexts } from '../../../src/text/result-text';

const rows = (values: SqlValue[][], truncated = false): SqlResult => ({
  kind: 'rows',
  columns: [
    { name: 'a', kind: 'text' },
    { name: 'b', kind: 'number' },
  ],
  rows: values,
  truncated,
  elapsedMs: 1,
});

test('a result is CSV in which NULL, an empty text and the text NULL differ', () => {
  expect(
    resultText(
      rows([
        ['x,"y"', 1],
        [null, null],
        ['', 2],
        ['NULL', 3],
      ]),
      8000,
    ),
  ).toBe('a,b\n"x,""y""",1\nNULL,NULL\n"",2\n"NULL",3');
});

test('a cut falls between rows and says how much is missing', () => {
  const text = resultText(rows(Array.from({ length: 100 }, (_, index) => [`row${index}`, index])), 60);
  expect(text).toMatch(/^a,b\nrow0,0\n/);
  expect(text).toMatch(/\n\(8 of 100 rows shown\)$/);
  expect(resultText(rows([['x', 1]], true), 60)).toContain('(1 of 1 or more rows shown)');
});

test('no rows, errors and timeouts are said in words', () => {
  expect(resultText(rows([]), 60)).toBe('a,b\n(no rows)');
  expect(resultText({ kind: 'sql-error', message: 'no such column', code: null, elapsedMs: 1 }, 60)).toBe(
    'SQL error: no such column',
  );
  expect(resultPreview({ kind: 'timeout', afterMs: 5 })).toContain('Timeout');
});

test('a preview is the value of a single cell, else a count and the first rows', () => {
  expect(resultPreview({ ...rows([[4]]), columns: [{ name: 'n', kind: 'number' }] } as SqlResult)).toBe('4');
  expect(
    resultPreview(
      rows([
        ['x', 1],
        ['y', 2],
      ]),
    ),
  ).toBe('2 rows: x, 1; y, 2');
  expect(resultPreview(rows([['x'.repeat(500), 1]])).length).toBe(200);
});

test('results that share a space are each cut and counted, and a long one gets what short ones leave', () => {
  const long = rows(Array.from({ length: 100 }, (_, index) => [`row${index}`, index]));
  const short = rows([['n', 7]]);
  const shown = (text: string | undefined): number => Number(/\((\d+) of 100 rows shown\)$/.exec(text ?? '')?.[1]);
  const [first, beside, second] = resultTexts([long, short, long], 600);
  expect(beside).toBe('a,b\nn,7');
  expect(Math.abs(shown(first) - shown(second))).toBeLessThanOrEqual(1);
  expect(shown(first)).toBeGreaterThan(shown(resultText(long, 200)));
  expect(resultTexts([long], 600)).toEqual([resultText(long, 600)]);
  expect(resultTexts([], 600)).toEqual([]);
});
