/** Questions that were asked before their database was known as it is now. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryStore } from '../../../src/adapters/scripted';
import { asAskedBefore, askedAnewLine, type AskedAnew } from '../../../src/cli/earlier-search';
import { sha256 } from '../../../src/cli/services';
import type { ResolvedDatabase } from '../../../src/config/databases';
import { SearchInput, type DatabaseDescription } from '../../../src/domain';
import { settingsFor } from '../../../src/config/presets';
import { idByName, searchIdOf } from '../../../src/record/search-id';
import { createRunStore, readEnvelope, storeInput } from '../../../src/steps';
import { record, trace } from '../report/fixture';

const STORE = join(__dirname, '../../fixtures/stores/2026-11-21/store');

test('every id of an older store is the one that its question has by name, and a new one does not hang on the name', () => {
  const ids = readdirSync(join(STORE, 'runs'));
  const inputs = ids.map((id) => {
    const key = join(STORE, 'runs', id, 'input', `${id}.json`);
    return readEnvelope(readFileSync(key, 'utf8'), { key, kind: 'input', schema: SearchInput, hash: sha256 });
  });
  const own = inputs.filter(({ parent, namespace }) => parent === undefined && namespace === 'user');
  expect(own.length).toBeGreaterThan(3);
  for (const input of own) {
    expect(idByName(input)).toBe(input.searchId);
    const known = { ...input, identity: 'd-1' };
    expect(searchIdOf(known)).not.toBe(input.searchId);
    expect(searchIdOf({ ...known, question: { ...known.question, database: 'renamed' } })).toBe(searchIdOf(known));
    expect(searchIdOf({ ...known, identity: 'd-2' })).not.toBe(searchIdOf(known));
  }
});

const DESCRIPTION: DatabaseDescription = {
  dialect: 'sqlite',
  version: 'SQLite 3',
  fingerprint: 'f',
  tables: [
    {
      name: 'races',
      kind: 'table',
      comment: null,
      rowEstimate: 3,
      columns: [{ name: 'town', type: 'TEXT', nullable: true, comment: null, samples: ['Ghent', 'Roubaix'] }],
      primaryKey: [],
      uniqueKeys: [],
      foreignKeys: [],
    },
  ],
};
const sampled = (...samples: string[]): DatabaseDescription => ({
  ...DESCRIPTION,
  tables: DESCRIPTION.tables.map((table) => ({
    ...table,
    rowEstimate: 900,
    columns: table.columns.map((column) => ({ ...column, samples })),
  })),
});

const base = trace.input;
if (base === null) throw new Error('the fixture has an input');
const now: SearchInput = { ...base, identity: 'd-now', searchId: searchIdOf({ ...base, identity: 'd-now' }) };
const byName = idByName(now);

async function lookedUp(
  stored: readonly string[],
  options: {
    readonly adHoc?: boolean;
    readonly chain?: string[];
    readonly today?: DatabaseDescription;
    readonly then?: DatabaseDescription | null;
  },
) {
  const { adHoc = false, chain = ['d-now'], today = DESCRIPTION, then = DESCRIPTION } = options;
  const store = createMemoryStore();
  for (const searchId of stored) {
    await storeInput({ store, hash: sha256 }, { ...now, searchId });
    const run = createRunStore(store, searchId, sha256);
    if (then !== null)
      await run.put('schema', 'schema', { schemaVersion: 1, description: then, text: '', profiles: [] });
    else await run.put('result', searchId, { ...record, id: searchId });
  }
  const told: AskedAnew[] = [];
  const described: string[] = [];
  const found = await asAskedBefore(now, {
    store,
    database: { name: now.question.database, adHoc } as ResolvedDatabase,
    chain,
    describe: () => {
      described.push('');
      return Promise.resolve(today);
    },
    tell: (anew) => void told.push(anew),
  });
  return {
    searchId: found.searchId,
    identity: found.identity,
    told: told.map(askedAnewLine),
    described: described.length,
  };
}

const OWN = { searchId: now.searchId, identity: 'd-now', told: [], described: 0 };

describe('a question that an earlier version asked', () => {
  test('of a configured name is taken where structure and sample values are those of today, however many rows there are', async () => {
    const today = sampled('Ghent', 'Roubaix');
    expect(await lookedUp([byName], { today })).toEqual({ ...OWN, searchId: byName, described: 1 });
  });

  test.each([
    ['sample values', sampled('Ghent', 'Oudenaarde')],
    ['tables', { ...DESCRIPTION, fingerprint: 'g' }],
  ])('of a configured name with other %s is asked anew, in one line', async (_what, today) => {
    const { searchId, told } = await lookedUp([byName], { today });
    expect(searchId).toBe(now.searchId);
    expect(told).toEqual([
      `asked before as ${byName} of a database called 'races', which may be another one (its tables or their first rows have changed): asked again`,
    ]);
  });

  test('and whose description is gone is asked anew, in one line', async () => {
    expect((await lookedUp([byName], { then: null })).told[0]).toContain('its earlier schema is no longer stored');
  });

  test('of an ad-hoc database is taken, because its name has a hash of the address', async () => {
    expect(await lookedUp([byName], { adHoc: true, today: sampled('x') })).toEqual({ ...OWN, searchId: byName });
  });

  test('and was asked since is the later search, and the database is not looked at', async () => {
    expect(await lookedUp([byName, now.searchId], {})).toEqual(OWN);
  });
});

test('of preset thorough is found under the settings that this preset had', async () => {
  const settings = settingsFor({ method: 'gate', preset: 'thorough', models: base.settings.models });
  const { secondDerivation, ...then } = settings;
  expect(secondDerivation).toBe('when-doubtful');
  const idOf = (of: SearchInput['settings']): string => searchIdOf({ ...now, settings: of });
  const store = createMemoryStore();
  await createRunStore(store, idOf(then), sha256).put('result', idOf(then), { ...record, id: idOf(then) });
  const input = { ...now, settings, searchId: idOf(settings) };
  const asked = {
    store,
    chain: ['d-now'],
    describe: () => Promise.reject(new Error('unasked')),
    tell: () => undefined,
  };
  const found = await asAskedBefore(input, { ...asked, database: { name: 'races', adHoc: false } as ResolvedDatabase });
  expect(found).toMatchObject({ searchId: idOf(then), settings: then });
});

test('a question that was never asked has its own id, and the database is not looked at', async () => {
  expect(await lookedUp([], {})).toEqual(OWN);
});

test('what was asked before the database was adopted is found by what it was then, the oldest first', async () => {
  const idOf = (identity: string): string => searchIdOf({ ...now, identity });
  const chain = ['d-moved', 'd-between', 'd-now'];
  expect((await lookedUp([idOf('d-moved')], { chain })).searchId).toBe(idOf('d-moved'));
  expect((await lookedUp([idOf('d-moved'), idOf('d-between')], { chain })).searchId).toBe(idOf('d-between'));
  expect((await lookedUp([idOf('d-moved'), idOf('d-now')], { chain })).searchId).toBe(now.searchId);
});
