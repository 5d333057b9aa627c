/**
 * A lock between processes: an exclusive transaction on an empty SQLite file. The system releases it when its process ends in
 * whatever way, so no lock of a dead process is ever found, and nobody needs to tell one from a lock in use. The file stays.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 25;

/** `onWait` is called once where another holds the lock; what it throws ends the wait. */
export async function withFileLock<T>(path: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const { default: Database } = await import('libsql');
  const file = new Database(path, { timeout: 0 });
  try {
    for (let attempt = 1; !take(file); attempt += 1) {
      if (attempt === 1) onWait?.();
      await sleep(RETRY_MS);
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

function take(file: { exec(sql: string): unknown }): boolean {
  try {
    file.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'SQLITE_BUSY') return false;
    throw error;
  }
}
