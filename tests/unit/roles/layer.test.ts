/** The layer in searches, in-process: what one question proves serves the next, and is counted again first. */
import { identityKey } from '../../../src/record/search-id';
import { createMemoryStore } from '../../helpers/scripted';
import { LayerEvent } from '../../../src/domain';
import { PRESETS } from '../../../src/config/presets';
import { runInProcess } from '../../helpers/in-process';
import type { LookReply } from '../../../src/domain/turns';
import { runLearn } from '../../../src/methods/learn';
import { layerOf } from '../../../src/layer/state';
import { appendToLayer, readLayer } from '../../../src/record/layer-store';
import { openStep } from '../../../src/roles/shared/context';
import { refresh } from '../../../src/roles/answer/refresh';
import { standingOf } from '../../../src/text/standing';
import { GAP_PLAN, GAP_PROBE } from '../../helpers/gap-search';
import { bench, groundReply, sqliteEngine, text, type TestEngine, hooks, promptOf } from './fixtures';
import { standingTexts } from '../../../src/text/answer-text';

const SECONDS = "CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END";
/** Device B stores milliseconds. 24 laps, each with the same gap in seconds beside it. */
const laps = (more = ''): TestEngine =>
  sqliteEngine(`
CREATE TABLE lap (event INTEGER, car INTEGER, device TEXT, gap REAL, behind_s REAL);
${Array.from({ length: 24 }, (_, at) => {
  const seconds = (at + 1) / 4;
  return `INSERT INTO lap VALUES (${at}, ${at % 5}, '${at % 2 === 0 ? 'A' : 'B'}', ${at % 2 === 0 ? seconds : seconds * 1000}, ${seconds});`;
}).join('\n')}
${more}`);

const CLAIM = {
  operator: 'op_gap',
  statement: 'Device B stores milliseconds, device A seconds.',
  rows: 'laps with a stored gap',
  check: `SELECT count(*), sum(abs(${SECONDS} - behind_s) < 0.001), sum(abs(gap - behind_s) < 0.001) FROM lap`,
  rivals: [{ reading: 'all seconds', instead: { of: SECONDS, put: 'gap' } }],
};
const commit = (car: number, more: Partial<LookReply>): object => ({
  action: 'commit',
  operators: [
    { name: 'op_gap', intent: 'the gap of each lap in seconds', sql: `SELECT car, ${SECONDS} AS s FROM lap` },
    { name: 'op_answer', intent: 'the mean gap', sql: `SELECT avg(s) AS gap FROM op_gap WHERE car = ${car}` },
  ],
  sentence: `Car ${car} is {gap} s behind on average.`,
  ...more,
});
const KEEP = {
  claims: [
    {
      ...{ claim: 1, keep: true, scope: null, restsOn: [], replaces: [], contradicts: [] },
      statement: 'lap.gap is in milliseconds where lap.device is B, else in seconds.',
    },
  ],
};

const HELD = KEEP.claims[0]!.statement;
const ANN = { author: 'ann', note: null };

interface Options {
  readonly engine?: TestEngine;
  readonly keep?: readonly object[];
  /** Replies to what goes back. */
  readonly again?: readonly object[];
  /** Default: on. */
  readonly layer?: 'read' | null;
}

/** Questions one after the other on one database and store. */
function questions(engine = laps()) {
  const store = createMemoryStore();
  const place = { store, database: identityKey('races') };
  const layer = async () => layerOf(await readLayer(place));
  let [asked, told] = [0, 0];
  return {
    store,
    engine,
    layer,
    /** Of the entry with the words of `KEEP`, later than all searches. */
    say: async (said: object) => {
      const held = (await layer()).entries.find(({ statement }) => statement === HELD);
      const at = `2026-01-01T00:00:0${(told += 1)}.000Z`;
      await appendToLayer(place, [LayerEvent.parse({ ...said, entryId: held?.entry.entryId, at })]);
    },
    ask: async (reply: object, { keep = [], layer, engine: other, again = [] }: Options = {}) => {
      const searchId = `s${(asked += 1)}`;
      const made = await bench(
        { look: [reply, ...again].map(text), keep: keep.map(text) },
        {
          engine: other ?? engine,
          store,
          searchId,
          question: { text: 'In how many events was the runner-up of cars 0, 1, 2, 3 and 4 within two seconds?' },
          settings: { ...PRESETS.fast, ...(layer === null ? {} : { layer: layer ?? 'on' }) },
        },
      );
      const outcome = await runInProcess(made.start, made.steps, hooks);
      const [first] = made.model.requests;
      return { ...made, outcome, record: await made.record(), first: first === undefined ? '' : promptOf(first) };
    },
  };
}

