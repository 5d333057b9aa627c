import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SearchEvents, type Told } from '../../../src/app/search-events';
import { loadConfig } from '../../../src/config';
import { createRunStore } from '../../../src/record/run-store';
import { createMemoryStore } from '../../helpers/scripted/store';

const ID = 'q-0123456789abcdef';
const folder = mkdtempSync(join(tmpdir(), 'gate-events-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Of a search with two remarks on which nobody works. */
async function events(): Promise<SearchEvents> {
  const at = { env: { HOME: folder }, cwd: folder, platform: process.platform, now: () => 0 };
  const store = createMemoryStore();
  const run = createRunStore(store, ID);
  for (const remarkId of ['r1', 'r2'])
    await run.put('remark', remarkId, {
      remarkId,
      author: 'ann',
      text: 'a hint',
      at: '2026-01-01T00:00:00.000Z',
    } as never);
  return new SearchEvents({
    ...at,
    config: loadConfig(at),
    store,
    onEvent: () => undefined,
  });
}

/** What comes first, until nobody works on it. */
async function first(of: SearchEvents, after: string | null): Promise<readonly Told[]> {
  const told: Told[] = [];
  for await (const one of of.read(ID, after, AbortSignal.timeout(240_000))) {
    told.push(one);
    if (one.event.kind === 'interrupted') break;
  }
  return told;
}

const ids = (told: readonly Told[]) => told.flatMap(({ id }) => (id === null ? [] : [id]));

it('a reader who names the last event has what comes after it; one who names none has all', async () => {
  const of = await events();
  const all = ids(await first(of, null));
  expect(all).toHaveLength(2);
  const [one = '', two] = all;
  expect(ids(await first(of, one))).toEqual([two]);
  const name = one.split('.')[0] ?? '';
  // The loop over events that there are not would never end, and nobody else be answered.
  for (const wrong of ['-1000000000000000000', '-5', 'x', '', '1e99', 'Infinity'])
    expect(ids(await first(of, `${name}.${wrong}`))).toEqual(all);
});
