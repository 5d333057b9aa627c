import { vacuousCheck } from '../../../src/sql/checks';

describe('S1 for claims: a check that could not fail', () => {
  test.each([
    ['SELECT count(*), count(*) FROM t', 0, 'same expression'],
    ['select Count(*) AS examined, count( * ) AS matching, sum(a = 1) from t', 1, 'same expression'],
    ['SELECT count(*), sum(a = b), 0 FROM t', 1, 'column 3 is the constant 0'],
    ["SELECT count(*), count(*) FILTER (WHERE code = 'X') FROM t WHERE code = 'X'", 0, "code = 'X'"],
    ['SELECT count(*), sum(CASE WHEN t.a > 1 THEN 1 ELSE 0 END) FROM t WHERE b = 2 AND (t.a > 1)', 0, 't.a > 1'],
    ['SELECT count(*), count(*) FILTER (WHERE true), sum(a = b) FROM t', 1, 'counts true, which says nothing'],
    ['SELECT count(*), sum(CASE WHEN a = b OR 1 = 1 THEN 1 END) FROM t', 0, 'counts 1 = 1, which says nothing'],
    ['SELECT count(*), sum(a = b OR c IS NOT NULL) FROM t WHERE c IS NOT NULL', 0, 'c is not null'],
    ['WITH x AS (SELECT a FROM t) SELECT count(*), sum((a=1)::int), 1 FROM x', 1, 'constant 1'],
    ['SELECT count(1) examined, count(*) matching FROM t', 0, 'same expression'],
    ['SELECT count(*) n, sum(a = b) m, sum(0) r FROM t', 1, 'column 3 is the constant 0'],
    ['SELECT count(*), count(t.a) AS m FROM t WHERE t.a IS NOT NULL', 0, 't.a is not null'],
    ['SELECT count(*), sum(a BETWEEN 1 AND 2) FROM t WHERE a BETWEEN 1 AND 2 AND b', 0, 'a between 1 and 2'],
    [
      'SELECT count(*), count(*) FILTER (WHERE a = 1 AND b = 2) FROM t WHERE b = 2 AND c AND a = 1',
      0,
      'a = 1 and b = 2',
    ],
    ['SELECT count(*), sum(CAST(a = 1 AS integer)) FROM t WHERE a = 1', 0, 'a = 1'],
    ['SELECT count(*), sum(a = 1), CAST(0 AS integer) FROM t', 1, 'column 3 is the constant'],
    ["SELECT count(*), count(*) FILTER (WHERE DATE '2020-01-01' < CURRENT_DATE) FROM t", 0, 'which says nothing'],
  ])('%s', (check, side, expected) => {
    expect(vacuousCheck(check, side, 'postgresql')).toContain(expected);
    expect(vacuousCheck(check, side, 'snowflake')).toContain(expected);
    if (!check.includes('::')) expect(vacuousCheck(check, side, 'sqlite')).toContain(expected);
  });

  test.each([
    ['SELECT count(*), count(*) FILTER (WHERE abs(a - b) < 0.01), sum(a = 2 * b) FROM t WHERE a IS NOT NULL', 1],
    ["SELECT count(*), sum(x) FROM (SELECT a = b AS x FROM t WHERE a = b OR c = ' and (') AS s WHERE y > 1", 0],
    ["SELECT count(*), count(*) FILTER (WHERE a = 'it''s') FROM t WHERE a <> 'it''s' OR a = 'it''s'", 0],
    ['SELECT count(*), sum(a = b OR a = c) FROM t WHERE c > 1', 0],
    ['SELECT 1 UNION ALL SELECT 2', 0],
    ['SELECT n, m FROM (SELECT 1 AS n, 2 AS m) AS s', 0],
    ['SELECT count(*), sum(a = 1) + sum(b = 2) FROM t WHERE a = 1', 0],
    ['SELECT count(*), count(CASE WHEN a = 1 THEN 1 ELSE 0 END) FROM t WHERE a = 1', 0],
    // Another number of columns is told elsewhere.
    ['SELECT 20, 10, 3', 0],
  ])('no word against %s', (check, side) => {
    for (const dialect of ['sqlite', 'postgresql', 'snowflake'] as const)
      expect(vacuousCheck(check, side, dialect)).toBeNull();
  });
});
