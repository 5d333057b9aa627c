/**
 * An object store in a local folder.
 *
 * 1. A reader sees a whole object or none: texts are written to a temporary file and linked or renamed into place.
 * 2. Two writers of one new key do not overwrite each other: the link fails for the second, which then compares.
 * 3. Writing the same text again does nothing, so a retried step may write what it wrote before.
 * 4. Reads, and writes of ordinary size, are synchronous: from the page cache they take about 0.05 ms, and Node's thread
 *    pool would use three times the processor time (measured). A worker with many searches has none to spare.
 * 5. Deleting also removes folders that become empty. A writer whose folder is removed meanwhile creates it again.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { open, readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError, type ObjectEntry, type ObjectStore } from '../../domain/ports';
import { errorCode, toStoreError, assertKey, fromPathSegment, isListable, toPathSegments } from './keys';

interface LocalStoreOptions {
  /** Waits until each object is on disk, so that it survives a power cut. Costs a few milliseconds for each write. */
  readonly fsync?: boolean;
}

/** The folder for unfinished files. No key encodes to this name, because a leading dot is escaped. */
const TEMPORARY = '.tmp';
/** Younger unfinished files may belong to a writer in another process. */
const STALE_MS = 60 * 60_000;
const IN_PLACE_BYTES = 256 * 1024;

export function createLocalStore(dir: string, { fsync = false }: LocalStoreOptions = {}): ObjectStore {
  const folder = new Folder(dir, fsync);
  return {
    async get(key) {
      assertKey(key);
      return guarded(dir, () => read(folder.pathOf(key))?.toString('utf8') ?? null);
    },
    async put(key, text, { overwrite = false } = {}) {
      assertKey(key);
      await guarded(dir, () => folder.put(key, Buffer.from(text, 'utf8'), overwrite));
    },
    list: (prefix) => guarded(dir, () => folder.keys(prefix)),
    entries: (prefix) => guarded(dir, () => folder.entries(prefix)),
    async delete(key, { unmodifiedSinceMs = Infinity } = {}) {
      assertKey(key);
      await guarded(dir, async () => {
        const path = folder.pathOf(key);
        if (unlinkIfOld(path, unmodifiedSinceMs)) await removeEmpty(dir, dirname(path));
      });
    },
  };
}

class Folder {
  #prepared: Promise<void> | null = null;

  constructor(
    private readonly dir: string,
    private readonly fsync: boolean,
  ) {}

  pathOf(key: string): string {
    return join(this.dir, ...toPathSegments(key));
  }

  async put(key: string, bytes: Buffer, overwrite: boolean): Promise<void> {
    await this.#prepare();
    const target = this.pathOf(key);
    const existing = overwrite ? null : read(target);
    if (existing?.equals(bytes)) return;
    if (existing !== null) throw conflict(key);
    const temporary = join(this.dir, TEMPORARY, `${process.pid}-${randomUUID()}`);
    try {
      await write(temporary, bytes, this.fsync);
      intoFolder(dirname(target), key, () =>
        overwrite ? replace(temporary, target, key) : linkNew(temporary, target, bytes, key),
      );
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    if (this.fsync) await syncFolder(dirname(target));
  }

  async keys(prefix: string): Promise<string[]> {
    if (!isListable(prefix)) return [];
    const keys = await walk(this.dir, prefix.split('/').slice(0, -1));
    return keys.filter((key) => key.startsWith(prefix)).sort();
  }

  async entries(prefix: string): Promise<ObjectEntry[]> {
    const found: ObjectEntry[] = [];
    for (const key of await this.keys(prefix)) {
      const info = await stat(this.pathOf(key)).catch(absent);
      if (info !== null) found.push({ key, bytes: info.size, modifiedMs: info.mtimeMs });
    }
    return found;
  }

  #prepare(): Promise<void> {
    this.#prepared ??= sweep(join(this.dir, TEMPORARY)).catch((error: unknown) => {
      this.#prepared = null;
      throw error;
    });
    return this.#prepared;
  }
}

