import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, isGone, processIdentity } from '../../../src/workers/process-identity';

const ended = (): number => spawnSync(process.execPath, ['--version']).pid;

test('a process of this machine that has ended is gone, this one is not', () => {
  expect(processIdentity()).toContain(`${String(process.pid)}@${hostname()}`);
  expect(isGone(processIdentity())).toBe(false);
  expect(isGone(processIdentity(ended()))).toBe(true);
});

test.each(['', 'worker', `@${hostname()}`, '1@'])('nothing is known of %j', (identity) => {
  expect(isGone(identity)).toBe(false);
});

test('nothing is known of processes on other machines and in other containers', () => {
  const pid = String(ended());
  expect(isGone(`${pid}@elsewhere`)).toBe(false);
  expect(isGone(`${pid}@${hostname()}/1`)).toBe(false);
});

test('nothing is known of processes on another machine that has the same name', () => {
  const [, where = ''] = processIdentity().split('@');
  const [host, boot = ''] = where.split('/');
  expect([host, boot]).toEqual([hostname(), expect.stringMatching(/^[0-9a-f]{6}$/)]);
  const pid = String(ended());
  expect(isGone(`${pid}@${where}`)).toBe(true);
  expect(isGone(`${pid}@${where.replace(boot, '012345')}`)).toBe(false);
  expect(isGone(`${pid}@${hostname()}`)).toBe(false);
});

test('a process that ended and that its parent does not bury is not alive', async () => {
  // What the shell becomes knows nothing of its child.
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const child = Number(line.toString());
    expect(isAlive(child)).toBe(true);
    process.kill(child, 'SIGKILL');
    while (isAlive(child)) await sleep(20);
    expect(isAlive(parent.pid ?? 0)).toBe(true);
  } finally {
    parent.kill('SIGKILL');
  }
});