test('an answer that establishes nothing of its own leaves nothing to be read', async () => {
  const { ask } = questions();
  expect((await ask(commit(2, {}), { again: [commit(2, {})] })).outcome).toMatchObject({
    kind: 'finished',
    keeping: null,
  });
  const one = await ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  expect(one.outcome).toMatchObject({ keeping: { of: { turnId: expect.any(String) as unknown } } });
  expect((await ask(commit(1, { known: ['k1'] }))).outcome).toMatchObject({ keeping: null });
});

test('what a question proved is read, kept, and shown to the next one, which need not claim it', async () => {
  const { ask, layer } = questions();
  const one = await ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  expect(one.first).not.toContain('proved these conventions before');
  expect(one.record.usage.llmCalls).toBe(2);
  expect(one.record.layer).toMatchObject({ shown: 0, withheld: [], kept: [{ statement: KEEP.claims[0]!.statement }] });
  const { entries } = await layer();
  expect(entries).toEqual([
    expect.objectContaining({
      status: 'active',
      statement: KEEP.claims[0]!.statement,
      entry: expect.objectContaining({
        ...{ matching: 24, examined: 24, tables: ['lap'], from: { searchId: 's1', question: one.record.question } },
        columns: ['lap.device', 'lap.gap', 'lap.behind_s'],
        rivals: [{ reading: 'all seconds', matching: 12, examined: 24, refuted: true }],
        operator: {
          ...{ intent: 'the gap of each lap in seconds', tables: ['lap'] },
          sql: expect.stringContaining(SECONDS) as unknown,
          columns: ['lap.car', 'lap.device', 'lap.gap'],
        },
      }) as unknown,
    }),
  ]);

  const two = await ask(commit(1, { known: ['k1'] }));
  expect(two.outcome).not.toHaveProperty('summary.kept');
  expect(standingTexts(two.record).at(-1)).toMatch(
    /^1 assumption was proved before \(\d{4}-\d\d-\d\d in s1\) and counted again\.$/,
  );
  expect(two.first).toContain(
    `k1: ${KEEP.claims[0]!.statement} [24 of 24 laps with a stored gap; rivals: all seconds 12; SQL: `,
  );
  expect(two.record).toMatchObject({ status: 'answered', usage: { llmCalls: 1 }, layer: { shown: 1, kept: [] } });
  expect(two.record.claims).toEqual([
    expect.objectContaining({
      ...{ operator: 'op_gap', state: 'proved', matching: 24, examined: 24 },
      entry: expect.objectContaining({ entryId: entries[0]!.entry.entryId, searchId: 's1' }) as unknown,
    }),
  ]);
  expect((await layer()).entries).toHaveLength(1);
});

test('an entry that is named, and of which the SQL reads nothing, proves nothing of the answer', async () => {
  const { ask } = questions();
  await ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  const operators = [{ name: 'op_answer', intent: 'laps', sql: 'SELECT count(*) AS n FROM lap' }];
  const reply = { action: 'commit', operators, known: ['k1'] };
  const { record } = await ask(reply, { again: [reply] });
  expect(record.claims).toEqual([]);
  expect(standingOf(record)).toBe('unchecked');
});

test('an entry that the rows no longer show is withheld, told, and broken in the layer', async () => {
  const { ask, layer, engine } = questions();
  await ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  engine.write("UPDATE lap SET gap = gap / 1000 WHERE device = 'B'");
  const plain = commit(1, { operators: [{ name: 'op_answer', intent: 'rows', sql: 'SELECT count(*) AS n FROM lap' }] });
  const two = await ask({ ...plain, sentence: null });
  expect(two.first).not.toContain('proved these conventions before');
  expect(two.record.layer).toMatchObject({
    ...{ shown: 0, kept: [] },
    withheld: [{ statement: KEEP.claims[0]!.statement, why: 'it holds for 12 of 24 (50 %) only' }],
  });
  expect(standingTexts(two.record)).toContain(
    `No longer holds: "${KEEP.claims[0]!.statement}"; it holds for 12 of 24 (50 %) only`,
  );
  expect((await layer()).entries[0]).toMatchObject({ status: 'broken', why: 'it holds for 12 of 24 (50 %) only' });
});

