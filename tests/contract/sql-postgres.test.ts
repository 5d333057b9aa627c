/**
 * PostgreSQL beyond the common contract: schemas and search path, plan cost, load (connections, cancelling, crashes),
 * values, encodings, and what goes wrong with a clear line.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Client } from 'pg';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import {
  createPostgresEngine,
  createPostgresInspector,
  type PostgresEngineSettings,
} from '../../src/adapters/postgres';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports/sql-engine';
import { ENDLESS, eventually, options, rowsOf, runOne } from '../helpers/engine';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';

let postgres: TestPostgres;
let admin: Client;
const engines: SqlEngine[] = [];
const relays: { close(): void }[] = [];

beforeAll(async () => {
  postgres = await sharedPostgres();
  await postgres.createDatabase(
    'shop',
    `CREATE SCHEMA sales; CREATE SCHEMA archive;
     CREATE TABLE sales.orders (id int PRIMARY KEY, note text); INSERT INTO sales.orders VALUES (1, 'new');
     CREATE TABLE archive.orders (id int PRIMARY KEY); CREATE TABLE archive.old (id int);
     CREATE TABLE public.other (id int); CREATE TABLE big (n int); INSERT INTO big SELECT generate_series(1, 20000); ANALYZE big;`,
  );
  admin = new Client({ connectionString: postgres.url('shop') });
  await admin.connect();
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
  for (const one of relays) one.close();
  await admin.end();
});

function open(more: PostgresEngineSettings['options'] = {}, url = postgres.url('shop')): SqlEngine {
  const laidDown = new URL(url).username === postgres.user ? postgres.laidDown : {};
  const engine = createPostgresEngine({ url, options: { ...laidDown, ...more } });
  engines.push(engine);
  return engine;
}

/** A login that may do nothing yet, of a test's own. */
async function newRole(): Promise<string> {
  const role = `role_${randomUUID().slice(0, 8)}`;
  await admin.query(`CREATE ROLE ${role} LOGIN`);
  return role;
}

/** Sessions whose name begins so, and in which of them a statement runs. */
async function sessions(name: string, state = '%'): Promise<number> {
  const { rows } = await admin.query<{ n: string }>(
    'SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE $1 AND state LIKE $2',
    [`${name}%`, state],
  );
  return Number(rows[0]?.n);
}

describe('schemas', () => {
  test('are the search path and what is described', async () => {
    const engine = open({ schemas: ['sales', 'archive'] });
    const { tables } = await engine.describe(options());
    expect(tables.map(({ name }) => name)).toEqual(['old', 'orders', 'archive.orders']);
    expect(await runOne(engine, 'SELECT note FROM orders')).toMatchObject({ rows: [['new']] });
  });

  test('one that does not exist is a mistake in the configuration', async () => {
    await expect(open({ schemas: ['sales', 'nope'] }).describe(options())).rejects.toMatchObject({
      code: 'not-configured',
      message: 'the database has no schema nope: correct its schemas',
    });
  });

  test('an access list reads names as the search path does', async () => {
    const guarded = createGuardedEngine(
      open({ schemas: ['sales', 'archive'] }),
      await createPostgresInspector(),
      { allow: ['sales.orders'], deny: [] },
      ['sales', 'archive'],
    );
    const { results } = await guarded.run(
      [
        'SELECT note FROM orders',
        'SELECT note FROM sales.orders',
        'SELECT id FROM archive.orders',
        'SELECT * FROM other',
      ],
      options(),
    );
    expect(results.map(({ kind }) => kind)).toEqual(['rows', 'rows', 'refused', 'refused']);
  });
});

describe('the URL', () => {
  test('names a database by whatever characters it has, percent-encoded', async () => {
    const name = 'shop@home, 50% / x';
    await postgres.createDatabase(name);
    const engine = open({}, postgres.url(encodeURIComponent(name)));
    expect(await runOne(engine, 'SELECT current_database()')).toMatchObject({ rows: [[name]] });
  });
});

