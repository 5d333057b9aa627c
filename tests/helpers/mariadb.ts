/**
 * MariaDB for tests: the server that GATE_TEST_MYSQL_URL names (MariaDB or MySQL, with a login that may do everything), else one
 * started from the installed `mariadbd`. It is never skipped: with neither it fails and says so. All files of a run share one
 * server, each with databases and users of its own names; a test that stops a server or needs other settings starts its own.
 */
import { execFileSync, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { chmodSync, chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createConnection, type Connection } from 'mysql2/promise';
import { freePort } from './free-port';
import { onceInRun } from './run-folder';

export interface TestMariaDb {
  readonly host: string;
  readonly port: number;
  readonly isMariaDb: boolean;
  /** Of the login that may do everything, or of another one; without `mysql://` parameters unless given. */
  url(database: string, login?: { readonly user: string; readonly password?: string }, parameters?: string): string;
  /** Drops it first if it exists; `sql` may hold many statements. */
  createDatabase(name: string, sql?: string): Promise<void>;
  /** A login of any host, made anew, with the grants that follow GRANT and stand before TO. */
  createUser(user: string, password: string, ...grants: readonly string[]): Promise<void>;
  /** As the login that may do everything; may hold many statements. Rows are arrays. */
  query(sql: string, database?: string): Promise<unknown[][]>;
  /** A connection of its own, as that login. The caller ends it. */
  connect(database?: string): Promise<Connection>;
  /** Ends it at once, in the middle of whatever it does. Only a server that was started here. */
  crash(): Promise<void>;
  /** Starts it again after a crash: same port, same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The server of this run, started by the first file that needs it. */
export async function sharedMariaDb(): Promise<TestMariaDb> {
  const given = givenServer();
  if (given !== null) return given;
  const { port } = await onceInRun('mariadb', async () => {
    const { port, child } = await launch(await prepareFolder(), []);
    child.unref();
    // Asked to end, it would wait for what runs and write meanwhile.
    return { port, pid: child.pid ?? 0, endedBy: 'SIGKILL' };
  });
  return handle(urlOn(port), notOurs);
}

/** A server of the caller's own. `settings`: options of `mariadbd`. */
export async function startMariaDb(settings: readonly string[] = []): Promise<TestMariaDb> {
  const given = givenServer();
  if (given !== null) return given;
  const prepared = await prepareFolder();
  let { port, child } = await launch(prepared, settings);
  const onExit = (): void => void child.kill('SIGKILL');
  process.once('exit', onExit);
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  return handle(urlOn(port), {
    crash: () => end('SIGKILL'),
    restart: async () => {
      ({ port, child } = await launch(prepared, settings, port));
    },
    stop: async () => {
      process.off('exit', onExit);
      await end('SIGKILL');
      rmSync(prepared.folder, { recursive: true, force: true });
    },
  });
}

const refuse = (): Promise<never> => Promise.reject(new Error('a server that others use is not stopped'));
const notOurs = { crash: refuse, restart: refuse, stop: () => Promise.resolve() };
const urlOn = (port: number): URL => new URL(`mysql://root@127.0.0.1:${port}`);

function givenServer(): Promise<TestMariaDb> | null {
  const given = process.env['GATE_TEST_MYSQL_URL'];
  return given === undefined || given === '' ? null : handle(new URL(given), notOurs);
}

interface Prepared {
  readonly server: string;
  readonly folder: string;
  readonly as: SpawnOptions;
}

/** Data as the server makes it anew takes seconds: a run makes it once, and each server has a copy. */
async function prepareFolder(): Promise<Prepared> {
  const server = findProgram('mariadbd');
  const owner = unprivilegedUser();
  const as = { cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }, ...owner };
  const made = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'gate-mariadb-'));
    if (owner !== null) chownSync(folder, owner.uid, owner.gid);
    chmodSync(folder, 0o755);
    return folder;
  };
  const template = await onceInRun('mariadb-data', () => {
    const data = join(made(), 'data');
    const login = ['--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve'];
    execFileSync(findProgram('mariadb-install-db'), ['--no-defaults', `--datadir=${data}`, ...login], {
      ...as,
      stdio: 'pipe',
    });
    return Promise.resolve({ data });
  });
  const folder = made();
  execFileSync('cp', ['-a', template.data, join(folder, 'data')]);
  return { server, folder, as };
}

