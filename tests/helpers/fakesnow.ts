/**
 * A throw-away stand-in for Snowflake: fakesnow's server (`fakesnow-server.py`) from a Python environment of its own, made
 * once in the user's cache folder, on a free port of this machine. It is never skipped: without Python 3.11 or newer, or
 * without a package index to install from, it fails and says so.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { userFolders } from '../../src/config/folders';
import { withFileLock } from '../../src/file-lock';

/** Pinned: fakesnow names no upper bound for the connector, whose later versions it cannot load. */
const PACKAGES = ['fakesnow[server]==0.12.1', 'snowflake-connector-python==4.8.1'];
const SERVER = join(__dirname, 'fakesnow-server.py');

export interface TestSnowflake {
  readonly accessUrl: string;
  /** An address that logs in with a password; the schema is PUBLIC. */
  url(database: string): string;
  /** Statements divided by semicolons, on a connection that may write; the database is made by naming it. */
  write(database: string, sql: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startFakesnow(): Promise<TestSnowflake> {
  const python = await fakesnowPython();
  const child = spawn(python, ['-W', 'ignore', SERVER], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4000)));
  const onExit = (): void => void child.kill('SIGKILL');
  process.once('exit', onExit);
  const port = await firstLine(child, () => log);
  const accessUrl = `http://127.0.0.1:${port}`;
  await listening(accessUrl, () => log);
  return {
    accessUrl,
    url: (database) =>
      `snowflake://reader:secret@testaccount/${database}/PUBLIC?warehouse=WH&role=READER&accessUrl=${encodeURIComponent(accessUrl)}`,
    write: (database, sql) => writeAll(accessUrl, database, sql),
    async stop() {
      process.off('exit', onExit);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The interpreter of an environment that holds the packages. */
export async function fakesnowPython(): Promise<string> {
  const version = createHash('sha256').update(PACKAGES.join()).digest('hex').slice(0, 8);
  const folder = join(userFolders(process.env).cache, 'test', `fakesnow-${version}`);
  return withFileLock(`${folder}.lock`, () => made(folder));
}

/** By one process at a time. */
async function made(folder: string): Promise<string> {
  const python = join(folder, 'bin', 'python');
  if (existsSync(join(folder, 'ready'))) return python;
  const making = `${folder}.${process.pid}`;
  const run = promisify(execFile);
  try {
    await run('python3', [
      '-c',
      'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "too old: " + sys.version)',
    ]);
    await run('python3', ['-m', 'venv', '--copies', making]);
    await run(join(making, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES], { timeout: 300_000 }); // prettier-ignore
    mkdirSync(join(making, 'ready'));
    // Scripts keep the old path, the interpreter does not mind.
    renameSync(making, folder);
  } catch (error) {
    throw new Error(
      `no stand-in for Snowflake: it needs Python 3.11 with venv and pip (python3): ${(error as Error).message}`,
      { cause: error },
    );
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return python;
}

function firstLine(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new TypeError('the server has no output');
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`the stand-in for Snowflake ended with ${code}: ${log()}`)));
    child.once('error', reject);
  });
}

async function listening(accessUrl: string, log: () => string): Promise<void> {
  for (const started = Date.now(); ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const answered = await fetch(accessUrl).then(
      () => true,
      () => false,
    );
    if (answered) return;
    if (Date.now() - started > 120_000) throw new Error(`the stand-in for Snowflake does not answer: ${log()}`);
  }
}

/** Straight over HTTP: the engine under test cannot write. */
async function writeAll(accessUrl: string, database: string, sql: string): Promise<void> {
  const login = await post(`${accessUrl}/session/v1/login-request?databaseName=${database}&schemaName=PUBLIC`, {
    data: { SESSION_PARAMETERS: {} },
  });
  const token = (login.data as { token: string }).token;
  const authorization = `Snowflake Token="${token}"`;
  try {
    for (const sqlText of sql.split(/;\s+|;$/).filter((each) => each.trim() !== '')) {
      const { success, message } = await post(`${accessUrl}/queries/v1/query-request`, { sqlText }, authorization);
      if (!success) throw new Error(`${message}: ${sqlText}`);
    }
  } finally {
    await post(`${accessUrl}/session?delete=true`, {}, authorization);
  }
}

interface Answer {
  readonly success: boolean;
  readonly message: string;
  readonly data: unknown;
}

async function post(url: string, body: object, authorization = ''): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', authorization },
  });
  return (await response.json()) as Answer;
}
