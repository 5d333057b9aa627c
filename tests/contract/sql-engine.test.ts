/**
 * One suite for the port SqlEngine: each claim runs against PostgreSQL and SQLite, on real databases, and against a
 * stand-in for Snowflake as far as that goes.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'libsql';
import { Client } from 'pg';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { createSnowflakeEngine, createSnowflakeInspector } from '../../src/adapters/snowflake';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import { DatabaseDescription } from '../../src/domain';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import type { SqlInspector } from '../../src/domain/ports/sql-inspector';
import { equalResults } from '../../src/sql/equal';
import { rowsQueries } from '../../src/database/profile/table-rows';
import { startFakesnow, type TestSnowflake } from '../helpers/fakesnow';
import { onRecorder, type Instead } from '../helpers/snowflake-claims';
import { ENDLESS, eventually, options, rowsOf, runOne } from '../helpers/engine';
import { freePort } from '../helpers/free-port';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';

const TABLES = `
  CREATE TABLE team (id integer PRIMARY KEY, code text NOT NULL UNIQUE, city text);
  CREATE TABLE player (id integer PRIMARY KEY, team_id integer REFERENCES team(id), name text, joined date, weight double precision,
    UNIQUE (team_id, name));
  INSERT INTO team VALUES (1, 'ABC', 'Rome'), (2, 'DEF', NULL), (3, 'GHI', 'Bern');
  INSERT INTO player VALUES (1, 1, 'Ann', '2020-01-31', 61.5), (2, 1, 'Bob', '2021-02-28', 80.25), (3, 2, 'Cai', NULL, NULL);
  CREATE VIEW roman AS SELECT player.name FROM player JOIN team ON team.id = player.team_id WHERE city = 'Rome';
`;
const SERIES = (to: number): string =>
  `WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${to}) SELECT i FROM r`;

const folder = mkdtempSync(join(tmpdir(), 'gate-sql-'));
const file = join(folder, 'club.sqlite');
let postgres: TestPostgres;
let snowflake: TestSnowflake;
const engines: SqlEngine[] = [];

beforeAll(async () => {
  postgres = await sharedPostgres();
  await postgres.createDatabase('club', TABLES);
  snowflake = await startFakesnow();
  await snowflake.write('CLUB', TABLES);
  const database = new Database(file);
  database.exec(TABLES);
  database.close();
});

afterAll(async () => {
  for (const engine of engines) await engine.close();
  await snowflake.stop();
  rmSync(folder, { recursive: true, force: true });
});

const WRITE = 'const [, library, file, sql] = process.argv; new (require(library))(file).exec(sql);';

interface Subject {
  readonly name: string;
  open(): SqlEngine;
  /** Runs one statement on a connection that may write. */
  write(sql: string): Promise<void>;
  /** By claim: how it is made where a stand-in cannot bear it out. */
  readonly instead?: Readonly<Record<string, Instead>>;
}

const subjects: Subject[] = [
  {
    name: 'postgresql',
    open: () => keep(createPostgresEngine({ url: postgres.url('club'), options: postgres.laidDown })),
    async write(sql) {
      const client = new Client({ connectionString: postgres.url('club') });
      await client.connect();
      await client.query(sql);
      await client.end();
    },
  },
  {
    name: 'sqlite',
    open: () => keep(createSqliteEngine({ path: file })),
    // In a process of its own: libsql keeps the lock of a statement that failed until its process ends.
    write: (sql) =>
      promisify(execFile)(process.execPath, ['-e', WRITE, require.resolve('libsql'), file, sql]).then(() => undefined),
  },
  {
    name: 'snowflake',
    open: () => keep(createSnowflakeEngine({ url: snowflake.url('CLUB'), options: { allowPrivilegedRole: true } })),
    write: (sql) => snowflake.write('CLUB', sql),
    instead: onRecorder,
  },
];

function keep(engine: SqlEngine): SqlEngine {
  engines.push(engine);
  return engine;
}

