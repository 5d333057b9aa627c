/** Learning a database without a question, in-process: a real SQLite and a scripted model. */
import { identityKey } from '../../../src/record/search-id';
import { createMemoryStore, type MemoryStore } from '../../helpers/scripted';
import { layerOf } from '../../../src/layer/state';
import { runLearn } from '../../../src/methods/learn';
import type { SearchHooks } from '../../../src/search/run';
import { PRESETS } from '../../../src/config/presets';
import { entryText } from '../../../src/roles/layer/entries';
import { appendToLayer, readLayer } from '../../../src/record/layer-store';
import { ruleIdOf } from '../../../src/layer/rules';
import { createRunStore } from '../../../src/record/run-store';
import { SEARCH, bench, sqliteEngine, text, type TestEngine } from './fixtures';
import type { Settings, SqlResult } from '../../../src/domain';
import type { SqlEngine } from '../../../src/domain/ports';
import type { LearnSteps } from '../../../src/domain/ports/steps';

const HOOKS: SearchHooks = { now: () => 2_000, stopRequested: () => null, onProgress: () => undefined };

const laps = () =>
  sqliteEngine(`
CREATE TABLE lap (event INTEGER, device TEXT, gap REAL, behind_s REAL);
${Array.from({ length: 24 }, (_, at) => {
  const seconds = (at + 1) / 4;
  return `INSERT INTO lap VALUES (${at}, '${at % 2 === 0 ? 'A' : 'B'}', ${at % 2 === 0 ? seconds : seconds * 1000}, ${seconds});`;
}).join('\n')}
`);
const NOTHING = { notes: [], queries: [], claims: [], open: [], done: false };
const LOOK = {
  ...NOTHING,
  notes: ['lap: gap differs by device', 'event: the same in all rows?'],
  queries: [
    { why: 'gap by device', sql: 'SELECT device, max(gap) AS most FROM lap GROUP BY device' },
    { why: 'no table', sql: 'SELECT 1 FROM nowhere' },
  ],
};
const CLAIM = {
  statement: 'lap.gap is in milliseconds where lap.device is B, else in seconds.',
  rows: 'laps',
  check:
    "SELECT count(*), sum(abs(CASE device WHEN 'B' THEN gap / 1000 ELSE gap END - behind_s) < 0.001), sum(abs(gap - behind_s) < 0.001) FROM lap",
  rivals: ['seconds everywhere'],
};
const KEEP = {
  claims: [
    { claim: 1, keep: true, statement: CLAIM.statement, scope: null, restsOn: [], replaces: [], contradicts: [] },
  ],
};

interface Given {
  readonly store?: MemoryStore;
  readonly hooks?: SearchHooks;
  /** Called when the claims of a turn are counted. */
  readonly onProved?: () => void;
  readonly engine?: TestEngine;
  readonly settings?: Partial<Settings>;
}

async function learn(
  turns: readonly object[],
  keep: readonly object[] = [KEEP],
  iterations = 6,
  { store = createMemoryStore(), hooks = HOOKS, onProved = () => undefined, engine = laps(), settings }: Given = {},
) {
  const made = await bench(
    { learn: turns.map(text), keep: keep.map(text) },
    { store, engine, settings: { method: 'learn', spec: 'learn', layer: 'on', iterations, ...settings } },
  );
  const steps: LearnSteps = {
    ...made.steps,
    prove: (input) => made.steps.prove(input).finally(onProved),
  };
  const outcome = await runLearn({ searchId: SEARCH, settings: made.input.settings, state: null }, steps, hooks);
  const record = await createRunStore(store, SEARCH).get('result', SEARCH);
  const layer = layerOf(await readLayer({ store, database: identityKey('races') }));
  const asked = made.model.requests.filter(({ role }) => role === 'learn');
  const prompts = asked.map(({ messages }) => messages.map(({ content }) => content).join('\n'));
  return { ...made, outcome, record, layer, prompts };
}

