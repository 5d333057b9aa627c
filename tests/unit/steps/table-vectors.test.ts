/** Vectors of tables: paid once per text, in batches, kept in the store, shared by the searches of a process. */
import { createMemoryStore, type MemoryStore } from '../../../src/adapters/scripted';
import type { DatabaseDescription } from '../../../src/domain';
import { ModelError, type ObjectStore } from '../../../src/ports';
import { unitVector } from '../../../src/schema/ranking';
import { vectorOf } from '../../../simulated-model/embeddings';
import { nearnessOf, REQUESTS_AT_ONCE, type Near } from '../../../src/steps/table-vectors';
import { readVectors, writeVectors } from '../../../src/record/vector-store';
import { containing, hash } from './fixtures';
import { refused, testEmbedder, type TestEmbedder } from './embedder';

const HOUR = 3_600_000;

function schema(
  count: number,
  fingerprint = 'f1',
  comments: Readonly<Record<number, string>> = {},
): DatabaseDescription {
  const tables = Array.from({ length: count }, (_, at) => ({
    ...{ name: `t${at}`, kind: 'table' as const, comment: comments[at] ?? null, rowEstimate: null },
    columns: [{ name: `word${at}`, type: 'text', nullable: true, comment: null, samples: [] }],
    ...{ primaryKey: [], uniqueKeys: [], foreignKeys: [] },
  }));
  return { dialect: 'sqlite', version: 'SQLite', tables, fingerprint };
}

class World {
  nowMs = 0;
  store: ObjectStore & Pick<MemoryStore, 'calls'> = createMemoryStore(() => this.nowMs);
  readonly embedder: TestEmbedder;

  constructor(batchSize = 96) {
    this.embedder = testEmbedder({ batchSize });
  }

  near(description: DatabaseDescription, { database = 'shop', signal = new AbortController().signal, length = 256, embedder = this.embedder } = {}): Promise<Near> {
    const deps = { store: this.store, hash, clock: { now: () => this.nowMs }, embedder };
    return nearnessOf(deps, { database, description, question: vectorOf('word3', 0, length), signal });
  } // prettier-ignore

  /** The same store as another process sees it. */
  restart(): void {
    this.store = { ...this.store };
  }

  get embeddedTexts(): number {
    return this.embedder.requests.flat().length;
  }
}

const PAID_NOTHING = { texts: 0, tokens: 0, costUsd: 0 };

test('tables are near as their vectors are, and the first search is charged for all of them', async () => {
  const world = new World();
  const near = await world.near(schema(5));
  if (near.kind !== 'ok') throw near.error;
  const [best] = [...near.nearness].sort(([, a], [, b]) => b - a);
  expect(best?.[0]).toBe('t3');
  expect(near.nearness.size).toBe(5);
  expect(near.paid).toEqual({ texts: 5, tokens: 50, costUsd: expect.closeTo(0.005) as number });
});

test('a request never holds more texts than the endpoint takes, and few requests run at once', async () => {
  const world = new World(10);
  let [running, most] = [0, 0];
  world.embedder.gate = async () => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
  };
  await world.near(schema(95));
  const sizes = world.embedder.requests.map(({ length }) => length);
  expect(sizes).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 5]);
  expect(most).toBe(REQUESTS_AT_ONCE);
});

describe('what is kept', () => {
  test('the second search pays nothing and reads nothing; another process reads it from the store', async () => {
    const world = new World();
    await world.near(schema(8));
    const before = world.store.calls.get;
    expect(await world.near(schema(8))).toMatchObject({ kind: 'ok', paid: PAID_NOTHING });
    expect(world.store.calls.get).toBe(before);
    world.restart();
    expect(await world.near(schema(8))).toMatchObject({ kind: 'ok', paid: PAID_NOTHING });
    expect(world.embeddedTexts).toBe(8);
  });

  test('lies under a readable key that refers to one object by its content', async () => {
    const world = new World();
    await world.near(schema(3), { database: 'my shop' });
    const [entry, object, ...others] = await world.store.list('');
    expect(entry).toBe('embeddings/my%20shop/test-embedding/f1.json');
    expect(object).toMatch(/^objects\/sha256\/../);
    expect(others).toEqual([]);
    expect(object?.endsWith(hash((await world.store.get(object)) ?? ''))).toBe(true);
  });

  test('is in 32 bits, and comes back bit by bit', async () => {
    const world = new World();
    const place = { store: world.store, hash, database: 'd', model: 'm/1', fingerprint: 'f' };
    const kept = { length: 3, at: new Map([['x', 0], ['y', 3]]), numbers: unitVector([1, 2, 3, -4, 1e-7, 6]), usedAtMs: 7 }; // prettier-ignore
    await writeVectors(place, kept);
    expect(await readVectors(place)).toEqual(kept);
  });

  test('after a change of the schema only what changed is paid', async () => {
    const world = new World();
    await world.near(schema(8));
    world.restart();
    expect(await world.near(schema(10, 'f2'))).toMatchObject({ kind: 'ok', paid: { texts: 2 } });
    expect(await world.store.list('embeddings/')).toHaveLength(2);
  });

  test('a changed comment gets a new vector although the fingerprint stays', async () => {
    const world = new World();
    await world.near(schema(8));
    expect(await world.near(schema(8, 'f1', { 2: 'word3 in other words' }))).toMatchObject({ paid: { texts: 1 } });
    expect(world.embedder.requests.at(-1)).toEqual(['t2: word3 in other words\ncolumns: word2']);
  });

  test('of another model or another length is of no use', async () => {
    const world = new World();
    await world.near(schema(4));
    const other = testEmbedder({ model: 'other' });
    expect(await world.near(schema(4), { embedder: other })).toMatchObject({ paid: { texts: 4 } });
    const short = testEmbedder({ length: 64 });
    expect(await world.near(schema(4), { embedder: short, length: 64 })).toMatchObject({ kind: 'ok', paid: { texts: 4 } });
  }); // prettier-ignore

  test.each(['entry', 'object'])('a damaged %s is as good as none', async (what) => {
    const world = new World();
    await world.near(schema(4));
    const [entry = '', object = ''] = await world.store.list('');
    await world.store.put(what === 'entry' ? entry : object, '{"half', { overwrite: true });
    world.restart();
    expect(await world.near(schema(4))).toMatchObject({ kind: 'ok', paid: { texts: 4 } });
    world.restart();
    expect(await world.near(schema(4))).toMatchObject({ kind: 'ok', paid: PAID_NOTHING });
  });

  test('what is in use is written again once a day, so that its age is the time since its last use', async () => {
    const world = new World();
    await world.near(schema(4));
    world.nowMs = 11 * HOUR;
    await world.near(schema(4));
    const modified = async () => (await world.store.entries('')).map(({ modifiedMs }) => modifiedMs / HOUR);
    expect(await modified()).toEqual([0, 0]);
    world.nowMs = 13 * HOUR;
    expect(await world.near(schema(4))).toMatchObject({ paid: PAID_NOTHING });
    expect(await modified()).toEqual([13, 13]);
  });
});

