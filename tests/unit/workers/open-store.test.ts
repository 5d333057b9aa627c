import { createMemoryStore } from '../../helpers/scripted';
import { ofThisFormat } from '../../../src/workers/open-store';

test('the first object of a store is preceded by its format, which nobody is shown', async () => {
  const inner = createMemoryStore();
  const store = ofThisFormat(inner, '/data/store');
  expect(await store.get('runs/a')).toBeNull();
  expect(await inner.list('')).toEqual([]);
  await store.put('runs/a', 'x');
  expect(await inner.list('')).toEqual(['format.json', 'runs/a']);
  expect(await store.list('')).toEqual(['runs/a']);
  expect((await store.entries('')).map(({ key }) => key)).toEqual(['runs/a']);
  expect(await ofThisFormat(inner, '/data/store').get('runs/a')).toBe('x');
});

test.each([
  ['another format', { 'format.json': '{"format":1,"of":"gate"}' }],
  ['searches and no format', { 'runs/a': 'x' }],
])('a store with %s is refused in one line, and nothing is written', async (_, objects) => {
  const inner = createMemoryStore();
  for (const [key, text] of Object.entries(objects)) await inner.put(key, text);
  const store = ofThisFormat(inner, '/data/store');
  const refused = {
    code: 'misconfigured',
    message:
      'the store /data/store was written by another version of this program: set GATE_STORE to a new folder or bucket, or use that version',
  };
  await expect(store.get('runs/a')).rejects.toMatchObject(refused);
  await expect(store.put('runs/b', 'y')).rejects.toMatchObject(refused);
  await expect(store.list('')).rejects.toMatchObject(refused);
  expect(await inner.list('')).toEqual(Object.keys(objects));
});
