import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUnshared, shareOf, withFileLock } from '../../src/file-lock';

const folder = mkdtempSync(join(tmpdir(), 'gate-lock-'));
const lock = join(folder, 'deep', 'a.lock');
afterAll(() => rmSync(folder, { recursive: true }));

test('work under one lock never overlaps, and whoever waits is told once', async () => {
  let inside = 0;
  let most = 0;
  let told = 0;
  const work = () =>
    withFileLock(
      lock,
      async () => {
        most = Math.max(most, ++inside);
        await sleep(60);
        inside -= 1;
      },
      () => (told += 1),
    );
  await Promise.all([work(), work(), work()]);
  expect([most, told]).toEqual([1, 2]);
});

test('a lock is released when its work throws, and a wait ends with what is thrown while waiting', async () => {
  await expect(withFileLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await withFileLock(lock, async () => {
    const impatient = withFileLock(
      lock,
      () => Promise.resolve(),
      () => {
        throw new Error('busy');
      },
    );
    await expect(impatient).rejects.toThrow('busy');
  });
});

test('the lock of a process that was killed is free', async () => {
  const module = require.resolve('../../src/file-lock');
  const code = `require(${JSON.stringify(module)}).withFileLock(${JSON.stringify(lock)}, () => {
    console.log('mine');
    return new Promise((resolve) => setTimeout(resolve, 60_000));
  });`;
  const holder = spawn(process.execPath, ['--require', require.resolve('tsx/cjs'), '-e', code]);
  await once(holder.stdout, 'data');
  const seen = { waits: false };
  const waiting = withFileLock(
    lock,
    () => Promise.resolve('free'),
    () => (seen.waits = true),
  );
  while (!seen.waits) await sleep(5);
  holder.kill('SIGKILL');
  expect(await waiting).toBe('free');
});

test('a file is shared until the last of its shares is given back', async () => {
  const users = join(folder, 'users.lock');
  const [first, second] = [await shareOf(users), await shareOf(users)];
  expect(await isUnshared(users)).toBe(false);
  first();
  expect(await isUnshared(users)).toBe(false);
  second();
  expect(await isUnshared(users)).toBe(true);
});
