import { createBigQueryInspector } from '../../../../src/adapters/bigquery';
import { createDuckdbInspector } from '../../../../src/adapters/duckdb';
import { createMysqlInspector } from '../../../../src/adapters/mysql';
import { createSnowflakeInspector } from '../../../../src/adapters/snowflake';
import type { SqlInspector } from '../../../../src/domain/ports';
import { findHidden } from '../../../../src/sql/access';

const relationsBy = (inspector: SqlInspector, sql: string): readonly string[] => {
  const inspection = inspector.inspect(sql);
  if (inspection.kind !== 'select') throw new Error(inspection.message);
  return inspection.relations;
};

describe('what a name in a WITH stands for', () => {
  const later = 'WITH RECURSIVE x AS (SELECT * FROM hidden), hidden AS (SELECT 1 AS id) SELECT * FROM x';

  test('before a CTE of that name it is a table, where the server has no forward references', () => {
    expect(relationsBy(createMysqlInspector(), later)).toEqual(['hidden']);
    expect(relationsBy(createDuckdbInspector(), later)).toEqual(['hidden']);
    expect(relationsBy(createBigQueryInspector(), later)).toEqual([]);
  });

  test('a recursive CTE sees itself, and the query after it all of them', () => {
    const own = 'WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3), s AS (SELECT * FROM r) SELECT * FROM r JOIN s ON true'; // prettier-ignore
    for (const inspector of [createMysqlInspector(), createDuckdbInspector(), createBigQueryInspector()])
      expect(relationsBy(inspector, own)).toEqual([]);
  });

  test.each([
    'WITH hidden AS (SELECT 1 AS s) SELECT * FROM (WITH y AS (SELECT * FROM hidden) SELECT * FROM y) AS z',
    'WITH hidden AS (SELECT 1 AS s) SELECT (WITH y AS (SELECT s FROM hidden) SELECT s FROM y) AS v',
    'WITH hidden AS (SELECT 1 AS s) SELECT 1 AS v WHERE 1 IN (WITH y AS (SELECT s FROM hidden) SELECT s FROM y)',
  ])('MariaDB does not see the outer WITH in %s', (sql) => {
    expect(relationsBy(createMysqlInspector(), sql)).toEqual(['hidden']);
    expect(relationsBy(createDuckdbInspector(), sql)).toEqual([]);
  });

  test('but it does at the beginning of the body of another CTE', () => {
    const sql = 'WITH a AS (SELECT 1 AS s), b AS (WITH y AS (SELECT * FROM a) SELECT * FROM y) SELECT * FROM b';
    expect(relationsBy(createMysqlInspector(), sql)).toEqual([]);
  });
});

test.each([
  'SELECT secret FROM orders USE INDEX FOR ORDER BY (PRIMARY), hidden',
  'SELECT secret FROM orders o IGNORE INDEX FOR GROUP BY (PRIMARY) JOIN hidden ON TRUE',
])('a hint does not end the list of relations: %s', (sql) => {
  expect(relationsBy(createMysqlInspector(), sql)).toEqual(['hidden', 'orders']);
});

test.each([
  ['MySQL reads .1 and FROM', createMysqlInspector(), 'SELECT secret, .1FROM hidden', /a number/],
  [
    'it is a time in MariaDB',
    createMysqlInspector(),
    'SELECT 1 FROM t FOR SYSTEM_TIME AS OF TRANSACTION sleep(5)',
    /^the function sleep/,
  ],
  [
    'a server may end the comment',
    createSnowflakeInspector(),
    'WITH a AS (SELECT 1) --\r SELECT secret FROM hidden\n SELECT 1',
    /carriage return/,
  ],
  ['a driver may end the statement', createDuckdbInspector(), 'SELECT 1 /* \0 */', /NUL/],
] as const)('what servers could read in another way is refused: %s', (_, inspector, sql, says) => {
  expect(inspector.inspect(sql)).toMatchObject({ kind: 'refused', message: expect.stringMatching(says) as unknown });
});

test('BigQuery has weeks that begin on a day', () => {
  const sql = 'SELECT DATE_TRUNC(day, WEEK(MONDAY)), DATE_DIFF(a, b, WEEK(SUNDAY)) FROM shop.orders';
  expect(relationsBy(createBigQueryInspector(), sql)).toEqual(['shop.orders']);
});

test('a number may begin with its dot', () => {
  const sql = 'SELECT .5 * amount, amount * .5 FROM orders WHERE amount >.5 AND amount BETWEEN .5 AND 1';
  expect(relationsBy(createMysqlInspector(), sql)).toEqual(['orders']);
});

test('DUAL is no relation', () => {
  expect(relationsBy(createMysqlInspector(), 'SELECT 1 AS x FROM DUAL WHERE 1 = 1')).toEqual([]);
  expect(relationsBy(createMysqlInspector(), 'SELECT 1 AS x FROM `DUAL`')).toEqual(['DUAL']);
});

