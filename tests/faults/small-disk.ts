/**
 * A file system in memory that runs full for real, and only for the store of one stage: mounted where we may, else in a
 * mount namespace of our own, which the worker enters. Without either right there is no full disk, and the kind says so.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './polling';

export interface SmallDisk {
  /** The folder as this process sees it. */
  readonly folder: string;
  /** Command and arguments that come before the worker's own, so that it sees the disk. */
  readonly enter: readonly string[];
  close(): void;
}

/** Enough for all moments of a run together. */
const SIZE = '256m';

export async function mountSmallDisk(root: string): Promise<SmallDisk> {
  const mount = ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0700`, 'tmpfs', root];
  try {
    execFileSync('mount', mount, { stdio: 'pipe' });
    return { folder: root, enter: [], close: () => void execFileSync('umount', ['--lazy', root]) };
  } catch (refused) {
    return inNamespace(root, mount, refused);
  }
}

async function inNamespace(root: string, mount: readonly string[], refused: unknown): Promise<SmallDisk> {
  const mark = 'mounted';
  const script = `mount "$@" && touch "${join(root, mark)}" && exec sleep 2147483647`;
  const holder = spawn('unshare', ['-Urm', 'sh', '-c', script, 'sh', ...mount], { stdio: 'ignore' });
  let error: unknown = null;
  holder.once('error', (cause) => (error = cause));
  const folder = `/proc/${String(holder.pid)}/root${root}`;
  await until('the small disk is mounted', () => {
    if (error !== null || holder.exitCode !== null)
      throw new Error('a full disk needs the right to mount a tmpfs, or user namespaces: run this kind where one is', {
        cause: refused,
      });
    return existsSync(join(folder, mark));
  });
  const enter = ['nsenter', '-t', String(holder.pid), '-U', '-m', '--preserve-credentials', '--'];
  return { folder, enter, close: () => void holder.kill('SIGKILL') };
}
