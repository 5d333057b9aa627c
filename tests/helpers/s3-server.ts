/**
 * A throw-away S3 server (versitygw) on a free port with a folder of its own. The binary is the one that VERSITYGW_PATH
 * names, else `versitygw` on PATH, else one built once by Go into the cache (about a minute). It is never skipped: with
 * none of the three it fails and says so.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { userFolders } from '../../src/config/folders';
import { withFileLock } from '../../src/workers/file-lock';
import { freePort } from './free-port';

export const VERSITYGW_VERSION = 'v1.8.0';
const GO_PACKAGE = `github.com/versity/versitygw/cmd/versitygw@${VERSITYGW_VERSION}`;
const START_TIMEOUT_MS = 20_000;
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

export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const binary = await findVersitygw();
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'gate-s3-'));
  const port = options.port ?? (await freePort());
  const keys = { accessKeyId: 'gate-test-access', secretAccessKey: 'gate-test-secret-key' };
  const [data, iam, sidecar] = ['data', 'iam', 'sidecar'].map((name) => join(folder, name));
  if (data === undefined || iam === undefined || sidecar === undefined) throw new Error('unreachable');
  for (const one of [data, iam, sidecar]) mkdirSync(one, { recursive: true });
  const endpoint = `http://127.0.0.1:${port}`;
  const environment = {
    PATH: process.env['PATH'],
    ROOT_ACCESS_KEY: keys.accessKeyId,
    ROOT_SECRET_KEY: keys.secretAccessKey,
  };
  const start = async (): Promise<ChildProcess> => {
    // Attributes in files beside the data: not every temporary folder can hold them on the data itself.
    const args = ['--port', `127.0.0.1:${port}`, '--quiet', '--health', '/health', '--iam-dir', iam];
    const child = spawn(binary, [...args, '--iam-cache-disable', 'posix', '--sidecar', sidecar, data], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-2000);
    });
    const started = Date.now();
    while (!(await answers(`${endpoint}/health`))) {
      await sleep(20);
      if (child.exitCode !== null || Date.now() - started > START_TIMEOUT_MS) {
        child.kill('SIGKILL');
        throw new Error(`versitygw did not start: ${log.trim()}`);
      }
    }
    return child;
  };
  let server = await start();
  const onExit = (): void => {
    server.kill('SIGKILL');
  };
  process.once('exit', onExit);
  const end = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  };
  return {
    ...keys,
    ...{ endpoint, port, folder, region: 'us-east-1' },
    get pid() {
      return server.pid ?? 0;
    },
    createBucket: (name) => void mkdirSync(join(data, name), { recursive: true }),
    env: (place) => ({
      GATE_STORE: place,
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_EC2_METADATA_DISABLED: 'true',
    }),
    async createUser(accessKeyId, secretAccessKey) {
      const root = ['--access', keys.accessKeyId, '--secret', keys.secretAccessKey, '--endpoint-url', endpoint];
      const user = ['--access', accessKeyId, '--secret', secretAccessKey, '--role', 'user'];
      await run(binary, ['admin', ...root, 'create-user', ...user], { env: environment });
    },
    kill: end,
    async restart() {
      await end();
      server = await start();
    },
    async stop() {
      process.off('exit', onExit);
      await end();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
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
  return withFileLock(join(userFolders(env).cache, 'versitygw', 'binary.lock'), async () => {
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
