/**
 * Files (CSV, JSON, Parquet, and folders of them) as a `.duckdb` that is opened read-only. The import runs in a process of its
 * own (`import-child.ts`).
 *
 * 1. The cache is keyed by the real path of the source, and within by what is in the files. Sizes and times are compared first;
 *    a content is hashed only where they changed.
 * 2. A `.duckdb` appears whole or not at all, under the lock of its source. One that was replaced is unlinked: who has it open
 *    reads on, who opens it later has to import again.
 * 3. Folders are 0700 and files 0600.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { oneLine } from '../../../clip';
import type { DataFile } from '../../../data-file';
import { SqlEngineError } from '../../../domain/ports/sql-engine';
import { withFileLock } from '../../../file-lock';
import { sha256, sha256OfFile } from '../../../sha256';
import { startChild } from '../../kit/child-process';
import type { Failure } from '../../kit/child-session';
import type { ImportRequest, Made } from './import-child';
import { Kept, type Imported, type Stamp } from './report';
import { listSources, unreadable, type Sources } from './sources';

export type { Imported, ImportedTable } from './report';

export interface ImportOptions {
  readonly cacheFolder: string;
  readonly signal: AbortSignal;
  /** Of the whole cache, and of what a file unzips to: the entries that were not used for longest make room. Default: 20 GB. */
  readonly maxBytes?: number;
}

export interface CacheEntry {
  /** Null: an import failed or was cut short. */
  readonly source: string | null;
  readonly folder: string;
  readonly bytes: number;
  readonly usedAt: string;
}

/** Changes with what an import makes of the same files: an entry of another version is not looked at. */
const VERSION = 6;
const MAX_BYTES = 20 * 1024 ** 3;

/**
 * Imports the files at `source`, a file or a folder, where they changed since the last time.
 * @throws SqlEngineError `not-found` where there is nothing to read, `not-configured` where DuckDB is not installed.
 */
export async function importFiles(source: string, options: ImportOptions): Promise<Imported> {
  const sources = listSources(source);
  const { cacheFolder, signal, maxBytes = MAX_BYTES } = options;
  const bytes = allFiles(sources).reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > maxBytes)
    throw unreadable(`${source} has ${bytes} bytes, and an import may take ${maxBytes}: name a part of it`);
  const folder = entryFolder(cacheFolder, sources.root);
  const kept = await readKept(folder);
  if (kept !== null && isUnchanged(kept, sources)) return used(folder, kept, sources);
  const lock = await lockOf(folder);
  const made = await withFileLock(lock, () => renewed(folder, sources, { signal, maxBytes }), undefined, signal).catch(
    (error: unknown) => {
      // Whatever noticed the signal first.
      signal.throwIfAborted();
      throw error;
    },
  );
  await makeRoom(cacheFolder, folder, maxBytes);
  return used(folder, made, sources);
}

export async function cacheEntries(cacheFolder: string): Promise<CacheEntry[]> {
  const parent = join(cacheFolder, 'files');
  const names = await readdir(parent, { withFileTypes: true }).catch(ifMissing([]));
  const folders = names.filter((each) => each.isDirectory()).map(({ name }) => join(parent, name));
  return Promise.all(
    folders.map(async (folder) => {
      const kept = await readKept(folder);
      const inside = await readdir(folder, { recursive: true }).catch(ifMissing([]));
      const sizes = await Promise.all(
        inside.map((name) => stat(join(folder, name)).then((each) => (each.isFile() ? each.size : 0), ifMissing(0))),
      );
      const time = (path: string) => stat(path).then(({ mtime }) => mtime, ifMissing(null));
      const usedAt = (await time(join(folder, 'report.json'))) ?? (await time(folder)) ?? new Date(0);
      return {
        source: kept?.imported.source ?? null,
        folder,
        bytes: sizes.reduce((sum, size) => sum + size, 0),
        usedAt: usedAt.toISOString(),
      };
    }),
  );
}

/** Waits for an import of it that runs. */
export async function removeEntry({ folder }: Pick<CacheEntry, 'folder'>): Promise<void> {
  await withFileLock(await lockOf(folder), () => rm(folder, { recursive: true, force: true }));
}

