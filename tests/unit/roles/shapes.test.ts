/** The setting `schema.values: false`: shapes and counts, and no value of a row. */
import { SEARCH, bench, sqliteEngine } from './fixtures';
import { createRunStore } from '../../../src/record/run-store';

const SETUP = `CREATE TABLE visit (id INTEGER, code TEXT, note TEXT, paid REAL);
${Array.from({ length: 40 }, (_, at) => `INSERT INTO visit VALUES (${at}, '${at % 2 === 0 ? 'amber' : 'cobalt'}', 'secret-${at}', ${at % 9 === 0 ? -999 : at * 1.5});`).join('\n')}`;

async function prepared(settings: { profileValues?: false }) {
  const { deps, steps } = await bench({}, { engine: sqliteEngine(SETUP), settings: { profiles: true, ...settings } });
  await steps.prepare({ purpose: 'prepare', searchId: SEARCH, position: 'prepare' });
  return createRunStore(deps.store, SEARCH).get('schema', 'schema');
}

test('without the setting a model sees values; with it only shapes and counts', async () => {
  const shown = await prepared({});
  expect(shown.text).toMatch(/amber/);
  expect(shown.text).toMatch(/-999/);
  const bare = await prepared({ profileValues: false });
  expect(JSON.stringify(bare)).not.toMatch(/amber|cobalt|secret|999/);
  expect(bare.text).toMatch(/code text -- .*2/i);
});
