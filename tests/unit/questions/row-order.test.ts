import { asksForOrder, rowOrder, sortKeys } from '../../../src/questions/row-order';

test.each([
  'What are the titles of all publications ordered alphabetically?',
  'Average fare per airline, sorted in descending order by average cost?',
  'Order the results by the number of restaurants in descending order.',
  'Which lakes are largest, ordered from largest to smallest?',
  'List names in alphabetical order.',
  'Rank heroes by their height.',
])('asks for an order: %s', (question) => {
  expect(asksForOrder(question)).toBe(true);
});

test.each([
  'What are the top five diagnoses?',
  'Which author has the most citations?',
  'How many orders were placed last month?',
  'What was ordered for patient 7 since 2100?',
  'In order to sell, how many sorts of tea are needed?',
])('does not ask for an order: %s', (question) => {
  expect(asksForOrder(question)).toBe(false);
});

test.each([
  ['SELECT a FROM t', []],
  ['SELECT a FROM t ORDER BY a DESC NULLS LAST LIMIT 5', ['a']],
  ['SELECT a, sum(b) FROM t GROUP BY a ORDER BY sum(b) DESC, t.a COLLATE NOCASE ASC;', ['sum(b)', 't.a']],
  ['SELECT a FROM (SELECT a FROM t ORDER BY b LIMIT 3) x', []],
  ['SELECT rank() OVER (ORDER BY b) FROM t', []],
  ["SELECT a FROM t WHERE b = ' ORDER BY a' -- ORDER BY a", []],
  ['SELECT a FROM t /* ORDER BY a */', []],
  [
    'WITH x AS (SELECT 1 ORDER BY 1) SELECT a FROM x UNION SELECT b FROM y ORDER BY 1, coalesce(a, b)',
    ['1', 'coalesce(a, b)'],
  ],
  ['SELECT a FROM t ORDER\n  BY "a"', ['"a"']],
])('the outermost sort keys of %s', (sql, keys) => {
  expect(sortKeys(sql)).toEqual(keys);
});

const Q = 'List them ordered by count.';
test.each([
  ['SELECT name, n FROM t ORDER BY n DESC', ['name', 'n'], { kind: 'keys', columns: [1] }],
  ['SELECT name, n FROM t ORDER BY t.N, "name"', ['name', 'n'], { kind: 'keys', columns: [1, 0] }],
  ['SELECT name, n FROM t ORDER BY 2', ['name', 'n'], { kind: 'keys', columns: [1] }],
  ['SELECT name FROM t ORDER BY length(name)', ['name'], { kind: 'sequence' }],
  ['SELECT name FROM t ORDER BY hidden', ['name'], { kind: 'sequence' }],
  ['SELECT name FROM t ORDER BY name, hidden', ['name'], { kind: 'keys', columns: [0] }],
  ['SELECT name FROM t ORDER BY 9', ['name'], { kind: 'sequence' }],
  ['SELECT name FROM t', ['name'], { kind: 'any' }],
])('the order that %s fixes', (sql, columns, expected) => {
  expect(rowOrder(Q, sql, columns)).toEqual(expected);
  expect(rowOrder('List them.', sql, columns)).toEqual({ kind: 'any' });
});