test('queries and claims in turns: what holds is read and kept, and what a person should decide is asked', async () => {
  const { record, layer, prompts } = await learn([
    LOOK,
    { ...NOTHING, claims: [CLAIM], open: ['Which race do the events belong to?'] },
    { ...NOTHING, done: true },
  ]);
  expect(record).toMatchObject({
    ...{ status: 'answered', endedBy: 'finished', method: 'learn', answer: '1 convention proved and kept' },
    ...{ usage: { llmCalls: 4 }, layer: { kept: [{ statement: CLAIM.statement }] } },
  });
  expect(layer.entries).toEqual([
    expect.objectContaining({
      status: 'active',
      entry: expect.objectContaining({
        matching: 24,
        examined: 24,
        from: { searchId: SEARCH, question: null },
      }) as unknown,
    }),
  ]);
  expect(layer.questions.map(({ text: asked }) => asked)).toEqual(['Which race do the events belong to?']);
  // The ledger: the last turn's results once, notes and claims from then on.
  expect(prompts[1]).toContain('SELECT device, max(gap) AS most FROM lap GROUP BY device');
  expect(prompts[1]).toContain('query 2 reads nowhere');
  expect(prompts[2]).not.toContain('max(gap) AS most');
  // What a claim has settled since is not noted any more.
  expect(prompts[1]).toContain('- lap: gap differs by device');
  expect(prompts[2]).not.toContain('- lap: gap differs by device');
  expect(prompts[2]).toContain('- event: the same in all rows?');
  expect(prompts[2]).toContain(`- PROVED: ${CLAIM.statement} (24 of 24 laps)`);
});

test('a claim that the rows contradict, or whose check lacks a rival, comes back with its figures and is not kept', async () => {
  const wrong = { ...CLAIM, statement: 'gap is in seconds', check: CLAIM.check.replace('gap / 1000', 'gap') };
  const short = { ...CLAIM, statement: 'two counts only', check: 'SELECT count(*), count(*) FROM lap' };
  const { layer, prompts, record } = await learn(
    [
      { ...NOTHING, claims: [wrong, short] },
      { ...NOTHING, done: true },
    ],
    [],
  );
  expect(prompts[1]).toContain('FAILED: gap is in seconds (12 of 24 laps)');
  expect(prompts[1]).toContain('the check gave 2 columns instead of 3');
  expect(layer.entries).toEqual([]);
  expect(record).toMatchObject({ status: 'answered', answer: 'nothing new was proved', usage: { llmCalls: 2 } });
});

test('it ends at its limit of turns, and when turns prove nothing any more', async () => {
  const limited = await learn([LOOK, { ...NOTHING, claims: [CLAIM], queries: LOOK.queries }], [KEEP], 2);
  expect(limited.record).toMatchObject({
    endedBy: 'iterations',
    answer: '1 convention proved and kept; not done: gate learn goes on with "lap"',
    lesson: { learned: [], left: ['lap'] },
  });
  // The last turn asks for no queries; none is run, because nobody would see its rows.
  expect(limited.prompts[1]).toContain('No queries, notes or tables.');
  expect(limited.engine.runs.flat().filter((sql) => sql.includes('max(gap)'))).toHaveLength(1);
  const barren = await learn([{ ...NOTHING, claims: [CLAIM] }, LOOK, LOOK], [KEEP], 8);
  expect(barren.record).toMatchObject({ endedBy: 'finished', usage: { llmCalls: 4 } });
});

test.each(['stop', 'cancel'] as const)(
  'a lesson that is ended by a %s pays for nothing again when it goes on, and then reads what its turns proved',
  async (request) => {
    const turns = [{ ...NOTHING, claims: [CLAIM] }, LOOK, { ...NOTHING, done: true }];
    const store = createMemoryStore();
    let asked = false;
    const hooks = { ...HOOKS, stopRequested: () => (asked ? request : null), onProgress: () => void (asked = true) };
    const ended = await learn(turns, [], 6, { store, hooks });
    expect(ended.record).toMatchObject({
      endedBy: request,
      answer: '1 convention proved but not read yet; not done: the same command goes on',
    });
    expect(ended.model.requests).toHaveLength(1);
    // The turn is in the journal.
    const on = await learn(turns.slice(1), [KEEP], 6, { store });
    expect(on.record).toMatchObject({
      endedBy: 'finished',
      answer: '1 convention proved and kept',
      usage: { llmCalls: 4 },
    });
    expect(on.model.requests).toHaveLength(3);
    expect(on.layer.entries).toHaveLength(1);
  },
);

