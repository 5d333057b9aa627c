/**
 * Finds the command whose dev server is the embedded one (design §6): `TEMPORAL_CLI_PATH`, `temporal` on PATH, our cache,
 * Temporal's own download, and last a build by Go into the cache (minutes, once). Which versions there are is in
 * `temporal-servers.ts`; one that is asked for is found, or it is an error.
 * Only one process downloads or builds at a time; the result appears in the cache whole or not at all.
 */
import { spawn, spawnSync } from 'node:child_process';
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
import type { Environment } from '../config/folders';
import { sha256OfFile } from '../sha256';
import { withFileLock } from './file-lock';
import {
  askedServer,
  isAsked,
  SERVERLESS_SERVER,
  SERVERS,
  VERSION_VARIABLE,
  type TemporalServer,
} from './temporal-servers';

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
    join(search.cacheFolder, 'temporal', 'binary.lock'),
    async () => {
      if (isExecutable(cached)) return cached;
      const tried: string[] = [];
      for (const [name, fetchBinary] of [
        ['download', download],
        ['go install', buildWithGo],
      ] as const) {
        const problem = await fetchBinary(search, server, cached).then(
          () => null,
          (error: unknown) => error as Error,
        );
        if (problem === null) return cached;
        tried.push(`${name}: ${problem.message}`);
      }
      throw new NoTemporalError(
        'no Temporal server to be had: set TEMPORAL_ADDRESS to a running one, put the temporal CLI on PATH ' +
          `(https://docs.temporal.io/cli), or install Go so that it can be built (${tried.join('; ')})`,
      );
    },
    { onWait: (pid) => search.onProgress?.(`another process (${String(pid)}) is fetching the Temporal server`) },
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
      await fetchTo(urlOf(checksums.path), list, () => undefined);
      if ((await sha256OfFile(list)) !== checksums.sha256)
        throw new Error('the list of checksums is not the known one');
    }
    await fetchTo(urlOf(path), file, () => onProgress?.(`downloading the Temporal server ${version}`));
    if (checksums !== null && !(await listsFile(readFileSync(list, 'utf8'), path, file)))
      throw new Error('the checksum of the archive is wrong');
    await run('tar', ['-xf', file, '-C', folder, EXECUTABLE], {});
    return join(folder, EXECUTABLE);
  });
}

/** Lines of `sha256  name`. */
async function listsFile(list: string, path: string, file: string): Promise<boolean> {
  return list.split('\n').includes(`${await sha256OfFile(file)}  ${basename(path)}`);
}

async function fetchTo(url: string, file: string, onStart: () => void): Promise<void> {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), HEADERS_TIMEOUT_MS);
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok || response.body === null) throw new Error(`HTTP ${String(response.status)}`);
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(), BODY_TIMEOUT_MS);
    onStart();
    await pipeline(Readable.fromWeb(response.body), createWriteStream(file), {
      signal: abort.signal,
    });
  } catch (error) {
    throw new Error(abort.signal.aborted ? 'no reply in time' : reasonOf(error), { cause: error });
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

function run(command: string, args: readonly string[], env: Environment, cwd: string | null = null): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...{ env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] },
      ...(cwd === null ? {} : { cwd }),
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(errors.trim().split('\n').at(-1) || `${command} exited with ${String(code)}`));
    });
  });
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

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : 'failed';
}
