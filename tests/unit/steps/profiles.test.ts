import { createRunStore, createSteps, writeEnvelope } from '../../../src/steps';
import { bench, hash, NO_MEMORY, planReply, SEARCH, sqliteEngine, text } from './fixtures';

const settings = { profiles: true };
const prepare = { purpose: 'prepare' as const, searchId: SEARCH, position: 'prepare' };
const wide = `CREATE TABLE entry (event INTEGER, place INTEGER, mark TEXT, ${Array.from({ length: 90 }, (_, at) => `extra${at} TEXT`).join(', ')});
INSERT INTO entry (event, place, mark, extra88) VALUES (1, 1, '28:10.0', 'N/A'), (1, 2, '+1.5', 'x');`;

test('the columns that a question is likely to touch are profiled once per database and shown to the planner', async () => {
  const one = await bench({ plan: [text(planReply())] }, { settings });
  await one.steps.prepare(prepare);
  const { profiles } = await createRunStore(one.deps.store, SEARCH, hash).get('schema', 'schema');
  expect(profiles.map(({ table, column }) => `${table}.${column}`)).toContain('entry.mark');
  await one.steps.plan({
    role: 'plan',
    searchId: SEARCH,
    position: 'plan',
    tryNumber: 0,
    memory: NO_MEMORY,
    otherPlans: [],
    revise: null,
  });
  expect(one.model.requests[0]!.messages.at(-1)!.content).toContain('column profiles');
  const runs = one.engine.runs.length;
  const two = await bench({}, { settings, store: one.store, engine: one.engine, searchId: 's2' });
  await two.steps.prepare({ ...prepare, searchId: 's2' });
  expect(one.engine.runs).toHaveLength(runs);
  expect((await createRunStore(one.deps.store, 's2', hash).get('schema', 'schema')).profiles).toEqual(profiles);
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

test('what is kept is a day old at most, and what an older version kept without a date is taken anew', async () => {
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
  const [key] = await one.store.list('profiles/');
  await one.store.put(key!, writeEnvelope('profiles', { schemaVersion: 1, profiles: [] }, hash), { overwrite: true });
  expect(await at('s4', 26 * 3_600_000)).toBeGreaterThan(2 * runs);
});

test('a column that only the plan touches is profiled when the plan is checked, and then shown', async () => {
  const sql = "SELECT event, place, mark FROM entry WHERE extra88 <> 'y'";
  const made = await bench(
    { plan: [text(planReply({}, [{ name: 'op_runners', sql }]))], propose: ['x'] },
    { settings, engine: sqliteEngine(wide) },
  );
  await made.steps.prepare(prepare);
  const plan = await made.steps.plan({
    role: 'plan',
    searchId: SEARCH,
    position: 'plan',
    tryNumber: 0,
    memory: NO_MEMORY,
    otherPlans: [],
    revise: null,
  });
  if (plan.kind !== 'ok' || plan.value.kind !== 'plan') throw new Error(text(plan));
  const ref = {
    planId: plan.value.plan.planId,
    bodies: plan.value.plan.operators.map((each) => [each.name, each.bodyId, null] as const),
  };
  await made.steps.check({
    purpose: 'check',
    searchId: SEARCH,
    position: 'check',
    plan: ref,
    operators: ['op_runners'],
  });
  const { profiles } = await createRunStore(made.deps.store, SEARCH, hash).get('profile', ref.planId);
  expect(profiles.map(({ column }) => column)).toContain('extra88');
  await made.steps.propose({
    role: 'propose',
    searchId: SEARCH,
    position: 'propose',
    tryNumber: 0,
    memory: NO_MEMORY,
    plan: ref,
    targets: ['op_gap'],
    attempts: [],
    rollout: [],
    callsLeft: 1,
  });
  expect(made.model.requests.at(-1)!.messages.at(-1)!.content).toContain('- extra88');
});

test('a table whose name is too long for a key of the store is profiled and kept as any other', async () => {
  const name = '\u6c34\u6cf3'.repeat(60);
  const engine = sqliteEngine(`CREATE TABLE "${name}" (mark TEXT); INSERT INTO "${name}" VALUES ('a'), ('b')`);
  const one = await bench({}, { settings, engine });
  await one.steps.prepare(prepare);
  const { profiles } = await createRunStore(one.deps.store, SEARCH, hash).get('schema', 'schema');
  expect(profiles).toMatchObject([{ table: name, column: 'mark', distinct: 2 }]);
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
