/**
 * A database that is one file: whether a path is one (a wrong one gives one clear line before a driver sees it), when it has
 * changed, and what could write it.
 */
import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { sha256 } from '../../sha256';
import type { WritingRight } from './database-check';

export interface FileKind {
  /** Of the engine, as people call it. */
  readonly name: string;
  /** With its article and version, as a user should give one: `a SQLite 3 file`. */
  readonly called: string;
}

/**
 * `given`: the path as the user wrote it, for messages. The file is not opened: closing it would drop the locks that this process
 * has on it, where it is written here, too.
 */
export async function checkDatabaseFile({ name, called }: FileKind, given: string, path: string): Promise<void> {
  try {
    const found = await stat(path);
    if (found.isDirectory())
      throw new SqlEngineError('not-found', `${given} is a directory: name the ${name} file in it`);
    // Opening a pipe would wait for a writer and block this process, even its exit.
    if (!found.isFile()) throw new SqlEngineError('not-found', `${given} is no ordinary file: name ${called}`);
    await access(path, constants.R_OK);
  } catch (error) {
    if (error instanceof SqlEngineError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new SqlEngineError('not-found', `there is no file ${given}: check the path of the database`);
    if (code === 'EACCES' || code === 'EPERM')
      throw new SqlEngineError('not-found', `this user may not read ${given}: change its permissions`);
    throw new SqlEngineError('connection', `cannot read ${given}: ${message}`, { cause: error });
  }
}

/**
 * A hash that changes with every write to the file, found without reading a table: path, size and time of the last write of
 * the file and of its write-ahead log (`log`). An empty log is ignored, because a reader may create one. A write that changes
 * no table changes the hash too.
 */
export async function revisionOfFile(path: string, log: string): Promise<string> {
  return sha256(JSON.stringify([await realpath(path), await stateOf(path), await stateOf(`${path}${log}`)]));
}

async function stateOf(path: string): Promise<readonly string[] | null> {
  try {
    // A file that takes the place of another one may have its size, its time and its freed inode.
    const { size, mtimeNs, ctimeNs, ino } = await stat(path, { bigint: true });
    return size === 0n ? null : [size, mtimeNs, ctimeNs, ino].map(String);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** What another program of this user could write. */
export async function rightsToFile(path: string): Promise<WritingRight[]> {
  // File modes do not restrict root.
  if (process.getuid?.() === 0) return [];
  const folder = dirname(path);
  const rights = [
    [path, 'this user may write the file', `chmod a-w ${quoted(path)} (unless other programs of this user write it)`],
    [
      folder,
      `this user may replace the file in ${folder}`,
      `keep it in a folder of another user, or chmod a-w ${quoted(folder)}`,
    ],
  ] as const;
  const found: WritingRight[] = [];
  for (const [place, what, fix] of rights)
    await access(place, constants.W_OK).then(
      () => found.push({ what, fix }),
      () => undefined,
    );
  return found;
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