test('a server on a system that tells it nothing of its clients is not asked to notice that one is gone', async () => {
  const said = 'PostgreSQL 16.1, compiled by Visual C++ build 1937, 64-bit';
  await postgres.createDatabase(
    'on_windows',
    `CREATE OR REPLACE FUNCTION pg_catalog.version() RETURNS text LANGUAGE sql STABLE AS $$ SELECT '${said}'::text $$`,
  );
  const [interval, shown] = ["current_setting('client_connection_check_interval', true)", 'pg_catalog.version()'];
  const known = postgres.version >= 14 ? '0' : null;
  const one = open({}, postgres.url('on_windows'));
  expect(await runOne(one, `SELECT ${interval}, ${shown}`)).toMatchObject({ rows: [[known, said]] });
  expect(await runOne(open(), `SELECT ${interval}`)).toMatchObject({ rows: [[postgres.version >= 14 ? '2s' : null]] });
});

describe('plan cost', () => {
  test('above the ceiling a statement is refused before it runs, with what makes it expensive', async () => {
    const engine = open({ maxPlanCost: 100_000 });
    const result = await runOne(engine, 'SELECT count(*) FROM big a, big b, big c');
    expect(result).toEqual({
      kind: 'refused',
      message: expect.stringMatching(
        /^the plan is too expensive here: estimated cost [\d,.e+]+ for 1 row, the ceiling is 100,000; its most expensive step is Nested Loop over big \(cost [\d,.e+]+, [\d,.e+]+ rows\): join on keys, filter or aggregate earlier$/,
      ) as string,
    });
    const { results } = await engine.run(
      ['SELECT count(*) FROM big', 'SELECT nope FROM big', 'DELETE FROM big'],
      options(),
    );
    expect(results).toMatchObject([
      { kind: 'rows', rows: [[20000]] },
      { kind: 'sql-error', message: 'column "nope" does not exist (at character 8)' },
      { kind: 'sql-error' },
    ]);
  });
});

describe('a statement that is stopped', () => {
  test.each([
    [
      'SELECT count(*) FROM big a WHERE n < (SELECT count(*) FROM big b WHERE b.n <> a.n)',
      'Seq Scan with a subquery for each row over big',
    ],
    ['SELECT count(*) FROM big a JOIN big b ON a.n < b.n JOIN big c ON b.n < c.n', 'Nested Loop over big'],
  ])('%s names the dearest step of its plan', async (sql, dearest) => {
    expect(await runOne(open(), sql, { timeoutMs: 700 })).toEqual({ kind: 'timeout', afterMs: 700, dearest });
  });
});

describe('nested loops', () => {
  const LOOPS = `SELECT current_setting('enable_nestloop') AS loops, current_setting('jit') AS jit`;

  test('are left out where all tables are read within a moment', async () => {
    expect(await runOne(open(), LOOPS)).toMatchObject({ rows: [['off', 'off']] });
  });

  test('stay where plans have a ceiling, which reads their costs, and beside tables of another server', async () => {
    const { rows } = await admin.query<Record<string, string>>(LOOPS);
    const own = [Object.values(rows[0] ?? {})];
    expect(own).toMatchObject([['on', expect.any(String)]]);
    expect(await runOne(open({ maxPlanCost: 1e12 }), LOOPS)).toMatchObject({ rows: own });
    await admin.query(
      'CREATE FOREIGN DATA WRAPPER away; CREATE SERVER away FOREIGN DATA WRAPPER away; CREATE FOREIGN TABLE far (n int) SERVER away',
    );
    try {
      expect(await runOne(open(), LOOPS)).toMatchObject({ rows: own });
    } finally {
      await admin.query('DROP FOREIGN DATA WRAPPER away CASCADE');
    }
  });
});