test('what was proved and not read before the stop is told, and read when the lesson goes on', async () => {
  const turns = [
    { ...NOTHING, claims: [CLAIM] },
    { ...NOTHING, done: true },
  ];
  const store = createMemoryStore();
  let proved = false;
  const hooks: SearchHooks = { ...HOOKS, stopRequested: () => (proved ? 'stop' : null) };
  const ended = await learn(turns, [], 6, { store, hooks, onProved: () => void (proved = true) });
  expect(ended.record).toMatchObject({
    endedBy: 'stop',
    answer: '1 convention proved but not read yet; not done: the same command goes on',
  });
  const on = await learn(turns.slice(1), [KEEP], 6, { store });
  expect(on.record).toMatchObject({ answer: '1 convention proved and kept', usage: { llmCalls: 3 } });
});

test('proofs whose reading gives no usable reply are told as proved and not read', async () => {
  const turns = [{ ...NOTHING, claims: [CLAIM] }, { ...NOTHING, done: true }]; // prettier-ignore
  const wrong = { claims: [{ ...KEEP.claims[0], claim: 9 }] };
  const { record, layer } = await learn(turns, [wrong, wrong, wrong, wrong]);
  expect(record).toMatchObject({ endedBy: 'finished', answer: '1 convention proved but not read yet' });
  expect(layer.entries).toEqual([]);
});

test('a lesson without a usable reply fails, with the cause', async () => {
  await expect(learn([{}, {}, {}, {}])).rejects.toThrow(
    /^the model gave no usable lesson in 4 tries: queries: found no query and no claim$/,
  );
});

test('the next lesson is shown what is kept, however much people said', async () => {
  const { store, engine } = await learn([
    { ...NOTHING, claims: [CLAIM] },
    { ...NOTHING, done: true },
  ]);
  const at = '2026-01-01T00:00:00.000Z';
  const rules = Array.from({ length: 45 }, (_, number) => ({
    ...{ entryId: ruleIdOf(`rule ${number}`), statement: `lap: rule ${number}`, tables: ['lap'], columns: [] },
    ...{ answers: null, author: 'ann', saidAt: at },
  }));
  await appendToLayer(
    { store, database: identityKey('races') },
    rules.map((rule) => ({ kind: 'said', at, rule })),
  );
  const next = await bench(
    { learn: [text({ ...NOTHING, done: true })] },
    { store, engine, searchId: 's2', settings: { method: 'learn', layer: 'on' } },
  );
  await runLearn({ searchId: 's2', settings: next.input.settings, state: null }, next.steps, HOOKS);
  const [first] = next.model.requests.map(({ messages }) => messages.map(({ content }) => content).join('\n'));
  expect(first).toContain(`- ${CLAIM.statement} (24 of 24 laps)`);
  expect(new Set(first!.match(/lap: rule \d+/g)).size).toBe(40);
});

const isBig = (bound: number): object => ({
  statement: `Laps with lap.gap above ${bound} are of device B.`,
  rows: 'laps from event 4 on',
  check: `SELECT count(*), sum((device = 'B') = (gap > ${bound})), sum(device = 'B') FROM lap WHERE event > 3`,
  rivals: ['all are of device B'],
});

test('bounds, dates and factors that the rows leave open are told, kept with the entry, and shown with it', async () => {
  const { layer, prompts, model, store, engine } = await learn([
    { ...NOTHING, claims: [isBig(200), CLAIM] },
    { ...NOTHING, done: true },
  ]);
  // Device A ends at 6 and device B begins, from event 4 on, at 1500.
  const open = { fitsAsWell: [{ literal: '200', put: '100' }, { literal: '200', put: '300' }] }; // prettier-ignore
  expect(layer.entries.map(({ entry: { fitsAsWell } }) => ({ fitsAsWell }))).toEqual([open]);
  expect(prompts[1]).toContain('are of device B. (20 of 20 laps from event 4 on); 100, 300 fit as well as 200');
  const reading = model.requests.find(({ role }) => role === 'keep')!.messages.at(-1)!.content;
  expect(reading).toContain('left open by these rows: 100, 300 fit as well as 200');
  expect(reading).toContain('<data name="tables">\nTABLE lap (');
  const next = await bench(
    { look: [text({ action: 'unanswerable', reason: 'no' })] },
    {
      ...{ store, engine, searchId: 's3', question: { text: 'Which laps of device B?' } },
      settings: { ...PRESETS.fast, profiles: false, layer: 'on' },
    },
  );
  await next.steps.prepare({ purpose: 'prepare', searchId: 's3', position: 'prepare' });
  const { entries } = await createRunStore(store, 's3').get('known', 'schema');
  expect(entries.map(({ entry }) => entryText(entry))).toEqual([
    expect.stringContaining('; 100, 300 fit as well as 200; ') as unknown,
  ]);
});

