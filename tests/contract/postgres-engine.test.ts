/** PostgreSQL beyond what every engine does (engines-*.test.ts): its types, roles, catalogues and errors. */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Client } from 'pg';
import { createPostgresEngine } from '../../src/adapters/postgres';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import { equalResults } from '../../src/sql/equal';
import { eventually, options, rowsOf, runOne } from '../helpers/engine';
import { freePort } from '../helpers/free-port';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';

let postgres: TestPostgres;
const engines: SqlEngine[] = [];

beforeAll(async () => {
  postgres = await sharedPostgres();
  await postgres.createDatabase(
    'club',
    'CREATE TABLE team (id integer PRIMARY KEY, code text); CREATE TABLE player (id integer PRIMARY KEY)',
  );
});

async function write(sql: string): Promise<void> {
  const client = new Client({ connectionString: postgres.url('club') });
  await client.connect();
  await client.query(sql);
  await client.end();
}

const open = (url = postgres.url('club'), more: object = postgres.laidDown): SqlEngine => {
  const engine = createPostgresEngine({ url, options: more });
  engines.push(engine);
  return engine;
};
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
  // The end of a run is not waited for.
  const left = await eventually(
    () => runOne(engine, sql),
    (seen) => rowsOf(seen)[0]?.[1] === 0,
  );
  expect(left).toMatchObject({ rows: [[0, 0]] });
});

test('an error points into the text that was given and keeps the hint', async () => {
  expect(await runOne(open(), 'SELECT t.cod FROM team t')).toMatchObject({
    kind: 'sql-error',
    code: '42703',
    message: 'column t.cod does not exist (at character 8). Perhaps you meant to reference the column "t.code".',
  });
});

test('takes on a role that may only select', async () => {
  await write(
    'DROP ROLE IF EXISTS reader_of_club; CREATE ROLE reader_of_club; GRANT SELECT ON player TO reader_of_club',
  );
  const { results } = await open(undefined, { role: 'reader_of_club' }).run(
    ['SELECT current_user', 'SELECT * FROM team'],
    options(),
  );
  expect(results).toMatchObject([{ rows: [['reader_of_club']] }, { kind: 'sql-error', code: '42501' }]);
  await write('DROP OWNED BY reader_of_club; DROP ROLE reader_of_club');
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

test('a table that someone else keeps locked ends as a timeout', async () => {
  const client = new Client({ connectionString: postgres.url('club') });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE team IN ACCESS EXCLUSIVE MODE');
  expect(await runOne(open(), 'SELECT * FROM team', { timeoutMs: 300 })).toMatchObject({ kind: 'timeout' });
  await client.end();
});