describe('load', () => {
  test('200 runs at once take no more connections than allowed, and all are answered', async () => {
    const engine = open({ poolSize: 3 });
    let most = 0;
    const done = new AbortController();
    const watching = (async () => {
      while (!done.signal.aborted) most = Math.max(most, await sessions('gate many'));
    })();
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => runOne(engine, `SELECT ${index}, count(*) FROM big`, { tag: 'many' })),
    );
    done.abort();
    await watching;
    expect(results.every(({ kind }) => kind === 'rows')).toBe(true);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
  });

  test('a run that waits for a connection ends with its signal', async () => {
    const engine = open({ poolSize: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const running = runOne(engine, ENDLESS, { signal: first.signal, tag: 'holds' });
    const waiting = runOne(engine, 'SELECT 1', { signal: second.signal });
    await eventually(async () => (await sessions('gate holds', 'active')) === 1);
    second.abort(new Error('gave up'));
    await expect(waiting).rejects.toThrow('gave up');
    first.abort(new Error('done'));
    await expect(running).rejects.toThrow('done');
    expect(await runOne(engine, 'SELECT 2')).toMatchObject({ rows: [[2]] });
  });

  test('after a timeout and after an abort nothing runs on the server any more', async () => {
    const engine = open();
    expect(await runOne(engine, ENDLESS, { timeoutMs: 300, tag: 'late' })).toMatchObject({
      kind: 'timeout',
      afterMs: 300,
    });
    // The session that it was given up with takes a moment to end.
    await eventually(async () => (await sessions('gate late', 'active')) === 0);
    const controller = new AbortController();
    const running = runOne(engine, ENDLESS, { signal: controller.signal, tag: 'stopped' });
    await eventually(async () => (await sessions('gate stopped', 'active')) === 1);
    controller.abort(new Error('stop'));
    await expect(running).rejects.toThrow('stop');
    await eventually(async () => (await sessions('gate stopped')) === 0);
  });

  test('a server that is gone while a statement runs may be gone for it; one that had gone before is not', async () => {
    const line = await relay();
    const engine = open({ poolSize: 1 }, line.url);
    const running = runOne(engine, ENDLESS, { tag: 'cut' });
    await eventually(async () => (await sessions('gate cut', 'active')) === 1);
    line.cut();
    await expect(running).rejects.toMatchObject({ name: 'SqlEngineError', code: 'lost' });

    await runOne(engine, 'SELECT 1');
    line.hangUp();
    await expect(runOne(engine, ENDLESS)).rejects.toMatchObject({ name: 'SqlEngineError', code: 'connection' });
  });

  test('a statement that had to be stopped costs none of the later ones its time', async () => {
    // Its rows come slowly: each page of 100 stays below the limit of the server, all of them together do not.
    const slow = 'SELECT pg_sleep(0.04) FROM generate_series(1, 300)';
    // Together they take longer than the limit of one.
    const later = 'SELECT pg_sleep(3.2)';
    const { results } = await open().run([slow, later, later], options({ timeoutMs: 6_000 }));
    expect(results.map(({ kind }) => kind)).toEqual(['timeout', 'rows', 'rows']);
  });

  test('sessions of a process that was killed vanish, also in the middle of a statement; before 14 at its time limit', async () => {
    const timeoutMs = postgres.version >= 14 ? 120_000 : 6_000;
    const script = `const { createPostgresEngine } = require(${JSON.stringify(require.resolve('../../src/adapters/postgres/index.ts'))});
      createPostgresEngine({ url: ${JSON.stringify(postgres.url('shop'))}, options: ${JSON.stringify(postgres.laidDown)} })
        .run([${JSON.stringify(ENDLESS)}], { timeoutMs: ${timeoutMs}, maxRows: 1, tag: 'orphan', signal: new AbortController().signal });`;
    const child = spawn(process.execPath, ['--require', require.resolve('tsx/cjs'), '-e', script], { stdio: 'ignore' });
    await eventually(async () => (await sessions('gate orphan', 'active')) === 1);
    child.kill('SIGKILL');
    await eventually(async () => (await sessions('gate orphan')) === 0);
  });
});

