/** A fork in-process: contents, journal and state of the parent until the fork, and nothing of it afterwards. */
import type { LayerEntry, SearchInput, Settings } from '../../../src/domain';
import { runSearch } from '../../../src/search/search';
import { initialState } from '../../../src/search/run';
import { runLookThenProve } from '../../../src/methods/look-then-prove';
import type { ScriptedReplies } from '../../helpers/scripted';
import { PRESETS } from '../../../src/config/presets';
import { createRunStore, type RunStore } from '../../../src/record/run-store';
import { mayRefer } from '../../../src/record/stored-contents';
import { forkedState, isBefore, storeFork, type Fork } from '../../../src/record/fork';
import { objectName, OBJECTS } from '../../../src/record/objects';
import { rootTrajectory } from '../../../src/search/remember';
import { SEARCH, bench, groundReply, planReply, text } from '../roles/fixtures';

const hooks = { now: () => 2_000, stopRequested: () => null, onProgress: () => undefined };
const CHILD = 's2';
const second = planReply({ tests: [] }, [
  {
    name: 'op_gap',
    mapping: null,
    sql: "SELECT event, place, CAST(replace(mark, '+', '') AS REAL) AS gap FROM op_runners WHERE place > 1",
    assumptions: [{ kind: 'unit', statement: 'gaps are seconds', risk: 0.2 }],
  },
]);

async function finishedParent() {
  const replies = { plan: [text(planReply()), text(second), text(second)], ground: [text(groundReply())] };
  const made = await bench(replies, { settings: { materiality: false } });
  const start = { searchId: SEARCH, settings: made.input.settings, state: null };
  const outcome = await runSearch(start, made.steps, hooks);
  expect(outcome).toMatchObject({ kind: 'finished', summary: { status: 'answered' } });
  const run = createRunStore(made.deps.store, SEARCH);
  return { ...made, run, state: await run.get('checkpoint', 'i2') };
}

/** What the parent's `prepare` also made. */
async function prepared({ run }: Parent, put: (run: RunStore) => Promise<void>): Promise<void> {
  const step = run.step('prepare', { and: 'more' });
  await put(step.run);
  await step.end(null);
}

type Parent = Awaited<ReturnType<typeof finishedParent>>;

function forkOf(parent: Parent, settings: Partial<Settings> = {}, hint: Fork['hint'] = null): Fork {
  const input: SearchInput = {
    ...parent.input,
    searchId: CHILD,
    settings: { ...parent.input.settings, ...settings },
    parent: { searchId: SEARCH, iteration: 1, usage: { ...parent.state.usage } },
  };
  return { state: parent.state, input, hint, nowMs: 5_000 };
}

/** The fork's own search, over a model that knows only what is asked after the fork. */
async function searchFork(parent: Parent, fork: Fork) {
  const { store } = parent;
  const state = await storeFork(store, fork);
  for (const key of await store.list(`runs/${SEARCH}/`)) await store.delete(key);
  const replies = { plan: [text(second), text(second)] };
  const child = await bench(replies, { store, searchId: CHILD, engine: parent.engine });
  await createRunStore(store, CHILD).put('input', CHILD, fork.input);
  const outcome = await runSearch({ searchId: CHILD, settings: fork.input.settings, state }, child.steps, hooks);
  return { outcome, child, record: await createRunStore(store, CHILD).get('result', CHILD) };
}

test.each<[string, Partial<Settings>, Fork['hint']]>([
  ['nothing changed', {}, null],
  ['another model', { models: { default: 'other-model' } }, null],
  ['another method', { method: 'thorough', spec: 'thorough', cMin: 2 }, null],
  ['another seed', { seed: 7 }, null],
  ['a hint', {}, { author: 'ada', text: 'gaps are seconds' }],
])('a fork with %s ends without its parent and pays only what comes after', async (_what, settings, hint) => {
  const parent = await finishedParent();
  const { outcome, child, record } = await searchFork(parent, forkOf(parent, settings, hint));
  expect(outcome).toMatchObject({
    kind: 'finished',
    summary: {
      status: 'answered',
      answer: '2',
    },
  });
  expect(record.usage.llmCalls).toBe(child.model.requests.length);
  expect(child.model.requests.every(({ role }) => role !== 'ground')).toBe(true);
  expect(record.evidence.find(({ operator }) => operator === 'op_gap')).toMatchObject({
    state: 'proved',
    reusedFrom: SEARCH,
    observed: { rows: [[6, 6]] },
  });
  expect(record.startedAt).toBe('1970-01-01T00:00:05.000Z');
});

test('a hint is shown to the models of the fork and stands in its record', async () => {
  const parent = await finishedParent();
  const fork = forkOf(parent, {}, { author: 'ada', text: 'places may be shared' });
  const { child, record } = await searchFork(parent, fork);
  const said = child.model.requests.flatMap(({ messages }) => messages.map(({ content }) => content)).join('\n');
  expect(said).toContain('ada: places may be shared');
  expect(record.steering).toMatchObject([{ kind: 'hint', author: 'ada', text: 'places may be shared' }]);
});

