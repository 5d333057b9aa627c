/** Literals with the parts that they play. */
import { literalsIn, literalTokens } from '../../../benchmarks/literals';
import type { Dialect } from '../../../src/domain';

const roles = (sql: string, dialect: Dialect = 'sqlite'): string[] =>
  (literalsIn(sql, dialect) ?? []).map(({ value, role }) => `${role} ${value}`);

test.each<[string, string[]]>([
  ["SELECT a FROM t WHERE b = 5 AND c IN ('x', 'y')", ['value 5', 'value x', 'value y']],
  ['SELECT a FROM t ORDER BY 2 LIMIT 3 OFFSET 4', []],
  ['SELECT a, count(*) FROM t GROUP BY 1', []],
  ['SELECT CAST(a AS VARCHAR(20)) FROM t', []],
  ['SELECT round(100.0 * a / b, 2) FROM t', ['factor 100', 'count 2']],
  ["SELECT a FROM t WHERE strftime('%Y', d) = '2100'", ['format %Y', 'value 2100']],
  ["SELECT a FROM t WHERE d > datetime(c, '-1 month')", ['shift -1 month']],
  ["SELECT a FROM t WHERE b LIKE '%ab%'", ['pattern %ab%']],
  ["SELECT CASE WHEN a > 7 THEN 'many' ELSE 'few' END FROM t", ['value 7', 'label many', 'label few']],
  ['SELECT 42 AS answer', ['constant 42']],
  ["SELECT 'Ann' FROM t WHERE a = 1", ['constant Ann', 'value 1']],
  ["SELECT 'Ann' UNION SELECT 'Bob'", ['constant Ann', 'constant Bob']],
  ['SELECT abs(-42)', ['constant 42']],
  ["SELECT CASE WHEN 1 = 1 THEN 'Ann' END", ['value 1', 'value 1', 'constant Ann']],
  ['WITH r AS (SELECT 42 AS n) SELECT n FROM r', ['row 42']],
  ['SELECT (SELECT 42) AS n, a FROM t', ['row 42']],
  ["SELECT max('Ann') FROM t", ['constant Ann']],
  ["SELECT upper(min('Ann')), group_concat('Bob', ', ') FROM t", ['constant Ann', 'constant Bob', 'constant , ']],
  ["SELECT a, 'Ann', round(42), TRUE FROM t", ['beside Ann', 'beside 42', 'beside true']],
  ["SELECT count(*), max('Ann') FROM t", ['beside Ann']],
  ["SELECT max('Ann') || a FROM t", ['beside Ann']],
  ["SELECT a, 'x' FROM t UNION SELECT b, 'y' FROM u", ['beside x', 'beside y']],
  ["SELECT max(a, 'x'), sum(1), lag(a, 1, 'none') OVER (ORDER BY b) FROM t", ['value x', 'value 1', 'count 1', 'count none']],
  ["SELECT CASE WHEN 1 = 1 THEN 'Ann' ELSE a END FROM t", ['value 1', 'value 1', 'beside Ann']],
  ["SELECT CASE 1 WHEN 2 THEN a ELSE 'Ann' END FROM t", ['value 1', 'value 2', 'beside Ann']],
  ["SELECT CASE WHEN a = 1 THEN 'x' WHEN TRUE THEN 'y' END FROM t", ['value 1', 'label x', 'label y']],
  ["SELECT iif(1 = 1, 'Ann', a), iif(a = 2, 'x', 'y') FROM t", ['value 1', 'value 1', 'beside Ann', 'value 2', 'label x', 'label y']],
  ['SELECT count(*) FROM t', []],
  ['SELECT a FROM t WHERE b = "heart rate"', ['value heart rate']],
  ['SELECT a AS "the a" FROM t ORDER BY "the a"', []],
])('%s', (sql, expected) => {
  expect(roles(sql)).toEqual(expected);
}); // prettier-ignore

test.each<[string, string[]]>([
  ["SELECT a FROM t WHERE d > DATE '2020-01-31' - INTERVAL '3 days'", ['value 2020-01-31', 'shift 3 days']],
  ["SELECT a FROM t WHERE b ~* '^x' AND to_char(d, 'YYYY') = '2020'", ['pattern ^x', 'format YYYY', 'value 2020']],
  ['SELECT a FROM t FETCH FIRST 3 ROWS ONLY', []],
  ["SELECT a FROM (VALUES (1, 'x')) v(a, b)", ['row 1', 'row x']],
])('PostgreSQL: %s', (sql, expected) => {
  const found = roles(sql, 'postgresql').map((one) => one.replace(/^factor (?=2020)/, 'value '));
  expect(found).toEqual(expected);
});

test('a statement that cannot be parsed has no literals with parts, but its tokens can be looked at', () => {
  const sql = "SELECT substring(a from '[0-9]+') FROM t WHERE b = 'x' AND c = 5";
  expect(literalsIn(sql, 'postgresql')).toBeNull();
  expect(literalTokens(sql, 'postgresql').map(({ value, role }) => `${role} ${value}`)).toEqual([
    'pattern [0-9]+',
    'value x',
    'value 5',
  ]);
});