test('an entry whose check does not end in time is not used, and told; it stays active', async () => {
  const { ask, layer, engine } = questions();
  await ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  const { entry } = (await layer()).entries[0]!;
  const run = engine.run.bind(engine);
  const slow: TestEngine = {
    ...engine,
    run: async (statements, options) =>
      statements.includes(entry.check)
        ? { takenAt: '2026-01-01T00:00:00.000Z', results: [{ kind: 'timeout', afterMs: options.timeoutMs }] }
        : run(statements, options),
  };
  const plain = commit(1, { operators: [{ name: 'op_answer', intent: 'rows', sql: 'SELECT count(*) AS n FROM lap' }] });
  const { record, first } = await ask({ ...plain, sentence: null }, { engine: slow });
  expect(first).not.toContain('proved these conventions before');
  const { entryId, statement } = entry;
  const why = 'its check did not end within 3 s';
  expect(record.layer).toEqual({ shown: 0, withheld: [], unchecked: [{ entryId, statement, why }], kept: [] });
  expect((await layer()).entries[0]).toMatchObject({ status: 'active' });
});

test('read uses the layer and adds nothing; off sees nothing of it', async () => {
  const { ask, layer } = questions();
  await ask(commit(3, { claims: [CLAIM] }), { layer: 'read' });
  expect((await layer()).entries).toEqual([]);
  await ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  const { first, record } = await ask(commit(3, { claims: [CLAIM] }), { layer: null });
  expect(first).not.toContain('proved these conventions before');
  expect(record.layer).toBeUndefined();
});

test('what the reading does not keep, and a claim without a refuted rival, stay out', async () => {
  const { ask, layer } = questions();
  const no = { claims: [{ ...KEEP.claims[0]!, keep: false, statement: '' }] };
  await ask(commit(3, { claims: [CLAIM] }), { keep: [no] });
  // The rival gives the same answer, so it was not told apart from the claim.
  const same = { ...CLAIM, rivals: [{ reading: 'the same', instead: { of: 'gap / 1000', put: 'gap / 1000.0' } }] };
  const check = `SELECT count(*), sum(abs(${SECONDS} - behind_s) < 0.001), sum(abs(${SECONDS} - behind_s) < 0.001) FROM lap`;
  const { record } = await ask(commit(2, { claims: [{ ...same, check }] }));
  expect(record.claims).toEqual([expect.objectContaining({ state: 'immaterial' })]);
  expect(record.usage.llmCalls).toBe(1);
  expect((await layer()).entries).toEqual([]);
});

test('a reading that cannot be used costs its tries and loses no answer', async () => {
  const { ask, layer } = questions();
  const bad = { claims: [{ ...KEEP.claims[0]!, claim: 7 }] };
  const { record } = await ask(commit(3, { claims: [CLAIM] }), { keep: [bad, bad, bad, bad] });
  expect(record).toMatchObject({ status: 'answered', usage: { llmCalls: 5 } });
  expect(record.layer?.notKept).toMatch(/^no usable reading of what was proved in 4 tries: /);
  expect((await layer()).entries).toEqual([]);
});

const keepAs = (more: object): object => ({ claims: [{ ...KEEP.claims[0]!, ...more }] });
const idsOf = async ({ layer }: Pick<ReturnType<typeof questions>, 'layer'>): Promise<Record<string, string>> =>
  Object.fromEntries((await layer()).entries.map(({ statement, status }) => [statement, status]));

describe('what an entry says already', () => {
  const again = (check: string): LookReply['claims'][number] => ({
    ...{ ...CLAIM, statement: 'Gaps of B are in ms.', check },
    rivals: [{ reading: 'seconds', instead: null }],
  });
  const OTHER_WORDS = `WITH x AS (SELECT abs(${SECONDS} - behind_s) AS off, gap - behind_s AS raw FROM lap) SELECT count(*) AS n, count(CASE WHEN abs(off) < 0.01 THEN 1 END) AS m, sum(abs(raw) < 0.01) FROM x`;

  test.each(['confirmed', 'rejected'] as const)('is not read again, also where a person has %s it', async (kind) => {
    const asked = questions();
    await asked.ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
    await asked.say({ kind, ...ANN });
    const { record } = await asked.ask(commit(2, { claims: [again(OTHER_WORDS)] }));
    expect(record.claims).toEqual([expect.objectContaining({ state: 'proved', matching: 24 })]);
    expect(record.usage.llmCalls).toBe(1);
    expect((await asked.layer()).entries).toHaveLength(1);
  });

  test('is read again where a literal is another, and where the entry is broken', async () => {
    const asked = questions();
    await asked.ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
    const other = again(OTHER_WORDS.replaceAll("device = 'B'", "device <> 'A'"));
    await asked.ask(commit(2, { claims: [other] }), { keep: [keepAs({ statement: 'Other.' })] });
    await asked.say({ kind: 'broken', why: 'no', counts: null });
    await asked.ask(commit(1, { claims: [again(OTHER_WORDS)] }), { keep: [keepAs({ statement: 'Again.' })] });
    expect(await idsOf(asked)).toEqual({ [HELD]: 'broken', 'Other.': 'active', 'Again.': 'active' });
  });
});

