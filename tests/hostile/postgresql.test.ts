/**
 * What a hostile statement can do to a PostgreSQL server through this engine: nothing that lasts. The corpus runs with a
 * superuser's login, and in the full run also with one that may only read, and behind the parser's fence; the fence's own
 * verdict is looked at in any case. Before and after each group everything is compared; when something differs, the group is
 * run again statement by statement to name it.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { refuseFunction } from '../../src/adapters/postgres/inspector';
import { SqlResult } from '../../src/domain';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import type { SqlInspector } from '../../src/domain/ports/sql-inspector';
import { extent } from '../helpers/extent';
import { startPostgres, type TestPostgres } from '../helpers/postgres';
import { fill, type Group } from './corpus';
import { acts, bombs } from './postgresql';
import { CALLABLE, contrib, harmless, NOTABLE } from './postgresql/harmless';
import { fingerprint, preySql } from './postgresql/prey';

const DATABASE = 'prey';
/** What a loaded machine, or a computation that cannot be interrupted, takes longer. */
const SLACK_MS = 60_000;
const TIMEOUT_MS = 150;
const folder = mkdtempSync(join(tmpdir(), 'gate-hostile-'));
chmodSync(folder, 0o777);

let postgres: TestPostgres;
let inspector: SqlInspector;
let admin: Client;
/** Another session of the server: it must stay as it is, and hear nothing. */
let bystander: Client;
let heard = 0;
let started = false;
let values: Record<string, string>;

beforeAll(async () => {
  postgres = await startPostgres();
  inspector = await createPostgresInspector();
  admin = await connect('postgres');
  await admin.query('CREATE ROLE least LOGIN; CREATE ROLE reader');
  await admin.query("SELECT pg_create_physical_replication_slot('keep')");
  await admin.end();
  const { host, port, user } = postgres;
  values = { OUT: folder, DB: DATABASE, CONN: `host=${host} port=${port} user=${user} dbname=${DATABASE}` };
  await restore();
});

