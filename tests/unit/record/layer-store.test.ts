/** Events of a layer in the store: many small objects, and the snapshot that spares reading them one by one. */
import { createEncryptedStore, createKeyRing } from '../../../src/adapters/encryption';
import { createMemoryStore } from '../../../src/adapters/scripted';
import { layerOf } from '../../../src/layer/state';
import type { LayerEvent } from '../../../src/domain';
import { StoreError, type ObjectStore } from '../../../src/ports';
import { appendToLayer, readLayer, searchesInLayers, SNAPSHOTS } from '../../../src/record/layer-store';
import { sha256 } from '../../../src/sha256';

const MANY = 250;
const asked = (number: number): LayerEvent => ({
  ...{ kind: 'asked', at: new Date(Date.UTC(2026, 0, 1) + number).toISOString() },
  ...{ questionId: `q${number}`, text: `question ${number}`, tables: [], columns: [] },
});
const placeIn = (store: ObjectStore) => ({ store, hash: sha256, database: '@d-1' });
const append = async (store: ObjectStore, from: number, to: number): Promise<void> => {
  for (let number = from; number < to; number += 1) await appendToLayer(placeIn(store), [asked(number)], `s-${number}`);
};
/** What another process sees, and how many objects it reads for that. */
async function readAnew(store: ReturnType<typeof createMemoryStore>, inner: ObjectStore = { ...store }) {
  const before = store.calls.get;
  const events = await readLayer(placeIn(inner));
  return {
    questions: layerOf(events)
      .questions.map(({ text }) => text)
      .sort(),
    read: store.calls.get - before,
  };
}
const texts = (count: number): string[] => Array.from({ length: count }, (_, number) => `question ${number}`).sort();

test('a process that reads many objects leaves a snapshot; the next one reads that and what was added since', async () => {
  const store = createMemoryStore();
  await append(store, 0, MANY);
  expect(await store.list(SNAPSHOTS)).toEqual([]);
  expect(await readAnew(store)).toEqual({ questions: texts(MANY), read: MANY });
  expect(await store.list(SNAPSHOTS)).toHaveLength(1);
  expect(await readAnew(store)).toEqual({ questions: texts(MANY), read: 1 });
  await append(store, MANY, MANY + 3);
  expect(await readAnew(store)).toEqual({ questions: texts(MANY + 3), read: 4 });
  expect(await store.list(SNAPSHOTS)).toHaveLength(1);
  expect([...(await searchesInLayers(store))].length).toBe(MANY + 3);
});

test('the same process reads nothing twice, and gets the same events as long as nothing is added', async () => {
  const store = createMemoryStore();
  await append(store, 0, 3);
  const first = await readLayer(placeIn(store));
  const before = store.calls.get;
  expect(await readLayer(placeIn(store))).toBe(first);
  expect(store.calls.get).toBe(before);
  await append(store, 3, 4);
  expect(await readLayer(placeIn(store))).toHaveLength(4);
  expect(store.calls.get).toBe(before + 1);
});

test('workers that add and read at the same time lose nothing', async () => {
  const store = createMemoryStore();
  const workers = [0, 1, 2].map(() => ({ ...store }));
  await Promise.all(
    workers.map(async (worker, at) => {
      await append(worker, at * 100, at * 100 + 100);
      await readLayer(placeIn(worker));
    }),
  );
  await Promise.all(workers.map((worker) => readLayer(placeIn(worker))));
  expect((await readAnew(store)).questions).toEqual(texts(300));
});

test('a snapshot that is damaged, or lists what is gone, is passed over; the layer is the same', async () => {
  const store = createMemoryStore();
  await append(store, 0, MANY);
  await readAnew(store);
  const [key] = await store.list(SNAPSHOTS);
  const whole = (await store.get(key!))!;
  await store.put(key!, whole.replace('question 7"', 'question 8"'), { overwrite: true });
  expect((await readAnew(store)).questions).toEqual(texts(MANY));
  await store.put(key!, 'no JSON', { overwrite: true });
  expect((await readAnew(store)).questions).toEqual(texts(MANY));
  await store.put(key!, whole, { overwrite: true });
  const [first] = await store.list('layer/');
  await store.delete(first!);
  expect((await readAnew(store)).questions).not.toContain('question 0');
});

test('where nothing may be written the objects themselves are read', async () => {
  const store = createMemoryStore();
  await append(store, 0, MANY);
  const put = () => Promise.reject(new StoreError('misconfigured', 'no right to write'));
  expect((await readAnew(store, { ...store, put })).questions).toEqual(texts(MANY));
  const lost = new StoreError('unavailable', 'gone for now');
  await readAnew(store);
  const get = (key: string) => (key.startsWith(SNAPSHOTS) ? Promise.reject(lost) : store.get(key));
  await expect(readAnew(store, { ...store, get })).rejects.toBe(lost);
});

test('with encryption a snapshot shows nothing, neither by its text nor by its name', async () => {
  const inner = createMemoryStore();
  const ring = createKeyRing([{ id: 'k1', key: new Uint8Array(32).fill(7) }]);
  await append(createEncryptedStore(inner, ring), 0, MANY);
  await readLayer(placeIn(createEncryptedStore(inner, ring)));
  const [key] = await inner.list(SNAPSHOTS);
  expect(await inner.get(key!)).not.toContain('question');
  const before = inner.calls.get;
  expect(layerOf(await readLayer(placeIn(createEncryptedStore(inner, ring)))).questions).toHaveLength(MANY);
  expect(inner.calls.get - before).toBe(1);
});
