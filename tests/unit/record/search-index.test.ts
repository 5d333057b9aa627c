/** The index of searches: what a page of `gate list` reads. */
import { createLocalStore } from '../../../src/adapters/local/store';
import { askedUntil, newestSearches, writeIndex } from '../../../src/record/search-index';
import { createMemoryStore } from '../../helpers/scripted';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { searchInput } from '../roles/fixtures';

const asked = (id: string, at: string) => ({ ...searchInput(), searchId: id, askedAt: at });

test.each([
  ['memory', () => createMemoryStore()],
  ['a folder', () => createLocalStore(mkdtempSync(join(tmpdir(), 'gate-index-')))],
])('the newest come first, over days and within one, in %s', async (_, open) => {
  const store = open();
  const times = [
    '2026-11-28T10:00:00.000Z',
    '2026-11-28T10:00:00.001Z',
    '2026-11-27T23:00:00.000Z',
    '2024-01-01T00:00:00.000Z',
  ];
  for (const [n, at] of times.entries()) await writeIndex(store, asked(`q-${n}`, at));
  expect((await newestSearches(store, 9)).map(({ id }) => id)).toEqual(['q-1', 'q-0', 'q-2', 'q-3']);
  expect((await newestSearches(store, 2)).map(({ id }) => id)).toEqual(['q-1', 'q-0']);
});

test('a page reads its own entries and no others, and no record', async () => {
  const store = createMemoryStore();
  for (let n = 0; n < 50; n += 1) await writeIndex(store, asked(`q-${n}`, new Date(n * 86_400_000).toISOString()));
  const before = { ...store.calls };
  expect(await newestSearches(store, 20)).toHaveLength(20);
  expect(store.calls).toEqual({ ...before, get: before.get + 20, list: before.list + 1 });
});

test('an entry is replaced when its search ends', async () => {
  const store = createMemoryStore();
  const input = asked('q-1', '2026-11-28T10:00:00.000Z');
  await writeIndex(store, input);
  expect(await newestSearches(store, 5)).toMatchObject([{ id: 'q-1', status: null, answer: null }]);
  await writeIndex(store, input, { status: 'answered', answer: 'Two\nlines', costUsd: 0.5 });
  expect(await newestSearches(store, 5)).toMatchObject([{ status: 'answered', answer: 'Two lines', costUsd: 0.5 }]);
  expect(await store.list('')).toHaveLength(1);
});

test.each([1, 2, 3, 9])(
  'a search that was asked again is listed once, by the last asking, on a page of %d',
  async (limit) => {
    const store = createMemoryStore();
    const days: readonly (readonly [string, string])[] = [
      ['q-1', '01'],
      ['q-2', '02'],
      ['q-3', '03'],
      ['q-1', '04'],
      ['q-1', '05'],
    ];
    for (const [id, day] of days) await writeIndex(store, asked(id, `2026-11-${day}T00:00:00.000Z`));
    const page = await newestSearches(store, limit);
    expect(page.map(({ id }) => id)).toEqual(['q-1', 'q-3', 'q-2'].slice(0, limit));
    expect(page[0]?.startedAt).toBe('2026-11-05T00:00:00.000Z');
  },
);

test('what was asked until a time is found by search, with parts and with every asking', async () => {
  const store = createMemoryStore();
  const at = (hour: string): string => `2026-11-28T${hour}.000Z`;
  await writeIndex(store, asked('q-1', at('09:00:00')));
  await writeIndex(store, asked('q-1', at('10:00:00')));
  await writeIndex(store, { ...asked('q-part', at('10:00:00')), childOf: 'q-1' });
  await writeIndex(store, asked('q-2', at('10:00:01')));
  await writeIndex(store, { ...asked('q-part-of-2', at('10:00:01')), childOf: 'q-2' });
  const found = await askedUntil(store, Date.parse(at('10:00:00')));
  expect([...found].map(([id, keys]) => [id, keys.length])).toEqual([
    ['q-1', 2],
    ['q-part', 1],
  ]);
});

test('a part of another search is not listed', async () => {
  const store = createMemoryStore();
  await writeIndex(store, { ...asked('q-1', '2026-11-28T10:00:00.000Z'), childOf: 'q-0' });
  expect(await newestSearches(store, 5)).toEqual([]);
});
