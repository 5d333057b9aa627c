import type { DatabaseDescription } from '../../../src/domain';
import type { SqlEngine } from '../../../src/domain/ports';
import { withDescriptionCache } from '../../../src/workers/description-cache';

const signal = new AbortController().signal;
const HOUR = 3_600_000;

/** `revision` null: a database without revisions. */
function database(revision: string | null = 'a', outcomes: readonly ('fails' | 'answers')[] = []) {
  const state = { revision, nowMs: 0, described: 0 };
  const describe = (): Promise<DatabaseDescription> => {
    const outcome = outcomes[state.described] ?? 'answers';
    state.described += 1;
    if (outcome === 'fails') return Promise.reject(new Error('gone'));
    return Promise.resolve({ version: `v${state.described}`, tables: [] } as unknown as DatabaseDescription);
  };
  const revisions = revision === null ? {} : { revision: () => Promise.resolve(state.revision) };
  const engine = withDescriptionCache({ describe, ...revisions } as unknown as SqlEngine, () => state.nowMs);
  return { state, version: async () => (await engine.describe({ signal })).version };
}

test.each<[string, string | null, (state: ReturnType<typeof database>['state']) => void, string]>([
  ['serves whoever asks within five seconds', null, (state) => (state.nowMs = 4_999), 'v1'],
  ['is made anew after five seconds without revisions', null, (state) => (state.nowMs = 5_000), 'v2'],
  ['serves as long as the revision stays', 'a', (state) => (state.nowMs = 23 * HOUR), 'v1'],
  ['is made anew for another revision', 'a', (state) => Object.assign(state, { revision: 'b', nowMs: 5_000 }), 'v2'],
  ['is made anew after a day', 'a', (state) => (state.nowMs = 25 * HOUR), 'v2'],
])('a description %s', async (_what, revision, change, expected) => {
  const { state, version } = database(revision);
  expect(await version()).toBe('v1');
  change(state);
  expect(await version()).toBe(expected);
});

test('a failed description is not remembered', async () => {
  const { version } = database('a', ['fails']);
  await expect(version()).rejects.toThrow('gone');
  expect(await version()).toBe('v2');
});