test('a claim that is worded well is kept in its own words', async () => {
  const asked = questions();
  await asked.ask(commit(3, { claims: [CLAIM] }), { keep: [keepAs({ statement: null })] });
  expect(await idsOf(asked)).toEqual({ [CLAIM.statement]: 'active' });
});

/** Proved on the same rows, in other words and with another check. */
const STRICTER = {
  ...{ operator: 'op_gap', statement: 'Gaps of B are milliseconds, to the thousandth.', rows: 'laps' },
  check: `SELECT count(*), sum(${SECONDS} = behind_s), sum(gap = behind_s) FROM lap`,
  rivals: [{ reading: 'all seconds', instead: null }],
};

test('an entry that a new one says as well, and more, is superseded; one that a person confirmed is not', async () => {
  for (const isConfirmed of [false, true]) {
    const asked = questions();
    await asked.ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
    if (isConfirmed) await asked.say({ kind: 'confirmed', ...ANN });
    await asked.ask(commit(2, { claims: [STRICTER] }), { keep: [keepAs({ statement: null, replaces: ['k1'] })] });
    expect(await idsOf(asked)).toEqual({
      [HELD]: isConfirmed ? 'active' : 'superseded',
      [STRICTER.statement]: 'active',
    });
  }
});

describe('two entries that cannot both be right', () => {
  const against = (rival: number | null): object => keepAs({ statement: null, contradicts: [{ key: 'k1', rival }] });

  test('are told apart by the database: the old one no longer holds, and the new one stands', async () => {
    const engine = laps();
    const asked = questions(engine);
    await asked.ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
    const claim = {
      ...{ ...STRICTER, statement: 'All gaps are seconds.' },
      check: `SELECT count(*), sum(gap = behind_s), sum(${SECONDS} = behind_s) FROM lap`,
      rivals: [{ reading: 'B in milliseconds', instead: null }],
    };
    // After the layer was read, somebody mends the rows.
    const run: TestEngine['run'] = (statements, options) => {
      if (statements.some((sql) => sql.includes('car = 2'))) engine.write('UPDATE lap SET gap = behind_s');
      return engine.run(statements, options);
    };
    await asked.ask(commit(2, { claims: [claim] }), { engine: { ...engine, run }, keep: [against(1)] });
    expect(await idsOf(asked)).toEqual({ [HELD]: 'broken', 'All gaps are seconds.': 'active' });
  });

  test('are both suspended while both checks hold, until a person decides', async () => {
    const asked = questions();
    await asked.ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
    await asked.ask(commit(2, { claims: [STRICTER] }), { keep: [against(1)] });
    expect(await idsOf(asked)).toEqual({ [HELD]: 'suspended', [STRICTER.statement]: 'suspended' });
    const held = (await asked.layer()).entries.find(({ statement }) => statement === HELD)!;
    expect(held.why).toContain(`both cannot be right: ${STRICTER.statement}; there "all seconds" lost with 12 of 24`);
    await asked.say({ kind: 'confirmed', ...ANN });
    expect(await idsOf(asked)).toEqual({ [HELD]: 'active', [STRICTER.statement]: 'suspended' });
    await asked.say({ kind: 'rejected', ...ANN });
    expect(await idsOf(asked)).toEqual({ [HELD]: 'rejected', [STRICTER.statement]: 'active' });
  });
});

