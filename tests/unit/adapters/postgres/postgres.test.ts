import { EventEmitter } from 'node:events';
import type { GateClient } from '../../../../src/adapters/postgres/connection';
import { PostgresSession } from '../../../../src/adapters/postgres/session';
import { createPostgresInspector } from '../../../../src/adapters/postgres/inspector';
import type { SqlInspector } from '../../../../src/domain/ports/sql-inspector';
import { toConnectError, toEngineError, toOutcome } from '../../../../src/adapters/postgres/errors';

let inspector: SqlInspector;
beforeAll(async () => {
  inspector = await createPostgresInspector();
});

const reads = (sql: string): readonly string[] => {
  const inspection = inspector.inspect(sql);
  if (inspection.kind !== 'select') throw new Error(`${inspection.kind}: ${inspection.message}`);
  return inspection.relations;
};

test.each<[string, string[]]>([
  ['SELECT 1', []],
  ['VALUES (1), (2)', []],
  ['TABLE team', ['team']],
  ['SELECT * FROM Team t JOIN "Player" p ON true, ward.bed', ['Player', 'team', 'ward.bed']],
  ['WITH a AS (SELECT * FROM t) SELECT * FROM a', ['t']],
  ['WITH a AS (SELECT * FROM b), b AS (SELECT * FROM c) SELECT * FROM a, b', ['b', 'c']],
  ['WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1 UNION ALL SELECT * FROM b) SELECT * FROM a', []],
  ['WITH t AS (SELECT * FROM t) SELECT * FROM t', ['t']],
  ['WITH t AS (SELECT 1) SELECT * FROM public.t', ['public.t']],
  ['SELECT * FROM (WITH x AS (SELECT * FROM y) SELECT * FROM x) s, x', ['x', 'y']],
  ['WITH x AS (SELECT 1) SELECT (WITH x AS (SELECT * FROM inner_t) SELECT count(*) FROM x) FROM x', ['inner_t']],
  [
    'WITH x AS (SELECT 1) SELECT * FROM y WHERE EXISTS (SELECT 1 FROM x, z) AND a IN (SELECT a FROM w)',
    ['w', 'y', 'z'],
  ],
  ['WITH x AS (SELECT 1) (SELECT * FROM x UNION SELECT * FROM y) ORDER BY 1 LIMIT (SELECT n FROM z)', ['y', 'z']],
  ['SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.id = a.id) l, json_to_recordset(a.j) AS r(x int)', ['a', 'b']],
  ['WITH a AS (WITH b AS (SELECT * FROM c) SELECT * FROM b) SELECT * FROM a, b', ['b', 'c']],
  ['SELECT * FROM a; ', ['a']],
])('%s reads %j', (sql, relations) => {
  expect(reads(sql)).toEqual(relations);
});

test('the own CTEs are the outermost ones, and only a leading WITH counts', () => {
  expect(
    inspector.inspect('WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b), "C" AS (SELECT 2) SELECT * FROM a'),
  ).toMatchObject({ ctes: ['a', 'C'], hasWith: true });
  expect(inspector.inspect('SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) s')).toMatchObject({
    ctes: [],
    hasWith: false,
  });
  expect(inspector.inspect('(WITH a AS (SELECT 1) SELECT * FROM a) UNION SELECT 2')).toMatchObject({ hasWith: false });
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
  ['DELETE FROM t', /^DELETE/],
  ['WITH a AS (SELECT 1) DELETE FROM t', /^DELETE/],
  ['WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone', /the CTE gone changes data/],
  ['SELECT * FROM (WITH n AS (INSERT INTO t VALUES (1) RETURNING a) SELECT * FROM n) s', /the CTE n changes data/],
  ['SELECT * INTO u FROM t', /SELECT INTO/],
  ['SELECT * FROM t FOR UPDATE', /FOR UPDATE/],
  ['SELECT * FROM (SELECT * FROM t FOR SHARE) s', /FOR SHARE/],
  ["COPY t TO PROGRAM 'x'", /^COPY/],
  ['DO $$ BEGIN END $$', /^DO/],
  ['EXPLAIN ANALYZE SELECT 1', /^EXPLAIN/],
  ['SET a = 1', /^SET/],
  ['COMMIT', /^transaction control/],
  ['CREATE TABLE x AS SELECT 1', /^CREATE TABLE AS/],
  ['SELECT pg_sleep(1)', /the function pg_sleep is not allowed: it only waits/],
  ['SELECT pg_catalog.PG_Sleep_For($$1s$$)', /pg_sleep_for/],
  ["SELECT * FROM dblink('x', 'y') AS t(a int)", /dblink/],
  ['SELECT (SELECT max(lo_import($$/etc/passwd$$)))', /lo_import/],
  ["SELECT pg_read_file('x')", /files/],
  ["SELECT * FROM pg_ls_dir('.')", /pg_ls_dir/],
  ["SELECT 1 ORDER BY set_config('a', 'b', false)", /set_config/],
  ["SELECT nextval('s')", /nextval/],
  ['SELECT 1 WHERE pg_try_advisory_lock(1)', /locks/],
  ['SELECT pg_terminate_backend(1)', /sessions/],
  ["SELECT query_to_xml('select 1', true, true, '')", /given as text/],
  ['SELECT txid_current()', /transaction id/],
  ['SELECT pg_export_snapshot()', /administers/],
  ["SELECT * FROM pg_logical_slot_get_changes('s', null, null)", /administers/],
  ['SELECT * FROM pg_authid', /pg_authid is not allowed/],
  ['SELECT * FROM pg_catalog.pg_shadow', /pg_shadow/],
  ['SELECT * FROM other.public.t', /three parts/],
])('%s is refused', (sql, message) => {
  expect(inspector.inspect(sql)).toEqual({ kind: 'refused', message: expect.stringMatching(message) as string });
});