test('the journal is copied up to the fork; neither ending nor later iterations are, nor a layer that it may not use', async () => {
  const parent = await finishedParent();
  const { store } = parent;
  await prepared(parent, async (run) => {
    await run.put('known', 'schema', { entries: [], withheld: [] });
    await run.put('compressed', 'c', { text: 't', tables: [] });
  });
  await storeFork(store, forkOf(parent));
  const kept = (await store.list(`runs/${CHILD}/`)).map((key) => key.slice(`runs/${CHILD}/`.length));
  expect(kept).toContain('reply/i1.t0.plan.try0.seed0.json');
  expect(kept.filter((key) => key.startsWith('steps/prepare.')).length).toBe(2);
  expect(kept.filter((key) => /i[2-9]/.test(key))).toEqual(['steps/checkpoint.i2.json']);
  expect(kept.filter((key) => /^result|select/.test(key))).toEqual([]);
  const child = createRunStore(store, CHILD);
  expect(await child.find('known', 'schema')).toBeNull();
  expect(await child.find('compressed', 'c')).not.toBeNull();
});

test('what the layer told is in the prompts of the fork, too; what the parent kept is not its own', async () => {
  const parent = await finishedParent();
  const entryId = 'e0123456789abcdef';
  const entry: LayerEntry = {
    ...{ entryId, statement: 'Marks of winners are times.', rows: 'marks', scope: null },
    ...{ check: 'SELECT 6, 6, 0', matching: 6, examined: 6 },
    rivals: [{ reading: 'all are gaps', matching: 0, examined: 6, refuted: true }],
    ...{ tables: [], columns: [], operator: null, restsOn: [], from: { searchId: 'q-1', question: null } },
    ...{ provedAt: '2026-11-20T09:30:00.000Z', schemaFingerprint: '' },
  };
  const withheld = [{ entryId, statement: 'Gaps are in ms.', why: 'it holds for 12 of 24 (50 %) only' }];
  await prepared(parent, (run) => run.put('known', 'schema', { entries: [{ key: 'k1', entry }], withheld }));
  await parent.run.put('kept', 'kept', { entries: [{ entryId, statement: 'A.' }] });
  const { child, record } = await searchFork(parent, forkOf(parent, { layer: 'on' }));
  const said = child.model.requests.flatMap(({ messages }) => messages.map(({ content }) => content)).join('\n');
  expect(said).toContain('Marks of winners are times. [6 of 6 marks; few rows; rivals: all are gaps 0]');
  expect(record.layer).toEqual({ shown: 1, withheld, kept: [] });
});

test('objects are written again before they are referred to, so that no sweep takes them', async () => {
  const parent = await finishedParent();
  const { store } = parent;
  const long = 'x'.repeat(20_000);
  const schema = { ...(await parent.run.get('schema', 'schema')), text: long };
  await prepared(parent, (run) => run.put('schema', 'schema', schema));
  const written: string[] = [];
  const watched = {
    ...store,
    put: (...args: Parameters<typeof store.put>) => (written.push(args[0]), store.put(...args)),
  };
  await storeFork(watched, forkOf(parent));
  const object = written.findIndex((key) => key.startsWith(OBJECTS));
  const reference = written.findIndex((key) => key.startsWith(`runs/${CHILD}/steps/prepare`) && mayRefer(key));
  expect(objectName(written[object] ?? '')).not.toBeNull();
  expect(object).toBeLessThan(reference);
  for (const key of await store.list(`runs/${SEARCH}/`)) await store.delete(key);
  expect((await createRunStore(store, CHILD).get('schema', 'schema')).text).toBe(long);
});

test('an object that is missing is one line that names it, and no checkpoint is left', async () => {
  const parent = await finishedParent();
  const { store } = parent;
  const schema = { ...(await parent.run.get('schema', 'schema')), text: 'x'.repeat(20_000) };
  await prepared(parent, (run) => run.put('schema', 'schema', schema));
  for (const key of await store.list(OBJECTS)) await store.delete(key);
  await expect(storeFork(store, forkOf(parent))).rejects.toThrow('is missing from the store');
  expect(await createRunStore(store, CHILD).find('checkpoint', 'i2')).toBeNull();
});

test('making the same fork again changes nothing', async () => {
  const parent = await finishedParent();
  const { store } = parent;
  const first = await storeFork(store, forkOf(parent));
  const before = parent.store.calls.put;
  expect(await storeFork(store, { ...forkOf(parent), nowMs: 9_000 })).toEqual(first);
  expect(parent.store.calls.put).toBe(before);
});

describe('what was there when the iteration ended', () => {
  const state = {
    ...initialState('s', 0),
    steered: { remarks: ['h1'], vetoes: [], pins: [], budgets: null },
  };
  test.each<[string, boolean]>([
    ['reply/i3.t1.s1.a1.ground.try0.seed0.json', true],
    ['reply/i4.t1.s1.a1.ground.try0.seed0.json', false],
    ['reply/i30.evaluate.try0.seed0.json', false],
    ['intent/select.try0.seed0.json', false],
    ['steps/prepare.01234567.refs.json', true],
    ['steps/i3.c1.01234567.json', true],
    ['steps/i4.c2.01234567.refs.json', false],
    ['steps/held.01234567.json', false],
    ['steps/checkpoint.i3.json', false],
    ['remark/h1.json', true],
    ['remark/h2.json', false],
    ['result/s.json', false],
    ['input/s.json', false],
  ])('%s: %s', (key, expected) => {
    expect(isBefore(key, state, 3)).toBe(expected);
  });
});

