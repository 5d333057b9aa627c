/** Contents of a search in the store: envelopes, large contents as objects, and what a process remembers of both. */
import { createMemoryStore, type MemoryStore } from '../../helpers/scripted';
import { createRunStore, referenceIn, writeEnvelope } from '../../../src/record/run-store';
import { INLINE_LIMIT, objectKey, objectName } from '../../../src/record/objects';
import { containing, hash, matching, searchInput } from '../roles/fixtures';

const input = searchInput();

test('contents are read back as they were written, under readable keys', async () => {
  const store = createMemoryStore();
  const run = createRunStore(store, 's1', hash);
  await run.put('input', 's1', input);
  expect(await run.get('input', 's1')).toEqual(input);
  expect(await store.list('')).toEqual(['runs/s1/input/s1.json']);
});

test('what is missing is an error that names the key and what to do', async () => {
  const run = createRunStore(createMemoryStore(), 's1', hash);
  expect(await run.find('plan', 'p1')).toBeNull();
  await expect(run.get('plan', 'p1')).rejects.toMatchObject({
    code: 'missing',
    message: matching(/runs\/s1\/plan\/p1\.json.*--fresh/),
  });
});

test.each<[string, (text: string) => string]>([
  ['changed', (text) => text.replace('runner-up', 'winner')],
  ['cut off', (text) => text.slice(0, -5)],
  ['of another kind', (text) => text.replace('"kind":"input"', '"kind":"plan"')],
  ['not what the schema says', () => writeEnvelope('input', {}, hash)],
])('an object that is %s is damaged, never an answer', async (_, damage) => {
  const store = createMemoryStore();
  await store.put('runs/s1/input/s1.json', damage(writeEnvelope('input', input, hash)));
  await expect(createRunStore(store, 's1', hash).get('input', 's1')).rejects.toMatchObject({
    code: 'corrupt',
    message: containing('runs/s1/input/s1.json'),
  });
});

const large = { ...searchInput(), question: { ...searchInput().question, instructions: 'x'.repeat(INLINE_LIMIT) } };
const schema = {
  description: {
    ...{ dialect: 'sqlite' as const, version: 'SQLite 3', fingerprint: 'f' },
    tables: [],
  },
  text: 'CREATE TABLE …\n'.repeat(1_000),
};

/** A second process on the same objects: it remembers nothing. */
const again = (store: MemoryStore): MemoryStore => ({ ...store });

async function withSchema(store = createMemoryStore()): Promise<{ store: MemoryStore; key: string }> {
  await createRunStore(store, 's1', hash).put('schema', 'schema', schema);
  const [key] = await store.list('objects/');
  return { store, key: key! };
}

test('a large content is stored once, however many searches hold it', async () => {
  const { store, key } = await withSchema();
  await createRunStore(store, 's2', hash).put('schema', 'schema', schema);
  expect(await store.list('')).toEqual([key, 'runs/s1/schema/schema.json', 'runs/s2/schema/schema.json']);
  expect(key).toBe(objectKey(hash(JSON.stringify(schema))));
  expect((await store.get('runs/s2/schema/schema.json'))!.length).toBeLessThan(400);
  for (const search of ['s1', 's2'])
    expect(await createRunStore(again(store), search, hash).get('schema', 'schema')).toEqual(schema);
});

test('every step after the first finds the schema in memory, and cannot change it', async () => {
  const { store } = await withSchema();
  const before = store.calls.get;
  const first = await createRunStore(store, 's1', hash).get('schema', 'schema');
  const second = await createRunStore(store, 's1', hash).get('schema', 'schema');
  expect(second).toBe(first);
  expect(store.calls.get - before).toBe(3); // two envelopes and one object
  expect(() => first.description.tables.push({} as never)).toThrow(TypeError);
});

test('a missing object is one line that names it, its reader and what to do', async () => {
  const { store, key } = await withSchema();
  await store.delete(key);
  await expect(createRunStore(again(store), 's1', hash).get('schema', 'schema')).rejects.toMatchObject({
    code: 'missing',
    message: `${key} is missing from the store (runs/s1/schema/schema.json needs it): restore it, or ask with --fresh`,
  });
});

test.each([
  ['changed', (text: string) => text.replace('TABLE', 'VIEW')],
  ['cut off', (text: string) => text.slice(0, 100)],
  ['empty', () => ''],
])('an object that is %s is damaged, never an answer, until a search stores the same content', async (_, damage) => {
  const { store, key } = await withSchema();
  await store.put(key, damage((await store.get(key))!), { overwrite: true });
  const other = again(store);
  const damaged = { code: 'corrupt', message: containing(key) };
  await expect(createRunStore(other, 's1', hash).get('schema', 'schema')).rejects.toMatchObject(damaged);
  await createRunStore(other, 's2', hash).put('schema', 'schema', schema);
  expect(await createRunStore(other, 's1', hash).get('schema', 'schema')).toEqual(schema);
});

test('an object of another store, or a reference that leaves the folder, is never read', async () => {
  const { store } = await withSchema();
  const envelope = JSON.parse((await store.get('runs/s1/schema/schema.json'))!) as { object: { name: string } };
  await store.put('secret/place', '{}');
  const text = JSON.stringify({ ...envelope, object: { name: '../../../secret/place', bytes: 2 } });
  await store.put('runs/s3/schema/schema.json', text);
  await expect(createRunStore(store, 's3', hash).get('schema', 'schema')).rejects.toMatchObject({ code: 'corrupt' });
});

test('the store says how objects are named, where a plain hash would tell what they hold', async () => {
  const plain = createMemoryStore();
  const store = Object.assign(plain, { nameOf: (text: string) => `keyed-${hash(`key ${text}`)}` });
  const { key } = await withSchema(store);
  expect(key).toBe(objectKey(`keyed-${hash(`key ${JSON.stringify(schema)}`)}`));
  // Read without knowing how it was named.
  expect(await createRunStore({ ...plain }, 's1', hash).get('schema', 'schema')).toEqual(schema);
});

test('the object is there before anything refers to it', async () => {
  const store = createMemoryStore();
  const puts: string[] = [];
  const watched = { ...store, put: (key: string, text: string) => (puts.push(key), store.put(key, text)) };
  await createRunStore(watched, 's1', hash).put('input', 's1', large);
  expect(puts[0]).toMatch(/^objects\//);
  expect(puts[1]).toBe('runs/s1/input/s1.json');
});

test('the age of an object begins anew when another process refers to it', async () => {
  let now = 1_000;
  const { store, key } = await withSchema(createMemoryStore(() => now));
  now = 9_000;
  await createRunStore(again(store), 's2', hash).put('schema', 'schema', schema);
  expect((await store.entries(key))[0]!.modifiedMs).toBe(9_000);
});

test('key and name of an object belong together', () => {
  expect(objectName(objectKey('ab'.repeat(32)))).toBe('ab'.repeat(32));
  expect(objectName('objects/sha256/zz/abcdef')).toBeNull();
  expect(objectName('runs/s1/plan/p1.json')).toBeNull();
});

test('a reference is told from an inline content', async () => {
  const { store, key } = await withSchema();
  const reference = referenceIn((await store.get('runs/s1/schema/schema.json'))!, 'k');
  expect(objectKey(reference!.name)).toBe(key);
  expect(referenceIn(writeEnvelope('schema', schema, hash), 'k')).toBeNull();
});

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
  expect(() => Object.assign(first, { sql: 'SELECT 2' })).toThrow(TypeError);
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
