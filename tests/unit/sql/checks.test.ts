import { vacuousCheck, checkTerms, literalsOf } from '../../../src/sql/checks';
import type { Dialect } from '../../../src/domain';

const withSql = (rivals: number): boolean[] => Array.from({ length: rivals }, () => true);

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
    expect(vacuousCheck(check, withSql(side), 'postgresql')).toContain(expected);
    expect(vacuousCheck(check, withSql(side), 'snowflake')).toContain(expected);
    if (!check.includes('::')) expect(vacuousCheck(check, withSql(side), 'sqlite')).toContain(expected);
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
      expect(vacuousCheck(check, withSql(side), dialect)).toBeNull();
  });
});

describe('a value that is compared with itself', () => {
  const operators = new Map([['op_bill', 'SELECT id, net * rate AS gross, net * rate AS due, paid FROM bill']]);
  const fault = (check: string): string | null => vacuousCheck(check, [], 'postgresql', operators);

  test.each([
    'SELECT count(*), count(*) FILTER (WHERE abs(b.gross - b.gross) < 0.01) FROM bill b',
    'SELECT count(*), count(*) FILTER (WHERE gross = due) FROM op_bill',
    'SELECT count(*), count(*) FILTER (WHERE abs(o.gross - o.due) <= 0.01) FROM op_bill o JOIN bill b ON b.id = o.id',
    'WITH s AS (SELECT k, sum(q) AS a, sum(q) AS b FROM t GROUP BY k) SELECT count(*), sum((s.a = s.b)::int) FROM s',
    'SELECT count(*), sum((x.a = x.b)::int) FROM (SELECT q AS a, q AS b FROM t) AS x CROSS JOIN u',
  ])('could not fail: %s', (check) => {
    expect(fault(check)).toMatch(/^it compares .*, and both sides are the same expression/);
  });

  test.each([
    'SELECT count(*), count(*) FILTER (WHERE o.gross = o.paid) FROM op_bill o',
    // Two rows of one relation.
    'SELECT count(*), count(*) FILTER (WHERE a.gross = b.due) FROM op_bill a JOIN op_bill b ON b.id = a.id + 1',
    'SELECT count(*), count(*) FILTER (WHERE gross < due) FROM op_bill',
    'SELECT count(*), count(*) FILTER (WHERE gross = due AND paid > 0) FROM op_bill',
    'SELECT count(*), count(*) FILTER (WHERE abs(gross - due) > 1) FROM op_bill',
    'SELECT count(*), count(*) FILTER (WHERE o.gross = o.due) FROM bill o',
  ])('may fail: %s', (check) => {
    expect(fault(check)).toBeNull();
  });
});

describe('a rival that only negates the claim', () => {
  const fault = (counts: string, ...withInstead: boolean[]): string | null =>
    vacuousCheck(`SELECT count(*), ${counts} FROM t`, withInstead, 'sqlite');

  test.each([
    'sum(a = b), sum(a <> b)',
    'sum(a = b), sum(NOT (a = b))',
    'count(*) FILTER (WHERE NOT a), count(*) FILTER (WHERE a)',
    'sum(a >= b), sum(CASE WHEN a < b THEN 1 ELSE 0 END)',
    "sum(a IN ('x', 'y')), sum(a NOT IN ('x', 'y'))",
    'count(a), count(*) - count(a)',
    'count(a), sum(a IS NULL)',
  ])('proves nothing alone: %s', (counts) => {
    expect(fault(counts, false)).toMatch(/^its rival only negates it/);
    // It runs through the answer.
    expect(fault(counts, true)).toBeNull();
  });

  test('beside another one, or where it says more than that, it may stay', () => {
    expect(fault('sum(a = b), sum(a <> b), sum(a = c)', false, false)).toBeNull();
    expect(fault('sum(a = b), sum(a <> c)', false)).toBeNull();
    expect(fault('sum(a = b), sum(a < b)', false)).toBeNull();
  });
});

const CATS = "('Birman', 'Siamese')";
const breed = (code: string, breeds: string, rest = '', where = ''): string =>
  `SELECT count(*), sum((sp = '${code}') = (rc IN ${breeds}))${rest} FROM pt${where}`;
const terms = (check: string, dialect: Dialect = 'sqlite'): string | undefined => checkTerms(check, dialect)?.terms;

