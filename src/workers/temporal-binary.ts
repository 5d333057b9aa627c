/**
 * The command of the embedded Temporal server, and how it is found (design §6): `TEMPORAL_CLI_PATH`, `temporal` on PATH, our
 * cache, Temporal's own download, and last a build by Go into the cache (minutes, once). Only one process downloads or builds
 * at a time; the result appears in the cache whole or not at all.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { anySignal } from '../any-signal';
import type { Environment } from '../config/folders';
import { withFileLock } from '../file-lock';
import { packageFolder } from './package-folder';

interface TemporalServer {
  /** Major and minor version of the server. */
  readonly version: string;
  /** Its folder in the cache. */
  readonly cacheName: string;
  /** Path and query of its archive; null: no release has what it needs. */
  readonly archive: ((platform: string, arch: string) => string) | null;
  /** Arguments of `go`, which puts the file `executable` into `folder` (GOBIN as well), and the folder where it runs. */
  readonly build: { args(folder: string, executable: string): readonly string[]; cwd?: string; takes: string };
}

/** The last release that `go install` can build: later ones have a replace directive. */
const CLI = 'v1.5.1';

export const SERVER: TemporalServer = {
  version: '1.29',
  cacheName: CLI,
  archive: (platform, arch) => `/cli/archive/${CLI}?platform=${platform}&arch=${arch}`,
  build: { args: () => ['install', `github.com/temporalio/cli/cmd/temporal@${CLI}`], takes: 'about 2 minutes' },
};

/**
 * The server as a library in a program of ours, with the provider that starts workers on its own machine (`gate dev
 * --serverless`). Every module is pinned by its go.sum.
 */
export const SERVERLESS_SERVER = {
  version: '1.32',
  cacheName: 'server-1.32.2-serverless',
  archive: null,
  build: {
    args: (folder, executable) => [
      ...['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags=-s -w'],
      ...['-tags', 'computeprovider_subprocess', '-o', join(folder, executable), '.'],
    ],
    cwd: join(packageFolder() ?? '.', 'infra', 'temporal-server'),
    takes: '9 minutes of computing',
  },
} as const satisfies TemporalServer;

/** A proxy that takes every connection must not keep Go waiting. */
const HEADERS_TIMEOUT_MS = 5_000;
const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

interface BinarySearch {
  readonly env: Environment;
  /** The user's cache folder of this program. */
  readonly cacheFolder: string;
  /** This very one, unless `TEMPORAL_CLI_PATH` names a binary; left out: whatever is on PATH, else `SERVER`. */
  readonly server?: TemporalServer;
  readonly onProgress?: (line: string) => void;
  /** The origin of downloads; default: Temporal's. */
  readonly downloads?: string;
}

export async function findTemporalBinary(search: BinarySearch): Promise<string> {
  const present = findPresentBinary(search);
  if (present !== null) return present;
  const { cacheFolder, server = SERVER, onProgress } = search;
  const cached = cachedBinary(cacheFolder, server);
  const fetched = async (): Promise<string> => {
    if (isExecutable(cached)) return cached;
    const tried: string[] = [];
    for (const [name, make] of Object.entries({ download, 'go install': buildWithGo })) {
      mkdirSync(dirname(cached), { recursive: true });
      const folder = mkdtempSync(join(dirname(cached), 'new-'));
      try {
        await make(search, server, folder);
        renameSync(join(folder, EXECUTABLE), cached);
        return cached;
      } catch (error) {
        const { message, name: kind } = ((error as Error).cause ?? error) as Error;
        tried.push(`${name}: ${message || kind}`);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
    throw new Error(
      'no Temporal server to be had: set TEMPORAL_ADDRESS to a running one, put the temporal CLI on PATH ' +
        `(https://docs.temporal.io/cli), or install Go so that it can be built (${tried.join('; ')})`,
    );
  };
  const lock = join(cacheFolder, 'temporal', 'fetch.lock');
  return withFileLock(lock, fetched, () => onProgress?.('another process is fetching the Temporal server'));
}

/** Without download or build; null when there is none. */
export function findPresentBinary({ env, cacheFolder, server }: BinarySearch): string | null {
  const given = env['TEMPORAL_CLI_PATH'];
  if (given && !isExecutable(given))
    throw new Error(`TEMPORAL_CLI_PATH: ${given} is no executable file; correct the path or unset it`);
  const onPath = server === undefined ? onPathNamed(EXECUTABLE, env) : null;
  const cached = cachedBinary(cacheFolder, server ?? SERVER);
  return given || (onPath ?? (isExecutable(cached) ? cached : null));
}

/** Major and minor version of the server in a binary, as far as it says; null when it does not. */
export function binaryVersion(binary: string, cacheFolder: string): string | null {
  const ours = [SERVER, SERVERLESS_SERVER].find((server) => cachedBinary(cacheFolder, server) === binary);
  if (ours !== undefined) return ours.version;
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 5_000 });
  return /Server (\d+\.\d+)/.exec(stdout)?.[1] ?? null;
}

function cachedBinary(cacheFolder: string, { cacheName }: TemporalServer): string {
  return join(cacheFolder, 'temporal', cacheName, EXECUTABLE);
}

async function download(
  { onProgress, downloads = 'https://temporal.download' }: BinarySearch,
  { version, archive }: TemporalServer,
  folder: string,
): Promise<void> {
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string];
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  if (archive === null) throw new Error('no release has what it needs');
  if (platform === undefined || arch === undefined) throw new Error(`no build for ${process.platform} ${process.arch}`);
  const signal = AbortSignal.timeout(300_000);
  const silence = new AbortController();
  const late = setTimeout(() => silence.abort(new Error('no reply in time')), HEADERS_TIMEOUT_MS);
  const response = await fetch(downloads + archive(platform, arch), {
    signal: anySignal([signal, silence.signal]),
  }).finally(() => clearTimeout(late));
  if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
  onProgress?.(`downloading the Temporal server ${version}`);
  const file = join(folder, 'archive');
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file), { signal });
  await run('tar', ['-xf', file, '-C', folder, EXECUTABLE], {});
}

async function buildWithGo(
  { env, onProgress }: BinarySearch,
  { build }: TemporalServer,
  folder: string,
): Promise<void> {
  const go = onPathNamed(process.platform === 'win32' ? 'go.exe' : 'go', env);
  if (go === null) throw new Error('Go is not installed');
  const started = Date.now();
  const tell = (what: string): void => onProgress?.(`building the Temporal server with Go (${what})`);
  tell(`${build.takes}, once`);
  const ticker = setInterval(() => tell(`${Math.round((Date.now() - started) / 1000)} s`), 15_000);
  // Go fetches the compiler that the server asks for, where the installed one is older.
  const settings = { GOTOOLCHAIN: 'auto', ...env, GOBIN: folder, GOWORK: 'off' };
  await run(go, build.args(folder, EXECUTABLE), settings, build.cwd).finally(() => clearInterval(ticker));
}

async function run(command: string, args: readonly string[], env: Environment, cwd?: string): Promise<void> {
  try {
    await promisify(execFile)(command, args, { env: { ...process.env, ...env }, cwd });
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string };
    throw new Error(stderr.trim().split('\n').at(-1) || message);
  }
}

function onPathNamed(name: string, env: Environment): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