describe('searches at the same time', () => {
  test('share one computation, and one of them is charged', async () => {
    const world = new World();
    const all = await Promise.all(Array.from({ length: 5 }, () => world.near(schema(20))));
    expect(world.embeddedTexts).toBe(20);
    expect(all.map(({ paid }) => paid.texts).sort()).toEqual([0, 0, 0, 0, 20]);
  });

  test('a step that is given up does not end it: its next try joins and pays nothing twice', async () => {
    const world = new World();
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    world.embedder.gate = () => opened;
    const controller = new AbortController();
    const first = world.near(schema(6), { signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('too slow'));
    await expect(first).rejects.toThrow('too slow');
    const second = world.near(schema(6));
    open();
    expect(await second).toMatchObject({ kind: 'ok', paid: { texts: 6 } });
    expect(world.embedder.requests).toHaveLength(1);
  });
});

describe('when the model fails', () => {
  test('a wrong key is not tried again, and is one clear line', async () => {
    const world = new World();
    world.embedder.failures.push(refused());
    const near = await world.near(schema(4));
    expect(near).toMatchObject({ kind: 'failed', error: { message: 'test rejected the key: check EMBED_KEY (401)' } });
    expect(world.embedder.requests).toHaveLength(1);
    expect(await world.store.list('')).toEqual([]);
  });

  test('what was paid before is kept and charged, and the next search goes on from there', async () => {
    const world = new World(10);
    world.embedder.failures.push(null, null, new ModelError('bad-request', 'too long'));
    const near = await world.near(schema(40));
    if (near.kind !== 'failed') throw new Error('it worked');
    expect(near.error.message).toMatch(/^too long \(\d+ of 40 tables have their vector; the next question goes on/);
    expect(near.paid.texts).toBeGreaterThanOrEqual(20);
    world.restart();
    const next = await world.near(schema(40));
    expect(next).toMatchObject({ kind: 'ok', paid: { texts: 40 - near.paid.texts } });
  });

  test('a 429 that asks for a short wait is waited for', async () => {
    const world = new World();
    world.embedder.failures.push(new ModelError('rate-limited', 'slow down', { retryAfterMs: 5 }));
    expect(await world.near(schema(4))).toMatchObject({ kind: 'ok', paid: { texts: 4 } });
  });

  test('one that asks for more than ten seconds is not', async () => {
    const world = new World();
    world.embedder.failures.push(new ModelError('rate-limited', 'slow down', { retryAfterMs: 11_000 }));
    expect(await world.near(schema(4))).toMatchObject({ kind: 'failed', error: { code: 'rate-limited' } });
  });

  test('vectors of another length than that of the question are an error', async () => {
    const world = new World();
    const near = await world.near(schema(4), { length: 64 });
    expect(near).toMatchObject({ kind: 'failed', error: { message: containing('different lengths') } });
  });

  test.each([
    ['after a minute', undefined, 60],
    ['after the time of one request, where that is longer,', 90_000, 90],
  ])('%s it is given up, and what came until then is kept', async (_, requestTimeoutMs, seconds) => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const world = new World(10);
    const quick = world.embedder.embed.bind(world.embedder);
    const slow: TestEmbedder = {
      ...world.embedder,
      ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
      embed: (texts, options) =>
        world.embedder.requests.length < 2
          ? quick(texts, options)
          : new Promise((_, reject) => {
              options.signal.addEventListener('abort', () => reject(options.signal.reason as Error));
            }),
    };
    const asked = world.near(schema(100), { embedder: slow });
    await jest.advanceTimersByTimeAsync(seconds * 1000);
    jest.useRealTimers();
    expect(await asked).toMatchObject({
      kind: 'failed',
      error: { code: 'timeout', message: containing(`did not give all vectors within ${seconds} s (20 of 100 tables`) },
      paid: { texts: 20 },
    });
  });

  test('a defect is thrown and not taken for a failure of the model', async () => {
    const world = new World();
    world.embedder.failures.push(new TypeError('a defect'));
    await expect(world.near(schema(4))).rejects.toThrow('a defect');
  });

  test('vectors that would take minutes to read are not made: it says which setting makes them shorter', async () => {
    const world = new World();
    const near = await world.near(schema(9_000), { length: 4_096 });
    expect(near).toMatchObject({ kind: 'failed', error: { message: containing('set schema.embeddings.dimensions to 1864 or less') } }); // prettier-ignore
    expect(world.embedder.requests).toEqual([]);
  });
});