describe('a wide database', () => {
  const far = Array.from({ length: 40 }, (_, at) => `aa_far_${at}`);
  const parts = Array.from({ length: 12 }, (_, at) => `zz_part_${at}`);
  const wide = (more = '') =>
    sqliteEngine(`
CREATE TABLE zz_hub (id INTEGER PRIMARY KEY, name TEXT);
WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO zz_hub SELECT i * 7919, 'hub ' || i FROM n;
${parts.map((name, at) => `CREATE TABLE ${name} (hub INTEGER, v REAL); INSERT INTO ${name} SELECT id, id * ${at + 2}.5 FROM zz_hub;`).join('\n')}
${far.map((name, at) => `CREATE TABLE ${name} (c${at} TEXT, d${at} TEXT); INSERT INTO ${name} VALUES ('x${at}', 'y${at}');`).join('\n')}
CREATE TABLE mm_none (a TEXT);${more}`);
  const over = { ...NOTHING, done: true };
  const given = (iterations: number) => ({ method: 'learn' as const, spec: 'learn', layer: 'on' as const, profiles: true, iterations }); // prettier-ignore
  const run = async (
    replies: readonly object[],
    iterations: number,
    {
      at = 1_000,
      ...options
    }: {
      readonly at?: number;
      readonly store?: MemoryStore;
      readonly searchId?: string;
      readonly engine?: TestEngine;
    } = {},
  ) => {
    const made = await bench({ learn: replies.map(text) }, { engine: wide(), settings: given(iterations), ...options });
    Object.assign(made.deps, { clock: { now: () => at } });
    const told: (string | null)[] = [];
    const hooks: SearchHooks = { ...HOOKS, onProgress: ({ learned }) => void told.push(learned) };
    await runLearn({ searchId: made.searchId, settings: made.input.settings, state: null }, made.steps, hooks);
    const prompts = made.model.requests.map(({ messages }) => messages.at(-1)!.content);
    const full = prompts.map((prompt) => [...prompt.matchAll(/^TABLE (\S+) \(/gm)].map(([, name = '']) => name));
    const layer = layerOf(await readLayer({ store: made.store, database: identityKey('races') }));
    return { ...made, record: await made.record(), prompts, full, layer, told };
  };

  test('is learned group by group: those that hang together first, in full, all others by name', async () => {
    const { prompts, full, record, told } = await run([over, over, over, over, over, over, over], 20);
    expect(told.slice(0, 2)).toEqual(['1 of 4 groups of tables learned', '2 of 4 groups of tables learned']);
    expect(full[0]).toEqual(expect.arrayContaining(['zz_hub', 'zz_part_0', 'zz_part_11']));
    expect(prompts[0]).toContain('aa_far_39');
    expect(prompts[0]).toMatch(/Part 1 of 4: learn zz_hub, /);
    expect(prompts[0]!.slice(0, prompts[0]!.indexOf('</rules>'))).toBe(prompts[1]!.slice(0, prompts[1]!.indexOf('</rules>'))); // prettier-ignore
    expect(full.flat().sort()).toEqual([...far, ...parts, 'zz_hub'].sort());
    expect(record).toMatchObject({ endedBy: 'finished', answer: 'nothing new was proved', lesson: { left: [] } });
  });

  test('says where it stopped, and the next lesson begins there, with the notes on it', async () => {
    const note = { ...NOTHING, notes: ['aa_far_0: nothing found yet'], queries: [{ why: 'n', sql: 'SELECT 1 FROM aa_far_0' }] }; // prettier-ignore
    const first = await run([over, note], 2);
    const { learned = [], left = [] } = first.record.lesson ?? {};
    expect(learned).toEqual(expect.arrayContaining(['zz_hub']));
    expect([...learned, ...left].sort()).toEqual([...far, ...parts, 'zz_hub'].sort());
    expect(first.record.answer).toBe(
      `nothing new was proved; ${54 - left.length} of 54 tables learned: gate learn goes on with ${left.slice(0, 3).map((name) => `"${name}"`).join(', ')} and ${left.length - 3} more`, // prettier-ignore
    );
    expect(first.layer.lesson).toEqual({
      tables: [...far, ...parts, 'mm_none', 'zz_hub'].filter((name) => !left.includes(name)).sort(),
      ...{ left, notes: ['aa_far_0: nothing found yet'] },
    });
    const second = await run([over, over, over], 3, { store: first.store, searchId: 's2', at: 2_000 });
    expect(second.full.flat().sort()).toEqual([...left].sort());
    expect(second.prompts[0]).toContain('- aa_far_0: nothing found yet');
    expect(second.prompts[1]).not.toContain('nothing found yet');
    expect(second.layer.lesson).toMatchObject({ left: [], notes: [] });
    // All are learned: another lesson begins anew.
    const third = await run([over], 1, { store: first.store, searchId: 's3', at: 3_000 });
    expect(third.full[0]).toContain('zz_hub');
  });

  test('a table without rows is nothing that a lesson left', async () => {
    const all = Array.from({ length: 5 }, () => over);
    const first = await run(all, 20);
    expect(first.layer.lesson?.left).toEqual([]);
    const engine = wide('CREATE TABLE mm_new (a TEXT);');
    const next = await run([over], 1, { engine, store: first.store, searchId: 's2', at: 2_000 });
    expect(next.prompts[0]).toMatch(/Part 1 of 4: learn zz_hub, /);
  });

  test('tables that a reader may not see stay learned, or left, beside those of its own lesson', async () => {
    const names = ['a', 'b', 'c'];
    const showing = (some: readonly string[]) =>
      sqliteEngine(
        some.map((name) => `CREATE TABLE ${name} (x TEXT); INSERT INTO ${name} VALUES ('${name}');`).join('\n'),
      );
    const look = { ...NOTHING, queries: [{ why: 'x', sql: 'SELECT x FROM a' }] };
    const first = await run([look], 1, { engine: showing(names) });
    expect(first.layer.lesson).toMatchObject({ tables: [], left: names });
    const own = await run([over], 3, { engine: showing(['a']), store: first.store, searchId: 's2', at: 2_000 });
    expect(own.layer.lesson).toMatchObject({ tables: ['a'], left: ['b', 'c'] });
    const next = await run([over], 3, { engine: showing(names), store: first.store, searchId: 's3', at: 3_000 });
    expect(next.full[0]).toEqual(['b', 'c']);
    const last = await run([over], 3, { engine: showing(['c']), store: first.store, searchId: 's4', at: 4_000 });
    expect(last.layer.lesson).toMatchObject({ tables: ['c', 'a', 'b'], left: [] });
  });

  test('a database without rows is learned without a call', async () => {
    const none = Array.from({ length: 50 }, (_, at) => `CREATE TABLE t${at} (a TEXT);`).join('\n');
    for (const engine of [sqliteEngine(none), sqliteEngine('CREATE TABLE t (a TEXT);')]) {
      const { prompts, record, told } = await run([], 5, { engine });
      expect(prompts).toEqual([]);
      expect(record).toMatchObject({ endedBy: 'finished', answer: 'nothing new was proved', lesson: { left: [] } });
      expect(told).toEqual([null]);
    }
  });
});

test('a table that was read is listed from then on, unless the turn asks to see it again', async () => {
  const setup = 'CREATE TABLE a (x TEXT); CREATE TABLE b (x TEXT); CREATE TABLE c (x TEXT);';
  const look = (table: string, tables: string[] = []): object => ({
    ...{ ...NOTHING, tables },
    queries: [{ why: 'x', sql: `SELECT x FROM ${table}` }],
  });
  const made = await bench(
    { learn: [look('a'), look('b', ['A']), { ...NOTHING, done: true }].map(text) },
    { engine: sqliteEngine(setup), settings: { method: 'learn', spec: 'learn', layer: 'on', iterations: 5 } },
  );
  await runLearn({ searchId: SEARCH, settings: made.input.settings, state: null }, made.steps, HOOKS);
  const full = made.model.requests.map(({ messages }) =>
    [...messages.at(-1)!.content.matchAll(/^TABLE (\S+) \(/gm)].map(([, name]) => name),
  );
  expect(full).toEqual([
    ['a', 'b', 'c'],
    ['b', 'c'],
    ['a', 'c'],
  ]);
});

test('a claim that did not hold is not told any more once a later one settles its columns or takes it up', async () => {
  const wrong = { ...CLAIM, statement: 'gap is in seconds', check: CLAIM.check.replace('gap / 1000', 'gap') };
  const other = { ...CLAIM, statement: 'event is even', check: 'SELECT count(*), sum(event % 2 = 0), sum(event = 0) FROM lap' }; // prettier-ignore
  const { prompts } = await learn([
    { ...NOTHING, claims: [wrong, other] },
    { ...NOTHING, claims: [CLAIM] },
    { ...NOTHING, claims: [{ ...other, statement: 'event is odd', check: other.check.replace('= 0', '= 1') }] },
    { ...NOTHING, done: true },
  ]);
  expect(prompts[1]).toContain('FAILED: gap is in seconds');
  expect(prompts[2]).not.toContain('gap is in seconds');
  expect(prompts[2]).toContain('- event is even');
  expect(prompts[3]).not.toContain('event is even');
  expect(prompts[3]).toContain('FAILED: event is odd');
});

test('proofs of several turns are read in one call, and at once when most of a limit is spent', async () => {
  const claim = (at: number): object => ({
    ...CLAIM,
    check: CLAIM.check.replace('FROM lap', `FROM lap WHERE event <> ${at}`),
  });
  const each = (at: number): object => ({ ...NOTHING, claims: [claim(at)] });
  const all = { claims: [1, 2, 3].map((at) => ({ ...KEEP.claims[0], claim: at })) };
  const turns = [each(0), each(1), each(2), { ...NOTHING, done: true }];
  const { model, layer } = await learn(turns, [all]);
  expect(model.requests.filter(({ role }) => role === 'keep')).toHaveLength(1);
  expect(layer.entries).toHaveLength(3);
  const budgets = { llmCalls: 5, tokens: null, costUsd: null, wallMs: null, sqlExecutions: null, sqlMs: null, sqlRows: null, sqlBytes: null }; // prettier-ignore
  const short = await learn(turns, [all], 6, { settings: { budgets } });
  // The third turn leaves two calls: they are kept for the reading.
  expect(short.model.requests.map(({ role }) => role)).toEqual(['learn', 'learn', 'learn', 'learn', 'keep']);
  expect(short.layer.entries).toHaveLength(3);
});

test('a check that is stopped or takes too long for a question goes back with its time', async () => {
  const engine = laps();
  const { run } = engine;
  const slow: SqlEngine['run'] = async (statements, options) => {
    const { results, ...more } = await run(statements, options);
    const timed = results.map((result, at): SqlResult => {
      if (/<> 991/.test(statements[at] ?? '')) return { kind: 'timeout', afterMs: 25_000 };
      return result.kind === 'rows' && /<> 992/.test(statements[at] ?? '') ? { ...result, elapsedMs: 4_000 } : result;
    });
    return { ...more, results: timed };
  };
  const turn = { ...NOTHING, claims: [991, 992].map((at) => ({ ...CLAIM, check: `${CLAIM.check} WHERE event <> ${at}` })) }; // prettier-ignore
  const { prompts, layer } = await learn([turn, { ...NOTHING, done: true }], [], 6, {
    engine: { ...engine, run: slow },
  });
  expect(prompts[1]).toContain('its check was stopped after 25000 ms: join grouped subqueries');
  expect(prompts[1]).toContain('its check took 4000 ms: join grouped subqueries');
  expect(layer.entries).toEqual([]);
});

test('a value that only rivals read, or that says how closely figures agree, is none of the claim', async () => {
  const claim = {
    ...{ statement: 'Gaps above 200 are those of B.', rows: 'laps', rivals: ['above 3', 'above 5, nearly'] },
    check: `WITH a AS (SELECT device = 'B' AS b, gap > 200 AS g, gap > 3 AS r FROM lap WHERE event > 3)
      SELECT count(*), sum(b = g AND abs(b - g) < 0.15 * 2), sum(b = r), sum(b = (b + 7 > 7.5 * 2)) FROM a`,
  };
  const { layer } = await learn([
    { ...NOTHING, claims: [claim] },
    { ...NOTHING, done: true },
  ]);
  expect(layer.entries.map(({ entry }) => entry.fitsAsWell)).toEqual([
    [
      { literal: '200', put: '100' },
      { literal: '200', put: '300' },
    ],
  ]);
});

test('claims that do not hold come back once more, although the model thought that it was done', async () => {
  const wrong = { ...CLAIM, check: CLAIM.check.replace('gap / 1000', 'gap') };
  const { prompts, record } = await learn(
    [
      { ...NOTHING, claims: [wrong], done: true },
      { ...NOTHING, claims: [CLAIM], done: true },
    ],
    [KEEP],
  );
  expect(prompts).toHaveLength(2);
  expect(prompts[1]).toContain('FAILED: ');
  expect(record).toMatchObject({ endedBy: 'finished', answer: '1 convention proved and kept' });
});