test('a lesson is shown two entries that contradict each other, and its count of both decides', async () => {
  const asked = questions();
  const contradicts = [{ key: 'k1', rival: 1 }];
  await asked.ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  await asked.ask(commit(2, { claims: [STRICTER] }), { keep: [keepAs({ statement: null, contradicts })] });
  const { entries } = await asked.layer();
  const lost = entries.findIndex(({ statement }) => statement === HELD);
  const claim = {
    ...{ statement: 'Gaps of B are milliseconds, as event and device show.', rows: 'laps' },
    check: `SELECT count(*), sum(${SECONDS} = behind_s AND event >= 0), sum(gap = behind_s) FROM lap`,
    rivals: ['all seconds'],
  };
  const turn = { notes: [], queries: [], claims: [claim], open: [], tables: [], done: true };
  const reading = keepAs({ statement: null, contradicts: [{ key: `k${lost + 1}`, rival: 1 }] });
  const { store, engine } = asked;
  const made = await bench(
    { learn: [text(turn)], keep: [text(reading)] },
    { store, engine, searchId: 's9', settings: { method: 'learn', spec: 'learn', layer: 'on' } },
  );
  await runLearn(made.start, made.steps, hooks);
  const prompt = promptOf(made.model.requests[0]!);
  const shown = /<data name="kept before, and cannot all be right">\n- (.*); against: (.*)\n/.exec(prompt);
  expect(shown?.slice(1).sort()).toEqual([`${HELD} (24 of 24 laps with a stored gap)`, `${STRICTER.statement} (24 of 24 laps)`].sort()); // prettier-ignore
  expect(await idsOf(asked)).toEqual({
    [HELD]: 'suspended',
    [STRICTER.statement]: 'active',
    [claim.statement]: 'active',
  });
});

test('a bound of an entry that others fit as well is run through an answer that rests on it', async () => {
  const engine = laps();
  // Nothing says of which device these are.
  engine.write('INSERT INTO lap VALUES (90, 1, NULL, 150, NULL), (91, 1, NULL, 250, NULL), (92, 1, NULL, 250, NULL)');
  const { ask, layer } = questions(engine);
  const claim = {
    ...{ operator: 'op_answer', statement: 'Gaps above 200 are those of device B.', rows: 'laps from event 4 on' },
    check:
      "SELECT count(*), sum((device = 'B') = (gap > 200)), sum(device = 'B') FROM lap WHERE event > 3 AND device > ''",
    rivals: [{ reading: 'all are', instead: null }],
  };
  const count = (sql: string, more: object): object => ({
    ...{ action: 'commit', operators: [{ name: 'op_answer', intent: 'laps of B', sql }] },
    ...{
      assumed: [{ operator: 'op_answer', statement: 'laps without a device are told by their gap', risk: 0.2 }],
      ...more,
    },
  });
  const sql = 'SELECT count(*) AS n FROM lap WHERE gap > 200';
  const one = await ask(count(sql, { claims: [claim] }), { keep: [keepAs({ statement: null })], again: [count(sql, { claims: [claim] })] }); // prettier-ignore
  const open = [
    { literal: '200', put: '100', gives: '15' },
    { literal: '200', put: '300', gives: '12' },
  ];
  expect(one.record).toMatchObject({ rows: [[14]], claims: [{ state: 'proved', fitsAsWell: open }] });
  const { entries } = await layer();
  expect(entries[0]!.entry.fitsAsWell).toEqual(open.map(({ literal, put }) => ({ literal, put })));
  const other = count('SELECT count(*) AS n FROM lap WHERE gap > 200 AND car = 1', { known: ['k1'] });
  const two = await ask(other, { again: [other] });
  expect(two.first).toContain('; 100, 300 fit as well as 200; ');
  expect(two.record.claims).toMatchObject([{ entry: {}, fitsAsWell: [{ put: '100' }, { put: '300' }] }]);
  expect(standingTexts(two.record).join('\n')).toContain('Fits the rows as well: 100 in place of 200; it would be: ');
  // Where the number does not change, nothing is open.
  const same = count('SELECT max(gap) AS most FROM lap WHERE gap > 200', { known: ['k1'] });
  const three = await ask(same, { again: [same] });
  expect(three.record.claims).toMatchObject([{ entry: {}, fitsAsWell: [{ put: '100', gives: null }, {}] }]);
  expect(standingTexts(three.record).join('\n')).not.toContain('Fits the rows');
});

