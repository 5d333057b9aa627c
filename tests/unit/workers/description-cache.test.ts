import { createMemoryStore } from '../../../src/adapters/scripted';
import type { DatabaseDescription } from '../../../src/domain';
import { StoreError, type ObjectStore, type SqlEngine } from '../../../src/ports';
import { sha256 } from '../../../src/sha256';
import { describedFromStore } from '../../../src/workers/described-from-store';

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
    describedFromStore(
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
  const { open, described, store } = database();
  const engine = open();
  const first = await engine.describe({ signal });
  await store.delete('schemas/shop/a.json');
  expect(await engine.describe({ signal })).toBe(first);
  expect(described()).toBe(1);
});

test('another revision is described anew, and the old description is dropped', async () => {
  const { open, state, store } = database();
  const engine = open();
  await engine.describe({ signal });
  state.revision = 'b';
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

test('an engine without revisions is described each time', async () => {
  let calls = 0;
  const engine = { describe: () => Promise.resolve({ version: String((calls += 1)) }) } as unknown as SqlEngine;
  const opened = describedFromStore({ engine }, { database: 'x', store: createMemoryStore, hash: sha256 });
  await opened.engine.describe({ signal });
  await opened.engine.describe({ signal });
  expect(calls).toBe(2);
});