/** Synchronous, so that no writer of this process runs between the check and the deletion. */
function unlinkIfOld(path: string, unmodifiedSinceMs: number): boolean {
  try {
    const info = statSync(path);
    if (!info.isFile() || info.mtimeMs > unmodifiedSinceMs) return false;
    unlinkSync(path);
    return true;
  } catch (error) {
    absent(error);
    return false;
  }
}

/** Removes empty folders upwards, up to the first one that is not empty; never the store's own. */
async function removeEmpty(dir: string, folder: string): Promise<void> {
  for (let at = folder; at !== dir && at.startsWith(dir); at = dirname(at)) {
    try {
      await rmdir(at);
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) return;
      throw error;
    }
  }
}

/** Null for an object that does not exist. A key below another key's file, or above other keys, does not exist either. */
function absent(error: unknown): null {
  if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errorCode(error) ?? '')) return null;
  throw error;
}

function read(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    return absent(error);
  }
}

async function write(path: string, bytes: Buffer, fsync: boolean): Promise<void> {
  if (!fsync && bytes.length <= IN_PLACE_BYTES) {
    writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 });
    return;
  }
  if (!fsync) return writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Places the file. Creates the folder if it does not exist, or if a deletion removed it meanwhile because it was empty. */
function intoFolder(folder: string, key: string, place: () => void): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      place();
      return;
    } catch (error) {
      if ((errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') || attempt >= 10) throw error;
      makeFolder(folder, key);
    }
  }
}

function replace(temporary: string, target: string, key: string): void {
  try {
    renameSync(temporary, target);
  } catch (error) {
    if (errorCode(error) !== 'EISDIR') throw error;
    throw new StoreError('conflict', `"${key}" cannot be stored: other objects lie below it`, { cause: error });
  }
}

function makeFolder(folder: string, key: string): void {
  try {
    makeFolders(folder);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' && errorCode(error) !== 'ENOTDIR') throw error;
    throw new StoreError('conflict', `"${key}" cannot be stored: a part of its path is an object itself`, {
      cause: error,
    });
  }
}

/** Not `mkdir` with `recursive`: where no folder can be created (`/proc`) that never returns. */
export function makeFolders(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && statSync(folder).isDirectory()) return;
    if (errorCode(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    makeFolders(dirname(folder));
    try {
      mkdirSync(folder);
    } catch (again) {
      if (errorCode(again) !== 'EEXIST') throw again; // Another process was faster.
    }
  }
}

/** Fails if the target exists, unlike `rename`. `rename` is used only where links are not supported. */
function linkNew(temporary: string, target: string, bytes: Buffer, key: string): void {
  try {
    linkSync(temporary, target);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS') {
      renameSync(temporary, target);
      return;
    }
    if (code !== 'EEXIST') throw error;
    if (!read(target)?.equals(bytes)) throw conflict(key);
  }
  unlinkSync(temporary);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function walk(dir: string, folders: readonly string[]): Promise<string[]> {
  const path = folders.length === 0 ? dir : join(dir, ...toPathSegments(folders.join('/')));
  const keys: string[] = [];
  for (const entry of await entriesOf(path)) {
    const segment = fromPathSegment(entry.name);
    if (segment === null) continue;
    const below = [...folders, segment];
    if (entry.isDirectory()) keys.push(...(await walk(dir, below)));
    else if (entry.isFile()) keys.push(below.join('/'));
  }
  return keys;
}

async function entriesOf(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** Creates the folder for unfinished files and removes files that killed writers left there. */
async function sweep(folder: string): Promise<void> {
  makeFolders(folder);
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    const info = await stat(path).catch(() => null); // Already gone: its writer finished, or another process removed it.
    if (info !== null && Date.now() - info.mtimeMs > STALE_MS) await rm(path, { force: true });
  }
}

function conflict(key: string): StoreError {
  return new StoreError('conflict', `"${key}" is already stored with another text`);
}

async function guarded<T>(dir: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error, dir);
  }
}
