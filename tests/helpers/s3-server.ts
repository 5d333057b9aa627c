/**
 * Throw-away S3 servers (versitygw): one that all files of a run share, and one of a test that stops it. The binary is the one that VERSITYGW_PATH
 * names, else `versitygw` on PATH, else one built once by Go into the cache (about a minute). It is never skipped: with
 * none of the three it fails and says so.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { userFolders } from '../../src/config/folders';
import { withFileLock } from '../../src/file-lock';
import { freePort } from './free-port';
import { onceInRun } from './run-folder';

export const VERSITYGW_VERSION = 'v1.8.0';
const GO_PACKAGE = `github.com/versity/versitygw/cmd/versitygw@${VERSITYGW_VERSION}`;
const START_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

export interface S3ServerOptions {
  /** Of an earlier server, to go on with what it kept; it is then not removed by `stop`. */
  readonly folder?: string;
  readonly port?: number;
}

export interface S3Server {
  readonly endpoint: string;
  readonly port: number;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly folder: string;
  readonly pid: number;
  /** Buckets are folders. */
  createBucket(name: string): void;
  /** What a process needs to use `s3://bucket/prefix` on this server. */
  env(place: string): Record<string, string>;
  /** An account that a bucket policy can name. */
  createUser(accessKeyId: string, secretAccessKey: string): Promise<void>;
  /** SIGKILL: as a crash; `restart` brings it back on the same port and folder. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const KEYS = { accessKeyId: 'gate-test-access', secretAccessKey: 'gate-test-secret-key' };

/** The server of this run, started by the first file that needs it: buckets have names of their own. */
export async function sharedS3Server(): Promise<S3Server> {
  const { folder, port, pid } = await onceInRun('s3', async () => {
    const place = await prepare();
    const child = await launch(place);
    child.unref();
    return { ...place, pid: child.pid ?? 0 };
  });
  const refuse = (): Promise<never> => Promise.reject(new Error('others use this S3 server: start one to stop it'));
  return {
    ...handle(await findVersitygw(), folder, port),
    pid,
    kill: refuse,
    restart: refuse,
    stop: async () => undefined,
  };
}

/** A server of the caller's own. */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const place = await prepare(options);
  let server = await launch(place);
  const onExit = (): void => void server.kill('SIGKILL');
  process.once('exit', onExit);
  const end = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  };
  return {
    ...handle(place.binary, place.folder, place.port),
    get pid() {
      return server.pid ?? 0;
    },
    kill: end,
    async restart() {
      await end();
      server = await launch(place);
    },
    async stop() {
      process.off('exit', onExit);
      await end();
      if (options.folder === undefined) rmSync(place.folder, { recursive: true, force: true });
    },
  };
}

interface Place {
  readonly binary: string;
  readonly folder: string;
  readonly port: number;
}

async function prepare(options: S3ServerOptions = {}): Promise<Place> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'gate-s3-'));
  for (const name of ['data', 'iam', 'sidecar']) mkdirSync(join(folder, name), { recursive: true });
  return { binary: await findVersitygw(), folder, port: options.port ?? (await freePort()) };
}

const endpointOf = (port: number): string => `http://127.0.0.1:${port}`;
const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  ROOT_ACCESS_KEY: KEYS.accessKeyId,
  ROOT_SECRET_KEY: KEYS.secretAccessKey,
});

async function launch({ binary, folder, port }: Place): Promise<ChildProcess> {
  const log = join(folder, 'log');
  const output = openSync(log, 'a');
  const server = ['--port', `127.0.0.1:${port}`, '--quiet', '--health', '/health', '--iam-dir', join(folder, 'iam')];
  // Attributes in files beside the data: not every temporary folder can hold them on the data itself.
  const storage = ['--iam-cache-disable', 'posix', '--sidecar', join(folder, 'sidecar'), join(folder, 'data')];
  const child = spawn(binary, [...server, ...storage], {
    env: environment(),
    // Jest ends a worker between two files: the server of the run must not end with it.
    detached: true,
    stdio: ['ignore', 'ignore', output],
  });
  closeSync(output);
  const started = Date.now();
  while (!(await answers(`${endpointOf(port)}/health`))) {
    if (child.exitCode !== null || Date.now() - started >= START_TIMEOUT_MS) {
      child.kill('SIGKILL');
      throw new Error(`versitygw did not start: ${readFileSync(log, 'utf8').slice(-2000).trim()}`);
    }
    await sleep(20);
  }
  return child;
}

function handle(binary: string, folder: string, port: number): Omit<S3Server, 'pid' | 'kill' | 'restart' | 'stop'> {
  const endpoint = endpointOf(port);
  return {
    ...KEYS,
    endpoint,
    port,
    folder,
    region: 'us-east-1',
    createBucket: (name) => void mkdirSync(join(folder, 'data', name), { recursive: true }),
    env: (place) => ({
      GATE_STORE: place,
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_EC2_METADATA_DISABLED: 'true',
    }),
    async createUser(accessKeyId, secretAccessKey) {
      const root = ['--access', KEYS.accessKeyId, '--secret', KEYS.secretAccessKey, '--endpoint-url', endpoint];
      const user = ['--access', accessKeyId, '--secret', secretAccessKey, '--role', 'user'];
      await run(binary, ['admin', ...root, 'create-user', ...user], { env: environment() });
    },
  };
}

/** Built once for all test runs of this user, by one process at a time. */
export async function findVersitygw(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const given = env['VERSITYGW_PATH'];
  if (given) {
    if (isExecutable(given)) return given;
    throw new Error(`VERSITYGW_PATH: ${given} is no executable file`);
  }
  const onPath = named('versitygw', env);
  if (onPath !== null) return onPath;
  const cached = join(userFolders(env).cache, 'versitygw', VERSITYGW_VERSION, 'versitygw');
  if (isExecutable(cached)) return cached;
  return withFileLock(join(userFolders(env).cache, 'versitygw', 'fetch.lock'), async () => {
    if (isExecutable(cached)) return cached;
    const go = named('go', env);
    if (go === null)
      throw new Error('no S3 server for the tests: set VERSITYGW_PATH, put versitygw on PATH, or install Go');
    process.stderr.write(`building the S3 server ${VERSITYGW_VERSION} with Go (about a minute, once)\n`);
    mkdirSync(dirname(cached), { recursive: true });
    const folder = mkdtempSync(join(dirname(cached), 'new-'));
    try {
      await run(go, ['install', GO_PACKAGE], { env: { ...env, GOBIN: folder } });
      renameSync(join(folder, 'versitygw'), cached);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return cached;
  });
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false; // not up yet
  }
}

function named(name: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not ours to run
  }
}
