import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseSuffix, isAsked, lackingFeatures, SERVERS } from '../../../src/workers/temporal-servers';

test('a server has a database file of its own from 1.30 on; the older ones and an unknown one keep the file they had', () => {
  const files = ['1.27.0', '1.29.1', null, '1.31.0', '1.32.2', '1.32.0-rc.1'].map(databaseSuffix);
  expect(files).toEqual(['', '', '', '-1.31', '-1.32', '-1.32']);
});

test('only the newest offered version may be a newer one', () => {
  const [old, newest] = [SERVERS[0], SERVERS[1]];
  expect(['1.29.1', '1.30.0', '1.32.2', '1.40.0', '2.0.0'].map((version) => isAsked(version, old))).toEqual([
    ...[true, false, false, false, false],
  ]);
  expect(['1.29.1', '1.31.9', '1.32.2', '1.40.0', '2.0.0'].map((version) => isAsked(version, newest))).toEqual([
    ...[false, false, true, true, true],
  ]);
});

test('the features that a server lacks are those from a later version', () => {
  expect(lackingFeatures('1.29.1').map(({ from }) => from)).toEqual(['1.31', '1.32']);
  expect(lackingFeatures('1.31.2').map(({ from }) => from)).toEqual(['1.32']);
  expect(lackingFeatures('1.32.2')).toEqual([]);
});

test('what is built is the version of its place in the cache, pinned with its checksums', () => {
  const { build, cacheName } = SERVERS[1];
  const file = (name: string): string => readFileSync(join(build.cwd, name), 'utf8');
  const version = cacheName.replace('server-', 'v');
  expect(file('go.mod')).toContain(`go.temporal.io/server ${version}\n`);
  expect(file('go.sum')).toContain(`go.temporal.io/server ${version} h1:`);
  expect(existsSync(join(build.cwd, 'main.go'))).toBe(true);
});
