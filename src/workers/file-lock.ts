/**
 * A lock between processes: a file that only one of them can create.
 *
 * 1. The holder touches the file while it works; a lock whose holder is gone, or that nobody touched for long (its
 *    process id may belong to someone else by now), is stale.
 * 2. A stale lock is taken away under a second lock, so that two who see it stale never both hold it.
 */
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const TOUCH_MS = 2_000;
const ABANDONED_MS = 20_000;
const RETRY_MS = 25;

export interface FileLockOptions {
  /** Called once when another process holds the lock. */
  readonly onWait?: (holder: number) => void;
}

export async function withFileLock<T>(path: string, work: () => Promise<T>, options: FileLockOptions = {}): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  let told = false;
  while (!tryCreate(path)) {
    const holder = holderOf(path);
    if (holder !== null && isStale(path, holder)) {
      breakStale(path);
      continue;
    }
    if (!told && holder !== null) {
      told = true;
      options.onWait?.(holder);
    }
    await sleep(RETRY_MS);
  }
  const timer = setInterval(() => touch(path), TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (holderOf(path) === process.pid) rmSync(path, { force: true });
  }
}

/** Whether a process with this id exists; one of another user counts. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
}

/** Whether the process has ended but its parent has not collected it: in a container it often stays so for ever. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    // The name before the state is in brackets and may hold anything.
    return /^ [ZX]/.test(
      readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
        .split(')')
        .at(-1) ?? '',
    );
  } catch {
    return false; // Gone meanwhile, or not to be seen: the next look tells.
  }
}

function tryCreate(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** null: gone, or created a moment ago and not written yet. */
function holderOf(path: string): number | null {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (Number.isInteger(pid) && pid > 0) return pid;
    return ageMs(path) > ABANDONED_MS ? -1 : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function isStale(path: string, holder: number): boolean {
  if (holder === process.pid) return false;
  return holder < 0 || !isAlive(holder) || ageMs(path) > ABANDONED_MS;
}

function breakStale(path: string): void {
  const breaker = `${path}.break`;
  if (!tryCreate(breaker)) {
    if (ageMs(breaker) > ABANDONED_MS) rmSync(breaker, { force: true });
    return;
  }
  try {
    const holder = holderOf(path);
    if (holder !== null && isStale(path, holder)) rmSync(path, { force: true });
  } finally {
    rmSync(breaker, { force: true });
  }
}

function ageMs(path: string): number {
  const info = statSync(path, { throwIfNoEntry: false });
  return info === undefined ? 0 : Date.now() - info.mtimeMs;
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
