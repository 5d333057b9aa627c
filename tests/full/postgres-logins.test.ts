/** PostgreSQL: passwords, TLS, a server without a free connection, and a cell of a gigabyte. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createPostgresEngine, type PostgresEngineSettings } from '../../src/adapters/postgres';
import type { SqlResult } from '../../src/domain';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import { options, runOne } from '../helpers/engine';
import { sharedPostgres, startPostgres, type TestPostgres } from '../helpers/postgres';

const folder = mkdtempSync(join(tmpdir(), 'gate-sql-pg-'));
const engines: SqlEngine[] = [];
let postgres: TestPostgres;
let secured: TestPostgres;

beforeAll(async () => {
  postgres = await sharedPostgres();
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
  await secured.stop();
  rmSync(folder, { recursive: true, force: true });
});

function open(options: PostgresEngineSettings['options'], url = postgres.url('postgres')): SqlEngine {
  const laidDown = new URL(url).username === postgres.user ? postgres.laidDown : {};
  const engine = createPostgresEngine({ url, options: { ...laidDown, ...options } });
  engines.push(engine);
  return engine;
}

async function asAdmin(server: TestPostgres, sql: string): Promise<Record<string, unknown>> {
  const client = new Client({ connectionString: server.url('postgres') });
  await client.connect();
  const { rows } = (await client.query(sql)) as { rows?: Record<string, unknown>[] };
  await client.end();
  return rows?.[0] ?? {}; // of several statements there are none
}

test('a cell of a gigabyte is a value that says what to do, and its neighbours are answered', async () => {
  const start = process.memoryUsage.rss();
  const { results } = await open({}).run(
    ['SELECT 1', "SELECT repeat(repeat('x', 1000), 1000000)", 'SELECT 3'],
    options({ timeoutMs: 100_000 }),
  );
  expect(results).toMatchObject([
    { rows: [[1]] },
    {
      kind: 'sql-error',
      code: '54000',
      message: expect.stringMatching(/too large .*left\(column, 1000\)/) as string,
    },
    { rows: [[3]] },
  ]);
  expect(process.memoryUsage.rss() - start).toBeLessThan(600 * 1024 * 1024);
});

const file = (name: string): string => join(folder, name);
const openssl = (line: string): Buffer =>
  execFileSync('openssl', line.split(' '), { stdio: ['ignore', 'pipe', 'ignore'] });

/** Certificates for 127.0.0.1: a good one, and one that has expired, both of one authority. */
beforeAll(async () => {
  const made = '-newkey rsa:2048 -nodes';
  openssl(`req -x509 ${made} -keyout ${file('ca.key')} -out ${file('ca.crt')} -subj /CN=authority -days 30`);
  for (const [name, days] of [
    ['good', 30],
    ['expired', -1],
  ] as const) {
    openssl(`req ${made} -keyout ${file(`${name}.key`)} -out ${file(`${name}.csr`)} -subj /CN=127.0.0.1`);
    writeFileSync(file('names'), name === 'good' ? 'subjectAltName=IP:127.0.0.1' : 'subjectAltName=DNS:elsewhere');
    const authority = `-CA ${file('ca.crt')} -CAkey ${file('ca.key')} -CAcreateserial -extfile ${file('names')}`;
    openssl(`x509 -req -in ${file(`${name}.csr`)} ${authority} -out ${file(`${name}.crt`)} -days ${days}`);
  }
  secured = await startPostgres();
  data = String((await asAdmin(secured, "SELECT current_setting('data_directory') AS data"))['data']);
  // SCRAM is the default since 14.
  await asAdmin(secured, "SET password_encryption = 'scram-sha-256'; CREATE ROLE ann LOGIN SUPERUSER PASSWORD 'right'");
});