test.each([
  ['bigquery', 'SELECT TO_JSON_STRING((SELECT AS STRUCT * REPLACE (1 AS id) FROM people LIMIT 1)) AS j'],
  ['bigquery', 'SELECT ARRAY(SELECT AS STRUCT * REPLACE (1 AS id) FROM people) AS j'],
  ['duckdb', 'SELECT id FROM people NATURAL SEMI JOIN leads'],
  ['duckdb', 'SELECT id FROM people NATURAL ANTI JOIN leads'],
  ['mysql', 'SELECT id FROM people NATURAL STRAIGHT_JOIN leads'],
  ['duckdb', 'SELECT DISTINCT ON (id) * EXCLUDE (id) FROM people'],
  ['duckdb', "SELECT DISTINCT ON (id) * ILIKE 's%' FROM people"],
  ['snowflake', 'SELECT TOP 5 * EXCLUDE (id) FROM people'],
  ['snowflake', "SELECT DISTINCT TOP 5 * ILIKE 's%' FROM people"],
  ['duckdb', 'SELECT main.people FROM people'],
  ['duckdb', "SELECT shop.main.people['s' || 'sn'] FROM people"],
  ['duckdb', "SELECT p FROM people AS 'p'"],
  ['duckdb', "SELECT d FROM main.people AS e'p'('a', 'b', 'c', 'd')"],
  ['duckdb', 'SELECT unnest(j) FROM (orders JOIN people ON true) j'],
  ['postgresql', 'SELECT j FROM ((orders CROSS JOIN people)) AS j'],
  ['duckdb', 'SELECT x FROM orders, (main.people) AS x'],
  ['duckdb', 'SELECT id FROM people p JOIN orders o ON [o.id, p] IS NULL'],
  ['duckdb', "SELECT id FROM people p JOIN orders o ON {'a': 1, 'b': p} IS NULL"],
  ['postgresql', 'SELECT o.id IS DISTINCT FROM 1, p FROM people p, orders o'],
  ['postgresql', 'SELECT o.id FROM orders o, people p GROUP BY o.id, p'],
  ['postgresql', 'SELECT o.id FROM people p JOIN orders o ON (o.id, p) IS NULL, leads'],
  ['postgresql', 'SELECT o.id FROM orders o, people p, coalesce(o, p) AS x'],
  ['postgresql', 'SELECT j.row_to_json FROM (orders JOIN people USING (id)) j'],
  ['postgresql', 'SELECT p.any_value FROM people p'],
  ['bigquery', 'SELECT TO_JSON_STRING(offset) FROM people AS offset'],
  ['postgresql', 'SELECT people "." FROM people'],
  ['duckdb', 'SELECT "as" FROM people "as"'],
  ['sqlite', "SELECT (1, 's') IN main.people"],
  ['duckdb', 'SELECT u FROM main.people AS p UNPIVOT (val FOR col IN (id)) AS u'],
  ['bigquery', 'SELECT TO_JSON_STRING(u) FROM people p UNPIVOT INCLUDE NULLS (val FOR col IN (id)) AS u'],
  ['duckdb', 'SELECT x FROM orders o JOIN people p USING (id) PIVOT (max(id) FOR o.name IN (x))'],
  ['postgresql', 'SELECT to_json(p) FROM orders, ONLY (public.people) p'],
] as const)('%s: hidden columns are not read by %s', (dialect, sql) => {
  expect(findHidden(sql, [{ table: 'people', columns: ['ssn'], all: ['id', 'ssn'] }], dialect)).toMatch(
    /hidden columns of people|^an alias in quotes/,
  );
});

test('PostgreSQL cuts long names, so that another one stands for a hidden column', () => {
  const column = 'c'.repeat(63);
  const hidden = [{ table: 'people', columns: [column], all: [column] }];
  expect(findHidden(`SELECT ${column}c FROM people`, hidden, 'postgresql')).toMatch(/longer than 63 bytes/);
});

test.each([
  ['duckdb', 'SELECT DISTINCT ON (id) id, 2 * (id + 1) AS total FROM people ORDER BY total'],
  ['duckdb', 'SELECT main.people.id, (id + 1) twice FROM main.people JOIN orders USING (id) ORDER BY twice'],
  [
    'postgresql',
    'SELECT (p.id * (SELECT count(*) FROM orders JOIN leads USING (id))) total FROM people p ORDER BY total',
  ],
  ['snowflake', 'SELECT TOP 5 id, 2 * id FROM people'],
  ['snowflake', 'SELECT * FROM (SELECT id, name FROM people) AS p PIVOT (max(id) FOR name IN (ANY))'],
  ['bigquery', 'SELECT pivot, include FROM people'],
  ['postgresql', 'SELECT p.id, o.people FROM ONLY (public.people) p JOIN orders o ON o.id IN (p.id)'],
  ['sqlite', 'SELECT id FROM main.people WHERE id IN main.orders'],
  ['duckdb', 'SELECT p.name FROM orders o, main.people p, leads WHERE o.id = p.id'],
  ['mysql', 'SELECT o.id FROM orders o LEFT JOIN (people p JOIN leads l ON l.id = p.id) ON p.id = o.id, people'],
  ['postgresql', 'SELECT p.id FROM orders o JOIN leads l ON l.id = o.id AND l.x IS DISTINCT FROM 1, people p'],
] as const)('%s: other columns are read by %s', (dialect, sql) => {
  expect(findHidden(sql, [{ table: 'people', columns: ['ssn'], all: ['id', 'ssn'] }], dialect)).toBeNull();
});