test('a syntax error says where', () => {
  expect(inspector.inspect('SELECT * FORM t')).toEqual({
    kind: 'syntax-error',
    message: 'syntax error at or near "FORM" (at character 10)',
  });
});

test.each([
  'SELECT pg_typeof(1), pg_size_pretty(1::bigint), date_trunc($$day$$, now()), log(2), lower(a) FROM t',
  'SELECT currency FROM set_config_log',
])('harmless names are not caught: %s', (sql) => expect(inspector.inspect(sql).kind).toBe('select'));

const target = { host: 'db', database: 'd', user: 'u' };
const resultOf = (error: object) => toOutcome(error, target);

test.each(['EPIPE', 'ECONNRESET', undefined])('a line lost with code %s is no result of the statement', (code) => {
  expect(() => resultOf({ message: 'write EPIPE', code })).toThrow(
    expect.objectContaining({ code: 'lost', message: 'lost PostgreSQL at db: write EPIPE' }) as Error,
  );
});

test.each(['57P01', '57P03', '53300', '08006'])('neither is a server that shuts down or has no room: %s', (code) => {
  expect(() => resultOf({ message: 'no', code, severity: 'FATAL' })).toThrow(
    expect.objectContaining({ code: 'connection' }) as Error,
  );
});

test('what the server says of the statement is its result', () => {
  const error = { message: 'division by zero', code: '22012', severity: 'ERROR' };
  expect(resultOf(error)).toMatchObject({ kind: 'sql-error', code: '22012', message: 'division by zero' });
});

test.each([
  ['hung up before the login', 'connection', { message: 'Connection terminated unexpectedly' }],
  ['hung up before the login', 'connection', { message: 'read ECONNRESET', code: 'ECONNRESET' }],
  [
    "does not speak PostgreSQL's protocol",
    'connection',
    { message: 'There was an error establishing an SSL connection' },
  ],
  ['cannot be looked up', 'connection', { message: 'getaddrinfo EAI_AGAIN db', code: 'EAI_AGAIN' }],
  ['there is no way to db (EHOSTUNREACH)', 'connection', { message: 'connect', code: 'EHOSTUNREACH' }],
  [
    'PostgreSQL before 14 cannot restrict the superuser u to reading: log in as a role',
    'not-read-only',
    { message: 'role "pg_read_all_data" does not exist', code: '22023', severity: 'ERROR' },
  ],
  ['text that UTF-8 cannot hold', 'not-configured', { message: 'no equivalent', code: '22P05', severity: 'ERROR' }],
])('before the login: %s', (line, code, error) => {
  const found = toConnectError(error, target);
  expect(found.message).toContain(line);
  expect(found.code).toBe(code);
});

test('a line that breaks later was PostgreSQL', () => {
  expect(toEngineError({ message: 'Connection terminated unexpectedly' }, target).message).toMatch(
    /^lost PostgreSQL at db/,
  );
});

test('closing holds the process until the server is gone, and cuts one that says nothing', async () => {
  jest.useFakeTimers();
  const done: string[] = [];
  let gone: () => void = () => undefined;
  const client = Object.assign(new EventEmitter(), {
    ...{ overran: false, hold: (isHeld: boolean) => void done.push(`held: ${isHeld}`) },
    end: () => new Promise<void>((resolve) => (gone = resolve)),
    disconnect: () => {
      done.push('cut');
      gone();
    },
  });
  const settings = { target, role: null, schemas: [], maxPlanCost: null };
  const closed = new PostgresSession(client as unknown as GateClient, settings).close();
  expect(done).toEqual(['held: true']);
  await jest.advanceTimersByTimeAsync(2_000);
  await closed;
  expect(done).toEqual(['held: true', 'cut']);
  jest.useRealTimers();
});