const SETTINGS = [
  '--skip-name-resolve',
  '--character-set-server=utf8mb4',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-buffer-pool-size=64M',
  '--innodb-doublewrite=0',
  '--max-connections=200',
  '--performance-schema=off',
];

async function launch(
  { server, folder, as }: Prepared,
  settings: readonly string[],
  given?: number,
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const port = given ?? (await freePort());
  const log = join(folder, 'log');
  const output = openSync(log, 'a');
  const place = [`--datadir=${join(folder, 'data')}`, `--port=${port}`, '--bind-address=127.0.0.1'];
  const files = [`--socket=${join(folder, 's')}`, `--pid-file=${join(folder, 'pid')}`, `--tmpdir=${folder}`];
  const child = spawn(server, ['--no-defaults', ...place, ...files, ...SETTINGS, ...settings], {
    ...as,
    // Jest ends a worker between two files: the server of the run must not end with it.
    detached: true,
    stdio: ['ignore', 'ignore', output],
  });
  closeSync(output);
  await ready(child, urlOn(port), () => readFileSync(log, 'utf8').slice(-4000));
  return { port, child };
}

async function handle(server: URL, control: Pick<TestMariaDb, 'crash' | 'restart' | 'stop'>): Promise<TestMariaDb> {
  const connect = (database?: string): Promise<Connection> => connectTo(server, database);
  const query = (sql: string, database?: string): Promise<unknown[][]> =>
    withConnection(server, database, async (connection) => (await connection.query(sql))[0] as unknown[][]);
  const [[version]] = (await query('SELECT VERSION()')) as [[string]];
  return {
    ...{ host: server.hostname, port: Number(server.port || 3306), isMariaDb: /mariadb/i.test(version) },
    ...{ connect, query, ...control },
    url(database, login, parameters = '') {
      const url = Object.assign(new URL(server), { pathname: `/${encodeURIComponent(database)}` });
      if (login !== undefined) Object.assign(url, { username: login.user, password: login.password ?? '' });
      url.search = parameters;
      return url.href;
    },
    async createDatabase(name, sql) {
      await query(`DROP DATABASE IF EXISTS \`${name}\`; CREATE DATABASE \`${name}\``);
      if (sql !== undefined) await query(sql, name);
    },
    async createUser(user, password, ...grants) {
      const statements = grants.map((grant) => `GRANT ${grant} TO '${user}'@'%'`);
      await query(
        [
          `DROP USER IF EXISTS '${user}'@'%'`,
          `CREATE USER '${user}'@'%' IDENTIFIED BY '${password}'`,
          ...statements,
        ].join('; '),
      );
    },
  };
}

function connectTo(server: URL, database?: string): Promise<Connection> {
  const place = { host: server.hostname, port: Number(server.port || 3306) };
  const login = { user: decodeURIComponent(server.username), password: decodeURIComponent(server.password) };
  return createConnection({
    ...place,
    ...login,
    database,
    multipleStatements: true,
    rowsAsArray: true,
    dateStrings: true,
  });
}

async function withConnection<T>(
  server: URL,
  database: string | undefined,
  use: (connection: Connection) => Promise<T>,
) {
  const connection = await connectTo(server, database);
  try {
    return await use(connection);
  } finally {
    await connection.end();
  }
}

async function ready(server: ChildProcess, url: URL, log: () => string): Promise<void> {
  for (const started = Date.now(); ;) {
    try {
      await withConnection(url, undefined, (connection) => connection.query('SELECT 1'));
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() - started > 120_000)
        throw new Error(`MariaDB did not start: ${log()}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

function findProgram(name: string): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/usr/libexec'];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    `no ${name} for the tests: install MariaDB's server (apt-get install mariadb-server), or set GATE_TEST_MYSQL_URL`,
  );
}

/** MariaDB refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody']).toString()));
  return { uid: uid ?? 65_534, gid: gid ?? 65_534 };
}
