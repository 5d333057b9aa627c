import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { isGone, processIdentity } from '../../../src/workers/process-identity';

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
