/** Values of a check that may have been fitted to the rows. */
import { bandOf, fittedIn, withLiteral } from '../../../src/sql/fitted';

const literals = (sql: string) => fittedIn(sql, 'postgresql').map(({ literal }) => literal);

test.each([
  [
    'a bound',
    "SELECT count(*) FROM t WHERE day >= '2024-03-01' AND day < '2024-04-01'",
    ["'2024-03-01'", "'2024-04-01'"],
  ],
  ['a bound of a branch', "SELECT sum(CASE WHEN day > '20240301' THEN x END) FROM t", ["'20240301'"]],
  ['a range', "SELECT 1 FROM t WHERE day BETWEEN '2024-03-01' AND '2024-03-31'", ["'2024-03-01'", "'2024-03-31'"]],
  ['a day that is asked for as a key', "SELECT 1 FROM t WHERE day = '2024-03-01'", []],
  ['a factor', 'SELECT sum(abs(a * 1.19 - b) < 0.01) FROM t', ['1.19']],
  ['units', 'SELECT a * 1000, b / 60, c / 100.0, d * 24, e * 0.001 FROM t', []],
  ['no date', "SELECT 1 FROM t WHERE x > '2024-13-01' AND y > 'b'", []],
])('%s', (_, sql, found) => {
  expect(literals(sql)).toEqual(found);
});

test('neighbours are written as the value is', () => {
  const of = (sql: string) => fittedIn(sql, 'sqlite')[0]!.neighbours.slice(0, 2);
  expect(of("SELECT 1 FROM t WHERE d >= '2024-03-01 00:00'")).toEqual(["'2024-02-29 00:00'", "'2024-03-02 00:00'"]);
  expect(of("SELECT 1 FROM t WHERE d >= '20240301'")).toEqual(["'20240229'", "'20240302'"]);
  expect(of('SELECT a * 1.10 FROM t')).toEqual(['1.09', '1.11']);
  expect(of('SELECT a / 17 FROM t')).toEqual(['16', '18']);
});

test('a value is replaced wherever it stands, and no part of another', () => {
  expect(withLiteral('SELECT a * 1.1, b * 11.1, c1.1, 1.1 FROM t', '1.1', '1.2')).toBe(
    'SELECT a * 1.2, b * 11.1, c1.1, 1.2 FROM t',
  );
});

test.each([
  ['SELECT sum(abs(a - b) < 0.05), sum(abs(a - c) <= 0.5) FROM t', '0.5'],
  ['SELECT sum(a = b), sum(x < 5) FROM t', null],
])('the band of %s', (sql, band) => {
  expect(bandOf(sql, 'sqlite')?.band ?? null).toBe(band);
});