/** Hands on what both sides say. */
async function relay(disguise: { readonly silent?: boolean } = {}): Promise<{
  readonly url: string;
  /** What the client said since the last look, one text for each time that it waited for an answer. */
  asked(): string[];
  cut(): void;
  /** It cuts whoever asks next. */
  hangUp(): void;
}> {
  const asked: string[] = [];
  const clients = new Set<Socket>();
  let waiting = true;
  let hangsUp = false;
  const server = createServer((client) => {
    clients.add(client);
    const upstream = connect(postgres.port, postgres.host);
    let started = false;
    client.on('data', (chunk) => {
      if (hangsUp) return client.destroy();
      if (waiting) asked.push('');
      waiting = false;
      asked.push(`${asked.pop() ?? ''}${chunk.toString('latin1')}`);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      waiting = true;
      const at = chunk.indexOf('is_superuser\0');
      // A pooler may not say whether the login is a superuser.
      if (!started && disguise.silent && at >= 0) chunk.write('of_superuser', at);
      started ||= at >= 0;
      client.write(chunk);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('close', () => other.destroy()).on('error', () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  relays.push(server);
  const url = new URL(postgres.url('shop'));
  url.port = String((server.address() as AddressInfo).port);
  const cut = (): void => clients.forEach((client) => client.destroy());
  return { url: url.href, asked: () => asked.splice(0), cut, hangUp: () => (hangsUp = true) };
}

describe('a trace', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const watching = 'SELECT pg_catalog.current_query()';

  test.each(['', ';', ' -- one', ' /* one */'])('is the last comment that the server sees after "%s"', async (end) => {
    const sql = watching + end;
    const { results } = await open().run([sql], options({ traceparent }));
    const [[shown]] = rowsOf(results[0]) as [[string]];
    expect(shown).toBe(`DECLARE gate_cursor NO SCROLL CURSOR FOR ${sql}\n/*traceparent='${traceparent}'*/`);
  });

  test('moves no position of an error, and a digest carries it too', async () => {
    const engine = open();
    const wrong = async (more: Partial<SqlOptions>) =>
      (await engine.run(['SELECT nothing FROM big'], options(more))).results[0] as { message: string };
    const { message } = await wrong({});
    expect(message).toMatch(/nothing/);
    expect((await wrong({ traceparent })).message).toBe(message);
    const digest = (more: Partial<SqlOptions>) => engine.digest('SELECT n FROM big -- all', options(more));
    expect(await digest({ traceparent })).toEqual(await digest({}));
  });
});

describe('round trips', () => {
  const LOOK = `SELECT '\\x00ff'::bytea, current_setting('datestyle'), current_setting('lock_timeout'), current_setting('statement_timeout')`;

  test('a small result costs one, and its end is not waited for', async () => {
    const line = await relay();
    const engine = open({ poolSize: 1 }, line.url);
    await runOne(engine, 'SELECT 1');
    line.asked();
    expect(await runOne(engine, 'SELECT count(*) FROM big')).toMatchObject({ rows: [[20000]] });
    await eventually(() => line.asked().some((text) => text.includes('ROLLBACK')));
    await runOne(engine, 'SELECT 2');
    const asked = line.asked();
    expect(asked[0]).toMatch(/BEGIN.*READ ONLY.*application_name.*DECLARE gate_cursor.*SELECT 2/s);
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  test('every transaction has all settings, whatever a statement set before', async () => {
    const engine = open({ poolSize: 1, role: 'none' });
    const usual = [['\\x00ff', 'ISO, MDY', '5s', '4min']];
    expect(await runOne(engine, LOOK)).toMatchObject({ rows: usual });
    await runOne(
      engine,
      "SELECT set_config('bytea_output', 'escape', false), set_config('datestyle', 'SQL', false), set_config('lock_timeout', '0', false)",
    );
    expect(await runOne(engine, LOOK)).toMatchObject({ rows: usual });
    expect(await runOne(engine, LOOK, { timeoutMs: 2_000 })).toMatchObject({
      rows: [['\\x00ff', 'ISO, MDY', '2s', '2s']],
    });
  });

  test('what begins and ends a transaction has its time, however short the limit is', async () => {
    const engine = open({ poolSize: 1 });
    expect((await runOne(engine, 'SELECT 1', { timeoutMs: 3 })).kind).toMatch(/rows|timeout/);
    expect(await runOne(engine, ENDLESS, { timeoutMs: 20 })).toMatchObject({ kind: 'timeout', afterMs: 20 });
  });
});

describe('pages', () => {
  test.each([null, 1e12])(
    'a result that ends with a page is whole, and one row more is said (ceiling %p)',
    async (ceiling) => {
      const engine = open({ poolSize: 1, ...(ceiling === null ? {} : { maxPlanCost: ceiling }) });
      for (const rows of [0, 1, 99, 100, 101, 201])
        for (const maxRows of [0, 1, 99, 100, 101, 1000]) {
          const sql = `SELECT generate_series(1, ${rows})`;
          const expected = {
            truncated: rows > maxRows,
            rows: Array.from({ length: Math.min(rows, maxRows) }, (_, n) => [n + 1]),
          };
          const { results } = await engine.run([sql, sql], options({ maxRows }));
          expect([rows, maxRows, results]).toMatchObject([rows, maxRows, [expected, expected]]);
          const { results: alone } = await engine.run([sql], options({ maxRows }));
          expect([rows, maxRows, alone]).toMatchObject([rows, maxRows, [expected]]);
        }
    },
  );

  test.each([1, 100, 101, 500])('row %i that fails is an error of its statement and of no other', async (row) => {
    const { results } = await open().run(
      [`SELECT 1 / (n - ${row}) FROM generate_series(1, 600) n`, 'SELECT 2'],
      options(),
    );
    expect(results).toMatchObject([{ kind: 'sql-error', code: '22012' }, { rows: [[2]] }]);
  });
});

describe('rights', () => {
  test('a superuser reads every table and may do nothing else; the role none keeps its rights', async () => {
    const sql = "SELECT current_setting('is_superuser'), (SELECT count(*) FROM sales.orders)";
    expect(await runOne(open(), sql)).toMatchObject({ rows: [['off', 1]] });
    expect(await runOne(open({ role: 'none' }), sql)).toMatchObject({ rows: [['on', 1]] });
    expect(await runOne(open(), "SELECT pg_read_file('PG_VERSION')")).toMatchObject({
      kind: 'sql-error',
      code: '42501',
    });
  });

  test('before 14 a superuser is refused, with what to do; a role makes it one that reads', async () => {
    const role = await newRole();
    await admin.query(`GRANT USAGE ON SCHEMA sales TO ${role}; GRANT SELECT ON sales.orders TO ${role}`);
    const sql = "SELECT current_setting('is_superuser'), (SELECT count(*) FROM sales.orders)";
    expect(await runOne(open({ role }), sql)).toMatchObject({ rows: [['off', 1]] });
    expect(await runOne(open({ role: 'none' }), sql)).toMatchObject({ rows: [['on', 1]] });
    if (postgres.version >= 14) return;
    const own = createPostgresEngine({ url: postgres.url('shop') });
    engines.push(own);
    await expect(runOne(own, 'SELECT 1')).rejects.toMatchObject({ code: 'not-read-only' });
  });

  test('a superuser that a pooler does not name as one is found out all the same', async () => {
    const { url } = await relay({ silent: true });
    expect(await runOne(open({}, url), "SELECT current_setting('is_superuser')")).toMatchObject({ rows: [['off']] });
  });

  test('what a superuser laid down cannot be taken back by a function of the database, nor by one that runs a text', async () => {
    await admin.query(`
      CREATE OR REPLACE FUNCTION again() RETURNS int LANGUAGE plpgsql AS 'BEGIN RESET ROLE; RETURN 1; END';
      CREATE OR REPLACE FUNCTION adjust(a text, b text) RETURNS text LANGUAGE sql AS 'SELECT set_config(a, b, true)';
      CREATE OR REPLACE FUNCTION anything(command text) RETURNS int LANGUAGE plpgsql AS 'BEGIN EXECUTE command; RETURN 1; END';
      CREATE OR REPLACE FUNCTION as_admin() RETURNS text LANGUAGE sql SET role = 'postgres' AS $$ SELECT current_setting('is_superuser') $$;
      CREATE OR REPLACE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN EXECUTE ''SELECT 1''; RETURN NEW; END';
      CREATE OR REPLACE FUNCTION plus_one(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN n + 1; END'`);
    if (postgres.version >= 14)
      await admin.query(
        'CREATE OR REPLACE FUNCTION standard(a text, b text) RETURNS text RETURN set_config(a, b, true)',
      );
    const taking = [
      "SELECT again(), anything('COPY (SELECT 1) TO PROGRAM ''true''')",
      "SELECT adjust('role', 'none')",
      "SELECT anything('RESET ROLE')",
      'SELECT as_admin()',
      ...(postgres.version >= 14 ? ["SELECT standard('role', 'none')"] : []),
    ];
    const { results } = await open().run([...taking, 'SELECT plus_one(1) AS touched'], options());
    expect(results).toMatchObject([
      ...taking.map(() => ({ kind: 'refused', message: expect.stringMatching(/is not allowed/) as string })),
      { rows: [[2]] },
    ]);
    const sheila = await newRole();
    const reader = Object.assign(new URL(postgres.url('shop')), { username: sheila }).href;
    expect(await runOne(open({}, reader), "SELECT anything('SELECT 2')")).toMatchObject({ rows: [[1]] });
    await admin.query(`GRANT pg_execute_server_program TO ${sheila}`);
    expect(await runOne(open({}, reader), "SELECT anything('SELECT 2')")).toMatchObject({ kind: 'refused' });
  });

  test('row-level security is an error and not a filter nobody sees; a role of its own is what the policy says', async () => {
    await admin.query(
      'DROP TABLE IF EXISTS secret; CREATE TABLE secret (a int); INSERT INTO secret VALUES (1); ALTER TABLE secret ENABLE ROW LEVEL SECURITY',
    );
    expect(await runOne(open(), 'SELECT * FROM secret')).toMatchObject(
      postgres.version >= 14
        ? { kind: 'sql-error', message: expect.stringMatching(/row-level security.*role none/) as string }
        : { kind: 'rows', rows: [] },
    );
    expect(await runOne(open({ role: 'none' }), 'SELECT * FROM secret')).toMatchObject({ rows: [[1]] });
  });

  test('a table that may not be read is a value that names it', async () => {
    const clerk = await newRole();
    await admin.query(`GRANT USAGE ON SCHEMA sales TO ${clerk}`);
    const url = Object.assign(new URL(postgres.url('shop')), { username: clerk }).href;
    expect(await runOne(open({}, url), 'SELECT * FROM sales.orders')).toMatchObject({
      kind: 'sql-error',
      code: '42501',
      message: 'permission denied for table orders',
    });
  });
});

describe('values', () => {
  test('of every type arrive without loss; what JSON has no type for prints as PostgreSQL prints it', async () => {
    await admin.query(
      "DROP TYPE IF EXISTS point3, mood; CREATE TYPE point3 AS (x int, y numeric, label text); CREATE TYPE mood AS ENUM ('sad', 'ok')",
    );
    const cases: [string, unknown, string][] = [
      ['1.50::numeric', 1.5, 'number'],
      ['0.1::numeric + 0.2::numeric', 0.3, 'number'],
      ['12345678901234567890.123::numeric', '12345678901234567890.123', 'number'],
      ["'NaN'::float8", 'NaN', 'number'],
      ['-0.0::float8', -0, 'number'],
      ["'2020-02-29'::date", '2020-02-29', 'time'],
      ["'2020-02-29 10:00:00.5'::timestamp", '2020-02-29 10:00:00.5', 'time'],
      ["'infinity'::date", 'infinity', 'time'],
      ["interval '1 day 02:03:04'", '1 day 02:03:04', 'time'],
      ['true', true, 'boolean'],
      [`'{"b":  1, "a": "x  y", "n": 12345678901234567890}'::json`, '{"b":1,"a":"x  y","n":12345678901234567890}', 'json'],
      [`'{"b":  1, "a": [1, 2]}'::jsonb`, '{"a":[1,2],"b":1}', 'json'],
      ["'\\xdeadbeef'::bytea", '\\xdeadbeef', 'other'],
      ["ARRAY[1,2,NULL]", '{1,2,NULL}', 'other'],
      ["'x'::char(3)", 'x  ', 'text'],
      ["'0f0e0d0c-0000-0000-0000-000000000000'::uuid", '0f0e0d0c-0000-0000-0000-000000000000', 'text'],
      ['row(1, 2)', '(1,2)', 'other'],
      ['ARRAY[1.10, NULL]::numeric[]', '{1.10,NULL}', 'other'],
      [`ARRAY['a"b', 'c,d', NULL]`, '{"a\\"b","c,d",NULL}', 'other'],
      ['ARRAY[[1,2],[3,4]]', '{{1,2},{3,4}}', 'other'],
      ['int4range(1, 5)', '[1,5)', 'other'],
      ["tstzrange('2020-01-01+00', NULL)", '["2020-01-01 00:00:00+00",)', 'other'],
      [`ROW(1, 2.50, 'a "b"')::point3`, '(1,2.50,"a ""b""")', 'text'],
      ["'ok'::mood", 'ok', 'text'],
      ['9223372036854775807::bigint', '9223372036854775807', 'number'],
      ['0.1::float8 + 0.2::float8', 0.30000000000000004, 'number'],
      ['1e400::numeric', `1${'0'.repeat(400)}`, 'number'],
      ["'2020-02-29 10:00:00.123456+02'::timestamptz AT TIME ZONE 'UTC'", '2020-02-29 08:00:00.123456', 'time'],
      ["'0044-03-15 BC'::date", '0044-03-15 BC', 'time'],
      [`'{"n": 12345678901234567890.10, "t": "é"}'::jsonb`, '{"n":12345678901234567890.10,"t":"é"}', 'json'],
      ["'\\x'::bytea", '\\x', 'other'],
      ["'192.168.0.1/24'::inet", '192.168.0.1/24', 'other'],
      ["B'1010'", '1010', 'other'],
    ]; // prettier-ignore
    const result = await runOne(open(), `SELECT ${cases.map(([sql]) => sql).join(', ')}`);
    expect(result).toMatchObject({ kind: 'rows', columns: cases.map(([, , kind]) => ({ kind })) });
    expect(result.kind === 'rows' && result.rows[0]).toEqual(cases.map(([, value]) => value));
  });

  test('dates are read as the database reads them, and always print alike', async () => {
    const sql = "SELECT '01/02/2020'::date, current_setting('datestyle')";
    expect(await runOne(open(), "SELECT '12/31/2020'::date")).toMatchObject({ rows: [['2020-12-31']] });
    await postgres.createDatabase('european');
    await admin.query("ALTER DATABASE european SET datestyle = 'SQL, DMY'");
    expect(await runOne(open({}, postgres.url('european')), sql)).toMatchObject({ rows: [['2020-02-01', 'ISO, DMY']] });
  });

  test('a JSON text of 20 MB arrives', async () => {
    const result = await runOne(open(), "SELECT to_json(repeat('x', 20000000))");
    expect(result).toMatchObject({ kind: 'rows', columns: [{ kind: 'json' }] });
    expect(result.kind === 'rows' && (result.rows[0]?.[0] as string).length).toBe(20_000_002);
  });

  test('wide rows are cut by their size, and the cut is said', async () => {
    const wide = "SELECT repeat('x', 300000) FROM generate_series(1, 900)";
    const engine = open();
    const { results } = await engine.run([wide, 'SELECT 2'], options());
    for (const result of [await runOne(engine, wide), results[0]]) {
      expect(result).toMatchObject({ kind: 'rows', truncated: true });
      expect(result?.kind === 'rows' && result.rows.length).toBeGreaterThan(100);
    }
    expect(results[1]).toMatchObject({ rows: [[2]] });
  });

  test('text of a database without an encoding, and of one in another, arrives or fails as a value', async () => {
    const encoded = (name: string): string => `TEMPLATE template0 ENCODING '${name}' LC_COLLATE 'C' LC_CTYPE 'C'`;
    await postgres.createDatabase('raw', undefined, encoded('SQL_ASCII'));
    await postgres.createDatabase('western', undefined, encoded('WIN1252'));
    const raw = open({}, postgres.url('raw'));
    expect(await runOne(raw, "SELECT convert_from('\\xff41'::bytea, 'SQL_ASCII')")).toMatchObject({
      kind: 'sql-error',
      code: '22021',
      message: expect.stringContaining('invalid byte sequence') as string,
    });
    expect(await runOne(raw, "SELECT 'é', 1")).toMatchObject({ rows: [['é', 1]] });
    // Such bytes in a comment, a sample or a function keep nothing else from being read.
    const owner = new Client({ connectionString: postgres.url('raw') });
    await owner.connect();
    await owner.query(`CREATE TABLE menu (id int, dish text); INSERT INTO menu VALUES (1, E'caf\\xe9'), (2, 'thé');
        COMMENT ON TABLE menu IS E'entr\\xe9es';
        CREATE FUNCTION price() RETURNS int LANGUAGE sql AS E'SELECT 1 /* caf\\xe9 */'`);
    await owner.end();
    const { tables } = await raw.describe({ signal: new AbortController().signal });
    expect(tables).toMatchObject([
      { name: 'menu', comment: 'entr\ufffdes', columns: [{}, { samples: ['caf\ufffd', 'thé'] }] },
    ]);
    const fresh = open({}, postgres.url('raw'));
    expect(await runOne(fresh, "SELECT id, price() FROM menu WHERE dish = 'thé'")).toMatchObject({ rows: [[2, 1]] });
    expect(await runOne(fresh, 'SELECT dish FROM menu')).toMatchObject({ kind: 'sql-error', code: '22021' });
    const western = open({}, postgres.url('western'));
    expect(await runOne(western, 'SELECT chr(233)')).toMatchObject({ rows: [['é']] });
    expect(await runOne(western, 'SELECT chr(129)')).toMatchObject({ kind: 'sql-error', code: '22P05' });
  });

  test('a table that vanishes between two statements is a value', async () => {
    await admin.query('CREATE TABLE IF NOT EXISTS fleeting (a int)');
    const engine = open();
    expect(await runOne(engine, 'SELECT * FROM fleeting')).toMatchObject({ rows: [] });
    const statements = ['SELECT pg_sleep(5)', 'SELECT * FROM fleeting', 'SELECT 1'];
    const running = engine.run(statements, options({ tag: 'between' }));
    await eventually(async () => (await sessions('gate between', 'active')) === 1);
    await admin.query('DROP TABLE fleeting');
    const { results } = await running;
    expect(results).toMatchObject([{ kind: 'rows' }, { kind: 'sql-error', code: '42P01' }, { rows: [[1]] }]);
  });
});
