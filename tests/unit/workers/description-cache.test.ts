import { createMemoryStore } from '../../../src/adapters/scripted';
import type { DatabaseDescription } from '../../../src/domain';
import { StoreError, type ObjectStore, type SqlEngine } from '../../../src/ports';
import { sha256 } from '../../../src/sha256';
import { withDescriptionCache } from '../../../src/workers/description-cache';

const signal = new AbortController().signal;
const HOUR = 3_600_000;

function database(store: ObjectStore = createMemoryStore()) {
  let described = 0;
  const state = { revision: 'a', nowMs: 0 };
  const describe = (): Promise<DatabaseDescription> => {
    described += 1;
    const description = { dialect: 'sqlite', version: `v${described}`, tables: [], fingerprint: 'f' } as const;
    return Promise.resolve({ ...description, tables: [] });
  };
  /** As another process would open it. */
  const open = (database = 'shop') =>
    withDescriptionCache(
      { engine: { describe, revision: () => Promise.resolve(state.revision) } as unknown as SqlEngine },
      { database, store: () => store, hash: sha256, nowMs: () => state.nowMs },
    ).engine;
  return { open, state, store, described: () => described };
}

test('the next process finds the description of an unchanged database', async () => {
  const { open, described } = database();
  const first = await open().describe({ signal });
  expect(await open().describe({ signal })).toEqual(first);
  expect(described()).toBe(1);
});

test('within a process nothing is read again', async () => {
  const { open, described, state, store } = database();
  const engine = open();
  const first = await engine.describe({ signal });
  await store.delete('schemas/shop/a.json');
  state.nowMs = 6_000;
  expect(await engine.describe({ signal })).toBe(first);
  expect(described()).toBe(1);
});

test('another revision is described anew, and the old description is dropped', async () => {
  const { open, state, store } = database();
  const engine = open();
  await engine.describe({ signal });
  state.revision = 'b';
  state.nowMs = 5_000;
  expect((await engine.describe({ signal })).version).toBe('v2');
  expect(await store.list('schemas/')).toEqual(['schemas/shop/b.json']);
});

test('a description older than a day is taken anew, and databases do not share theirs', async () => {
  const { open, state } = database();
  await open().describe({ signal });
  expect((await open('other').describe({ signal })).version).toBe('v2');
  state.nowMs = 25 * HOUR;
  expect((await open().describe({ signal })).version).toBe('v3');
});

test('a damaged description and a store that is down cost time only', async () => {
  const { open, store } = database();
  await open().describe({ signal });
  await store.put('schemas/shop/a.json', '{"schemaVersion":1}', { overwrite: true });
  expect((await open().describe({ signal })).version).toBe('v2');
  const down = (): Promise<never> => Promise.reject(new StoreError('unavailable', 'down'));
  const other = database({ ...store, get: down, put: down });
  expect((await other.open().describe({ signal })).version).toBe('v1');
});

/** A database without revisions. */
function counting(outcomes: readonly ('fails' | 'answers')[] = []) {
  let calls = 0;
  const describe = (): Promise<DatabaseDescription> => {
    const outcome = outcomes[calls] ?? 'answers';
    calls += 1;
    if (outcome === 'fails') return Promise.reject(new Error('gone'));
    return Promise.resolve({ fingerprint: String(calls), tables: [] } as unknown as DatabaseDescription);
  };
  let nowMs = 0;
  const { engine } = withDescriptionCache(
    { engine: { describe } as unknown as SqlEngine },
    { database: 'x', store: createMemoryStore, hash: sha256, nowMs: () => nowMs },
  );
  return { engine, calls: () => calls, wait: (ms: number) => (nowMs += ms) };
}

test('a description serves whoever asks within five seconds', async () => {
  const { engine, calls, wait } = counting();
  const first = await engine.describe({ signal });
  wait(4_999);
  expect(await engine.describe({ signal })).toBe(first);
  expect(calls()).toBe(1);
});

test('after five seconds a database without revisions is described anew', async () => {
  const { engine, wait } = counting();
  await engine.describe({ signal });
  wait(5_000);
  expect((await engine.describe({ signal })).fingerprint).toBe('2');
});

test('a failed description is not remembered', async () => {
  const { engine } = counting(['fails']);
  await expect(engine.describe({ signal })).rejects.toThrow('gone');
  expect((await engine.describe({ signal })).fingerprint).toBe('2');
});
