/** The reader of Snowflake queries: what it lets through with which relations, and a corpus of what it must not. */
import { createSnowflakeInspector } from '../../../../src/adapters/snowflake';
import { readStatement } from '../../../../src/adapters/snowflake/inspector';
import { HOSTILE } from './hostile';

const { inspect } = createSnowflakeInspector();

describe.each(Object.entries(HOSTILE))('%s', (_, statements) => {
  test.each(statements.map((sql) => [sql]))('is not let through: %s', (sql) => {
    expect(inspect(sql).kind).toMatch(/^(refused|syntax-error)$/);
  });
});

test('the corpus is large, and nothing is in it twice', () => {
  const all = Object.values(HOSTILE).flat();
  expect(all.length).toBeGreaterThanOrEqual(150);
  expect(new Set(all).size).toBe(all.length);
});

test('what is refused is said in one line, with what to write instead', () => {
  for (const sql of Object.values(HOSTILE).flat()) {
    const inspection = inspect(sql);
    if (inspection.kind === 'refused') expect(inspection.message).toMatch(/^[^\n]+: [^\n]+$|^[^\n]+ write [^\n]+$/);
  }
});

describe('relations', () => {
  test.each<[string, string[]]>([
    ['SELECT a FROM t', ['t']],
    ['SELECT a FROM Sales.Orders o, "Mixed"."TEAM" AS m', ['Mixed.team', 'sales.orders']],
    ['SELECT * FROM club.public.team', ['club.public.team']],
    ['SELECT offset FROM secret', ['secret']],
    ['SELECT a FROM t offset, secret', ['secret', 't']],
    ['SELECT a FROM t limit, secret', ['secret', 't']],
    ['SELECT 1FROM secret', ['secret']],
    ['SELECT 1.FROM secret', ['secret']],
    ["SELECT 'x'FROM secret", ['secret']],
    ['SELECT a FROM(SELECT b FROM(secret))', ['secret']],
    ['SELECT a FROM t WHERE b IS NOT DISTINCT FROM c', ['t']],
    ['SELECT EXTRACT(year FROM d), TRIM(x) FROM t', ['t']],
    ['SELECT a FROM t LEFT OUTER JOIN u USING (id) NATURAL JOIN v', ['t', 'u', 'v']],
    ['SELECT a FROM t ASOF JOIN u MATCH_CONDITION (t.x >= u.x) ON t.id = u.id', ['t', 'u']],
    ['SELECT a FROM (t JOIN u ON t.id = u.id) x, (VALUES (1, 2), (3, 4)) AS v (a, b), w', ['t', 'u', 'w']],
    ['SELECT a FROM VALUES (1, 2), (3, 4) AS v (a, b), w', ['w']],
    ['SELECT f.value:id::int FROM t, LATERAL FLATTEN(input => t.v:items[0].list) f', ['t']],
    ['SELECT a FROM TABLE(FLATTEN(input => (SELECT v FROM hidden))) f', ['hidden']],
    ["SELECT a FROM t, LATERAL SPLIT_TO_TABLE(t.names, ',') s", ['t']],
    ['SELECT SEQ4() FROM TABLE(GENERATOR(rowcount => 10))', []],
    ['SELECT a FROM t AT(TIMESTAMP => \'2020-01-01\'::timestamp) WHERE x', ['t']],
    ["SELECT * FROM t PIVOT(SUM(a) FOR m IN (SELECT DISTINCT m FROM months)) AS p (a, b)", ['months', 't']],
    ['SELECT * FROM t SAMPLE BERNOULLI (10) REPEATABLE (1), u', ['t', 'u']],
    ['SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC) = 1', ['t']],
    ['SELECT id FROM t START WITH boss IS NULL CONNECT BY PRIOR id = boss', ['t']],
    ['SELECT a FROM t START WITH f (x) = 1 CONNECT BY a = b'.replace('f (x)', 'ABS (x)'), ['t']],
    ['(SELECT 1) UNION ALL (SELECT a FROM t) ORDER BY 1 LIMIT 5', ['t']],
    ['SELECT 1 UNION ALL BY NAME SELECT a FROM t MINUS SELECT a FROM u EXCEPT SELECT a FROM v', ['t', 'u', 'v']],
    ['SELECT ((SELECT 1) + (SELECT max(a) FROM t)) FROM u', ['t', 'u']],
    ['SELECT {\'a\': (SELECT b FROM t)}', ['t']],
    ['SELECT a FROM t WHERE EXISTS (WITH x AS (SELECT * FROM u) SELECT 1 FROM x)', ['t', 'u']],
    ['WITH t AS (SELECT * FROM t) SELECT * FROM t', ['t']],
    ['WITH a (x) AS (SELECT 1), b AS (SELECT x FROM a JOIN u ON TRUE) SELECT * FROM b', ['u']],
    ['WITH RECURSIVE a AS (SELECT x FROM b), b AS (SELECT y FROM base) SELECT * FROM a', ['b', 'base']],
    ['SELECT transform(list, x -> x + 1), REDUCE(l, 0, (acc, v) -> acc + v) FROM t', ['t']],
    ['SELECT a::NUMBER(10, 2), CAST(b AS VARCHAR(10)), TRY_CAST(c AS DECIMAL(3, 1)) FROM t', ['t']],
    ['SELECT * EXCLUDE (a, b) RENAME (c AS d), t.* ILIKE \'%x%\' FROM t', ['t']],
    ['SELECT LISTAGG(DISTINCT a, \',\') WITHIN GROUP (ORDER BY a) FROM t GROUP BY ROLLUP (b)', ['t']],
    ["SELECT $$ it's -- not a comment; DELETE $$, 'a\\'b', '''' FROM t", ['t']],
    ['SELECT "a;b", "c""d" FROM t -- the end;', ['t']],
  ])('%s', (sql, relations) => {
    expect(inspect(sql)).toMatchObject({ kind: 'select', relations });
  }); // prettier-ignore

  test('a statement tells its own WITH, and only that', () => {
    expect(inspect('WITH A AS (SELECT 1), "b c" AS (SELECT 2) SELECT * FROM a')).toMatchObject({ ctes: ['a', 'b c'], hasWith: true }); // prettier-ignore
    expect(inspect('SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a)')).toMatchObject({ ctes: [], hasWith: false });
  });

  test('a quoted name is another one than the CTE of that spelling', () => {
    expect(inspect('WITH a AS (SELECT 1) SELECT * FROM "a"')).toMatchObject({ relations: ['a'] });
    expect(inspect('WITH a AS (SELECT 1) SELECT * FROM "A"')).toMatchObject({ relations: [] });
  });
});

test('functions of the database pass when the configuration names them', () => {
  const { inspect: lenient } = createSnowflakeInspector(['public.to_eur']);
  expect(lenient('SELECT public.to_eur(1)').kind).toBe('select');
  expect(lenient('SELECT to_usd(1)').kind).toBe('refused');
});

test('a statement nested deeper than the reader follows is refused, not a crash', () => {
  expect(inspect(`SELECT ${'('.repeat(60_000)}1${')'.repeat(60_000)}`).kind).toBe('refused');
});

test('the end of a statement is cut where its semicolon stands, and nowhere else', () => {
  expect(readStatement("SELECT ';' -- ;\n, 1; -- over")).toMatchObject({ text: "SELECT ';' -- ;\n, 1" });
  expect(readStatement('SELECT 1')).toMatchObject({ text: 'SELECT 1' });
});

test('the engine itself refuses what closes brackets that it did not open', () => {
  for (const sql of [
    'SELECT 1) AS a; DROP TABLE t; --',
    'SELECT 1) ->> DELETE FROM (SELECT 1',
    'SELECT (1',
    'CALL p()',
  ])
    expect(readStatement(sql).kind).toBe('refused');
  expect(readStatement('(SELECT 1)').kind).toBe('select');
});
