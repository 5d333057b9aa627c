import { createHash } from 'node:crypto';
import fc from '../../../helpers/property';
import { createEncryptedStore } from '../../../../src/adapters/encryption';
import { createMemoryStore, type MemoryStore } from '../../../helpers/scripted';
import { ringOf } from './keys';

let inner: MemoryStore;
beforeEach(() => (inner = createMemoryStore()));
const storeOf = (...ids: readonly string[]) => createEncryptedStore(inner, ringOf(...ids));
const KEY = 'runs/q-1/result/q-1.json';

test('any text comes back as it was, and nothing of it is readable in the store behind', async () => {
  const store = storeOf('k1');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 2_000 }), async (text) => {
      const marked = `Semper Fidelis ${text}`;
      await store.put(KEY, marked, { overwrite: true });
      expect(await store.get(KEY)).toBe(Buffer.from(marked).toString());
      expect(await inner.get(KEY)).toMatch(/^gate-sealed 1 k1#[0-9a-f]{8} (br|plain)\n[A-Za-z0-9+/=]+$/);
    }),
  );
});

test('a long text takes less room than plain, although it is base64', async () => {
  const text = JSON.stringify(Array.from({ length: 500 }, (_, n) => ({ n, name: `operator ${String(n)}` })));
  await storeOf('k1').put(KEY, text);
  expect((await inner.get(KEY))!.length).toBeLessThan(text.length / 2);
});

test('the same text again writes nothing; another text is a conflict', async () => {
  const store = storeOf('k1');
  await store.put(KEY, 'a');
  const stored = await inner.get(KEY);
  await store.put(KEY, 'a');
  expect(await inner.get(KEY)).toBe(stored);
  await expect(store.put(KEY, 'b')).rejects.toMatchObject({ code: 'conflict' });
  expect(await store.get(KEY)).toBe('a');
});

test('an object moved to another key does not open there', async () => {
  const store = storeOf('k1');
  await store.put('runs/q-1/result/q-1.json', 'the answer of 1');
  await inner.put('runs/q-2/result/q-2.json', (await inner.get('runs/q-1/result/q-1.json'))!);
  await expect(store.get('runs/q-2/result/q-2.json')).rejects.toMatchObject({ code: 'corrupt' });
});

test('a changed object is damaged, and may be replaced', async () => {
  const store = storeOf('k1');
  await store.put(KEY, 'a');
  await inner.put(KEY, `${(await inner.get(KEY))!.slice(0, -6)}AAAA==`, { overwrite: true });
  await expect(store.get(KEY)).rejects.toThrow(
    `${KEY} is damaged (its authentication tag does not fit): restore it, or delete it and ask with --fresh`,
  );
  await store.put(KEY, 'b', { overwrite: true });
  expect(await store.get(KEY)).toBe('b');
});

test('a wrong key is one line that names the key and the setting, and replaces nothing', async () => {
  await storeOf('k1').put(KEY, 'a');
  const before = await inner.get(KEY);
  const line = `${KEY} is encrypted with key 'k1', which is not configured here: add it to "encryption.keys" of the configuration`;
  for (const wrong of [storeOf('k2'), createEncryptedStore(inner, null)]) {
    await expect(wrong.get(KEY)).rejects.toMatchObject({ code: 'wrong-key', message: line });
  }
  await expect(storeOf('k2').put(KEY, 'b', { overwrite: true })).rejects.toMatchObject({ code: 'wrong-key' });
  await expect(storeOf('k1=other').put(KEY, 'b', { overwrite: true })).rejects.toMatchObject({ code: 'wrong-key' });
  expect(await inner.get(KEY)).toBe(before);
});

test('after a rotation old objects are read, and what is written is under the new key', async () => {
  await storeOf('k1').put(KEY, 'a');
  const rotated = storeOf('k2', 'k1');
  expect(await rotated.get(KEY)).toBe('a');
  await rotated.put(KEY, 'a', { overwrite: true });
  expect(await inner.get(KEY)).toMatch(/^gate-sealed 1 k2#/);
});

test('what was stored in plain is still read, and encrypted when it is written again', async () => {
  await inner.put(KEY, '{"a":1}');
  const store = storeOf('k1');
  expect(await store.get(KEY)).toBe('{"a":1}');
  await store.put(KEY, '{"a":1}');
  await store.put(KEY, '{"a":1}', { overwrite: true });
  expect(await inner.get(KEY)).toMatch(/^gate-sealed /);
});

test('names of contents are the same under the same key and tell nothing to whoever has none', () => {
  const store = storeOf('k1');
  expect(store.nameOf?.('x')).toMatch(/^[0-9a-f]{64}$/);
  expect(store.nameOf?.('x')).toBe(storeOf('k1').nameOf?.('x'));
  expect(store.nameOf?.('x')).not.toBe(storeOf('k2').nameOf?.('x'));
  expect(store.nameOf?.('x')).not.toBe(createHash('sha256').update('x').digest('hex'));
});
