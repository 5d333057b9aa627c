/**
 * A hash that changes with every write to a SQLite file, found without reading a table: path, size and time of the last
 * write of the file and of its write-ahead log. An empty log is ignored, because a reader may create one. A write that
 * changes no table changes the hash too.
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
