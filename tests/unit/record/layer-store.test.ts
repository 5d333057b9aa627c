/** Events of a layer in the store: many small objects, each read once. */
import { createMemoryStore } from '../../helpers/scripted';
import { layerOf } from '../../../src/layer/state';
import type { LayerEvent } from '../../../src/domain';
import type { ObjectStore } from '../../../src/domain/ports';
import { appendToLayer, readLayer, searchesInLayers } from '../../../src/record/layer-store';

const asked = (number: number): LayerEvent => ({
  ...{ kind: 'asked', at: new Date(Date.UTC(2026, 0, 1) + number).toISOString() },
  ...{ questionId: `q${number}`, text: `question ${number}`, tables: [], columns: [] },
});
const placeIn = (store: ObjectStore) => ({ store, database: '@d-1' });
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
  expect(await readAnew(store)).toEqual({ questions: texts(300), read: 300 });
  expect([...(await searchesInLayers(store))]).toHaveLength(300);
});

test('an object that is damaged is an error, never a smaller layer', async () => {
  const store = createMemoryStore();
  await append(store, 0, 3);
  const [key] = await store.list('layer/');
  await store.put(key!, (await store.get(key!))!.replace('question 0"', 'question 8"'), { overwrite: true });
  await expect(readAnew(store)).rejects.toMatchObject({ code: 'corrupt' });
});
