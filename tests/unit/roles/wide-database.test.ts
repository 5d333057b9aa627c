/** A database of many tables: what is read of it once, kept, shown, and asked for. */
import { createRunStore } from '../../../src/record/run-store';
import { PRESETS } from '../../../src/config/presets';
import { chosenText, WIDE_CHARS } from '../../../src/database/wide/schema-text';
import { runLookThenProve } from '../../../src/methods/look-then-prove';
import { bench, hooks, SEARCH, sqliteEngine, text } from './fixtures';

const settings = { profiles: true };
const prepare = { purpose: 'prepare' as const, searchId: SEARCH, position: 'prepare' };
const columns = Array.from({ length: 9 }, (_, at) => `quite_long_name_${at} TEXT`).join(', ');
const filler = (at: number): string =>
  `CREATE TABLE aa_log_${at} (${columns}); INSERT INTO aa_log_${at} VALUES (${Array.from({ length: 9 }, (_, column) => `'${at} ${column} noise'`).join(', ')});`;
const SETUP = `${Array.from({ length: 80 }, (_, at) => filler(at)).join('\n')}
CREATE TABLE zz_land (cd TEXT, bez TEXT); INSERT INTO zz_land VALUES ('NO', 'Norway'), ('SE', 'Sweden'), ('DK', 'Denmark');
CREATE TABLE zz_kd (nr TEXT, ld TEXT, secret TEXT);
WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 59)
INSERT INTO zz_kd SELECT '000' || (7000 + i), CASE i % 3 WHEN 0 THEN 'NO' WHEN 1 THEN 'SE' ELSE 'DK' END, 'Hemmelig ' || i FROM n;
CREATE TABLE zz_auf (no TEXT, kd TEXT, wert REAL, art TEXT, lager TEXT, stand TEXT, zusatz TEXT);
WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 199) INSERT INTO zz_auf SELECT 'A' || (100 + i), '' || (7000 + i % 60), i * 1.5, 'Schraube M' || (i % 9), 'Halle ' || (i % 7), 'Stand ' || (i % 11), 'Zusatz ' || (i % 13) FROM n;
CREATE TABLE aa_none (a TEXT);`;
const question = 'What did the customers in Norway order?';

async function shown(options: Parameters<typeof bench>[1] = {}) {
  const made = await bench({}, { engine: sqliteEngine(SETUP), settings, question: { text: question }, ...options });
  await made.steps.prepare(prepare);
  const schema = await createRunStore(made.deps.store, SEARCH).get('schema', 'schema');
  return { ...made, schema, seen: `${schema.text}\n${chosenText(schema.chosen!)}` };
}

test('the tables whose values a question names come in full with what hangs on them, whatever their names', async () => {
  const { schema, seen } = await shown();
  expect(seen.length).toBeLessThanOrEqual(WIDE_CHARS);
  expect(seen).toContain("'Norway' is zz_land.bez where zz_land.cd = 'NO'");
  for (const name of ['zz_land', 'zz_kd', 'zz_auf']) expect(schema.shown).toContain(name);
  expect(seen).toContain('written otherwise in zz_auf.kd');
  expect(seen).toContain('-> zz_kd.nr: 0 of 60 values as they stand');
  expect(seen).toContain('without rows: aa_none');
  expect(schema.shown!.length).toBeLessThan(10);
  expect(schema.shown).not.toContain('aa_log_0');
});

test('the beginning is the same for every question, and the rows are read once', async () => {
  const one = await shown();
  const runs = one.engine.runs.length;
  const two = await bench({}, { settings, store: one.store, engine: one.engine, searchId: 's2', question: { text: 'How many are in Denmark?' } }); // prettier-ignore
  await two.steps.prepare({ ...prepare, searchId: 's2' });
  expect(one.engine.runs).toHaveLength(runs);
  const other = await createRunStore(one.deps.store, 's2').get('schema', 'schema');
  expect(one.schema.text.length).toBeGreaterThan(1_000);
  expect(other.text).toBe(one.schema.text);
  expect(other.chosen!.places).toContain("'Denmark' is zz_land.bez");
});

test('columns that are kept from models are neither read nor stored', async () => {
  const engine = sqliteEngine(SETUP);
  const { describe } = engine;
  engine.describe = async (options) => {
    const all = await describe(options);
    const tables = all.tables.map((table) => ({
      ...table,
      columns: table.columns.filter(({ name }) => name !== 'secret'),
    }));
    return { ...all, tables };
  };
  const { store, seen } = await shown({ engine, question: { text: 'Hemmelig 7' } });
  const [key = ''] = await store.list('profiles/');
  expect(await store.get(key)).toContain('Norway');
  expect(`${await store.get(key)}${seen}`).not.toMatch(/Hemmelig/);
  expect(engine.runs.flat().join()).not.toContain('secret');
});

test('where models see no values, none is indexed or shown', async () => {
  const { store, seen } = await shown({ settings: { ...settings, profileValues: false } });
  const [key = ''] = await store.list('profiles/');
  expect(`${await store.get(key)}${seen}`).not.toContain('Norway');
});

test('a look asks for listed tables beside its queries, and gets them in full', async () => {
  const look = { action: 'look', queries: [{ why: 'zz_auf is for later', sql: 'SELECT count(*) FROM\tzz_kd' }], tables: ['aa_log_79'] }; // prettier-ignore
  const made = await bench({ look: [text(look), text({ action: 'unanswerable', reason: 'no' })] }, { engine: sqliteEngine(SETUP), settings: PRESETS.fast, question: { text: question } }); // prettier-ignore
  await runLookThenProve(made.start, made.steps, hooks);
  const first = made.model.requests[0]!;
  expect(JSON.stringify(first.schema)).toContain('"tables"');
  expect(first.messages.at(-1)!.content).not.toContain('TABLE aa_log_79 (');
  const second = made.model.requests[1]!.messages;
  const last = second.at(-1)!.content;
  expect(last).toContain('TABLE aa_log_79 (');
  expect(last).toContain('79 0 noise');
  // What the question chose stays only where the reply names it, behind the part that all questions share.
  const [before, after] = [first.messages[1]!, second[1]!];
  expect(after.content.slice(0, after.common)).toBe(before.content.slice(0, before.common));
  expect(before.content).toContain('TABLE zz_auf (');
  expect(after.content).toContain('TABLE zz_kd (');
  expect(after.content).not.toContain('TABLE zz_auf (');
  // What codes mean is not asked for again.
  expect(after.content).toContain('NO | Norway');
  expect(after.content).toContain("'Norway' is zz_land.bez");
});
