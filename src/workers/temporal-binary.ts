/**
 * Finds the Temporal CLI, whose dev server is the embedded one (design §6): `TEMPORAL_CLI_PATH`, `temporal` on PATH,
 * our cache, Temporal's own download, and last a build by Go into the cache (about two minutes, once).
 * Only one process downloads or builds at a time; the result appears in the cache whole or not at all.
 */
import { spawn } from 'node:child_process';
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
import { delimiter, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Environment } from '../config/folders';
import { withFileLock } from './file-lock';

/** The last release that `go install` can build: later ones have a replace directive. */
export const TEMPORAL_CLI_VERSION = 'v1.5.1';
const GO_PACKAGE = `github.com/temporalio/cli/cmd/temporal@${TEMPORAL_CLI_VERSION}`;
const DOWNLOADS = 'https://temporal.download';
const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
const HEADERS_TIMEOUT_MS = 5_000;
const BODY_TIMEOUT_MS = 300_000;

export interface BinarySearch {
  readonly env: Environment;
  /** The user's cache folder of this program. */
  readonly cacheFolder: string;
  readonly onProgress?: (line: string) => void;
  /** Where the CLI is downloaded from. */
  readonly downloads?: string;
}

/** Nothing worked; the message names every way to get a server. */
export class NoTemporalError extends Error {
  override readonly name = 'NoTemporalError';
}

export async function findTemporalBinary(search: BinarySearch): Promise<string> {
  const present = findPresentBinary(search);
  if (present !== null) return present;
  const cached = cachedBinary(search.cacheFolder);
  return withFileLock(
    join(search.cacheFolder, 'temporal', 'binary.lock'),
    async () => {
      if (isExecutable(cached)) return cached;
      const tried: string[] = [];
      for (const [name, fetchBinary] of [
        ['download', download],
        ['go install', buildWithGo],
      ] as const) {
        const problem = await fetchBinary(search, cached).then(
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
export function findPresentBinary({ env, cacheFolder }: BinarySearch): string | null {
  const given = env['TEMPORAL_CLI_PATH'];
  if (given) {
    if (isExecutable(given)) return given;
    throw new NoTemporalError(`TEMPORAL_CLI_PATH: ${given} is no executable file; correct the path or unset it`);
  }
  const onPath = onPathNamed(EXECUTABLE, env);
  if (onPath !== null) return onPath;
  const cached = cachedBinary(cacheFolder);
  return isExecutable(cached) ? cached : null;
}

function cachedBinary(cacheFolder: string): string {
  return join(cacheFolder, 'temporal', TEMPORAL_CLI_VERSION, EXECUTABLE);
}

async function download({ onProgress, downloads = DOWNLOADS }: BinarySearch, target: string): Promise<void> {
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string];
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  if (platform === undefined || arch === undefined) throw new Error(`no build for ${process.platform} ${process.arch}`);
  const url = `${downloads}/cli/archive/${TEMPORAL_CLI_VERSION}?platform=${platform}&arch=${arch}`;
  await intoPlace(target, async (folder) => {
    const archive = join(folder, 'archive');
    await fetchTo(url, archive, () => onProgress?.(`downloading the Temporal server ${TEMPORAL_CLI_VERSION}`));
    await run('tar', ['-xf', archive, '-C', folder, EXECUTABLE], {});
    return join(folder, EXECUTABLE);
  });
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

async function buildWithGo({ env, onProgress }: BinarySearch, target: string): Promise<void> {
  const go = onPathNamed(process.platform === 'win32' ? 'go.exe' : 'go', env);
  if (go === null) throw new Error('Go is not installed');
  onProgress?.('building the Temporal server with Go (about 2 minutes, once)');
  const started = Date.now();
  const ticker = setInterval(
    () => onProgress?.(`building the Temporal server with Go (${String(Math.round((Date.now() - started) / 1000))} s)`),
    15_000,
  );
  try {
    await intoPlace(target, async (folder) => {
      await run(go, ['install', GO_PACKAGE], { ...env, GOBIN: folder });
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

function run(command: string, args: readonly string[], env: Environment): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
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
