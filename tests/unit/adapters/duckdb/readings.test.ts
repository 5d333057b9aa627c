/** The two readings of a statement: by tokens in front, by DuckDB's own parser in the process. They have to agree. */
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { Refusal, SyntaxProblem } from '../../../../src/adapters/kit/inspection';
import { createDuckdbInspector } from '../../../../src/adapters/duckdb';
import { relationsOf } from '../../../../src/adapters/duckdb/tree';

const inspector = createDuckdbInspector();
let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

async function tree(sql: string): Promise<string[]> {
  const read = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  return [...relationsOf(String(read.getRows()[0]?.[0]))].sort();
}

test.each<[string, string[]]>([
  ['SELECT 1', []],
  ['SELECT * FROM Team t JOIN "Player" p ON true, s.Bed, db.main.deep', ['Player', 'db.main.deep', 's.bed', 'team']],
  ['WITH a AS (SELECT * FROM t) SELECT * FROM A', ['t']],
  ['WITH t AS (SELECT * FROM t) SELECT * FROM t', ['t']],
  ['WITH t AS (SELECT 1) SELECT * FROM main.t', ['main.t']],
  ['WITH a AS MATERIALIZED (SELECT * FROM b), b AS NOT MATERIALIZED (SELECT * FROM c) SELECT * FROM a, b', ['b', 'c']],
  ['WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r, u) SELECT * FROM r', ['u']],
  ['SELECT * FROM (WITH x AS (SELECT * FROM y) SELECT * FROM x) s, x', ['x', 'y']],
  ['WITH x AS (SELECT 1) SELECT (WITH x AS (SELECT * FROM inner_t) SELECT count(*) FROM x) FROM x', ['inner_t']],
  ['SELECT * FROM y WHERE EXISTS (SELECT 1 FROM x, z) AND a IN (SELECT a FROM w) UNION BY NAME SELECT * FROM v', ['v', 'w', 'x', 'y', 'z']],
  ['SELECT * FROM a ASOF JOIN b USING (t) POSITIONAL JOIN c SEMI JOIN d ON true', ['a', 'b', 'c', 'd']],
  ['SELECT * FROM t, unnest(t.l) AS u(x), range(3), LATERAL (SELECT * FROM w) v', ['t', 'w']],
  ['SELECT sum(x) OVER w FROM t WINDOW w AS (PARTITION BY a), v AS (ORDER BY b)', ['t']],
  ['SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))', ['t']],
  ['SELECT * FROM t TABLESAMPLE 10% (bernoulli, 1), u USING SAMPLE 5', ['t', 'u']],
  ['SELECT [x FOR x IN [1] IF x IN (SELECT a FROM t)], list_filter(l, lambda y: y IN (SELECT 1 FROM u)) FROM v', ['t', 'u', 'v']],
  ['SELECT extract(year FROM d), trim(BOTH FROM a), a IS DISTINCT FROM b FROM t', ['t']],
  ['SELECT "from"."select" FROM "from" -- FROM u', ['from']],
  ["SELECT 'FROM u', $$FROM w$$, E'\\'FROM x' FROM t /* FROM /* y */ z */", ['t']],
])('both read %s', async (sql, relations) => {
  expect(inspector.inspect(sql)).toMatchObject({ kind: 'select', relations });
  expect(await tree(sql)).toEqual(relations.map((name) => name.toLowerCase()).sort());
}); // prettier-ignore

test.each<[string, RegExp]>([
  ['SELECT * FROM read_csv(\'x\')', /^the function read_csv is not allowed: files are not read here/],
  ['SELECT getenv(\'HOME\')', /^the function getenv is not allowed: it shows settings/],
  ['SELECT main.evil(1)', /^the function (main\.)?evil is not allowed: it is not known to only compute/],
  ['SELECT nextval(\'s\')', /^the function nextval is not allowed: it changes state/],
  ['SELECT * FROM query(\'SELECT 1\')', /^the function query is not allowed: it runs or hides other SQL/],
  ['SELECT * FROM "dir/x.csv"', /^files such as dir\/x\.csv are not read here/],
  ['SELECT * FROM duckdb_logs', /^duckdb_logs is not allowed: it shows settings/],
  ['SELECT 1; SELECT 2', /^only one statement is allowed/],
  ['SELECT $1', /^parameters/],
  ['PIVOT t ON a USING sum(b)', /write one SELECT/],
  ['DELETE FROM t', /write one SELECT/],
  ['WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x', /(a CTE may only be a SELECT|only a SELECT is allowed)/],
  ['SELECT * FROM (DESCRIBE t)', /^(DESCRIBE|SHOW) is not allowed/],
])('both refuse %s', async (sql, message) => {
  expect(inspector.inspect(sql)).toEqual({ kind: 'refused', message: expect.stringMatching(message) as string });
  const refused: unknown = await tree(sql).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refusal);
  expect((refused as Refusal).message).toMatch(message);
}); // prettier-ignore

test('a syntax error is said in one line, with its place', async () => {
  const problem: unknown = await tree('SELECT a FROM t WHRE b = 1').catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(SyntaxProblem);
  expect((problem as SyntaxProblem).message).toBe('Parser Error: syntax error at or near "b" (at character 22)');
});

test('a macro of the database is refused, whatever its name', async () => {
  const read = await connection.runAndReadAll("SELECT json_serialize_sql('SELECT UCASE(x), upper(x) FROM t')");
  const serialized = String(read.getRows()[0]?.[0]);
  expect([...relationsOf(serialized)]).toEqual(['t']);
  expect(() => relationsOf(serialized, new Set(['ucase']))).toThrow(/^ucase is a macro of this database/i);
});