describe.each(subjects)('the engine of $name', ({ open, write, instead = {} }) => {
  const claims: string[] = [];
  const test = Object.assign(
    (claim: string, run: () => Promise<void>) => {
      claims.push(claim);
      const own = instead[claim];
      globalThis.test(own?.weaker ?? claim, own?.run ?? run);
    },
    { each: globalThis.test.each },
  );
  /** Snowflake folds names to upper case. */
  const stored = (name: string): string => (engine.dialect === 'snowflake' ? name.toUpperCase() : name);
  let engine: SqlEngine;
  beforeAll(() => {
    engine = open();
  });

  test('answers each statement in order with columns, kinds and rows', async () => {
    const { results, takenAt } = await engine.run(
      ['SELECT id, code FROM team ORDER BY id DESC', 'SELECT count(*) AS n FROM player'],
      options(),
    );
    expect(results).toMatchObject([
      { kind: 'rows', columns: [{ name: stored('id'), kind: 'number' }, { name: stored('code'), kind: 'text' }], rows: [[3, 'GHI'], [2, 'DEF'], [1, 'ABC']], truncated: false },
      { kind: 'rows', columns: [{ name: stored('n'), kind: 'number' }], rows: [[3]] },
    ]); // prettier-ignore
    expect(Math.abs(Date.parse(takenAt) - Date.now())).toBeLessThan(30_000);
  });

  test('a statement that fails does not keep the later ones from running', async () => {
    const { results } = await engine.run(['SELECT nope FROM team', 'SELECT 1', 'SELEC 2', 'SELECT 3'], options());
    expect(results.map(({ kind }) => kind)).toEqual([
      expect.stringMatching(/sql-error/) as string,
      'rows',
      expect.stringMatching(/sql-error|refused/) as string,
      'rows',
    ]);
    expect(results[0]).toMatchObject({ message: expect.stringMatching(/nope/i) as string });
  });

  test('a run-time error is a value, and the rows before it are not a result', async () => {
    const failing = {
      postgresql: 'SELECT 1 / (id - 2) FROM team',
      sqlite: 'SELECT abs(-9223372036854775807 - (id / 3)) FROM team',
      snowflake: 'SELECT code::INTEGER FROM team',
    } as Readonly<Record<string, string>>;
    expect(await runOne(engine, failing[engine.dialect]!)).toMatchObject({ kind: 'sql-error' });
  });

  test('more rows than the cap are cut and said to be cut; exactly the cap is not', async () => {
    const cut = await runOne(engine, SERIES(500), { maxRows: 120 });
    expect(cut).toMatchObject({ kind: 'rows', truncated: true });
    expect(rowsOf(cut)).toHaveLength(120);
    expect(await runOne(engine, SERIES(120), { maxRows: 120 })).toMatchObject({ truncated: false });
  });

  test('a result of several pages arrives whole and in order', async () => {
    const result = await runOne(engine, SERIES(9_500));
    expect(rowsOf(result).map(([i]) => i)).toEqual(Array.from({ length: 9_500 }, (_, index) => index + 1));
  });

  test('an endless result costs no more than its cap', async () => {
    const result = await runOne(
      engine,
      'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3000000) SELECT i FROM r',
      { maxRows: 10 },
    );
    expect(rowsOf(result)).toHaveLength(10);
  });

  test('a runaway query ends after one retry as a timeout, and its neighbours keep their results', async () => {
    const { results } = await engine.run(['SELECT 5', ENDLESS, 'SELECT 7'], options({ timeoutMs: 1_200 }));
    expect(results).toMatchObject([{ rows: [[5]] }, { kind: 'timeout', afterMs: 1_200 }, { rows: [[7]] }]);
    expect(await runOne(engine, 'SELECT 8')).toMatchObject({ rows: [[8]] });
  });

  test('an abort ends the statement at once, and the engine goes on working', async () => {
    const controller = new AbortController();
    const started = Date.now();
    setTimeout(() => controller.abort(new Error('cancelled by the user')), 150);
    await expect(runOne(engine, ENDLESS, { signal: controller.signal })).rejects.toThrow('cancelled by the user');
    // Far below its time limit of 20 s.
    expect(Date.now() - started).toBeLessThan(10_000);
    expect(await runOne(engine, 'SELECT 9')).toMatchObject({ rows: [[9]] });
  });

  test('an aborted signal starts nothing', async () => {
    await expect(runOne(engine, 'SELECT 1', { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
      'too late',
    );
  });

  test('all statements of a run see one snapshot, the next run sees what was written since', async () => {
    await write('DROP TABLE IF EXISTS counter');
    await write('CREATE TABLE counter (n integer)');
    const slow = `SELECT count(*) FROM (${SERIES(engine.dialect === 'postgresql' ? 1_500_000 : 3_000_000)}) AS s`;
    const running = engine.run(['SELECT count(*) FROM counter', slow, 'SELECT count(*) FROM counter'], options());
    await new Promise((resolve) => setTimeout(resolve, 250));
    await write('INSERT INTO counter VALUES (1)').catch((error: unknown) => {
      // SQLite without WAL locks the writer out while the snapshot is read: consistent as well.
      if (!/locked|busy/i.test((error as Error).message)) throw error;
    });
    const [first, , last] = (await running).results;
    // What a machine under load begins later than the write sees it, in every statement.
    expect(rowsOf(last)).toEqual(rowsOf(first));
  });

  test('runs at the same time do not disturb each other', async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) => runOne(engine, `SELECT ${index} FROM team WHERE id = 1`)),
    );
    expect(results.map((result) => rowsOf(result)[0]?.[0])).toEqual(Array.from({ length: 12 }, (_, index) => index));
  });

  test('comments, a final semicolon and line breaks are no obstacle', async () => {
    expect(
      await runOne(engine, "-- first; a comment\n/* and ; another */ SELECT ';' AS a\n;  -- the end;\n"),
    ).toMatchObject({ rows: [[';']] });
  });

  test('columns of the same name all arrive', async () => {
    expect(await runOne(engine, 'SELECT 1 AS a, 2 AS a, 3 AS b')).toMatchObject({
      rows: [[1, 2, 3]],
      columns: [{ name: 'a' }, { name: 'a' }, { name: 'b' }],
    });
  });

  test('a result without rows still has its columns', async () => {
    expect(await runOne(engine, 'SELECT id, code FROM team WHERE id > 99')).toMatchObject({
      kind: 'rows',
      rows: [],
      columns: [{ name: stored('id') }, { name: stored('code') }],
    });
  });

  test('integers beyond a double are text, others numbers', async () => {
    const big = engine.dialect === 'postgresql' ? '9007199254740993::bigint' : '9007199254740993';
    expect(
      await runOne(engine, `SELECT ${big} AS big, 9007199254740991 AS fits, -5 AS small, NULL AS none`),
    ).toMatchObject({
      rows: [['9007199254740993', 9007199254740991, -5, null]],
    });
  });

  test('NULL, integers, decimals, booleans, dates, bytes and any text arrive alike, with their kinds', async () => {
    const bytes = { postgresql: ["'\\x00ff'", 'bytea'], sqlite: ["x'00ff'", 'blob'], snowflake: ["x'00ff'", 'binary'] }[
      engine.dialect as 'sqlite'
    ];
    const text = `one\n\r\n"two", it's;-- é 漢 😀\ttab `;
    await write('DROP TABLE IF EXISTS kinds');
    await write(
      `CREATE TABLE kinds (id integer, big bigint, amount decimal(12,2), flag boolean, day date, note text, raw ${bytes[1]})`,
    );
    await write(
      `INSERT INTO kinds VALUES (1, 9223372036854775807, 1234.50, true, '2024-02-29', '${text.replaceAll("'", "''")}', ${bytes[0]}),
        (2, -9007199254740991, -0.05, false, '1999-12-31', '', NULL), (3, NULL, NULL, NULL, NULL, NULL, NULL)`,
    );
    const result = await runOne(engine, 'SELECT id, big, amount, day, note, raw FROM kinds ORDER BY id');
    expect(rowsOf(result)).toEqual([
      [1, '9223372036854775807', 1234.5, '2024-02-29', text, '\\x00ff'],
      [2, -9007199254740991, -0.05, '1999-12-31', '', null],
      [3, null, null, null, null, null],
    ]);
    expect(result).toMatchObject({
      columns: ['number', 'number', 'number', 'time', 'text', 'other'].map((kind) => ({ kind })),
    });
    // SQLite has no booleans: it stores numbers.
    const [yes, no] = engine.dialect === 'sqlite' ? [1, 0] : [true, false];
    expect(rowsOf(await runOne(engine, 'SELECT flag FROM kinds ORDER BY id'))).toEqual([[yes], [no], [null]]);
    await write('DROP TABLE kinds');
  });

  test('a digest does not depend on order or on digits beyond the seventh, and does on values and repetition', async () => {
    const digest = async (sql: string): Promise<unknown> => engine.digest(sql, options());
    const base = await digest('SELECT id, weight FROM player ORDER BY id;');
    expect(base).toEqual({ count: 3, hash: expect.any(String) as string });
    expect(await digest('SELECT id, weight FROM player ORDER BY id DESC')).toEqual(base);
    expect(await digest('SELECT id * 1.0, weight + 0.0000000001 FROM player')).toEqual(base);
    expect(await digest('SELECT id, weight + 0.01 FROM player')).not.toEqual(base);
    expect(await digest('SELECT weight, id FROM player')).not.toEqual(base);
    expect(await digest('SELECT id, weight FROM player UNION ALL SELECT 1, 61.5')).not.toEqual(base);
    expect(await digest('SELECT id AS a, id AS a FROM player')).toMatchObject({ count: 3 });
    // Whole numbers are exact, as where rows are compared: identifiers and seconds are longer than seven digits.
    expect(await digest('SELECT 10000001 AS id')).not.toEqual(await digest('SELECT 10000002 AS id'));
    expect(await digest('SELECT 900719925474099301 AS id')).not.toEqual(
      await digest('SELECT 900719925474099302 AS id'),
    );
    expect(await digest('SELECT 10000001 * 1.0 AS id')).toEqual(await digest('SELECT 10000001 AS id'));
    expect(await digest(SERIES(20_000))).toMatchObject({ count: 20_000 });
    expect(await digest('SELECT nope FROM player')).toMatchObject({ kind: 'sql-error' });
    expect(await digest("SELECT 'a' AS x, NULL AS y UNION ALL SELECT 'b', NULL")).toMatchObject({ count: 2 });
  });

  test('the description has tables, views, columns, keys and samples', async () => {
    const description = DatabaseDescription.parse(await engine.describe(options()));
    expect(description.version).toMatch(/^(PostgreSQL|SQLite|Snowflake) \d+/);
    const player = description.tables.find(({ name }) => name === stored('player'));
    expect(player).toMatchObject({
      kind: 'table',
      rowEstimate: 3,
      primaryKey: [stored('id')],
      uniqueKeys: [[stored('team_id'), stored('name')]],
      foreignKeys: [{ columns: [stored('team_id')], table: stored('team'), references: [stored('id')] }],
    });
    const isSnowflake = engine.dialect === 'snowflake';
    expect(player?.columns.map(({ name, type, nullable, samples }) => [name, type, nullable, samples])).toEqual([
      [stored('id'), isSnowflake ? 'number(38,0)' : 'integer', false, ['1', '2', '3']],
      [stored('team_id'), isSnowflake ? 'number(38,0)' : 'integer', true, ['1', '2']],
      [stored('name'), 'text', true, ['Ann', 'Bob', 'Cai']],
      [stored('joined'), 'date', true, ['2020-01-31', '2021-02-28']],
      [stored('weight'), isSnowflake ? 'float' : 'double precision', true, ['61.5', '80.25']],
    ]);
    expect(description.tables.find(({ name }) => name === stored('roman'))).toMatchObject({
      kind: 'view',
      columns: [{ name: stored('name'), samples: ['Ann', 'Bob'] }],
    });
  });

  test('the fingerprint follows the structure and not the data', async () => {
    const fingerprint = async (): Promise<string> => (await engine.describe(options())).fingerprint;
    await write('DROP TABLE IF EXISTS later');
    const before = await fingerprint();
    await write("INSERT INTO team VALUES (4, 'JKL', 'Oslo')");
    expect(await fingerprint()).toBe(before);
    await write('DELETE FROM team WHERE id = 4');
    await write('CREATE TABLE later (n integer)');
    expect(await fingerprint()).not.toBe(before);
    await write('DROP TABLE later');
    expect(await fingerprint()).toBe(before);
  });

  test('without any parser in front, the database refuses every write', async () => {
    const writes = [
      'DROP TABLE team',
      "INSERT INTO team VALUES (9, 'X', 'Y')",
      'DELETE FROM team',
      "UPDATE team SET code = 'Z'",
      'CREATE TABLE t (a integer)',
      'CREATE TEMP TABLE t (a integer)',
      'SELECT 1; DROP TABLE team',
      'COMMIT',
      'COMMIT; DROP TABLE team',
      'WITH gone AS (SELECT 1) DELETE FROM team',
    ];
    const { results } = await engine.run([...writes, 'SELECT count(*) FROM team'], options());
    const [count, ...refused] = [...results].reverse();
    expect(refused.filter(({ kind }) => kind !== 'refused' && kind !== 'sql-error')).toEqual([]);
    expect(count).toMatchObject({ rows: [[3]] });
  });

  const unknown = Object.keys(instead).filter((claim) => !claims.includes(claim));
  if (unknown.length > 0) throw new Error(`no such claims: ${unknown.join('; ')}`);
});

