/** Contents of a search in the store: envelopes, large contents as objects, and what a process remembers of both. */
import { createMemoryStore, type MemoryStore } from '../../helpers/scripted';
import { createRunStore } from '../../../src/record/run-store';
import { mayRefer, referencesIn } from '../../../src/record/stored-contents';
import { INLINE_LIMIT, objectKey, objectName } from '../../../src/record/objects';
import { containing, hash, matching, searchInput } from '../roles/fixtures';

const input = searchInput();

test('contents are read back as they were written, under readable keys', async () => {
  const store = createMemoryStore();
  const run = createRunStore(store, 's1');
  await run.put('input', 's1', input);
  expect(await run.get('input', 's1')).toEqual(input);
  expect(await store.list('')).toEqual(['runs/s1/input/s1.json']);
});

test('what is missing is an error that names it and what to do', async () => {
  const run = createRunStore(createMemoryStore(), 's1');
  expect(await run.find('plan', 'p1')).toBeNull();
  await expect(run.get('plan', 'p1')).rejects.toMatchObject({
    code: 'missing',
    message: matching(/plan p1 of runs\/s1\/.*--fresh/),
  });
});

test.each<[string, (text: string) => string]>([
  ['changed', (text) => text.replace('runner-up', 'winner')],
  ['cut off', (text) => text.slice(0, -5)],
  ['of another kind', (text) => text.replace('"kind":"input"', '"kind":"plan"')],
  ['no envelope', () => '{}'],
])('an object that is %s is damaged, never an answer', async (_, damage) => {
  const store = createMemoryStore();
  await createRunStore(store, 's1').put('input', 's1', input);
  const key = 'runs/s1/input/s1.json';
  await store.put(key, damage((await store.get(key))!), { overwrite: true });
  await expect(createRunStore(again(store), 's1').get('input', 's1')).rejects.toMatchObject({
    code: 'corrupt',
    message: containing(key),
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

const schemaOf = (search: string): string => `runs/${search}/steps/schema.schema.refs.json`;

async function withSchema(store = createMemoryStore()): Promise<{ store: MemoryStore; key: string }> {
  await createRunStore(store, 's1').put('schema', 'schema', schema);
  const [key] = await store.list('objects/');
  return { store, key: key! };
}

test('a large content is stored once, however many searches hold it', async () => {
  const { store, key } = await withSchema();
  await createRunStore(store, 's2').put('schema', 'schema', schema);
  expect(await store.list('')).toEqual([key, schemaOf('s1'), schemaOf('s2')]);
  expect(key).toBe(objectKey(hash(JSON.stringify(schema))));
  expect((await store.get(schemaOf('s2')))!.length).toBeLessThan(400);
  for (const search of ['s1', 's2'])
    expect(await createRunStore(again(store), search).get('schema', 'schema')).toEqual(schema);
});

test('a missing object is one line that names it, its reader and what to do', async () => {
  const { store, key } = await withSchema();
  await store.delete(key);
  await expect(createRunStore(again(store), 's1').get('schema', 'schema')).rejects.toMatchObject({
    code: 'missing',
    message: `${key} is missing from the store (${schemaOf('s1')} needs it): restore it, or ask with --fresh`,
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
  await expect(createRunStore(other, 's1').get('schema', 'schema')).rejects.toMatchObject(damaged);
  await createRunStore(other, 's2').put('schema', 'schema', schema);
  expect(await createRunStore(other, 's1').get('schema', 'schema')).toEqual(schema);
});

test('the store says how objects are named, where a plain hash would tell what they hold', async () => {
  const plain = createMemoryStore();
  const store = Object.assign(plain, { nameOf: (text: string) => `keyed-${hash(`key ${text}`)}` });
  const { key } = await withSchema(store);
  expect(key).toBe(objectKey(`keyed-${hash(`key ${JSON.stringify(schema)}`)}`));
  // Read without knowing how it was named.
  expect(await createRunStore({ ...plain }, 's1').get('schema', 'schema')).toEqual(schema);
});

test('the object is there before anything refers to it', async () => {
  const store = createMemoryStore();
  const puts: string[] = [];
  const watched = { ...store, put: (key: string, text: string) => (puts.push(key), store.put(key, text)) };
  await createRunStore(watched, 's1').put('input', 's1', large);
  expect(puts[0]).toMatch(/^objects\//);
  expect(puts[1]).toBe('runs/s1/input/s1.json');
});

test('the age of an object begins anew when another process refers to it', async () => {
  let now = 1_000;
  const { store, key } = await withSchema(createMemoryStore(() => now));
  now = 9_000;
  await createRunStore(again(store), 's2').put('schema', 'schema', schema);
  expect((await store.entries(key))[0]!.modifiedMs).toBe(9_000);
});

test('key and name of an object belong together', () => {
  expect(objectName(objectKey('ab'.repeat(32)))).toBe('ab'.repeat(32));
  expect(objectName('objects/sha256/zz/abcdef')).toBeNull();
  expect(objectName('runs/s1/plan/p1.json')).toBeNull();
});

test('what refers to objects is told by its key, and its references are read', async () => {
  const { store, key } = await withSchema();
  await createRunStore(store, 's1').put('body', 'b1', body);
  const keys = (await store.list('runs/')).filter(mayRefer);
  expect(keys).toEqual([schemaOf('s1')]);
  expect(referencesIn((await store.get(keys[0]!))!, keys[0]!).map(objectKey)).toEqual([key]);
});

const body = {
  ...{ bodyId: 'b1', sql: 'SELECT 1', relations: [], reads: [] },
  recursive: false,
  hasWith: false,
};

describe('one object a step', () => {
  const step = (store: MemoryStore, asked: object = {}, runId?: string) =>
    createRunStore(store, 's1', runId === undefined ? {} : { holding: { runId, holdsAll: true } }).step(
      'i1.commit',
      asked,
    );

  test('all that a step made is one write, which only its end makes', async () => {
    const store = createMemoryStore();
    const { run, end } = step(store);
    await run.put('body', 'b1', body);
    await run.put('body', 'b2', { ...body, bodyId: 'b2' });
    expect(await run.get('body', 'b1')).toEqual(body);
    expect(await createRunStore(store, 's1').find('body', 'b1')).toBeNull();
    expect(await end({ rows: 3 })).toEqual({ rows: 3 });
    expect(store.calls.put).toBe(1);
    const other = createRunStore(again(store), 's1');
    expect([...(await other.all('body')).keys()]).toEqual(['b1', 'b2']);
    expect(await other.outputs()).toEqual(new Map([['i1.commit', { rows: 3 }]]));
  });

  test('a step that has ended is not run again with the same input, and is with another', async () => {
    const store = createMemoryStore();
    await step(store, { of: 1 }).end('first');
    expect(await step(again(store), { of: 1 }).done()).toEqual({ output: 'first' });
    expect(await step(again(store), { of: 2 }).done()).toBeNull();
  });

  test('of two tries that end, the first counts, and its contents are those of both', async () => {
    const store = createMemoryStore();
    const [one, two] = [step(again(store)), step(again(store))];
    await one.run.put('body', 'b1', body);
    await two.run.put('body', 'b1', { ...body, sql: 'SELECT 2' });
    expect(await one.end('one')).toBe('one');
    expect(await two.end('two')).toBe('one');
    expect(await two.run.get('body', 'b1')).toEqual(body);
  });

  test('a later step replaces what an earlier one made, in whatever order they are read', async () => {
    const store = createMemoryStore();
    for (const [position, sql] of Object.entries({ z: 'SELECT 1', a: 'SELECT 2' })) {
      const { run, end } = createRunStore(store, 's1').step(position, {});
      await run.find('body', 'b1');
      await run.put('body', 'b1', { ...body, sql });
      await end(null);
    }
    expect((await createRunStore(again(store), 's1').get('body', 'b1')).sql).toBe('SELECT 2');
  });

  test('a reply carries what its step made, and goes on to when it is written again', async () => {
    const store = createMemoryStore();
    const { run } = step(store);
    await run.put('body', 'b1', body);
    await run.put('reply', 'r', reply, { overwrite: false });
    expect(store.calls.put).toBe(1);
    await createRunStore(again(store), 's1').put('reply', 'r', { ...reply, possiblyBilledCalls: 1 });
    const other = createRunStore(again(store), 's1');
    expect(await other.get('body', 'b1')).toEqual(body);
    expect((await other.get('reply', 'r')).possiblyBilledCalls).toBe(1);
    await expect(other.put('reply', 'r', reply, { overwrite: false })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('what was removed meanwhile is not remembered', async () => {
    const store = createMemoryStore();
    const { run, end } = step(store);
    await run.put('body', 'b1', body);
    await end('made');
    const other = again(store);
    expect(await step(other).done()).toEqual({ output: 'made' });
    for (const key of await store.list('runs/')) await store.delete(key);
    expect(await step(other).done()).toBeNull();
    expect(await createRunStore(other, 's1').find('body', 'b1')).toBeNull();
  });

  test('what a large content in a reply refers to is found', async () => {
    const { store, key } = await withSchema();
    const { run } = step(store);
    await run.put('schema', 'schema', schema);
    await run.put('reply', 'r', reply, { overwrite: false });
    const of = 'runs/s1/reply/r.json';
    expect(mayRefer(of)).toBe(true);
    expect(referencesIn((await store.get(of))!, of).map(objectKey)).toEqual([key]);
  });

  test('a process that has run all steps of a run reads nothing; one that has not, lists and reads each object once', async () => {
    const store = createMemoryStore();
    const first = step(store, {}, 'run-1');
    await first.run.find('body', 'b1');
    await first.run.put('body', 'b1', body);
    await first.end(null);
    const before = { ...store.calls };
    const next = createRunStore(store, 's1', { holding: { runId: 'run-1', holdsAll: true } }).step('i2.look', {});
    expect(await next.run.get('body', 'b1')).toBe(body);
    expect(await next.run.find('reply', 'none')).toBeNull();
    expect(await next.done()).toBeNull();
    expect(store.calls).toEqual(before);

    await createRunStore(again(store), 's1').put('body', 'b2', { ...body, bodyId: 'b2' });
    // Another run of the workflow, or one in which others took part.
    for (const holding of [{ runId: 'run-2', holdsAll: true }, { runId: 'run-2', holdsAll: false }, undefined]) {
      const { run } = createRunStore(store, 's1', { holding }).step('i3.look', {});
      expect(await run.get('body', 'b2')).toEqual({ ...body, bodyId: 'b2' });
    }
    expect(store.calls.get - before.get).toBe(1);
  });
});

test('what all questions on a database are told is stored once', async () => {
  const store = createMemoryStore();
  const told = 'TABLE t (…)\n'.repeat(1_000);
  const intentOf = (question: string) => ({
    ...{ inputHash: 'h', model: 'm', role: 'look', maxOutputTokens: 9, unanswered: 1, startedAtMs: 1 },
    messages: [
      { role: 'system' as const, content: 'You answer.' },
      { role: 'user' as const, content: told + question, common: told.length },
    ],
  });
  for (const search of ['s1', 's2']) {
    await createRunStore(again(store), search).put('intent', 'i', intentOf(search));
    const key = `runs/${search}/intent/i.json`;
    expect((await store.get(key))!.length).toBeLessThan(600);
    expect(mayRefer(key)).toBe(true);
    expect(referencesIn((await store.get(key))!, key)).toHaveLength(1);
    expect(await createRunStore(again(store), search).get('intent', 'i')).toEqual(intentOf(search));
  }
  expect(await store.list('objects/')).toHaveLength(1);
});

const reply = {
  ...{ inputHash: 'h', model: 'm', possiblyBilledCalls: 0, endedAtMs: 1 },
  reply: {
    ...{ text: 'a', finishReason: 'stop', model: 'm' },
    ...{ promptTokens: 1, cachedTokens: 0, completionTokens: 1, costUsd: 0 },
  },
};

test('what another process wrote again is seen by a step that begins later', async () => {
  const store = createMemoryStore();
  const step = () => createRunStore(store, 's1').step('i1.look', {}).run;
  await step().put('input', 's1', searchInput());
  const other = { ...searchInput(), namespace: 'elsewhere' };
  await createRunStore(again(store), 's1').put('input', 's1', other);
  expect(await step().get('input', 's1')).toEqual(other);
});
