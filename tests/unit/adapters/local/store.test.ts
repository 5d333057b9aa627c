import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalStore } from '../../../../src/adapters/local/store';
import { toStoreError } from '../../../../src/adapters/local/keys';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gate-local-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('files are named like their keys, but no two keys share a file on a file system that folds case', async () => {
  const store = createLocalStore(dir);
  for (const key of ['i2.t3.a1.json', 'Key', 'key', 'KEY']) await store.put(key, key);
  await writeFile(join(dir, 'README.MD'), 'not of the store');
  const names = (await readdir(dir)).filter((name) => !['.tmp', 'README.MD'].includes(name));
  expect(names).toContain('i2.t3.a1.json');
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(4);
  expect(await store.list('')).toEqual(['KEY', 'Key', 'i2.t3.a1.json', 'key']);
});

test('nothing unfinished stays behind, after success or conflict', async () => {
  const store = createLocalStore(dir);
  await store.put('k', 'v');
  await expect(store.put('k', 'w')).rejects.toMatchObject({ code: 'conflict' });
  expect(await readdir(join(dir, '.tmp'))).toEqual([]);
});

test("what a killed writer left is not listed, and is removed once it is old; another's fresh file stays", async () => {
  await mkdir(join(dir, '.tmp'));
  for (const name of ['old', 'new']) await writeFile(join(dir, '.tmp', name), 'half');
  const longAgo = new Date(Date.now() - 3 * 60 * 60_000);
  await utimes(join(dir, '.tmp', 'old'), longAgo, longAgo);
  const store = createLocalStore(dir);
  await store.put('k', 'v');
  expect(await store.list('')).toEqual(['k']);
  expect(await readdir(join(dir, '.tmp'))).toEqual(['new']);
});

test('a key below an existing object is a conflict that says why', async () => {
  const store = createLocalStore(dir);
  await store.put('a', 'x');
  await expect(store.put('a/b', 'y')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('"a/b"') as string,
  });
});

test('a folder that does not exist yet is empty and is made by the first put', async () => {
  const store = createLocalStore(join(dir, 'deep', 'er'));
  expect(await store.list('')).toEqual([]);
  expect(await store.get('k')).toBeNull();
  await store.put('k', 'v');
  expect(await store.get('k')).toBe('v');
});

test('a folder that cannot be made is an error at once', async () => {
  await expect(createLocalStore('/proc/gate/store').put('a', 'x')).rejects.toMatchObject({ code: 'unavailable' });
});

test('a path that is a file is unavailable, in one line that names it, and works once it is mended', async () => {
  const path = join(dir, 'file');
  await writeFile(path, '');
  const store = createLocalStore(path);
  await expect(store.put('k', 'v')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(path) as string,
  });
  await rm(path);
  await store.put('k', 'v');
  expect(await store.get('k')).toBe('v');
});

test.each([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EACCES', 'unavailable'],
  ['EROFS', 'unavailable'],
  ['EIO', 'unavailable'],
  ['EMFILE', 'unavailable'],
])('%s is %s, in one line that names the folder', (code, expected) => {
  const error = toStoreError(Object.assign(new Error('system'), { code }), '/srv/gate');
  expect(error).toMatchObject({
    name: 'StoreError',
    code: expected,
    message: expect.stringContaining('/srv/gate') as string,
  });
});