describe('the same in other words', () => {
  test.each<[string, string, string]>([
    [
      'order, names and rivals',
      breed('F', CATS, ", sum(sp = 'C')"),
      breed('F', "('Siamese','Birman')", ' AS matching'),
    ],
    ['rows that nothing leaves out', breed('F', CATS), breed('F', CATS, ', 0', ' WHERE sp IS NOT NULL')],
    [
      'as an answer wraps it',
      breed('F', CATS),
      `WITH claim_1 (examined_1, matching_1, rival_1_1) AS (\n${breed('F', CATS, ", sum((sp = 'X'))")}\n) SELECT * FROM claim_1`,
    ],
    [
      'with the rival in a part of its own',
      'SELECT count(*), sum(a = b) FROM t',
      "WITH claim_1 (e, m) AS (\nSELECT count(*), sum(a = b) FROM t\n),\nclaim_1_1 (e, m) AS (SELECT count(*), sum(a = 'X') FROM t) SELECT * FROM claim_1 CROSS JOIN claim_1_1",
    ],
    [
      'a tolerance, and a join written otherwise',
      "WITH f AS (SELECT to_char(ts, 'YYYYMM') AS per, sum(l) AS l FROM fuel GROUP BY 1) SELECT count(*), count(*) FILTER (WHERE abs(s.l - f.l) < 0.006) FROM stm s LEFT JOIN f ON f.per = s.per",
      "SELECT count(*) AS examined, sum(CASE WHEN abs(s.l - coalesce(f.l, 0)) < 0.05 THEN 1 ELSE 0 END) FROM stm s LEFT JOIN (SELECT to_char(ts, 'YYYYMM') AS per, sum(l) AS l FROM fuel GROUP BY 1) f USING (per)",
    ],
  ])('%s', (_, one, other) => {
    expect(terms(one, 'postgresql')).toBeDefined();
    expect(terms(one, 'postgresql')).toBe(terms(other, 'postgresql'));
  });
});

describe('not the same', () => {
  test.each([
    ['other texts', breed('F', CATS), breed('C', "('Beagle', 'Mastiff')")],
    [
      'another code',
      'SELECT count(*), sum((sx IN (1, 3)) = f) FROM t',
      'SELECT count(*), sum((sx IN (2, 4)) = f) FROM t',
    ],
    ['a code of 0 or 1', 'SELECT count(*), sum(dk = 1) FROM t', 'SELECT count(*), sum(dk = 0) FROM t'],
    [
      'a code of 0 or 1 in a CASE',
      'SELECT count(*), sum(CASE dk WHEN 1 THEN a END = b) FROM t',
      'SELECT count(*), sum(CASE dk WHEN 0 THEN a END = b) FROM t',
    ],
    ['another factor', 'SELECT count(*), sum(a * 100 = b) FROM t', 'SELECT count(*), sum(a * 1000 = b) FROM t'],
    ['another function', 'SELECT count(*), sum(a = max(b, c)) FROM t', 'SELECT count(*), sum(a = min(b, c)) FROM t'],
    ['another comparison', 'SELECT count(*), sum(a < b) FROM t', 'SELECT count(*), sum(a <> b) FROM t'],
    ['a bound that is no tolerance', 'SELECT count(*), sum(a < 5) FROM t', 'SELECT count(*), sum(a < 7) FROM t'],
    ['a text in double quotes', 'SELECT count(*), sum(a = "F") FROM t', 'SELECT count(*), sum(a = "C") FROM t'],
  ])('%s', (_, one, other) => {
    expect(terms(one)).toBeDefined();
    expect(terms(one)).not.toBe(terms(other));
  });
});

test('names are those of the claim alone; what cannot be read says nothing', () => {
  expect([...(checkTerms('SELECT count(*), sum(a = T.b), sum(c = 1) FROM t', 'sqlite')?.names ?? [])].sort()).toEqual([
    ...['a', 'b', 't'],
  ]);
  expect(checkTerms('SELECT count(*) FROM', 'sqlite')).toBeNull();
});

test('the literals of a text', () => {
  expect(literalsOf("SELECT a FROM t WHERE b = 'x' AND c > 2.5 AND d IN (1, 'y')", 'postgresql')).toEqual(
    new Set(["'x'", '2.5', '1', "'y'"]),
  );
  expect(literalsOf('SELEC', 'sqlite')).toBeNull();
});
