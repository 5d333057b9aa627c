/** SQLite beyond the common contract: large values, virtual tables, dates as stored, odd names, text that is not UTF-8. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSqliteEngine } from '../../src/adapters/sqlite';
import type { SqlResult } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports/sql-engine';
import { options, runOne as askOne } from '../helpers/engine';

const folder = mkdtempSync(join(tmpdir(), 'gate-sql-lite-'));
const file = join(folder, 'odd.sqlite');
const MAKE = 'const [, library, file, sql] = process.argv; new (require(library))(file).exec(sql);';
const write = (sql: string, path = file): Buffer =>
  execFileSync(process.execPath, ['-e', MAKE, require.resolve('libsql'), path, sql]);

let engine: SqlEngine;
beforeAll(() => {
  write(`
    CREATE TABLE "odd name; --" ("a ""b""" INTEGER, [c d] TEXT, "select" DATE);
    INSERT INTO "odd name; --" VALUES (9223372036854775807, 'é', '2020-02-30'), (-1, 'x', 2458850.5), (0, 'y', 1577836800);
    CREATE VIRTUAL TABLE notes USING fts5(title, body);
    INSERT INTO notes VALUES ('first', 'the quick fox'), ('second', 'the lazy dog');
    CREATE VIRTUAL TABLE places USING rtree(id, x0, x1);
    INSERT INTO places VALUES (1, 0.5, 1.5);
    CREATE TABLE mixed (v); INSERT INTO mixed VALUES (1), (2.5), ('text'), (x'00ff'), (NULL), (CAST(x'41ff42' AS TEXT));
  `);
  engine = createSqliteEngine({ path: file });
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const runOne = (sql: string, more: Partial<SqlOptions> = {}, on = engine) => askOne(on, sql, more);

test('names with blanks, quotes and keywords are described as they are, and dates come as stored', async () => {
  const { tables } = await engine.describe(options());
  const odd = tables.find(({ name }) => name === 'odd name; --');
  expect(odd?.columns.map(({ name, type }) => [name, type])).toEqual([
    ['a "b"', 'integer'],
    ['c d', 'text'],
    ['select', 'date'],
  ]);
  expect(await runOne('SELECT "a ""b""", "select" FROM "odd name; --"')).toMatchObject({
    rows: [
      ['9223372036854775807', '2020-02-30'],
      [-1, 2458850.5],
      [0, 1577836800],
    ],
  });
});

test('virtual tables are described and searched', async () => {
  const { tables } = await engine.describe(options());
  expect(tables.find(({ name }) => name === 'notes')?.columns.map(({ name }) => name)).toEqual(['title', 'body']);
  expect(tables.find(({ name }) => name === 'places')?.columns.map(({ name }) => name)).toEqual(['id', 'x0', 'x1']);
  expect(await runOne("SELECT title FROM notes WHERE notes MATCH 'fox' ORDER BY rank")).toMatchObject({
    rows: [['first']],
  });
  expect(await runOne('SELECT id FROM places WHERE x0 <= 1 AND x1 >= 1')).toMatchObject({ rows: [[1]] });
});

test('a column of many types arrives value by value', async () => {
  expect(await runOne('SELECT v FROM mixed')).toMatchObject({
    columns: [{ kind: 'other' }],
    rows: [[1], [2.5], ['text'], ['\\x00ff'], [null], ['A\ufffdB']],
  });
});

test('what a value is decides the kind of its column, not how it is written', async () => {
  const sql = "SELECT 9007199254740993 AS big, 9e999 AS endless, x'00ff' AS raw, '12' AS code, 9007199254740993 AS id UNION ALL SELECT 9007199254740994, 1e308, NULL, 'x', 5"; // prettier-ignore
  expect(await runOne(sql)).toMatchObject({
    columns: ['number', 'number', 'other', 'text', 'number'].map((kind) => ({ kind })),
    rows: [
      ['9007199254740993', 'Infinity', '\\x00ff', '12', '9007199254740993'],
      ['9007199254740994', 1e308, null, 'x', 5],
    ],
  });
});

test('a text keeps its first and its hidden characters, also beside one that is not UTF-8', async () => {
  const texts = ["char(65279) || 'a'", "'e' || char(769)", 'char(128512)', "' x '"];
  const sql = `SELECT ${texts.join(', ')}`;
  const expected = ['\ufeffa', 'e\u0301', '\u{1f600}', ' x '];
  expect(await runOne(sql)).toMatchObject({ rows: [expected] });
  expect(await runOne(`${sql}, CAST(x'ff' AS TEXT)`)).toMatchObject({ rows: [[...expected, '\ufffd']] });
});

test('a statement may hold binary values of any bytes', async () => {
  const sql = `SELECT x'deadbeef', X'FF' AS "x'ff'", 'x''ff''', (SELECT count(*) FROM mixed WHERE v = x'00FF') /* x'f */`;
  expect(await runOne(sql)).toMatchObject({
    columns: [{}, { name: "x'ff'" }, {}, {}],
    rows: [['\\xdeadbeef', '\\xff', "x'ff'", 1]],
  });
  expect(await runOne("SELECT x'f'")).toMatchObject({ kind: 'sql-error' });
});

test('a value too large to return is a value that says what to do, and the next statement is answered', async () => {
  expect(await runOne('SELECT zeroblob(900000000)')).toMatchObject({ kind: 'sql-error' });
  expect(await runOne('SELECT 1, zeroblob(50000000)')).toMatchObject({
    kind: 'sql-error',
    code: 'SQLITE_TOOBIG',
    message: 'a value of 48 MB in column 2 is too large to return: select a part of it with substr, or its length',
  });
  expect(await runOne('SELECT length(zeroblob(900000000))')).toMatchObject({ rows: [[900000000]] });
  expect(await runOne('SELECT length(hex(zeroblob(499000000)) || hex(zeroblob(499000000)))')).toMatchObject({
    kind: 'sql-error',
    message: expect.stringContaining('memory') as string,
  });
  expect(await runOne('SELECT 1')).toMatchObject({ rows: [[1]] });
});

test.each([
  ['delete', 'query'],
  ['wal', 'query'],
  ['delete', 'digest'],
  ['wal', 'digest'],
])('a value too large to return keeps no lock and no snapshot (%s, %s)', async (mode, kind) => {
  const path = join(mkdtempSync(join(tmpdir(), 'gate-sql-large-')), 'grown.sqlite');
  const series = 'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 1000) SELECT i FROM r';
  write(`PRAGMA journal_mode = ${mode}; CREATE TABLE grown (a); INSERT INTO grown ${series}`, path);
  const own = createSqliteEngine({ path, poolSize: 1 });
  const count = (): Promise<SqlResult> => runOne('SELECT count(*) FROM grown', {}, own);
  expect(await count()).toMatchObject({ rows: [[1000]] });
  const sql = (size: number): string => `SELECT a, CASE a WHEN 5 THEN zeroblob(${size}) END FROM grown`;
  const result =
    kind === 'query' ? await runOne(sql(50_000_000), {}, own) : await own.digest(sql(300_000_000), options());
  expect(result).toMatchObject({ kind: 'sql-error' });
  write('INSERT INTO grown VALUES (1001)', path);
  expect(await count()).toMatchObject({ rows: [[1001]] });
  await own.close();
  rmSync(dirname(path), { recursive: true, force: true });
});

test('a file that vanishes while it is open is named, not the system call', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'gate-sql-gone-')), 'gone.sqlite');
  write('CREATE TABLE t (a)', path);
  const own = createSqliteEngine({ path, poolSize: 1 });
  expect(await runOne('SELECT * FROM t', {}, own)).toMatchObject({ rows: [] });
  rmSync(dirname(path), { recursive: true });
  const gone = { code: 'not-found', message: `there is no file ${path}: check the path of the database` };
  await expect(own.revision?.(options())).rejects.toMatchObject(gone);
  await expect(own.describe(options())).rejects.toMatchObject(gone);
  await own.close();
});

test('a table that vanishes between two runs is a value', async () => {
  write('CREATE TABLE IF NOT EXISTS fleeting (a)');
  expect(await runOne('SELECT * FROM fleeting')).toMatchObject({ rows: [] });
  write('DROP TABLE fleeting');
  expect(await runOne('SELECT * FROM fleeting')).toMatchObject({
    kind: 'sql-error',
    message: expect.stringContaining('no such table: fleeting') as string,
  });
});

test('the same text is looked at anew when the schema has changed', async () => {
  write('DROP TABLE IF EXISTS growing; CREATE TABLE growing (a); INSERT INTO growing VALUES (1)');
  const names = async (): Promise<string[]> => {
    const result = await runOne('SELECT * FROM growing');
    return result.kind === 'rows' ? result.columns.map(({ name }) => name) : [];
  };
  expect(await names()).toEqual(['a']);
  expect(await names()).toEqual(['a']);
  write('ALTER TABLE growing ADD COLUMN b');
  expect(await names()).toEqual(['a', 'b']);
  write('DROP TABLE growing; CREATE VIEW growing AS SELECT writefile(1, 2) AS c');
  expect((await runOne('SELECT * FROM growing')).kind).toMatch(/refused|sql-error/);
  write('DROP VIEW growing');
});

test('a writer that holds the file delays a statement, and does not take its time', async () => {
  const HOLD = `const [, library, file] = process.argv; const database = new (require(library))(file);
    database.exec('BEGIN EXCLUSIVE'); console.log('held'); setTimeout(() => database.exec('COMMIT'), 4000);`;
  const holder = spawn(process.execPath, ['-e', HOLD, require.resolve('libsql'), file]);
  const released = new Promise((resolve) => holder.once('exit', resolve));
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  expect(await runOne('SELECT 1 FROM mixed LIMIT 1', { timeoutMs: 2_000 })).toMatchObject({ rows: [[1]] });
  await released;
});

test('reading leaves nothing beside the file', () => {
  expect(readdirSync(folder)).toEqual(['odd.sqlite']);
});
