/**
 * The Temporal servers that the embedded one may be, and how the command of one is found (design §6): `TEMPORAL_CLI_PATH`,
 * `temporal` on PATH, our cache, Temporal's own download, and last a build by Go into the cache (minutes, once).
 *
 * 1. `GATE_TEMPORAL_VERSION` chooses a version, which is then found or an error; the first of the table is the default.
 * 2. Only one process downloads or builds at a time; the result appears in the cache whole or not at all.
 * 3. A newer server opens the database file of an older one, but makes the tables and columns that it adds only in a new file
 *    (the dev server migrates nothing). So each version has a file of its own.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { ConfigError } from '../config/file';
import type { Environment } from '../config/folders';
import { sha256OfFile } from '../sha256';
import { withFileLock } from './file-lock';
import { packageFolder } from './package-folder';

export interface TemporalServer {
  /** Major and minor version of the server, by which it is chosen. */
  readonly version: string;
  /** Its folder in the cache. */
  readonly cacheName: string;
  /** null: no release has what it needs. */
  readonly download: {
    readonly base: string;
    /** `platform` and `arch` as Go names them. */
    archive(platform: string, arch: string): string;
    /** The release's list of checksums, and its own SHA-256; null: TLS alone says that the archive is the right one. */
    readonly checksums: { readonly path: string; readonly sha256: string } | null;
  } | null;
  readonly build: {
    /** Arguments of `go`; the result is the file `executable` in `folder`, which is also GOBIN. */
    args(folder: string, executable: string): readonly string[];
    /** Folder where `go` runs. */
    readonly cwd?: string;
    readonly takes: string;
  };
}

const CLI_1_5 = 'v1.5.1';
const CLI_1_9 = 'v1.9.1';

/** The server as a library, in a program of ours; every module is pinned by its go.sum. */
function ownProgram(tags: readonly string[], takes: string) {
  return {
    args: (folder: string, executable: string): readonly string[] => [
      ...['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags=-s -w'],
      ...(tags.length === 0 ? [] : ['-tags', tags.join(',')]),
      ...['-o', join(folder, executable), '.'],
    ],
    cwd: join(packageFolder() ?? '.', 'infra', 'temporal-server'),
    takes,
  };
}

export const SERVERS = [
  {
    version: '1.29',
    cacheName: CLI_1_5,
    download: {
      base: 'https://temporal.download',
      archive: (platform, arch) => `cli/archive/${CLI_1_5}?platform=${platform}&arch=${arch}`,
      checksums: null,
    },
    // The last release that `go install` can build: later ones have a replace directive.
    build: {
      args: () => ['install', `github.com/temporalio/cli/cmd/temporal@${CLI_1_5}`],
      takes: 'about 2 minutes',
    },
  },
  {
    version: '1.32',
    cacheName: 'server-1.32.2',
    download: {
      base: 'https://github.com/temporalio/cli/releases/download',
      archive: (platform, arch) => `${CLI_1_9}/temporal_cli_${CLI_1_9.slice(1)}_${platform}_${arch}.tar.gz`,
      checksums: {
        path: `${CLI_1_9}/checksums.txt`,
        sha256: 'cc22cb0df0a9bab358500dce212616e8622b0649df68317d9858867d7dc69bd2',
      },
    },
    build: ownProgram([], '9 minutes of computing'),
  },
] as const satisfies readonly TemporalServer[];

/** 1.32 with the provider that starts workers on its own machine (`gate dev --serverless`): no release has it. */
export const SERVERLESS_SERVER: TemporalServer = {
  version: '1.32',
  cacheName: `${SERVERS[1].cacheName}-serverless`,
  download: null,
  build: ownProgram(['computeprovider_subprocess'], SERVERS[1].build.takes),
};

export const VERSION_VARIABLE = 'GATE_TEMPORAL_VERSION';

