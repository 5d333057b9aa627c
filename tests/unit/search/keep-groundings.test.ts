/** When a search keeps what its probes proved, and that its answer does not depend on it. */
import type { Settings } from '../../../src/domain';
import type { SearchHooks } from '../../../src/search/run';
import { keepAfter } from '../../../src/search/keep-proved';
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
  const outcome = await runSearch(start, steps, testHooks(hooks));
  const stored = steps.log.length;
  const keeping = outcome.kind === 'finished' ? outcome.keeping : null;
  if (keeping !== null) await keepAfter(keeping, start.settings, steps);
  const { finished, amended } = steps;
  return { steps, finished, amended, keeping, after: steps.log.slice(stored).map(({ step }) => step) };
}

test('the groundings of the answer are restated, then read, once the answer is stored; the record has what both cost', async () => {
  const { steps, finished, amended, after } = await search();
  expect(after).toEqual(['restate', 'keep', 'amend']);
  expect(steps.inputs('restate')).toEqual([
    { purpose: 'restate', searchId: 's', position: 'keep.restate', candidateId: finished?.chosen },
  ]);
  expect(steps.inputs('keep')).toEqual([expect.objectContaining({ position: 'keep', turnId: 'keep.restate' })]);
  expect(amended).toEqual({ searchId: 's', usage: steps.charged, notKept: null });
});

test('no model reads what the database did not count again', async () => {
  expect((await search({ restate: () => ({ proved: 0 }) })).after).toEqual(['restate', 'amend']);
});

test('an entry that cannot be right beside a new one is counted again', async () => {
  const { steps, after } = await search({ keep: () => ({ kept: 1, contradicted: ['e1'] }) });
  expect(after).toEqual(['restate', 'keep', 'recount', 'amend']);
  expect(steps.inputs('recount')).toEqual([expect.objectContaining({ position: 'keep.recount', entries: ['e1'] })]);
});

test.each<[string, Partial<Settings>, Script, Partial<SearchHooks>]>([
  ['the layer is only read', { layer: 'read' }, {}, {}],
  ['nothing of the answer is proved', { iterations: 1, attempts: 1 }, { settle: () => [] }, {}],
  ['no call is left for the reading', { budgets: { ...testSettings().budgets, llmCalls: 3 } }, {}, {}],
])('nothing is kept where %s', async (_, settings, script, hooks) => {
  const { steps, finished } = await search(script, settings, hooks);
  expect(finished).not.toBeNull();
  expect(steps.count('restate', 'keep')).toBe(0);
});

test.each<[string, Script, string]>([
  [
    'the layer cannot be written',
    { restate: () => fails('the layer cannot be written') },
    'the layer cannot be written',
  ],
  [
    'no reply can be used',
    { keep: () => ({ invalid: 'prose' }) },
    'no usable reading of what was proved in 4 tries: prose',
  ],
])('the answer stands, and the record says why nothing was kept, where %s', async (_, script, notKept) => {
  const { finished, amended } = await search(script);
  expect(finished).toMatchObject({ status: 'answered' });
  expect(amended).toMatchObject({ notKept });
});

function fails(message: string): never {
  throw new Error(message);
}
