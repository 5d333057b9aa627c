/** The layer in searches, in-process: what one question proves serves the next, and is counted again first. */
import { createMemoryStore } from '../../../src/adapters/scripted';
import { PRESETS } from '../../../src/config/presets';
import { runLookThenProve } from '../../../src/methods/look-then-prove';
import type { LookReply } from '../../../src/prompts';
import { layerOf } from '../../../src/layer/state';
import { readLayer } from '../../../src/record/layer-store';
import { createRunStore } from '../../../src/steps';
import { bench, hash, sqliteEngine, text, type TestEngine } from './fixtures';

const hooks = { now: () => 2_000, stopRequested: () => null, onProgress: () => undefined };

const SECONDS = "CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END";
/** Device B stores milliseconds. 24 laps, each with the same gap in seconds beside it. */
const laps = (): TestEngine =>
  sqliteEngine(`
CREATE TABLE lap (event INTEGER, car INTEGER, device TEXT, gap REAL, behind_s REAL);
${Array.from({ length: 24 }, (_, at) => {
  const seconds = (at + 1) / 4;
  return `INSERT INTO lap VALUES (${at}, ${at % 5}, '${at % 2 === 0 ? 'A' : 'B'}', ${at % 2 === 0 ? seconds : seconds * 1000}, ${seconds});`;
}).join('\n')}
`);

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
      ...{ claim: 1, keep: true, scope: null, restsOn: [], contradicts: [] },
      statement: 'lap.gap is in milliseconds where lap.device is B, else in seconds.',
    },
  ],
};

interface Options {
  readonly engine?: TestEngine;
  readonly keep?: readonly object[];
  /** Default: on. */
  readonly layer?: 'read' | null;
}

/** Questions one after the other on one database and store. */
function questions(engine = laps()) {
  const store = createMemoryStore();
  let asked = 0;
  return {
    store,
    engine,
    layer: async () => layerOf(await readLayer({ store, hash, database: 'races' })),
    ask: async (reply: object, { keep = [], layer, engine: other }: Options = {}) => {
      const searchId = `s${(asked += 1)}`;
      const made = await bench(
        { look: [text(reply)], keep: keep.map(text) },
        {
          engine: other ?? engine,
          store,
          searchId,
          settings: { ...PRESETS.fast, ...(layer === null ? {} : { layer: layer ?? 'on' }) },
        },
      );
      const outcome = await runLookThenProve(
        { searchId, settings: made.input.settings, state: null },
        made.steps,
        hooks,
      );
      const record = await createRunStore(store, searchId, hash).get('result', searchId);
      return {
        ...made,
        ...{ record, outcome },
        first: made.model.requests[0]?.messages.map(({ content }) => content).join('\n') ?? '',
      };
    },
  };
}

test('what a question proved is read, kept, and shown to the next one, which need not claim it', async () => {
  const { ask, layer } = questions();
  const one = await ask(commit(3, { claims: [CLAIM] }), { keep: [KEEP] });
  expect(one.first).not.toContain('proved these conventions before');
  expect(one.record.usage.llmCalls).toBe(2);
  expect(one.record.layer).toMatchObject({ shown: 0, withheld: [], kept: [{ statement: KEEP.claims[0]!.statement }] });
  expect(one.outcome).toMatchObject({ summary: { kept: 1 } });
  const { entries } = await layer();
  expect(entries).toEqual([
    expect.objectContaining({
      status: 'active',
      statement: KEEP.claims[0]!.statement,
      entry: expect.objectContaining({
        ...{ matching: 24, examined: 24, tables: ['lap'], from: { searchId: 's1', question: one.record.question } },
        columns: ['lap.device', 'lap.gap', 'lap.behind_s'],
        rivals: [{ reading: 'all seconds', matching: 12, examined: 24, refuted: true }],
      }) as unknown,
    }),
  ]);

  const two = await ask(commit(1, { known: ['k1'] }));
  expect(two.outcome).not.toHaveProperty('summary.kept');
  expect(two.record.answer).toMatch(/\n1 assumption was proved before \(\d{4}-\d\d-\d\d in s1\) and counted again\.$/);
  expect(two.first).toContain(
    `k1: ${KEEP.claims[0]!.statement} [24 of 24 laps with a stored gap; rivals: all seconds 12]`,
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
  expect(two.record.answer).toContain(
    `\nNo longer holds: "${KEEP.claims[0]!.statement}"; it holds for 12 of 24 (50 %) only`,
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
  expect(record.givenUp).toEqual([expect.objectContaining({ step: 'keep' })]);
  expect((await layer()).entries).toEqual([]);
});
