import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROFILE_VERSION } from '../../../src/database/profile';
import { takeProfiles } from '../../../src/roles/sql/profiles';
import { createRunStore } from '../../../src/record/run-store';
import { createSteps } from '../../../src/methods/steps';
import { bench, hash, NO_MEMORY, planReply, SEARCH, sqliteEngine, text } from './fixtures';

const settings = { profiles: true };
const prepare = { purpose: 'prepare' as const, searchId: SEARCH, position: 'prepare' };
const planning = {
  ...{ role: 'plan' as const, searchId: SEARCH, position: 'plan', tryNumber: 0 },
  ...{ memory: NO_MEMORY, otherPlans: [], revise: null },
};

test('every table that is shown is profiled, once per database, and the planner is told what its rows hold', async () => {
  const one = await bench({ plan: [text(planReply())] }, { settings });
  await one.steps.prepare(prepare);
  const schema = await createRunStore(one.deps.store, SEARCH).get('schema', 'schema');
  expect(schema).toMatchObject({ profiled: true });
  for (const part of ['1 | 10 | 1 | 28:10.0', '1 | North']) expect(schema.text).toContain(part);
  await one.steps.plan(planning);
  const told = one.model.requests[0]!.messages.at(-1)!.content;
  expect(told).toContain('2 | 11 | 3 | +9.0');
  const runs = one.engine.runs.length;
  const two = await bench({}, { settings, store: one.store, engine: one.engine, searchId: 's2' });
  await two.steps.prepare({ ...prepare, searchId: 's2' });
  expect(one.engine.runs).toHaveLength(runs);
  expect((await createRunStore(one.deps.store, 's2').get('schema', 'schema')).text).toBe(schema.text);
});

test('searches that begin at the same time on one database share one profile, which counts for one of them', async () => {
  const one = await bench({}, { settings });
  const two = await bench({}, { settings, store: one.store, engine: one.engine, searchId: 's2' });
  const both = await Promise.all([one.steps.prepare(prepare), two.steps.prepare({ ...prepare, searchId: 's2' })]);
  expect(one.engine.runs).toHaveLength(2);
  expect(both.map(({ usage }) => usage.sqlExecutions ?? 0).sort()).toEqual([0, 2]);
});

test('what is kept is profiled anew once the database has changed, where the engine can tell', async () => {
  let revision = 'r1';
  const engine = Object.assign(sqliteEngine(), { revision: () => Promise.resolve(revision) });
  const store = (await bench({}, { settings, engine })).store;
  const seen = async (searchId: string) => {
    const made = await bench({}, { settings, store, engine, searchId });
    const before = engine.runs.length;
    await made.steps.prepare({ ...prepare, searchId });
    return engine.runs.length - before;
  };
  const first = await seen('s1');
  expect(first).toBeGreaterThan(0);
  expect(await seen('s2')).toBe(0);
  revision = 'r2';
  expect(await seen('s3')).toBe(first);
  expect(await seen('s4')).toBe(0);
});

test('what is kept is a day old at most', async () => {
  const one = await bench({}, { settings });
  await one.steps.prepare(prepare);
  const runs = one.engine.runs.length;
  const at = async (searchId: string, nowMs: number) => {
    const made = await bench({}, { settings, store: one.store, engine: one.engine, searchId });
    await createSteps({ ...made.deps, clock: { now: () => nowMs } }).prepare({ ...prepare, searchId });
    return one.engine.runs.length;
  };
  expect(await at('s2', 23 * 3_600_000)).toBe(runs);
  expect(await at('s3', 25 * 3_600_000)).toBe(2 * runs);
});

test('what another version of the code kept is not shown', async () => {
  const one = await bench({}, { settings });
  await one.steps.prepare(prepare);
  const runs = one.engine.runs.length;
  const [key = ''] = await one.store.list('profiles/');
  expect(key).toContain(`/tables${PROFILE_VERSION}-`);
  await one.store.put(key.replace(`tables${PROFILE_VERSION}-`, 'tables-'), (await one.store.get(key)) ?? '');
  await one.store.delete(key);
  const two = await bench({}, { settings, store: { ...one.store }, engine: one.engine, searchId: 's2' });
  await two.steps.prepare({ ...prepare, searchId: 's2' });
  expect(one.engine.runs).toHaveLength(2 * runs);
});

test('a profile that says something else has another version: raise PROFILE_VERSION, then write the new hash here', async () => {
  const told: unknown[] = [];
  for (const setup of [undefined, readFileSync(join(__dirname, '../../../examples/sprint/sprint.sql'), 'utf8')]) {
    const engine = sqliteEngine(...(setup === undefined ? [] : [setup]));
    const description = await engine.describe({ signal: new AbortController().signal });
    const names = description.tables.map(({ name }) => name);
    told.push((await takeProfiles(engine, description, names, { tag: 'test' })).profiles);
  }
  expect({ version: PROFILE_VERSION, says: hash(JSON.stringify(told)).slice(0, 16) }).toEqual({
    version: 5,
    says: 'c8a2609f455ff892',
  });
});

test('a table that cannot be read in time is shown without a profile', async () => {
  const engine = sqliteEngine();
  const run = engine.run.bind(engine);
  const slow = Object.assign(engine, {
    run: async (statements: readonly string[], options: Parameters<typeof run>[1]) =>
      statements[0]!.includes('"entry"')
        ? { takenAt: '', results: [{ kind: 'timeout' as const, afterMs: options.timeoutMs }] }
        : run(statements, options),
  });
  const made = await bench({}, { settings, engine: slow });
  await made.steps.prepare(prepare);
  const schema = await createRunStore(made.deps.store, SEARCH).get('schema', 'schema');
  expect(schema.text).toContain('TABLE entry');
  expect(schema.text).not.toContain('28:10.0');
  expect(schema.text).toContain('1 | North');
});

test('a table whose name is too long for a key of the store is profiled and kept as any other', async () => {
  const name = '\u6c34\u6cf3'.repeat(60);
  const engine = sqliteEngine(`CREATE TABLE "${name}" (mark TEXT); INSERT INTO "${name}" VALUES ('first'), ('second')`);
  const one = await bench({}, { settings, engine });
  await one.steps.prepare(prepare);
  const { text: shown } = await createRunStore(one.deps.store, SEARCH).get('schema', 'schema');
  expect(shown).toContain('row: second');
  const runs = engine.runs.length;
  const two = await bench({}, { settings, engine, store: one.store, searchId: 's2' });
  await two.steps.prepare({ ...prepare, searchId: 's2' });
  expect(engine.runs).toHaveLength(runs);
});

test('without profiles nothing is asked of the database but its description', async () => {
  const made = await bench({}, { settings: { profiles: false } });
  await made.steps.prepare(prepare);
  expect(made.engine.runs).toEqual([]);
});