test('a rival of an entry that another answer left open is run through this one, and told where it changes the number', async () => {
  const pits = 'CREATE TABLE pit (event INTEGER, device TEXT, gap REAL); INSERT INTO pit VALUES (0, 1, 5), (1, 1, 7);';
  const { ask, layer } = questions(laps(pits));
  const also = `, sum(abs(${SECONDS} - behind_s) < 0.001 OR event = 0), count(*) FROM lap`;
  const rival = {
    reading: 'event 0 left out',
    instead: { of: SECONDS, put: `CASE WHEN event > 0 THEN ${SECONDS} END` },
  };
  // In another answer the number may stand for anything.
  const bare = { reading: 'a real number', instead: { of: '1000', put: '1000.0' } };
  const claim = { ...CLAIM, check: CLAIM.check.replace(' FROM lap', also), rivals: [...CLAIM.rivals, rival, bare] };
  const one = await ask(commit(3, { claims: [claim] }), { keep: [KEEP] });
  expect(one.record.claims).toMatchObject([{ state: 'proved', rivals: [{}, { verdict: 'same-answer' }, {}] }]);
  expect((await layer()).entries[0]!.entry.rivals).toEqual([
    expect.not.objectContaining({ instead: expect.anything() as unknown }),
    expect.objectContaining({ refuted: false, instead: rival.instead }),
    expect.not.objectContaining({ instead: expect.anything() as unknown }),
  ]);
  const same = await ask(commit(1, { known: ['k1'] }));
  expect(same.record.claims).toMatchObject([{ state: 'proved', rivals: [{}, { verdict: 'same-answer' }, {}] }]);
  expect(standingOf(same.record)).toBe('proved');
  const other = await ask(commit(0, { known: ['k1'] }));
  expect(other.record.claims).toMatchObject([
    { state: 'proved', rivals: [{ verdict: 'refuted' }, { verdict: 'open' }, {}] },
  ]);
  expect(standingOf(other.record)).toBe('partly proved');
  expect(standingTexts(other.record).join('\n')).toContain(
    'Another reading (not refuted, 24 of 24): "event 0 left out"; it would be: ',
  );
  const { settings: _, ...step } = await openStep(other.deps, { searchId: other.input.searchId, position: 'refresh' });
  const again = await refresh({ ...step, settings: other.input.settings }, other.record);
  expect(again).toMatchObject({ kind: 'current', record: { claims: other.record.claims } });
  // The same piece over a table that the entry does not read is none of it.
  const operators = [
    {
      name: 'op_gap',
      intent: 'g',
      sql: "SELECT car, CASE WHEN device <> 'B' THEN gap ELSE gap / 1000 END AS s FROM lap",
    },
    { name: 'op_pit', intent: 'p', sql: `SELECT ${SECONDS} AS s FROM pit` },
    {
      name: 'op_answer',
      intent: 'a',
      sql: 'SELECT avg(s) + (SELECT sum(s) FROM op_pit) AS gap FROM op_gap WHERE car = 0',
    },
  ];
  const apart = await ask(commit(0, { known: ['k1'], operators }));
  expect(apart.record.claims).toMatchObject([{ rivals: [{}, { verdict: 'same-answer' }, {}] }]);
});