let data = '';
/** The server shows this certificate from now on, and wants a password of ann. */
async function serve(name: 'good' | 'expired'): Promise<void> {
  for (const ending of ['crt', 'key']) {
    const target = join(data, `server.${ending}`);
    copyFileSync(file(`${name}.${ending}`), target);
    chmodSync(target, 0o600);
    execFileSync('chown', ['--reference', data, target]);
  }
  writeFileSync(
    join(data, 'pg_hba.conf'),
    'host all postgres 127.0.0.1/32 trust\nhost all ann 127.0.0.1/32 scram-sha-256\n',
  );
  await asAdmin(secured, 'ALTER SYSTEM SET ssl = on');
  const before = await loadedAt();
  await asAdmin(secured, 'SELECT pg_reload_conf()');
  for (const started = Date.now(); (await loadedAt()) === before;) expect(Date.now() - started).toBeLessThan(60_000);
}

/** When the server read its settings, as a session that begins now has them from it. */
const loadedAt = async (): Promise<unknown> => (await asAdmin(secured, 'SELECT pg_conf_load_time()::text AS at'))['at'];

const url = (parameters: string, password = 'right'): string =>
  `postgres://ann:${password}@127.0.0.1:${secured.port}/postgres${parameters === '' ? '' : `?${parameters}`}`;
const SSL = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
const ask = (parameters: string, password?: string): Promise<SqlResult> =>
  runOne(open({ role: 'none' }, url(parameters, password)), SSL);

test('sslmode means what it means to libpq', async () => {
  await serve('good');
  const ca = `sslrootcert=${encodeURIComponent(file('ca.crt'))}`;
  expect(await ask('sslmode=disable')).toMatchObject({ rows: [[false]] });
  for (const mode of [
    'sslmode=require',
    'sslmode=prefer',
    `sslmode=verify-ca&${ca}`,
    `sslmode=verify-full&${ca}`,
    `sslmode=require&${ca}`,
  ])
    expect([mode, await ask(mode)]).toMatchObject([mode, { rows: [[true]] }]);
  await expect(ask('sslmode=verify-full')).rejects.toMatchObject({
    code: 'not-configured',
    message: expect.stringMatching(/is not trusted .*sslrootcert=FILE/) as string,
  });
  expect(() => open({}, url('sslmode=verify-ca'))).toThrow('needs sslrootcert');
  expect(() => open({}, url('sslmode=maybe'))).toThrow('sslmode=maybe is not known');
  expect(() => open({}, url('sslmode=require&sslrootcert=/no/such/file'))).toThrow(
    'sslrootcert=/no/such/file cannot be read (ENOENT)',
  );
});

test('an expired certificate, and one for another host, are said to be so', async () => {
  await serve('expired');
  const ca = `sslrootcert=${encodeURIComponent(file('ca.crt'))}`;
  await expect(ask(`sslmode=verify-ca&${ca}`)).rejects.toMatchObject({
    code: 'not-configured',
    message: expect.stringContaining('has expired: renew it') as string,
  });
  expect(await ask('sslmode=require')).toMatchObject({ rows: [[true]] });
});

test('a wrong password is refused by name, and does not show', async () => {
  const failure: unknown = await ask('', 'wr0ng').catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: 'authentication',
    message: expect.stringContaining('refused user ann') as string,
  });
  expect((failure as Error).message).not.toContain('wr0ng');
  await expect(ask('', '')).rejects.toMatchObject({
    code: 'authentication',
    message: expect.stringContaining('wants a password') as string,
  });
});

test('a server without TLS: require says so, prefer goes on without', async () => {
  const plain = new URL(postgres.url('postgres'));
  const at = (mode: string): string => Object.assign(new URL(plain.href), { search: `?sslmode=${mode}` }).href;
  await expect(runOne(open({}, at('require')), 'SELECT 1')).rejects.toMatchObject({
    message: expect.stringContaining('offers no TLS') as string,
  });
  expect(await runOne(open({}, at('prefer')), 'SELECT 1')).toMatchObject({ rows: [[1]] });
});

test('a server without a free connection is an outage that passes', async () => {
  await asAdmin(postgres, 'CREATE ROLE crowd LOGIN CONNECTION LIMIT 1');
  const crowd = Object.assign(new URL(postgres.url('postgres')), { username: 'crowd' }).href;
  const holder = new Client({ connectionString: crowd });
  await holder.connect();
  await expect(runOne(open({}, crowd), 'SELECT 1')).rejects.toMatchObject({
    code: 'connection',
    message: expect.stringMatching(/no free connection.*maxConnections/) as string,
  });
  await holder.end();
});
