/** Learning a database without a question, in-process: a real SQLite and a scripted model. */
import { identityKey } from '../../../src/record/search-id';
import { createMemoryStore, type MemoryStore } from '../../helpers/scripted';
import { layerOf } from '../../../src/layer/state';
import { runLearn } from '../../../src/methods/learn';
import type { SearchHooks } from '../../../src/search/run';
import { readLayer } from '../../../src/record/layer-store';
import { createRunStore } from '../../../src/record/run-store';
import { SEARCH, bench, hash, sqliteEngine, text } from './fixtures';
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
  notes: ['lap: gap differs by device'],
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
}

async function learn(
  turns: readonly object[],
  keep: readonly object[] = [KEEP],
  iterations = 6,
  { store = createMemoryStore(), hooks = HOOKS, onProved = () => undefined }: Given = {},
) {
  const made = await bench(
    { learn: turns.map(text), keep: keep.map(text) },
    { store, engine: laps(), settings: { method: 'learn', spec: 'learn', layer: 'on', iterations } },
  );
  const steps: LearnSteps = {
    ...made.steps,
    prove: (input) => made.steps.prove(input).finally(onProved),
  };
  const outcome = await runLearn({ searchId: SEARCH, settings: made.input.settings, state: null }, steps, hooks);
  const record = await createRunStore(store, SEARCH, hash).get('result', SEARCH);
  const layer = layerOf(await readLayer({ store, hash, database: identityKey('races') }));
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
  expect(prompts[2]).toContain('- lap: gap differs by device');
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
  const limited = await learn([LOOK, { ...NOTHING, claims: [CLAIM] }], [KEEP], 2);
  expect(limited.record).toMatchObject({ endedBy: 'iterations', answer: '1 convention proved and kept' });
  const barren = await learn([{ ...NOTHING, claims: [CLAIM] }, LOOK, LOOK], [KEEP], 8);
  expect(barren.record).toMatchObject({ endedBy: 'finished', usage: { llmCalls: 4 } });
});

test.each(['stop', 'cancel'] as const)(
  'a lesson that is ended by a %s keeps what its turns proved, and pays for nothing again when it goes on',
  async (request) => {
    const turns = [{ ...NOTHING, claims: [CLAIM] }, LOOK, { ...NOTHING, done: true }];
    const store = createMemoryStore();
    let asked = false;
    const hooks = { ...HOOKS, stopRequested: () => (asked ? request : null), onProgress: () => void (asked = true) };
    const ended = await learn(turns, [KEEP], 6, { store, hooks });
    expect(ended.record).toMatchObject({ endedBy: request, answer: '1 convention proved and kept' });
    expect(ended.layer.entries).toHaveLength(1);
    expect(ended.model.requests).toHaveLength(2);
    // The turn and its reading are in the journal.
    const on = await learn(turns.slice(1), [], 6, { store });
    expect(on.record).toMatchObject({
      endedBy: 'finished',
      answer: '1 convention proved and kept',
      usage: { llmCalls: 4 },
    });
    expect(on.model.requests).toHaveLength(2);
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
    answer: '1 convention proved but not read yet; the same command goes on with it',
  });
  const on = await learn(turns.slice(1), [KEEP], 6, { store });
  expect(on.record).toMatchObject({ answer: '1 convention proved and kept', usage: { llmCalls: 3 } });
});

test('a lesson without a usable reply fails, with the cause', async () => {
  await expect(learn([{}, {}, {}, {}])).rejects.toThrow(
    /^the model gave no usable lesson in 4 tries: queries: found no query and no claim$/,
  );
});

test('the next lesson is shown what is kept', async () => {
  const { store, engine } = await learn([
    { ...NOTHING, claims: [CLAIM] },
    { ...NOTHING, done: true },
  ]);
  const next = await bench(
    { learn: [text({ ...NOTHING, done: true })] },
    { store, engine, searchId: 's2', settings: { method: 'learn', layer: 'on' } },
  );
  await runLearn({ searchId: 's2', settings: next.input.settings, state: null }, next.steps, HOOKS);
  const [first] = next.model.requests.map(({ messages }) => messages.map(({ content }) => content).join('\n'));
  expect(first).toContain(`- ${CLAIM.statement} [24 of 24 laps; rivals: seconds everywhere 12]`);
});
