import { createMemoryStore } from '../../helpers/scripted';
import { createRunStore, writeEnvelope } from '../../../src/record/run-store';
import { hash, searchInput } from '../roles/fixtures';

const body = {
  ...{ bodyId: 'b1', sql: 'SELECT 1', relations: [], reads: [] },
  recursive: false,
  hasWith: false,
};
const KEY = 'runs/s1/body/b1.json';

test('a body is read from the store once, and never when this process wrote it', async () => {
  const store = createMemoryStore();
  await store.put(KEY, writeEnvelope('body', body, hash));
  const run = createRunStore(store, 's1', hash);
  const first = await run.get('body', 'b1');
  expect(await run.get('body', 'b1')).toBe(first);
  await run.put('body', 'b2', { ...body, bodyId: 'b2' });
  expect(await createRunStore(store, 's1', hash).get('body', 'b2')).toEqual({ ...body, bodyId: 'b2' });
  expect(store.calls.get).toBe(1);
});

test('what another process wrote again is seen, whatever was read before', async () => {
  const store = createMemoryStore();
  const run = createRunStore(store, 's1', hash);
  await run.put('input', 's1', searchInput());
  const first = await run.get('input', 's1');
  expect(await run.get('input', 's1')).toBe(first);
  const other = { ...searchInput(), namespace: 'elsewhere' };
  await store.put('runs/s1/input/s1.json', writeEnvelope('input', other, hash), { overwrite: true });
  expect(await run.get('input', 's1')).toEqual(other);
  await store.put('runs/s1/input/s1.json', 'damaged', { overwrite: true });
  await expect(run.get('input', 's1')).rejects.toMatchObject({ code: 'corrupt' });
});

test('one reader cannot change what the next one gets', async () => {
  const run = createRunStore(createMemoryStore(), 's1', hash);
  await run.put('body', 'b1', body);
  const read = await run.get('body', 'b1');
  expect(() => Object.assign(read, { sql: 'SELECT 2' })).toThrow(TypeError);
});