afterAll(async () => {
  await admin.query("SELECT pg_drop_replication_slot('keep')").catch(() => undefined);
  await admin.end();
  await bystander.end();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(database: string): Promise<Client> {
  const client = new Client({ connectionString: postgres.url(database) });
  client.on('error', () => undefined); // the database may be dropped under it
  await client.connect();
  return client;
}

/** The database as it was at the start, and a new bystander in it. */
async function restore(): Promise<void> {
  if (started) await bystander.end();
  started = true;
  await postgres.createDatabase(DATABASE, fill(preySql(values['CONN'] ?? ''), values));
  admin = await connect(DATABASE);
  bystander = await connect(DATABASE);
  bystander.on('notification', () => (heard += 1));
  const { rows } = await bystander
    .query<{ pid: number }>('LISTEN news; SELECT pg_backend_pid() AS pid')
    .then((results) => (results as unknown as { rows: { pid: number }[] }[])[1]!);
  values['PID'] = String(rows[0]?.pid);
}

interface Way {
  readonly name: string;
  readonly user: string | null;
  readonly fence: boolean;
  /** It keeps the rights of its login. */
  readonly keeps?: boolean;
}

const WITH_ITS_RIGHTS: Way = { name: 'a superuser that keeps its rights, behind the fence', user: null, fence: true, keeps: true }; // prettier-ignore
/** A superuser without the fence may do most: the other ways are in `npm run test:full` only. */
const allWays: readonly Way[] = [
  { name: 'a superuser, without the fence', user: null, fence: false },
  WITH_ITS_RIGHTS,
  { name: 'a superuser, behind the fence', user: null, fence: true },
  { name: 'a reader, behind the fence', user: 'least', fence: true },
  { name: 'a reader, without the fence', user: 'least', fence: false },
];
const ways = allWays.slice(0, extent({ usual: 1, full: 5 }));

/** One connection, so that what a statement leaves in its session meets the next one. */
function open({ user, fence, keeps = false }: Way): SqlEngine {
  const url = new URL(postgres.url(DATABASE));
  if (user !== null) url.username = user;
  const role = keeps ? { role: 'none' } : user === null ? postgres.laidDown : {};
  const engine = createPostgresEngine({ url: url.href, options: { poolSize: 1, ...role } });
  return fence ? createGuardedEngine(engine, inspector) : engine;
}

const options = { timeoutMs: TIMEOUT_MS, maxRows: 1000, signal: new AbortController().signal, tag: 'hostile i1.probe' };

async function run(engine: SqlEngine, sql: string, timeoutMs = TIMEOUT_MS): Promise<SqlResult> {
  const { results } = await engine.run([fill(sql, values)], { ...options, timeoutMs });
  return SqlResult.parse(results[0]);
}

const IN_SESSION = `SELECT (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_cursors WHERE name <> 'gate_cursor'),
  (SELECT string_agg(c, ',') FROM pg_listening_channels() c), pg_my_temp_schema(), coalesce(current_setting('gate.mark', true), ''),
  current_setting('search_path'), current_setting('work_mem'), session_user, current_setting('default_transaction_read_only'),
  current_setting('statement_timeout'), current_setting('transaction_read_only'), current_setting('standard_conforming_strings')`;

/** The server, and the session that the statements had. */
async function look(engine: SqlEngine): Promise<string[]> {
  const session = await engine.run([IN_SESSION], { ...options, timeoutMs: 60_000 });
  const [result] = session.results;
  const row = result?.kind === 'rows' ? JSON.stringify(result.rows[0]) : JSON.stringify(result);
  await bystander.query('SELECT 1');
  await quiet();
  return [...(await fingerprint(admin, folder)), `session: ${row}`, `heard: ${heard}`];
}

/** A computation that cannot be interrupted runs on for a while after its connection was given up. */
async function quiet(): Promise<void> {
  const busy = `SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`;
  for (const started = Date.now(); Date.now() - started < 60_000;) {
    if ((await admin.query(busy)).rowCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The statements of the group after which something was different, each with what. */
async function culprits({ statements }: Group, way: Way): Promise<string[]> {
  const found: string[] = [];
  for (const sql of statements) {
    const engine = open(way);
    const before = await look(engine);
    const { kind } = await run(engine, sql);
    const after = await look(engine);
    await engine.close();
    const changed = after.filter((line, index) => line !== before[index]);
    if (changed.length > 0) found.push(`${sql} (${kind}) changed ${changed.join('; ')}`);
  }
  return found;
}

/** What PostgreSQL lets any user do although it writes a file of the server's own: only the fence stands before it. */
const FENCE_ONLY = new Set(['SELECT autoprewarm_dump_now()', 'SELECT autoprewarm_start_worker()']);

/** Techniques of which nothing may even give rows behind the fence. */
const OUTSIDE = new Set([
  'files of the server',
  'large objects',
  'dblink and foreign servers',
  'other sessions',
  'secrets',
  'COPY',
  'locks',
  'sequences',
]);

test('the corpus has more than 300 statements, each once', () => {
  const all = [...acts, ...bombs].flatMap(({ statements }) => statements);
  expect(all.length).toBeGreaterThan(300);
  expect(new Set(all).size).toBe(all.length);
});

describe('functions that are volatile or not for everybody, of this server and what it ships', () => {
  async function namesOf(sql: string): Promise<string[]> {
    const client = await connect('shipped');
    const { rows } = await client.query<{ name: string }>(sql);
    await client.end();
    return rows.map(({ name }) => name);
  }
  beforeAll(async () => {
    const { rows } = await admin.query<{ name: string }>(
      'SELECT name FROM pg_available_extensions WHERE name = ANY($1)',
      [contrib],
    );
    await postgres.createDatabase('shipped', rows.map(({ name }) => `CREATE EXTENSION "${name}" CASCADE`).join('; '));
  });

  test('each is refused by the fence, or was looked at', async () => {
    const notable = await namesOf(NOTABLE);
    expect(notable.length).toBeGreaterThan(200);
    expect(notable.filter((name) => refuseFunction(name) === null && !harmless.has(name))).toEqual([]);
    expect([...harmless].filter((name) => refuseFunction(name) !== null)).toEqual([]);
  });

  test('those let through that need no argument change nothing, with the rights of a superuser', async () => {
    const engine = open(WITH_ITS_RIGHTS);
    const before = await look(engine);
    const callable = (await namesOf(CALLABLE)).filter((name) => harmless.has(name));
    const rows: string[] = [];
    for (const name of callable)
      if ((await run(engine, `SELECT * FROM ${name}()`, 60_000)).kind === 'rows') rows.push(name);
    expect(rows).toContain('pg_is_in_recovery');
    expect(await look(engine)).toEqual(before);
    await engine.close();
  });
});

describe.each(ways)('$name', (way) => {
  let engine: SqlEngine;
  beforeAll(() => {
    engine = open(way);
  });
  afterAll(() => engine.close());

  test.each(acts.map((one) => [one.technique, one] as const))('%s leaves no trace', async (technique, one) => {
    const before = await look(engine);
    const answered: string[] = [];
    for (const sql of one.statements) {
      const passesFence = inspector.inspect(fill(sql, values)).kind === 'select';
      if (FENCE_ONLY.has(sql)) expect([sql, passesFence]).toEqual([sql, false]);
      else if ((await run(engine, sql)).kind === 'rows' && passesFence) answered.push(sql);
    }
    const after = await look(engine);
    if (after.some((line, index) => line !== before[index])) {
      await restore();
      const named = await culprits(one, way);
      await restore();
      throw new Error(
        named.length > 0
          ? named.join('\n')
          : `together: ${after.filter((line, index) => line !== before[index]).join('\n')}`,
      );
    }
    if (OUTSIDE.has(technique)) expect(answered).toEqual([]);
  });
});

describe.each(ways.filter(({ user, fence }) => user === null && !fence))('$name', (way) => {
  test.each(bombs.map((one) => [one.technique, one] as const))(
    '%s end in their time, and cost us little memory',
    async (_, one) => {
      const engine = open(way);
      try {
        const before = await look(engine);
        let most = 0;
        const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
        const start = process.memoryUsage.rss();
        const slow: string[] = [];
        for (const sql of one.statements) {
          const started = Date.now();
          await run(engine, sql);
          // Twice its limit, and what a server takes that cannot stop in the middle of a computation.
          if (Date.now() - started > 2 * TIMEOUT_MS + SLACK_MS) slow.push(sql.slice(0, 80));
        }
        clearInterval(watch);
        expect(slow).toEqual([]);
        expect(most - start).toBeLessThan(700 * 1024 * 1024);
        expect(await look(engine)).toEqual(before);
      } finally {
        await engine.close();
      }
    },
  );
});
