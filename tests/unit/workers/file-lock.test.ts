import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, withFileLock } from '../../../src/workers/file-lock';

const folder = mkdtempSync(join(tmpdir(), 'gate-lock-'));
const lock = join(folder, 'a.lock');
afterAll(() => rmSync(folder, { recursive: true }));

/** No process has this id: it is above the largest one that Linux and macOS give. */
const DEAD = 2 ** 22 + 1;

test('work under one lock never overlaps', async () => {
  let inside = 0;
  let most = 0;
  const work = () =>
    withFileLock(lock, async () => {
      most = Math.max(most, ++inside);
      await sleep(5);
      inside -= 1;
    });
  await Promise.all([work(), work(), work(), work()]);
  expect(most).toBe(1);
  expect(existsSync(lock)).toBe(false);
});

test('a lock is released when its work throws', async () => {
  await expect(withFileLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(existsSync(lock)).toBe(false);
});

test('the lock of a dead process is taken away, once, by many at a time', async () => {
  writeFileSync(lock, String(DEAD));
  let inside = 0;
  const work = () =>
    withFileLock(lock, async () => {
      expect(++inside).toBe(1);
      await sleep(5);
      inside -= 1;
    });
  await Promise.all([work(), work(), work()]);
});

test('a lock that nobody touched for long is stale although its process id is alive', async () => {
  writeFileSync(lock, String(process.ppid));
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(lock, longAgo, longAgo);
  await expect(withFileLock(lock, () => Promise.resolve('mine'))).resolves.toBe('mine');
});

test('whoever waits learns for whom, once', async () => {
  writeFileSync(lock, String(process.ppid));
  const waits: number[] = [];
  const waiting = withFileLock(lock, () => Promise.resolve(), { onWait: (pid) => waits.push(pid) });
  await sleep(80);
  rmSync(lock);
  await waiting;
  expect(waits).toEqual([process.ppid]);
});

test('a process that ended and that its parent does not bury is not alive', async () => {
  // What the shell becomes knows nothing of its child.
  const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const child = Number(line.toString());
    expect(isAlive(child)).toBe(true);
    while (isAlive(child)) await sleep(20);
    expect(isAlive(parent.pid ?? 0)).toBe(true);
  } finally {
    parent.kill('SIGKILL');
  }
});