/** Null: none is asked for, and whatever is found is used. */
export function askedServer(env: Environment): TemporalServer | null {
  const text = env[VERSION_VARIABLE];
  if (!text) return null;
  const server = SERVERS.find(({ version }) => version === text);
  if (server !== undefined) return server;
  const offered = SERVERS.map(({ version }) => version).join(' or ');
  throw new ConfigError([`${VERSION_VARIABLE}: '${text}' is not offered; give ${offered}`]);
}

/** Whether a server of this version is the one that was asked for: for the newest of the table, a newer one is, too. */
export function isAsked(version: string, asked: TemporalServer): boolean {
  return (
    lineOf(version) === asked.version || (asked.version === SERVERS.at(-1)?.version && atLeast(version, asked.version))
  );
}

/** Put into the name of a server's database file; null: its version is not known. */
export function databaseSuffix(version: string | null): string {
  return version === null || !atLeast(version, '1.30') ? '' : `-${lineOf(version)}`;
}

/** Major and minor decide: 1.32.2 is at least 1.32. */
function atLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

function lineOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
const HEADERS_TIMEOUT_MS = 5_000;
const BODY_TIMEOUT_MS = 300_000;

export interface BinarySearch {
  readonly env: Environment;
  /** The user's cache folder of this program. */
  readonly cacheFolder: string;
  /** This very one, unless `TEMPORAL_CLI_PATH` names a binary; left out: the one that is asked for, or any. */
  readonly server?: TemporalServer;
  readonly onProgress?: (line: string) => void;
  /** Where the CLI is downloaded from, in place of the server's own address. */
  readonly downloads?: string;
}

/** Nothing worked; the message names every way to get a server. */
export class NoTemporalError extends Error {
  override readonly name = 'NoTemporalError';
}

export async function findTemporalBinary(search: BinarySearch): Promise<string> {
  const present = findPresentBinary(search);
  if (present !== null) return present;
  const server = search.server ?? askedServer(search.env) ?? SERVERS[0];
  const cached = cachedBinary(search.cacheFolder, server);
  return withFileLock(
    join(search.cacheFolder, 'temporal', 'fetch.lock'),
    async () => {
      if (isExecutable(cached)) return cached;
      const tried: string[] = [];
      for (const [name, make] of Object.entries({ download, 'go install': buildWithGo })) {
        try {
          await make(search, server, cached);
          return cached;
        } catch (error) {
          tried.push(`${name}: ${(error as Error).message}`);
        }
      }
      throw new NoTemporalError(
        'no Temporal server to be had: set TEMPORAL_ADDRESS to a running one, put the temporal CLI on PATH ' +
          `(https://docs.temporal.io/cli), or install Go so that it can be built (${tried.join('; ')})`,
      );
    },
    () => search.onProgress?.('another process is fetching the Temporal server'),
  );
}

/** Without download or build; null when there is none. */
export function findPresentBinary({
  env,
  cacheFolder,
  server,
}: Pick<BinarySearch, 'env' | 'cacheFolder' | 'server'>): string | null {
  const asked = server ?? askedServer(env);
  const given = env['TEMPORAL_CLI_PATH'];
  if (given) {
    if (!isExecutable(given))
      throw new NoTemporalError(`TEMPORAL_CLI_PATH: ${given} is no executable file; correct the path or unset it`);
    const version = asked === null ? null : binaryVersion(given, cacheFolder);
    if (asked === null || version === null || isAsked(version, asked)) return given;
    throw new NoTemporalError(
      `TEMPORAL_CLI_PATH: ${given} is Temporal ${version}, and ${VERSION_VARIABLE} asks for ${asked.version}; unset one of them`,
    );
  }
  const onPath = server === undefined ? onPathNamed(EXECUTABLE, env) : null;
  if (onPath !== null && (asked === null || isAsked(binaryVersion(onPath, cacheFolder) ?? '', asked))) return onPath;
  const cached = cachedBinary(cacheFolder, asked ?? SERVERS[0]);
  return isExecutable(cached) ? cached : null;
}

