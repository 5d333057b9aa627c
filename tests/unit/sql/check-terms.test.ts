import { checkTerms, literalsOf } from '../../../src/sql/checks';
import type { Dialect } from '../../../src/domain';

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