/** Under the lock of the entry. */
async function renewed(folder: string, sources: Sources, limits: Limits): Promise<Kept> {
  const before = await readKept(folder);
  // Another process may have done it meanwhile.
  if (before !== null && isUnchanged(before, sources)) return before;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  for (const name of await readdir(folder))
    if (name.startsWith('new-')) await rm(join(folder, name), { recursive: true, force: true });
  const stamps = await stampsOf(sources, before?.stamps ?? [], limits.signal);
  const path = join(folder, `${hashOf(stamps.map(({ name, hash }) => [name, hash]))}.duckdb`);
  const work = await mkdtemp(join(folder, 'new-'));
  try {
    const isSame = before?.imported.path === path && existsSync(path);
    const made = isSame ? before.imported : await newlyMade(sources, work, limits);
    if (!isSame) await rename(join(work, 'data.duckdb'), path);
    const imported = { ...made, path, source: sources.root, asOf: asOf(sources) };
    const kept: Kept = { stamps, imported };
    await writeFile(join(work, 'report.json'), JSON.stringify(kept), { mode: 0o600 });
    await rename(join(work, 'report.json'), join(folder, 'report.json'));
    for (const name of await readdir(folder))
      if (name.endsWith('.duckdb') && name !== basename(path)) await rm(join(folder, name)).catch(ifInUse);
    return kept;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

type Limits = Required<Omit<ImportOptions, 'cacheFolder'>>;

/** Makes `data.duckdb` in a folder. */
async function newlyMade(sources: Sources, folder: string, { signal, maxBytes }: Limits) {
  const made = await inChild({ sources, folder, maxBytes }, signal);
  const after = listSources(sources.root);
  if (hashOf(looksOf(allFiles(after))) === hashOf(looksOf(allFiles(sources))))
    return { ...made, importedAt: new Date().toISOString() };
  throw new SqlEngineError('connection', `${sources.root} was changed while it was read: try again when it is written`);
}

async function inChild(request: ImportRequest, signal: AbortSignal): Promise<Made> {
  signal.throwIfAborted();
  const child = startChild('duckdb-import');
  const gone = once(child, 'close');
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2000)));
  child.send(request);
  try {
    const answered = once(child, 'message', { signal }).then(([reply]) => reply as Made | Failure);
    const ended = gone.then((): never => {
      const why = /\S.*/.exec(stderr)?.[0].trim() ?? `by ${child.signalCode ?? 'itself'}`;
      throw new SqlEngineError('connection', `the import of ${request.sources.root} ended unexpectedly: ${why}`);
    });
    const reply = await Promise.race([answered, ended]);
    if ('tables' in reply) return reply;
    const { code, message } = reply;
    if (code === 'not-found' || code === 'not-configured') throw new SqlEngineError(code, message);
    throw new SqlEngineError('connection', `the files cannot be imported: ${oneLine(message, 300)}`);
  } finally {
    // It has to be gone before its folder is removed.
    child.kill('SIGKILL');
    await gone;
  }
}

async function stampsOf(sources: Sources, known: readonly Stamp[], signal: AbortSignal): Promise<Stamp[]> {
  const stamps: Stamp[] = [];
  for (const { name, path, bytes, modifiedMs } of allFiles(sources)) {
    const same = known.find((stamp) => stamp.name === name && stamp.bytes === bytes && stamp.modifiedMs === modifiedMs);
    const hash = same?.hash ?? (await sha256OfFile(path, signal).catch(ifUnreadable));
    stamps.push({ name, bytes, modifiedMs, hash });
  }
  return stamps;
}

async function readKept(folder: string): Promise<Kept | null> {
  const text = await readFile(join(folder, 'report.json'), 'utf8').catch(ifMissing(null));
  return text === null ? null : (Kept.safeParse(JSON.parse(text)).data ?? null);
}

const isUnchanged = ({ stamps, imported }: Kept, sources: Sources): boolean =>
  hashOf(looksOf(stamps)) === hashOf(looksOf(allFiles(sources))) && existsSync(imported.path);

/** The time of the report is that of its last use. */
async function used(folder: string, { imported }: Kept, { ignored }: Sources): Promise<Imported> {
  const now = new Date();
  await utimes(join(folder, 'report.json'), now, now).catch(ifMissing(undefined));
  return { ...imported, ignored: [...ignored, ...imported.ignored] };
}

async function makeRoom(cacheFolder: string, own: string, maxBytes: number): Promise<void> {
  const entries = await cacheEntries(cacheFolder);
  let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const entry of entries.sort((a, b) => (a.usedAt < b.usedAt ? -1 : 1))) {
    if (total <= maxBytes || entry.folder === own) continue;
    await removeEntry(entry);
    total -= entry.bytes;
  }
}

const allFiles = ({ tables }: Sources): DataFile[] => tables.flatMap(({ files }) => files);
const looksOf = (files: readonly Pick<Stamp, 'name' | 'bytes' | 'modifiedMs'>[]) =>
  files.map(({ name, bytes, modifiedMs }) => [name, bytes, modifiedMs]);
const asOf = (sources: Sources): string =>
  new Date(Math.round(Math.max(...allFiles(sources).map(({ modifiedMs }) => modifiedMs)))).toISOString();
const hashOf = (value: unknown): string => sha256(JSON.stringify(value)).slice(0, 32);
const entryFolder = (cacheFolder: string, root: string): string => join(cacheFolder, 'files', hashOf([VERSION, root]));

async function lockOf(folder: string): Promise<string> {
  const lock = `${folder}.lock`;
  await mkdir(join(folder, '..'), { recursive: true, mode: 0o700 });
  await writeFile(lock, '', { flag: 'a', mode: 0o600 });
  return lock;
}

/** In place of an error with one of the codes of a system. */
const instead =
  <T>(value: T, ...codes: readonly string[]) =>
  (error: unknown): T => {
    if (!codes.includes(String((error as NodeJS.ErrnoException).code))) throw error;
    return value;
  };
const ifMissing = <T>(value: T) => instead(value, 'ENOENT');
/** The import says so, beside what can be read. */
const ifUnreadable = instead('', 'EACCES', 'EPERM');
/** Windows keeps a file that a reader has open: the next import removes it. */
const ifInUse = instead(undefined, 'EBUSY', 'EPERM');
