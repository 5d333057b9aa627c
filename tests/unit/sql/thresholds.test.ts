/** Bounds of a check that may have been fitted: which are found, and what stands beside them. */
import { isOnlyThreshold, thresholdsIn } from '../../../src/sql/thresholds';

const literals = (sql: string): string[] => thresholdsIn(sql, 'sqlite').map(({ literal }) => literal);

test.each([
  ['SELECT count(*), sum(minutes > 30) FROM t', ['30']],
  ['SELECT sum(CASE WHEN 0.25 <= x THEN 1 END) FROM t WHERE age BETWEEN 18 AND 65', ['0.25', '18', '65']],
  // None of these is fitted: a sign, a band, a count of rows, an equality.
  ['SELECT sum(x > 0 AND y >= 1) FROM t', []],
  ['SELECT sum(abs(a - b) < 0.05) FROM t', []],
  ['SELECT count(*) FROM (SELECT k FROM t GROUP BY k HAVING count(*) > 3)', []],
  ['SELECT sum(kind = 30) FROM t', []],
  ['SELECT 3 < 4', []],
])('%s', (sql, expected) => {
  expect(literals(sql)).toEqual(expected);
});

test('its neighbours stand on both sides, as it is written, the nearest first', () => {
  expect(thresholdsIn('SELECT sum(m > 30) FROM t', 'sqlite')[0]!.neighbours).toEqual([
    '29',
    '31',
    '27',
    '33',
    '15',
    '45',
  ]);
  expect(thresholdsIn('SELECT sum(m > 0.5) FROM t', 'sqlite')[0]!.neighbours).toEqual(['0.4', '0.6', '0.3', '0.8']);
  expect(thresholdsIn('SELECT sum(m > 2) FROM t', 'sqlite')[0]!.neighbours).toEqual(['1', '3']);
});

test('a number that stands for something else, too, is not moved', () => {
  expect(isOnlyThreshold('SELECT a FROM t WHERE m > 30 OR 30 < n', '30', 'sqlite')).toBe(true);
  expect(isOnlyThreshold('SELECT a FROM t WHERE m > 30 LIMIT 30', '30', 'sqlite')).toBe(false);
  expect(isOnlyThreshold('SELECT a FROM t WHERE m = 30', '30', 'sqlite')).toBe(false);
});