describe('an answer asked for again that rests on an entry', () => {
  /** In a process with the layer off: what the answer rested on counts all the same. */
  const again = async ({ deps, input, record }: Awaited<ReturnType<ReturnType<typeof questions>['ask']>>) => {
    const { settings, ...step } = await openStep(deps, { searchId: input.searchId, position: 'refresh' });
    return refresh({ ...step, settings: { ...settings, layer: undefined } }, record);
  };
  const asked = async () => {
    const at = questions();
    const proof = await at.ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
    const use = await at.ask(commit(1, { known: ['k1'] }));
    return { ...at, proof, use, id: proof.record.layer!.kept[0]!.entryId };
  };

  test('no longer holds once a person rejected the entry, for whoever proved or used it', async () => {
    const { proof, use, say, id, ask } = await asked();
    const apart = await ask(commit(2, { claims: [CLAIM] }), { layer: null });
    await say({ kind: 'rejected', author: 'ann', note: 'not\u001b so' });
    const name = `${id.slice(0, 9)} "${HELD}"`;
    const reason = `it rests on ${name}, which was rejected by ann: not\\u001b so`;
    for (const each of [proof, use]) expect(await again(each)).toEqual({ kind: 'stale', reason });
    expect(await again(apart)).toMatchObject({ kind: 'current' });
    await say({ kind: 'confirmed', ...ANN });
    expect(await again(use)).toMatchObject({ kind: 'current' });
  });

  test.each([
    ['nothing happened to it', []],
    ['it was confirmed', [{ kind: 'confirmed', ...ANN }]],
    ['its words were edited', [{ kind: 'edited', ...ANN, statement: 'Other words.' }]],
    ['its check failed, and shows it again', [{ kind: 'broken', why: 'no', counts: null }]],
  ])('stands where %s', async (_, events) => {
    const { proof, use, say } = await asked();
    for (const event of events) await say(event);
    for (const each of [proof, use]) expect(await again(each)).toMatchObject({ kind: 'current' });
  });

  test('no longer holds once a person said what it was not told; what it was told changes nothing', async () => {
    const at = questions();
    const tell = (saidAt: string, statement: string) =>
      appendToLayer({ store: at.store, database: identityKey('races') }, [
        {
          ...{ kind: 'said', at: saidAt },
          rule: {
            ...{ entryId: 'e0000000000000001', statement, tables: ['lap'], columns: [] },
            ...{ answers: null, author: 'ann', saidAt },
          },
        },
      ]);
    const now = async (asked: Awaited<ReturnType<typeof at.ask>>) => {
      const { settings, ...step } = await openStep(asked.deps, { searchId: asked.input.searchId, position: 'refresh' });
      return refresh({ ...step, settings: { ...settings, layer: 'on' } }, asked.record);
    };
    const before = await at.ask(commit(1, { claims: [CLAIM] }));
    await tell('2026-01-02T00:00:00.000Z', 'Laps of the pace car do not count.');
    const reason = 'since then ann said on 2026-01-02: Laps of the pace car do not count.';
    expect(await now(before)).toMatchObject({ kind: 'stale', reason });
    const after = await at.ask(commit(1, { claims: [CLAIM] }));
    expect(await now(after)).toMatchObject({ kind: 'current' });
    await tell('2026-01-03T00:00:00.000Z', 'Laps of the safety car do not count.');
    expect(await now(after)).toMatchObject({ kind: 'stale' });
  });

  test('no longer holds once another contradicts it, whose words are not told', async () => {
    const { proof, use, ask, say, id } = await asked();
    const other = await ask(commit(2, { claims: [STRICTER] }), { keep: [keepAs({ statement: null })] });
    const by = other.record.layer!.kept[0]!.entryId;
    await say({ kind: 'contradicted', by, why: 'both cannot be right: words of the other' });
    const reason = `it rests on ${id.slice(0, 9)} "${HELD}", which is suspended, because ${by} contradicts it`;
    for (const each of [proof, use]) expect(await again(each)).toMatchObject({ kind: 'stale', reason });
  });

  test('stands where what it proved itself was contested as soon as it was kept', async () => {
    const { use, ask } = await asked();
    const contradicts = [{ key: 'k1', rival: null }];
    const other = await ask(commit(2, { claims: [STRICTER] }), { keep: [keepAs({ statement: null, contradicts })] });
    expect(await again(other)).toMatchObject({ kind: 'current' });
    expect(await again(use)).toMatchObject({ kind: 'stale' });
  });

  test('no longer holds once what the entry rests on was rejected', async () => {
    const { ask, say, id } = await asked();
    const above = await ask(commit(2, { claims: [STRICTER] }), {
      keep: [keepAs({ statement: null, restsOn: ['k1'] })],
    });
    expect(await again(above)).toMatchObject({ kind: 'current' });
    await say({ kind: 'rejected', ...ANN });
    expect(await again(above)).toMatchObject({
      kind: 'stale',
      reason: expect.stringMatching(`is suspended, because it rests on ${id}, which is rejected$`) as string,
    });
  });
});

test('a question is told what a person said, apart from what is proved; others are not', async () => {
  const asked = questions();
  const at = '2026-01-01T00:00:00.000Z';
  const said = (n: number, statement: string): LayerEvent => ({
    ...{ kind: 'said', at },
    rule: {
      ...{ entryId: `e000000000000000${n}`, statement, tables: [], columns: [] },
      ...{ answers: null, author: 'ann', saidAt: at },
    },
  });
  await appendToLayer({ store: asked.store, database: identityKey('races') }, [
    said(1, 'Which runner-up counts in events with shared places? The first by car.'),
    said(2, 'Whose clock is it? That of the timekeeper.'),
  ]);
  const { first } = await asked.ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  expect(first).toContain('People who know this database said');
  expect(first).toContain(
    '- ann said on 2026-01-01: Which runner-up counts in events with shared places? The first by car.',
  );
  expect(first).not.toContain('timekeeper');
  expect((await asked.ask(commit(3, { claims: [CLAIM] }), { layer: null })).first).not.toContain('first by car');
});

