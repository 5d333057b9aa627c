/**
 * Locks between processes: transactions on an empty SQLite file. The system releases them when their process ends in whatever
 * way, so no lock of a dead process is ever found, and nobody needs to tell one from a lock in use. The files stay.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 25;

/** `onWait` is called once where another holds the lock; what it throws ends the wait, and so does `signal`. */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  onWait?: () => void,
  signal?: AbortSignal,
): Promise<T> {
  const file = await opened(path);
  try {
    for (let attempt = 1; !taken(file); attempt += 1) {
      if (attempt === 1) onWait?.();
      await sleep(RETRY_MS, undefined, { signal });
    }
    try {
      return await work();
    } finally {
      file.exec('ROLLBACK');
    }
  } finally {
    file.close();
  }
}

/** Holds one of many shares of a file until the returned function is called. */
export async function shareOf(path: string): Promise<() => void> {
  const file = await opened(path);
  // Reading takes the share; a prepared statement would keep it for ever.
  file.exec('BEGIN; SELECT count(*) FROM sqlite_master');
  return () => {
    file.exec('COMMIT');
    file.close();
  };
}

/** Whether nobody holds a share now. */
export async function isUnshared(path: string): Promise<boolean> {
  const file = await opened(path);
  try {
    if (!taken(file)) return false;
    file.exec('ROLLBACK');
    return true;
  } finally {
    file.close();
  }
}

async function opened(path: string) {
  mkdirSync(dirname(path), { recursive: true });
  const { default: Database } = await import('libsql');
  return new Database(path, { timeout: 0 });
}

function taken(file: Awaited<ReturnType<typeof opened>>): boolean {
  try {
    file.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'SQLITE_BUSY') return false;
    throw error;
  }
}