/** Version of the server in a binary, as far as it says; null when it does not. */
export function binaryVersion(binary: string, cacheFolder: string): string | null {
  const ours = [...SERVERS, SERVERLESS_SERVER].find((server) => cachedBinary(cacheFolder, server) === binary);
  if (ours !== undefined) return ours.version;
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 5_000 });
  return /Server (\d+\.\d+[\w.-]*)/.exec(stdout)?.[1] ?? null;
}

function cachedBinary(cacheFolder: string, { cacheName }: TemporalServer): string {
  return join(cacheFolder, 'temporal', cacheName, EXECUTABLE);
}

async function download(
  { onProgress, downloads }: BinarySearch,
  { version, download: source }: TemporalServer,
  target: string,
): Promise<void> {
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string];
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  if (source === null) throw new Error('no release has what it needs');
  if (platform === undefined || arch === undefined) throw new Error(`no build for ${process.platform} ${process.arch}`);
  const { base, checksums } = source;
  const path = source.archive(platform, arch);
  const urlOf = (part: string): string => `${downloads ?? base}/${part}`;
  await intoPlace(target, async (folder) => {
    const [file, list] = [join(folder, 'archive'), join(folder, 'checksums')];
    if (checksums !== null) {
      await fetchTo(urlOf(checksums.path), list);
      if ((await sha256OfFile(list)) !== checksums.sha256)
        throw new Error('the list of checksums is not the known one');
    }
    await fetchTo(urlOf(path), file, () => onProgress?.(`downloading the Temporal server ${version}`));
    const line = `${await sha256OfFile(file)}  ${basename(path)}`;
    if (checksums !== null && !readFileSync(list, 'utf8').split('\n').includes(line))
      throw new Error('the checksum of the archive is wrong');
    await run('tar', ['-xf', file, '-C', folder, EXECUTABLE], {});
    return join(folder, EXECUTABLE);
  });
}

async function fetchTo(url: string, file: string, onStart?: () => void): Promise<void> {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), HEADERS_TIMEOUT_MS);
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok || response.body === null) throw new Error(`HTTP ${String(response.status)}`);
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(), BODY_TIMEOUT_MS);
    onStart?.();
    await pipeline(Readable.fromWeb(response.body), createWriteStream(file), { signal: abort.signal });
  } catch (error) {
    const { message, name } = ((error as Error).cause ?? error) as Error;
    throw new Error(abort.signal.aborted ? 'no reply in time' : message || name, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function buildWithGo(
  { env, onProgress }: BinarySearch,
  { build }: TemporalServer,
  target: string,
): Promise<void> {
  const go = onPathNamed(process.platform === 'win32' ? 'go.exe' : 'go', env);
  if (go === null) throw new Error('Go is not installed');
  onProgress?.(`building the Temporal server with Go (${build.takes}, once)`);
  const started = Date.now();
  const ticker = setInterval(
    () => onProgress?.(`building the Temporal server with Go (${String(Math.round((Date.now() - started) / 1000))} s)`),
    15_000,
  );
  try {
    await intoPlace(target, async (folder) => {
      // Go fetches the compiler that the server asks for, where the installed one is older.
      const settings = { GOTOOLCHAIN: 'auto', ...env, GOBIN: folder, GOWORK: 'off' };
      await run(go, build.args(folder, EXECUTABLE), settings, build.cwd);
      return join(folder, EXECUTABLE);
    });
  } finally {
    clearInterval(ticker);
  }
}

/** Makes the file in a folder of its own beside the target, then moves it there in one step. */
async function intoPlace(target: string, make: (folder: string) => Promise<string>): Promise<void> {
  const home = join(target, '..');
  mkdirSync(home, { recursive: true });
  const folder = mkdtempSync(join(home, 'new-'));
  try {
    renameSync(await make(folder), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(command: string, args: readonly string[], env: Environment, cwd?: string): Promise<void> {
  try {
    await promisify(execFile)(command, args, { env: { ...process.env, ...env }, cwd });
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string };
    throw new Error(stderr.trim().split('\n').at(-1) || message, { cause: error });
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