describe('the engine of postgresql', () => {
  const open = (url = postgres.url('club'), more: object = postgres.laidDown): SqlEngine =>
    keep(createPostgresEngine({ url, options: more }));
  // Each keeps connections for a while, and the server has not that many.
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
  });

  test('a digest and the rows say the same of two values', async () => {
    const pairs: [string, string, boolean][] = [
      ["'x'::char(3)", "'x'::text", false],
      ["'x'::char(3)", "'x  '::text", true],
      ["''::char(3)", 'NULL::char(3)', false],
      ['ROW(NULL, NULL)', 'NULL::record', false],
      ['12345678901234567890::numeric', '12345678901234567891::numeric', false],
      ['12345678::numeric(12, 2)', '12345678::bigint', true],
      ['12345678::float8', '12345678::int', true],
      ['1e20::float8', '1e20::float8', true],
      ['1e400::numeric', '1e400::numeric + 1', false],
      ['1e400::numeric + 0.5', '1e400::numeric + 0.5', true],
      ['1e-400::numeric', '0::numeric', true],
      ['0.1::float4', '0.1::numeric', true],
      ['-0.0::float8', '0', true],
      ["'NaN'::float8", "'NaN'::numeric", true],
      ['(-9223372036854775808)::bigint', '(-9223372036854775807)::bigint', false],
      ['4294967295::oid', '4294967294::oid', false],
      ['12345678::oid', '12345678', true],
      ['true', '1', true],
      ['true', 'false', false],
      ["date '2020-01-01'", "timestamptz '2020-01-01 00:00:00+00' AT TIME ZONE 'UTC'", true],
      ["date '0044-03-15 BC'", "timestamp '0044-03-15 00:00:00 BC'", true],
      ["timestamptz '2020-01-01 00:00:00+00'", "date '2020-01-02'", false],
    ];
    const engine = open();
    for (const [left, right, equal] of pairs) {
      const statements = [`SELECT ${left} AS v`, `SELECT ${right} AS v`];
      const [one, two] = (await engine.run(statements, options())).results;
      const [first, second] = await Promise.all(statements.map((sql) => engine.digest(sql, options())));
      const said = [equalResults(one!, two!, { ordered: false }), JSON.stringify(first) === JSON.stringify(second)];
      expect([left, right, first, ...said]).toMatchObject([left, right, { count: 1 }, equal, equal]);
    }
  });

  test('runs read only, repeatable read, and under a name that shows who asks', async () => {
    const result = await runOne(
      open(),
      `SELECT current_setting('transaction_read_only'), current_setting('transaction_isolation'), current_setting('application_name'), current_setting('statement_timeout')`,
      { timeoutMs: 4_000 },
    );
    expect(rowsOf(result)).toEqual([['on', 'repeatable read', 'gate s1 i1.probe', '4s']]);
  });

  test('a function that the server lets through leaves nothing behind', async () => {
    const engine = open();
    await engine.run(['SELECT lo_create(0)', 'SELECT pg_advisory_lock(77)'], options());
    const sql =
      "SELECT (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')";
    expect(await runOne(engine, sql)).toMatchObject({ rows: [[0, 0]] });
  });

  test('an error points into the text that was given and keeps the hint', async () => {
    expect(await runOne(open(), 'SELECT t.cod FROM team t')).toMatchObject({
      kind: 'sql-error',
      code: '42703',
      message: 'column t.cod does not exist (at character 8). Perhaps you meant to reference the column "t.code".',
    });
  });

  test('takes on a role that may only select', async () => {
    await subjects[0]!.write(
      'DROP ROLE IF EXISTS reader_of_club; CREATE ROLE reader_of_club; GRANT SELECT ON player TO reader_of_club',
    );
    const { results } = await open(undefined, { role: 'reader_of_club' }).run(
      ['SELECT current_user', 'SELECT * FROM team'],
      options(),
    );
    expect(results).toMatchObject([{ rows: [['reader_of_club']] }, { kind: 'sql-error', code: '42501' }]);
    await subjects[0]!.write('DROP OWNED BY reader_of_club; DROP ROLE reader_of_club');
  });

  test('tables outside the search path are named with their schema, comments are read, partitions are not listed', async () => {
    await postgres.createDatabase(
      'house',
      `CREATE SCHEMA ward; CREATE TABLE ward."Bed" (id int PRIMARY KEY, room_id int); COMMENT ON TABLE ward."Bed" IS 'a bed';
       COMMENT ON COLUMN ward."Bed".room_id IS 'where it stands';
       CREATE TABLE visit (day date, n int) PARTITION BY RANGE (day); CREATE TABLE visit_2020 PARTITION OF visit FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
       INSERT INTO visit VALUES ('2020-05-05', 1); CREATE VIEW broken AS SELECT 1 / 0 AS x; CREATE TABLE nothing ();`,
    );
    const { tables } = await open(postgres.url('house')).describe(options());
    expect(tables.map(({ name }) => name)).toEqual(['broken', 'nothing', 'visit', 'ward.Bed']);
    expect(tables[3]).toMatchObject({
      comment: 'a bed',
      columns: [{}, { name: 'room_id', comment: 'where it stands' }],
    });
    expect(tables[2]?.columns[0]?.samples).toEqual(['2020-05-05']);
  });

  test('the values of an enum are told, also those that no row holds, and a new one is another revision', async () => {
    await postgres.createDatabase(
      'moods',
      `CREATE TYPE mood AS ENUM ('sad', 'it''s ok'); CREATE DOMAIN strict AS mood NOT NULL;
       CREATE TABLE entry (m mood, ms mood[], s strict, plain text[], n int); COMMENT ON COLUMN entry.m IS 'as told';
       INSERT INTO entry VALUES ('sad', '{}', 'sad', NULL, 1)`,
    );
    const engine = open(postgres.url('moods'));
    const signal = new AbortController().signal;
    const comments = async () => (await engine.describe({ signal })).tables[0]?.columns.map(({ comment }) => comment);
    const values = "one of 'sad', 'it''s ok'";
    const more = `${values}, 'elated'`;
    expect(await comments()).toEqual([`as told; ${values}`, values, values, null, null]);
    const before = await engine.revision?.({ signal });
    const client = new Client({ connectionString: postgres.url('moods') });
    await client.connect();
    await client.query("ALTER TYPE mood ADD VALUE 'elated'");
    await client.end();
    expect(await comments()).toEqual([`as told; ${more}`, more, more, null, null]);
    expect(await engine.revision?.({ signal })).not.toBe(before);
  });

  test('what the server has not checked is no property: an index that failed to be made, a NOT NULL that is not valid', async () => {
    await postgres.createDatabase(
      'unchecked',
      `CREATE TABLE t (a int, b int UNIQUE, c int); INSERT INTO t VALUES (1, 1, NULL), (1, 2, NULL); CREATE UNIQUE INDEX failed ON t (a, b);
       UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'failed'::regclass`,
    );
    if (postgres.version >= 18) {
      const client = new Client({ connectionString: postgres.url('unchecked') });
      await client.connect();
      await client.query('ALTER TABLE t ADD CONSTRAINT later NOT NULL c NOT VALID, ALTER COLUMN b SET NOT NULL');
      await client.query('ALTER TABLE t ADD COLUMN d int GENERATED ALWAYS AS (b * 2) VIRTUAL');
      await client.end();
    }
    const { tables } = await open(postgres.url('unchecked')).describe(options());
    expect(tables[0]?.uniqueKeys).toEqual([['b']]);
    expect(tables[0]?.columns).toMatchObject([
      { name: 'a', nullable: true },
      { name: 'b', nullable: postgres.version < 18 },
      { name: 'c', nullable: true },
      ...(postgres.version >= 18 ? [{ name: 'd', samples: ['2', '4'] }] : []),
    ]);
  });

  test('no server, no database, a wrong URL: one line each, with a code that says whether to retry', async () => {
    const closed = await freePort();
    await expect(runOne(open(`postgres://u:secret@127.0.0.1:${closed}/x`), 'SELECT 1')).rejects.toMatchObject({
      code: 'connection',
      message: `nothing answers at 127.0.0.1:${closed}: start PostgreSQL there or correct the URL`,
    });
    await expect(runOne(open(postgres.url('no_such')), 'SELECT 1')).rejects.toMatchObject({
      code: 'not-found',
      message: expect.stringContaining('no_such') as string,
    });
    expect(() => createPostgresEngine({ url: 'club' })).toThrow('the database URL is not valid');
  });

  test('a wrong password is an authentication error that does not show it', async () => {
    const server = createServer((socket: Socket) => {
      socket.once('data', () => {
        const fields = 'SFATAL\0C28P01\0Mpassword authentication failed for user "ann"\0\0';
        const message = Buffer.alloc(5 + fields.length);
        message.write('E', 0);
        message.writeInt32BE(4 + fields.length, 1);
        message.write(fields, 5);
        socket.end(message);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const failure: unknown = await runOne(open(`postgres://ann:hunter2@127.0.0.1:${port}/x`), 'SELECT 1').catch(
      (error: unknown) => error,
    );
    server.close();
    expect(failure).toMatchObject({
      code: 'authentication',
      message: expect.stringContaining('refused user ann') as string,
    });
    expect((failure as Error).message).not.toContain('hunter2');
  });

  test('a connection that the server ends is infrastructure, and the next run works', async () => {
    const engine = open();
    const running = runOne(engine, ENDLESS);
    const client = new Client({ connectionString: postgres.url('club') });
    await client.connect();
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'gate s1%' AND state = 'active' AND query LIKE '%RECURSIVE%'`;
    await eventually(
      async () => (await client.query(end)).rowCount,
      (ended) => ended === 1,
    );
    await client.end();
    await expect(running).rejects.toMatchObject({ name: 'SqlEngineError', code: 'connection' });
    expect(await runOne(engine, 'SELECT 1')).toMatchObject({ rows: [[1]] });
  });

  test('a table that someone else keeps locked ends as a timeout', async () => {
    const client = new Client({ connectionString: postgres.url('club') });
    await client.connect();
    await client.query('BEGIN; LOCK TABLE team IN ACCESS EXCLUSIVE MODE');
    expect(await runOne(open(), 'SELECT * FROM team', { timeoutMs: 300 })).toMatchObject({ kind: 'timeout' });
    await client.end();
  });
});

describe('the engine of sqlite', () => {
  test('text that is not UTF-8 and binary values arrive as text', async () => {
    await subjects[1]!.write("CREATE TABLE odd (t text); INSERT INTO odd VALUES ('é'), (CAST(x'41ff42' AS TEXT))");
    const engine = keep(createSqliteEngine({ path: file }));
    const sql = "SELECT t, x'00ff' AS b, 1e400 AS i FROM odd ORDER BY rowid";
    expect(rowsOf(await runOne(engine, sql))).toEqual([['é', '\\x00ff', 'Infinity'], ['A\ufffdB', '\\x00ff', 'Infinity']]); // prettier-ignore
    expect(await engine.digest(sql, options())).toMatchObject({ count: 2 });
    const { tables } = await engine.describe(options());
    expect(tables.find(({ name }) => name === 'odd')?.columns[0]?.samples).toEqual(['é', 'A\ufffdB']);
    await subjects[1]!.write('DROP TABLE odd');
  });

  test('a missing file, a directory and another kind of file: one line each', async () => {
    const other = join(folder, 'notes.txt');
    writeFileSync(other, 'these are notes and not a database');
    const cases: [string, RegExp][] = [
      [join(folder, 'missing.sqlite'), /^there is no file .*missing\.sqlite: check the path/],
      [folder, /is a directory: name the SQLite file in it$/],
      [other, /is not a SQLite database/],
    ];
    for (const [path, message] of cases) {
      await expect(runOne(keep(createSqliteEngine({ path })), 'SELECT 1')).rejects.toMatchObject({
        code: 'not-found',
        message: expect.stringMatching(message) as string,
      });
    }
    expect(() => statSync(join(folder, 'missing.sqlite'))).toThrow('ENOENT');
  });

  test('a file without tables is described as having none', async () => {
    const path = join(folder, 'empty.sqlite');
    writeFileSync(path, '');
    expect((await keep(createSqliteEngine({ path })).describe(options())).tables).toEqual([]);
  });

  test('a result that was cut keeps no lock', async () => {
    await runOne(keep(createSqliteEngine({ path: file })), SERIES(5_000).replace('FROM r', 'FROM r, team'), {
      maxRows: 3,
    });
    await runOne(keep(createSqliteEngine({ path: file })), 'SELECT * FROM team a, team b, team c', { maxRows: 1 });
    await subjects[1]!.write("INSERT INTO team VALUES (7, 'X', 'Y'); DELETE FROM team WHERE id = 7");
  });

  test('a file in WAL mode is read while another process writes to it', async () => {
    const path = join(folder, 'wal file?#.sqlite');
    const writer = new Database(path);
    writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n integer); INSERT INTO t VALUES (1)');
    const engine = keep(createSqliteEngine({ path }));
    expect(await runOne(engine, 'SELECT count(*) FROM t')).toMatchObject({ rows: [[1]] });
    writer.exec('INSERT INTO t VALUES (2)');
    expect(await runOne(engine, 'SELECT count(*) FROM t')).toMatchObject({ rows: [[2]] });
    writer.close();
  });

  test('a query of a process that was killed ends soon, also in the middle', async () => {
    const script = `const { createSqliteEngine } = require(${JSON.stringify(require.resolve('../../src/adapters/sqlite/index.ts'))});
      createSqliteEngine({ path: ${JSON.stringify(file)} }).run([${JSON.stringify(ENDLESS)}], { timeoutMs: 60000, maxRows: 1, tag: 't', signal: new AbortController().signal });`;
    const parent = spawn(process.execPath, ['--require', require.resolve('tsx/cjs'), '-e', script], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    parent.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const children = (): string[] => {
      if (parent.exitCode !== null) throw new Error(`it has ended: ${said}`);
      const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent.pid)]);
      const lines = stdout
        .toString()
        .split('\n')
        .filter((line) => /child\.ts|gate: reads/.test(line)); // it takes a name soon
      return lines.map((line) => line.trim().split(' ')[0] ?? '');
    };
    const [pid] = await eventually(children, (found) => found.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    parent.kill('SIGKILL');
    await eventually(
      () =>
        spawnSync('ps', ['-o', 'stat=', '-p', pid ?? ''])
          .stdout.toString()
          .trim(),
      (state) => state === '' || state.startsWith('Z'),
    );
  });
});

function inspectorOf(name: string): SqlInspector | Promise<SqlInspector> {
  if (name === 'postgresql') return createPostgresInspector();
  return name === 'sqlite' ? createSqliteInspector() : createSnowflakeInspector();
}

describe('the guard around a real engine', () => {
  test.each(subjects)(
    '$name: a hidden column can be neither read nor profiled, the rest can',
    async ({ open, name }) => {
      const inspector = await inspectorOf(name);
      const guarded = createGuardedEngine(open(), inspector, { allow: [], deny: ['player.weight', 'team'] });
      const { tables } = await guarded.describe(options());
      const player = tables.find((table) => table.name.toLowerCase() === 'player');
      expect(tables.map((table) => table.name.toLowerCase())).not.toContain('team');
      expect(player?.columns.map((column) => column.name.toLowerCase())).toEqual(['id', 'team_id', 'name', 'joined']);
      const statements = rowsQueries(player!, guarded.dialect);
      const { results } = await guarded.run(
        [...statements, 'SELECT weight FROM player', 'SELECT * FROM player', 'SELECT 1 FROM team'],
        options(),
      );
      expect(results.map(({ kind }) => kind)).toEqual([
        ...statements.map(() => 'rows'),
        'refused',
        'refused',
        'refused',
      ]);
    },
  );

  test.each(subjects)("$name: an error of the statement is the engine's own", async ({ open, name }) => {
    const inspector = await inspectorOf(name);
    const guarded = createGuardedEngine(open(), inspector);
    expect(await runOne(guarded, 'SELECT nope FROM team')).toMatchObject({
      kind: 'sql-error',
      message: expect.stringMatching(/nope/i) as string,
    });
    expect(await runOne(guarded, 'SELECT FROM WHERE')).toMatchObject({ kind: 'sql-error' });
  });
});