test('the state of a fork has spent nothing, begins now, and has limits of its own', async () => {
  const parent = await finishedParent();
  const root = { ...rootTrajectory(), status: 'exhausted' as const, selections: 3 };
  const steered = { remarks: ['h1'], vetoes: [], pins: [], budgets: parent.input.settings.budgets };
  const fork = forkOf(parent, { maxPlans: 6 }, { author: 'ada', text: 'x' });
  const state = forkedState({ ...fork, state: { ...parent.state, trajectories: [root], steered } });
  expect(state).toMatchObject({
    searchId: CHILD,
    startedAtMs: 5_000,
    iteration: 2,
    usage: { llmCalls: 0, costUsd: 0 },
  });
  expect(state.steered).toEqual({ ...steered, remarks: ['h1', 'h2'], unheard: ['h2'], budgets: null });
  expect(state.trajectories[0]?.status).toBe('open');
});

describe('a fork of a conversation', () => {
  const [claim] = [
    {
      ...{ operator: 'op_answer', statement: 'Places are numbers.', rows: 'entries' },
      check: 'SELECT count(*), sum(place > 0), sum(place > 9) FROM entry WHERE event = 1',
      rivals: [{ reading: 'places are codes', instead: null }],
    },
  ];
  const commit = {
    action: 'commit',
    operators: [{ name: 'op_answer', intent: 'events', sql: 'SELECT count(*) AS events FROM event' }],
    claims: [claim],
  };
  const sound = { ...commit, claims: [{ ...claim, check: claim.check.replace(' WHERE event = 1', '') }] };

  /** Looked, committed (four rows show nothing), committed again. */
  async function talkedParent() {
    const look = { action: 'look', queries: [{ why: 'places', sql: 'SELECT DISTINCT place FROM entry' }] };
    const made = await bench({ look: [look, commit, sound].map(text) }, { settings: PRESETS.fast });
    const start = { searchId: SEARCH, settings: made.input.settings, state: null };
    const outcome = await runLookThenProve(start, made.steps, hooks);
    expect(outcome).toMatchObject({ kind: 'finished', summary: { status: 'answered', endedBy: 'settled' } });
    const run = createRunStore(made.deps.store, SEARCH);
    return { ...made, run, state: await run.get('checkpoint', 'i3') };
  }

  function forkAt2(parent: Awaited<ReturnType<typeof talkedParent>>, settings: Settings): Fork {
    const from = { searchId: SEARCH, iteration: 2, usage: { ...parent.state.usage } };
    const input: SearchInput = { ...parent.input, searchId: CHILD, settings, parent: from };
    return { state: parent.state, input, hint: null, nowMs: 5_000 };
  }

  async function begun(parent: Awaited<ReturnType<typeof talkedParent>>, settings: Settings, replies: ScriptedReplies) {
    const { store } = parent;
    const state = await storeFork(store, forkAt2(parent, settings));
    for (const key of await store.list(`runs/${SEARCH}/`)) await store.delete(key);
    const child = await bench(replies, { store, searchId: CHILD, engine: parent.engine, settings });
    const start = { searchId: CHILD, settings, state };
    const steps = child.steps;
    return { child, start, steps, record: () => createRunStore(store, CHILD).get('result', CHILD) };
  }

  test('goes on with what was said and counted, without its parent, and pays only its own turns', async () => {
    const parent = await talkedParent();
    const { child, start, steps, record } = await begun(parent, parent.input.settings, { look: [text(sound)] });
    await runLookThenProve(start, steps, hooks);
    expect(child.model.requests).toHaveLength(1);
    const [request] = child.model.requests;
    const said = request!.messages.map(({ content }) => content).join('\n');
    expect(said).toContain('SELECT DISTINCT place FROM entry');
    expect(said).toContain('only 4 rows were examined');
    expect(await record()).toMatchObject({
      ...{ status: 'answered', rows: [[2]], usage: { llmCalls: 1 } },
      claims: [{ state: 'proved', examined: 8 }],
    });
  });

  test('with a preset that has none is a search, which tests the last commit before it believes it', async () => {
    const parent = await talkedParent();
    const { procedure: _, ...settings } = parent.input.settings;
    const { start, steps, record } = await begun(parent, settings, {});
    expect(start.state.looking).toMatchObject({ phase: 'search' });
    expect(start.state.candidates.map(({ status }) => status)).toEqual(['withdrawn']);
    // Ended at once it has the commit to answer with.
    await runSearch(start, steps, { ...hooks, stopRequested: () => 'stop' });
    expect(await record()).toMatchObject({ status: 'answered', endedBy: 'stop', claims: [{ state: 'open' }] });
  });
});
