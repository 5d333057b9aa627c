/**
 * A sign of a SQLite file's state without reading a table: where it is, its size and its last write, and those of the
 * write-ahead log, which a reader may create empty. Any write changes it, also one that changes no table.
 */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';

export async function revisionOfSqlite(path: string): Promise<string> {
  const state = [await realpath(path), await stateOf(path), await stateOf(`${path}-wal`)];
  return createHash('sha256').update(JSON.stringify(state)).digest('hex');
}

async function stateOf(path: string): Promise<readonly string[] | null> {
  try {
    const { size, mtimeNs, ino } = await stat(path, { bigint: true });
    return size === 0n ? null : [size, mtimeNs, ino].map(String);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
