/**
 * An object store in a local folder.
 *
 * 1. A reader sees a whole object or none: texts are written to a temporary file and linked or renamed into place.
 * 2. Two writers of one new key do not overwrite each other: the link fails for the second, which then compares.
 * 3. Writing the same text again does nothing, so a retried step may write what it wrote before.
 * 4. Reads and writes are synchronous: from the page cache they take about 0.05 ms, and Node's thread pool would use three
 *    times the processor time (measured). A worker with many searches has none to spare.
 * 5. Deleting also removes folders that become empty. A writer whose folder is removed meanwhile creates it again.
 */
import { randomUUID } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreError, type ObjectStore } from '../../domain/ports';
import { assertKey, errorCode, fromPathSegment, isListable, toPathSegments, toStoreError } from './keys';

/** The folder for unfinished files. No key encodes to this name, because a leading dot is escaped. */
const TEMPORARY = '.tmp';
/** Younger unfinished files may belong to a writer in another process. */
const STALE_MS = 60 * 60_000;

export function createLocalStore(dir: string): ObjectStore {
  const pathOf = (key: string): string => {
    assertKey(key);
    return join(dir, ...toPathSegments(key));
  };
  let isPrepared = false;
  const put = (key: string, bytes: Buffer, overwrite: boolean): void => {
    const target = pathOf(key);
    if (!isPrepared) sweep(join(dir, TEMPORARY));
    isPrepared = true;
    const temporary = join(dir, TEMPORARY, `${process.pid}-${randomUUID()}`);
    try {
      writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600 });
      intoFolder(dirname(target), key, () => {
        if (overwrite) replace(temporary, target, key);
        else linkNew(temporary, target, bytes, key);
      });
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  };
  const list = (
    prefix: string,
    { limit = Infinity, after = '' }: Parameters<ObjectStore['list']>[1] = {},
  ): string[] => {
    if (!isListable(prefix)) return [];
    const folders = prefix.split('/');
    const keys: string[] = [];
    for (const key of walk(dir, folders.slice(0, -1), { beginning: folders.at(-1), after })) {
      if (keys.length >= limit) break;
      keys.push(key);
    }
    return keys;
  };
  // eslint-disable-next-line @typescript-eslint/require-await -- a throw has to become a rejection
  const guarded = async <T>(work: () => T): Promise<T> => {
    try {
      return work();
    } catch (error) {
      throw toStoreError(error, dir);
    }
  };
  return {
    get: (key) => guarded(() => found(() => readFileSync(pathOf(key), 'utf8'))),
    put: (key, text, { overwrite = false } = {}) => guarded(() => put(key, Buffer.from(text, 'utf8'), overwrite)),
    list: (prefix, options) => guarded(() => list(prefix, options)),
    entries: (prefix) =>
      guarded(() =>
        list(prefix).flatMap((key) => {
          const info = found(() => statSync(pathOf(key)));
          return info === null ? [] : [{ key, bytes: info.size, modifiedMs: info.mtimeMs }];
        }),
      ),
    delete: (key, { unmodifiedSinceMs = Infinity } = {}) =>
      guarded(() => {
        const path = pathOf(key);
        const info = found(() => statSync(path));
        if (!info?.isFile() || info.mtimeMs > unmodifiedSinceMs) return;
        found(() => unlinkSync(path));
        removeEmpty(dir, dirname(path));
      }),
  };
}

/** Null for an object that does not exist. A key below another key's file, or above other keys, does not exist either. */
function found<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errorCode(error) ?? '')) return null;
    throw error;
  }
}

/** Whether the file is there with these bytes; with others it is a conflict. */
function holds(target: string, bytes: Buffer, key: string): boolean {
  const existing = found(() => readFileSync(target));
  if (existing === null || existing.equals(bytes)) return existing !== null;
  throw new StoreError('conflict', `"${key}" is already stored with another text`);
}

/** Removes empty folders upwards, up to the first one that is not empty; never the store's own. */
function removeEmpty(dir: string, folder: string): void {
  for (let at = folder; at !== dir && at.startsWith(dir); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) return;
      throw error;
    }
  }
}

/** Places the file. Creates the folder if it does not exist, or if a deletion removed it meanwhile because it was empty. */
function intoFolder(folder: string, key: string, place: () => void): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      place();
      return;
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '') || attempt >= 10) throw error;
    }
    try {
      makeFolders(folder);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' && errorCode(error) !== 'ENOTDIR') throw error;
      const message = `"${key}" cannot be stored: a part of its path is an object itself`;
      throw new StoreError('conflict', message, { cause: error });
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

/** Fails if the target exists, unlike `rename`. `rename` is used only where links are not supported. */
function linkNew(temporary: string, target: string, bytes: Buffer, key: string): void {
  try {
    linkSync(temporary, target);
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (['EPERM', 'ENOTSUP', 'ENOSYS'].includes(code)) {
      renameSync(temporary, target);
      return;
    }
    if (code !== 'EEXIST' || !holds(target, bytes, key)) throw error;
  }
  unlinkSync(temporary);
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

/** Keys below a folder whose next segment begins so, in code-unit order. Folders that end before `after` are not opened. */
function* walk(
  dir: string,
  folders: readonly string[],
  { beginning = '', after }: { readonly beginning?: string | undefined; readonly after: string },
): Generator<string> {
  const path = folders.length === 0 ? dir : join(dir, ...toPathSegments(folders.join('/')));
  const above = folders.map((folder) => `${folder}/`).join('');
  const entries = (found(() => readdirSync(path, { withFileTypes: true })) ?? []).flatMap((entry) => {
    const segment = fromPathSegment(entry.name);
    if (segment?.startsWith(beginning) !== true) return [];
    const isFolder = entry.isDirectory();
    const order = isFolder ? `${segment}/` : segment;
    const isBefore = above + order <= after && !(isFolder && after.startsWith(above + order));
    return !isBefore && (isFolder || entry.isFile()) ? [{ segment, order, isFolder }] : [];
  });
  for (const { segment, isFolder } of entries.sort((a, b) => (a.order < b.order ? -1 : 1))) {
    if (isFolder) yield* walk(dir, [...folders, segment], { after });
    else yield [...folders, segment].join('/');
  }
}

/** Creates the folder for unfinished files and removes files that killed writers left there. */
function sweep(folder: string): void {
  makeFolders(folder);
  for (const name of readdirSync(folder)) {
    const info = found(() => statSync(join(folder, name)));
    if (info !== null && Date.now() - info.mtimeMs > STALE_MS) rmSync(join(folder, name), { force: true });
  }
}