/** A search that begins with a plan; `during`: what happens before it ends. */
async function search(
  at: ReturnType<typeof questions>,
  { plan = GAP_PLAN, layer = 'on', during }: { plan?: object; layer?: 'on' | 'read'; during?: () => void } = {},
) {
  const searchId = 's0';
  const made = await bench(
    { plan: [text(plan)], ground: [text(groundReply({ facts: [] }))], keep: [text(KEEP)] },
    { engine: at.engine, store: at.store, searchId, settings: { ...PRESETS.thorough, materiality: false, layer } },
  );
  const steps: typeof made.steps = {
    ...made.steps,
    restate: (input, options) => {
      during?.();
      return made.steps.restate(input, options);
    },
  };
  const outcome = await runInProcess(made.start, steps, hooks);
  const roles = made.model.requests.map(({ role }) => role);
  return { outcome, roles, asked: made.model.requests.at(-1)?.messages.at(-1)?.content ?? '' };
}

test('what a probe of the search proved is counted once more, read, kept, and shown to a later question', async () => {
  const at = questions();
  const { outcome, roles, asked } = await search(at);
  expect(outcome).toMatchObject({ summary: { status: 'answered', usage: { llmCalls: 2 } } });
  expect(roles).toEqual(['plan', 'ground', 'keep']);
  expect(asked).toContain(
    'statement: lap.gap of device B is in milliseconds, else in seconds\ncounted: 24 of 24 rows\n',
  );
  expect(asked).toContain('rival "lap.gap is in seconds": 12, refuted');
  const [held] = (await at.layer()).entries;
  const check = [
    `WITH observation AS (\n${GAP_PROBE}\n)`,
    'SELECT n AS examined_1,\n  by_device AS matching_1,\n  plain AS rival_1_1\nFROM observation',
  ].join('\n');
  expect(at.engine.runs).toContainEqual([check]);
  expect(held).toMatchObject({ status: 'active', statement: HELD });
  expect(held?.entry).toMatchObject({
    ...{ check, matching: 24, examined: 24, tables: ['lap'], from: { searchId: 's0' } },
    columns: ['lap.device', 'lap.gap', 'lap.behind_s'],
    rivals: [{ reading: 'lap.gap is in seconds', matching: 12, examined: 24, refuted: true }],
    operator: { intent: 'the gap of each lap in seconds', sql: expect.stringContaining(SECONDS) as unknown },
  });
  const later = await at.ask(commit(1, { known: ['k1'] }));
  expect(later.first).toContain(`k1: ${HELD} [24 of 24 rows; rivals: lap.gap is in seconds 12; SQL: `);
  expect(later.record).toMatchObject({ status: 'answered', usage: { llmCalls: 1 }, layer: { shown: 1 } });
});

test('a grounding whose check counts something else than the probe did is not read and stays out', async () => {
  const at = questions();
  const during = () => at.engine.write("INSERT INTO lap VALUES (99, 1, 'A', 3.0, 3.0)");
  const { outcome, roles } = await search(at, { during });
  expect(outcome).toMatchObject({ summary: { status: 'answered' } });
  expect(roles).toEqual(['plan', 'ground']);
  expect((await at.layer()).entries).toEqual([]);
});

test('a grounding whose rivals a predicate refuted, and no count, stays out', async () => {
  const at = questions();
  const [test] = GAP_PLAN.tests as { operator: string; probe: string; hypotheses: object[] }[];
  const hypotheses = test?.hypotheses.map((each, index) =>
    index === 0 ? each : { ...each, agreement: null, predicates: ['(SELECT plain = n FROM observation)'] },
  );
  const { outcome, roles } = await search(at, { plan: { ...GAP_PLAN, tests: [{ ...test, hypotheses }] } });
  expect(outcome).toMatchObject({ summary: { status: 'answered', proof: [expect.stringContaining('op_gap proved')] } });
  expect(roles).toEqual(['plan', 'ground']);
});

test('a search that only reads the layer adds no grounding to it', async () => {
  const at = questions();
  expect((await search(at, { layer: 'read' })).roles).toEqual(['plan', 'ground']);
});
