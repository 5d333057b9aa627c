/** When a search keeps what its probes proved, and that its answer does not depend on it. */
import type { Settings } from '../../../src/domain';
import type { SearchHooks } from '../../../src/search/run';
import { runSearch } from '../../../src/search/search';
import {
  FakeSteps,
  judged,
  operator,
  planned,
  planOf,
  testHooks,
  testSettings,
  updateFor,
} from '../../helpers/fake-steps';
import type { Script } from '../../helpers/fake-steps';

const PLAN = planOf('p1', [operator('op_gap'), operator('op_answer', { bodyId: 'b-answer', inputs: ['op_gap'] })]);

/** One plan, one proof, one candidate. */
const PROVING: Script = {
  plan: () => planned(PLAN),
  probe: () => [{ operator: 'op_gap', outcome: 'rows', immaterial: null }],
  ground: (input) => judged(input, [{ operator: 'op_gap', winner: 'h1', bodyId: 'b-gap', decided: true }]),
  settle: () => [
    {
      operator: 'op_gap',
      bodyId: 'b-gap',
      update: updateFor('u1', PLAN, 'op_gap', 'b-gap'),
      assumed: false,
      error: null,
    },
  ],
};

async function search(script: Script = {}, settings: Partial<Settings> = {}, hooks: Partial<SearchHooks> = {}) {
  const steps = new FakeSteps({ ...PROVING, ...script });
  const start = {
    ...{ searchId: 's', state: null },
    settings: testSettings('thorough', { layer: 'on', cMin: 1, cMax: 1, ...settings }),
  };
  await runSearch(start, steps, testHooks(hooks));
  return { steps, finished: steps.finished, last: steps.log.map(({ step }) => step).slice(-4) };
}

test('the groundings of the answer are restated, then read; both are paid by the search', async () => {
  const { steps, finished, last } = await search();
  expect(last.slice(1)).toEqual(['restate', 'keep', 'finish']);
  expect(steps.inputs('restate')).toEqual([
    { purpose: 'restate', searchId: 's', position: 'keep.restate', candidateId: finished?.chosen },
  ]);
  expect(steps.inputs('keep')).toEqual([expect.objectContaining({ position: 'keep', turnId: 'keep.restate' })]);
  expect(finished?.state.usage).toEqual(steps.charged);
});

test('no model reads what the database did not count again', async () => {
  expect((await search({ restate: () => ({ proved: 0 }) })).last.slice(-2)).toEqual(['restate', 'finish']);
});

test('an entry that cannot be right beside a new one is counted again', async () => {
  const { steps, last } = await search({ keep: () => ({ kept: 1, contradicted: ['e1'] }) });
  expect(last).toEqual(['restate', 'keep', 'recount', 'finish']);
  expect(steps.inputs('recount')).toEqual([expect.objectContaining({ position: 'keep.recount', entries: ['e1'] })]);
});

test.each<[string, Partial<Settings>, Script, Partial<SearchHooks>]>([
  ['the layer is only read', { layer: 'read' }, {}, {}],
  ['nothing of the answer is proved', { iterations: 1, attempts: 1 }, { settle: () => [] }, {}],
  ['no call is left for the reading', { budgets: { ...testSettings().budgets, llmCalls: 3 } }, {}, {}],
  ['the search began before there was this step', {}, {}, { patched: (id) => id !== '2026-11-keep-groundings' }],
])('nothing is kept where %s', async (_, settings, script, hooks) => {
  const { steps, finished } = await search(script, settings, hooks);
  expect(finished).not.toBeNull();
  expect(steps.count('restate', 'keep')).toBe(0);
});

test('the answer stands where nothing can be kept', async () => {
  const { finished } = await search({
    restate: () => {
      throw new Error('the layer cannot be written');
    },
  });
  expect(finished).toMatchObject({ status: 'answered' });
  expect(finished?.state.events.at(-1)).toMatchObject({
    ...{ kind: 'step-failed', subject: 'keep', detail: 'the layer cannot be written' },
  });
});
