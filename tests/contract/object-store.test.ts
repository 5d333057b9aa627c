/** One suite for every object store. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from '../helpers/property';
import { createEncryptedStore, createKeyRing, KEY_BYTES } from '../../src/adapters/encryption';
import { createLocalStore } from '../../src/adapters/local/store';
import { createS3Store } from '../../src/adapters/s3/store';
import { createMemoryStore } from '../helpers/scripted';
import type { ObjectStore } from '../../src/domain/ports';
import { findVersitygw, sharedS3Server, type S3Server } from '../helpers/s3-server';

const folders: string[] = [];
const freshFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'gate-store-'));
  folders.push(folder);
  return folder;
};
let s3: S3Server | null = null;
let buckets = 0;
// Where there is none it is built first, which takes a minute.
beforeAll(() => findVersitygw(), 600_000);
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const RING = createKeyRing([{ id: 'k1', key: Buffer.alloc(KEY_BYTES, 1) }]);

const STORES: Readonly<Record<string, () => Promise<ObjectStore>>> = {
  'local folder': async () => createLocalStore(await freshFolder()),
  memory: () => Promise.resolve(createMemoryStore()),
  encrypted: async () => createEncryptedStore(createLocalStore(await freshFolder()), RING),
  'S3 bucket': async () => {
    s3 ??= await sharedS3Server();
    const bucket = `bucket-${(buckets += 1)}`;
    s3.createBucket(bucket);
    const { endpoint, region, accessKeyId, secretAccessKey } = s3;
    return createS3Store({
      bucket,
      prefix: 'a/prefix',
      endpoint,
      region,
      credentials: { accessKeyId, secretAccessKey },
    });
  },
};

describe.each(Object.entries(STORES))('object store: %s', (name, create) => {
  let store: ObjectStore;
  beforeEach(async () => {
    store = await create();
  });

  test('what was put is got, byte for byte', async () => {
    const text = 'line\nzwölf 🌱 \u0000 end\r\n';
    await store.put('runs/r1/plans/p1.json', text);
    expect(await store.get('runs/r1/plans/p1.json')).toBe(text);
    await store.put('empty', '');
    expect(await store.get('empty')).toBe('');
  });

  test('a missing key is null', async () => {
    expect(await store.get('nothing/here')).toBeNull();
    await store.put('a/b', 'x');
    expect(await store.get('a')).toBeNull();
    expect(await store.get('a/b/c')).toBeNull();
  });

  test('the same text again is a no-op even where it is not well-formed', async () => {
    await store.put('k', 'half \ud800 pair');
    await store.put('k', 'half \ud800 pair');
    expect(await store.get('k')).toBe('half \ufffd pair');
  });

  test('another text under an existing key is a conflict and changes nothing', async () => {
    await store.put('k', 'v');
    await expect(store.put('k', 'w')).rejects.toMatchObject({ name: 'StoreError', code: 'conflict' });
    expect(await store.get('k')).toBe('v');
  });

  test('with overwrite it replaces', async () => {
    await store.put('k', 'v', { overwrite: true });
    await store.put('k', 'w', { overwrite: true });
    expect(await store.get('k')).toBe('w');
  });

  test('of many writers of one new key exactly one wins and the others hear of it', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => store.put('race', `text ${index}`)),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled');
    expect(await store.get('race')).toBe(`text ${winner}`);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
  });

  test('many writers of one text all succeed', async () => {
    await Promise.all(Array.from({ length: 12 }, () => store.put('same', 'text')));
    expect(await store.get('same')).toBe('text');
  });

  test('a reader never sees half an object while it is replaced', async () => {
    const texts = ['a', 'b'].map((char) => char.repeat(200_000));
    await store.put('big', texts[0]!);
    const writes = Array.from({ length: 10 }, (_, index) => store.put('big', texts[index % 2]!, { overwrite: true }));
    const reads = await Promise.all(Array.from({ length: 20 }, () => store.get('big')));
    await Promise.all(writes);
    for (const text of reads) expect(texts).toContain(text);
  });

  test('list gives the keys with the prefix in code-unit order', async () => {
    for (const key of ['r/b', 'r/a/2', 'r/a/10', 'r/a', 'r/Z', 'ra', 's/x', 'r/é'].filter((key) => key !== 'r/a'))
      await store.put(key, key);
    expect(await store.list('r/')).toEqual(['r/Z', 'r/a/10', 'r/a/2', 'r/b', 'r/é']);
    expect(await store.list('r/a/', { limit: 1 })).toEqual(['r/a/10']);
    expect(await store.list('r/a')).toEqual(['r/a/10', 'r/a/2']);
    expect(await store.list('r')).toEqual(['r/Z', 'r/a/10', 'r/a/2', 'r/b', 'r/é', 'ra']);
    expect(await store.list('')).toHaveLength(7);
    expect(await store.list('none/')).toEqual([]);
    expect(await store.list('../')).toEqual([]);
  });

  test('list after a text gives the keys that come later, over folders and pages', async () => {
    const keys = ['r/1/a', 'r/1/b', 'r/1-b', 'r/2/a-x.json', 'r/2/a.json', 'r/2/c/d', 'r/3', 's'].sort();
    for (const key of keys) await store.put(key, key);
    const afters = [
      '',
      'r',
      'r/',
      'r/1',
      'r/1/',
      'r/1/a',
      'r/1/aa',
      'r/1-',
      'r/2',
      'r/2/a',
      'r/2/a-',
      'r/2/c',
      'r/3',
      's',
    ];
    for (const after of afters) {
      const later = keys.filter((key) => key.startsWith('r/') && key > after);
      expect([after, await store.list('r/', { after })]).toEqual([after, later]);
      expect([after, await store.list('r/', { after, limit: 2 })]).toEqual([after, later.slice(0, 2)]);
    }
    expect(await store.list('r/2', { after: 'r/2/a.json' })).toEqual(['r/2/c/d']);
  });

  test('entries tell size in bytes and when it was written', async () => {
    const before = Date.now();
    await store.put('r/a', 'zwölf');
    await store.put('r/b', '');
    await store.put('s', 'x');
    const entries = await store.entries('r/');
    expect(entries.map(({ key }) => key)).toEqual(['r/a', 'r/b']);
    // Encrypted objects are larger than their texts.
    const sizes = entries.map(({ bytes }) => bytes);
    if (name === 'encrypted') expect(Math.min(...sizes)).toBeGreaterThan(6);
    else expect(sizes).toEqual([6, 0]);
    // Servers keep whole seconds.
    for (const { modifiedMs } of entries) expect(Math.abs(modifiedMs - before)).toBeLessThan(300_000);
  });

  test('a deleted object is gone, its neighbours stay, and deleting again is a no-op', async () => {
    await store.put('d/a/1', 'x');
    await store.put('d/a/2', 'y');
    await store.put('d/b/1', 'z');
    await store.delete('d/a/1');
    await store.delete('d/b/1');
    await store.delete('d/b/1');
    await store.delete('never/there');
    expect(await store.get('d/a/1')).toBeNull();
    expect(await store.list('')).toEqual(['d/a/2']);
    await store.put('d/b/1', 'other');
    expect(await store.get('d/b/1')).toBe('other');
  });

  test('what was written after the given time is not deleted', async () => {
    await store.put('k', 'v');
    const [entry] = await store.entries('k');
    await store.delete('k', { unmodifiedSinceMs: entry!.modifiedMs - 1 });
    expect(await store.get('k')).toBe('v');
    await store.delete('k', { unmodifiedSinceMs: entry!.modifiedMs });
    expect(await store.get('k')).toBeNull();
  });

  test('the age begins anew with overwrite, though the text is the same', async () => {
    await store.put('k', 'v');
    const [first] = await store.entries('k');
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await store.put('k', 'v');
    expect((await store.entries('k'))[0]!.modifiedMs).toBe(first!.modifiedMs);
    await store.put('k', 'v', { overwrite: true });
    expect((await store.entries('k'))[0]!.modifiedMs).toBeGreaterThan(first!.modifiedMs);
  });

  test('writing and deleting beside each other loses no object', async () => {
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        await store.put(`busy/${index % 4}/${index}`, `${index}`);
        if (index % 2 === 0) await store.delete(`busy/${index % 4}/${index}`);
      }),
    );
    expect(await store.list('busy/')).toHaveLength(20);
  });

  test.each(['', '/a', 'a/', 'a//b', '..', 'a/../b', './a', 'a/.', 'x'.repeat(300), 'bad \ud800'])(
    'the key %j is refused',
    async (key) => {
      await expect(store.put(key, 'x')).rejects.toThrow(RangeError);
      await expect(store.get(key)).rejects.toThrow(RangeError);
    },
  );

  test('keys that differ stay apart, whatever characters they hold', async () => {
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter((text) => !/\//.test(text) && text !== '.' && text !== '..');
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(segment, { minLength: 1, maxLength: 6 }), async (segments) => {
        const fresh = await create();
        const keys = segments.map((text) => `dir/${text}`);
        for (const key of keys) await fresh.put(key, key);
        for (const key of keys) expect(await fresh.get(key)).toBe(key);
        expect(await fresh.list('dir/')).toEqual([...keys].sort());
      }),
      { numRuns: 25 },
    );
  });

  test.each(['CON', 'a:b', 'a\\b', 'trailing.', '.hidden', 'Mixed', 'mixed', '%41', 'a*b?', ' space '])(
    'the key %j is kept as it is',
    async (key) => {
      await store.put(key, key);
      expect(await store.get(key)).toBe(key);
      expect(await store.list('')).toEqual([key]);
    },
  );
});
