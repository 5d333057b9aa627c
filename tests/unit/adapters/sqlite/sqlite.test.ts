import type Database from 'libsql';
import { createSqliteInspector } from '../../../../src/adapters/sqlite/inspector';
import { Compiler } from '../../../../src/adapters/sqlite/program';
import { sqlite } from '../../../../src/adapters/sqlite/errors';

const inspector = createSqliteInspector();

test.each<[string, string[]]>([
  ['SELECT 1', []],
  ['VALUES (1), (2)', []],
  ['SELECT * FROM Team t JOIN "Player" p ON 1, main.Bed, [odd one], `tick`', ['Player', 'bed', 'odd one', 'team', 'tick']],
  ['WITH a AS (SELECT * FROM t) SELECT * FROM A', ['t']],
  ['WITH a AS (SELECT * FROM b), b AS (SELECT * FROM c) SELECT * FROM a, b', ['c']],
  ['WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT * FROM r', []],
  ['WITH t AS (SELECT 1) SELECT * FROM main.t', ['t']],
  ['SELECT * FROM (WITH x AS (SELECT * FROM y) SELECT * FROM x) s, x', ['x', 'y']],
  ['WITH x AS (SELECT 1) SELECT (WITH x AS (SELECT * FROM inner_t) SELECT count(*) FROM x) FROM x', ['inner_t']],
  ['WITH x AS (SELECT 1) SELECT * FROM y WHERE EXISTS (SELECT 1 FROM x, z) AND a IN (SELECT a FROM w) AND b NOT IN v', ['v', 'w', 'y', 'z']],
  ['WITH x AS (SELECT 1) SELECT * FROM x UNION SELECT * FROM x UNION ALL SELECT * FROM y ORDER BY 1', ['y']],
  ['SELECT * FROM a LEFT JOIN json_each(a.j) e ON 1 CROSS JOIN (b JOIN c USING (id))', ['a', 'b', 'c']],
  ['SELECT name FROM sqlite_master', ['sqlite_master']],
  ["SELECT * FROM pragma_table_info('t')", ['pragma_table_info']],
  ['SELECT CASE WHEN (SELECT 1 FROM a) THEN (SELECT 2 FROM b) END, sum(x) FILTER (WHERE x IN (SELECT x FROM c)) OVER (PARTITION BY (SELECT y FROM d)) FROM e GROUP BY (SELECT z FROM f) HAVING (SELECT 1 FROM g) LIMIT (SELECT n FROM h)', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']],
  ['SELECT * FROM t INDEXED BY i;', ['t']],
  ["SELECT sum(a = 1) AS right, b.match, count(*) AS Groups FROM t b WHERE a LIKE 'x' GROUP BY 2", ['t']],
  ['WITH groups AS (SELECT a AS left FROM t) SELECT groups.left, sum(a) OVER (ORDER BY a GROUPS 1 PRECEDING) FROM groups LEFT JOIN u USING (a)', ['t', 'u']],
])('%s reads %j', (sql, relations) => {
  expect(inspector.inspect(sql)).toMatchObject({ kind: 'select', relations });
}); // prettier-ignore

test('the own CTEs are the outermost ones, and only a leading WITH counts', () => {
  expect(
    inspector.inspect('WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b), "C" AS (SELECT 2) SELECT * FROM a'),
  ).toMatchObject({ ctes: ['a', 'C'], hasWith: true });
  expect(inspector.inspect('SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) s')).toMatchObject({
    ctes: [],
    hasWith: false,
  });
  expect(inspector.inspect('WITH a AS (SELECT 1) SELECT * FROM a UNION SELECT 2')).toMatchObject({
    ctes: ['a'],
    hasWith: true,
  });
});

test.each<[string, RegExp]>([
  ['', /empty/],
  ['-- nothing', /empty/],
  ['SELECT 1; SELECT 2', /only one statement/],
  ['INSERT INTO t VALUES (1)', /^INSERT is not allowed: write one SELECT/],
  ['UPDATE t SET a = 1', /^UPDATE/],
  ['WITH a AS (SELECT 1) DELETE FROM t', /^DELETE/],
  ['DROP TABLE t', /^DROP TABLE/],
  ["ATTACH 'x' AS y", /^ATTACH/],
  ['PRAGMA query_only = 0', /^PRAGMA/],
  ['VACUUM', /^VACUUM/],
  ['EXPLAIN SELECT 1', /^EXPLAIN/],
  ["SELECT load_extension('x')", /load_extension/],
  ["SELECT WriteFile('x', 'y')", /writefile is not allowed: it reaches files/],
  ["SELECT 1 WHERE readfile('x') IS NULL", /readfile/],
  ["SELECT fts3_tokenizer('simple')", /fts3_tokenizer/],
  ["SELECT * FROM fsdir('/')", /fsdir/],
  ['SELECT * FROM sqlite_dbpage', /sqlite_dbpage/],
  ['SELECT * FROM other.t', /outside the database/],
])('%s is refused', (sql, message) => {
  expect(inspector.inspect(sql)).toEqual({ kind: 'refused', message: expect.stringMatching(message) as string });
});

test('a syntax error is said in one line', () => {
  expect(inspector.inspect('SELECT * FORM t')).toEqual({
    kind: 'syntax-error',
    message: expect.stringMatching(/^Syntax Error: [^\n]+$/) as string,
  });
});

/** Counts what is compiled; every statement has these columns. */
function compilerWith(columns: number): { compile(text: string, version?: string): void; compiled(): number } {
  let compiled = 0;
  const all = (): unknown[] => {
    compiled += 1;
    return [];
  };
  const database = { prepare: () => ({ raw: () => ({ all }) }), close: () => undefined };
  const compiler = new Compiler(() => database as unknown as Database.Database);
  const statement = {
    columns: () => Array.from({ length: columns }, (_, index) => ({ name: `column ${index}`, type: 'TEXT' })),
  } as unknown as Database.Statement;
  return {
    compile: (text, version = '1') => void compiler.compile(text, statement, version),
    compiled: () => compiled,
  };
}

test('a text is compiled once for each version of the schema', () => {
  const compiler = compilerWith(2);
  for (const version of ['1', '1', '2', '1']) compiler.compile('SELECT 1', version);
  expect(compiler.compiled()).toBe(3);
});

test('what is kept of statements with many columns is bounded', () => {
  const compiler = compilerWith(1000);
  for (let round = 0; round < 2; round += 1)
    for (let index = 0; index < 100; index += 1) compiler.compile(`SELECT ${index}`);
  expect(compiler.compiled()).toBe(200);
});

test('a database in WAL mode in a folder that may not be written is no outage, and the line says what to do', () => {
  const end = {
    kind: 'error',
    code: 'UNKNOWN_SQLITE_ERROR_1544',
    message: 'attempt to write a readonly database',
  } as const;
  expect(() => sqlite.throwIfBroken(end, 'a.db')).toThrow(
    expect.objectContaining({
      code: 'not-found',
      message: expect.stringContaining('let this user write into its folder') as string,
    }) as Error,
  );
});
