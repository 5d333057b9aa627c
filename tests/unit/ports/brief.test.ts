import fc from 'fast-check';
import { brief, whole, type Brief } from '../../../src/ports/brief';
import { MODEL_INPUT, modelOutcome, SQL_RESULT } from '../../../src/ports/brief-steps';
import { runSearch } from '../../../src/search/search';
import { briefSettings, wholeSettings } from '../../../src/search/state/control-settings';
import type { ModelOutcome, KeepSteps, ModelInput, SearchSteps, SqlInput } from '../../../src/ports/search-steps';
import { FakeSteps, testHooks, testSettings } from '../../helpers/fake-steps';
import { randomWorld } from '../../helpers/random-world';

const written = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** As a workflow has its steps: everything passes through a history. */
function throughHistory(steps: FakeSteps): SearchSteps & KeepSteps {
  const model =
    <I extends ModelInput, V>(step: (input: I) => Promise<ModelOutcome<V>>) =>
    async (input: I): Promise<ModelOutcome<V>> => {
      const given = whole<I>(MODEL_INPUT, written(brief<I>(MODEL_INPUT, input)));
      expect(given).toEqual(written(input));
      // Nothing is lost of what an earlier version wrote.
      expect(whole<I>(MODEL_INPUT, given as Brief<I>)).toEqual(given);
      const shape = modelOutcome(input.role);
      return whole(shape, written(brief(shape, await step(given))));
    };
  const sql =
    <I extends SqlInput, V extends object>(step: (input: I) => Promise<V>) =>
    async (input: I): Promise<V> => {
      const shape = SQL_RESULT[input.purpose];
      return whole<V>(shape, written(brief(shape, await step(input))));
    };
  return {
    evaluate: model((input) => steps.evaluate(input)),
    plan: model((input) => steps.plan(input)),
    propose: model((input) => steps.propose(input)),
    ground: model((input) => steps.ground(input)),
    select: model((input) => steps.select(input)),
    keep: model((input) => steps.keep(input)),
    prepare: sql((input) => steps.prepare(input)),
    restate: sql((input) => steps.restate(input)),
    recount: sql((input) => steps.recount(input)),
    check: sql((input) => steps.check(input)),
    probe: sql((input) => steps.probe(input)),
    settle: sql((input) => steps.settle(input)),
    candidate: sql((input) => steps.candidate(input)),
    web: (input) => steps.web(input),
    checkpoint: (state) => steps.checkpoint(state),
    finish: (input) => steps.finish(input),
    amend: (input) => steps.amend(input),
  };
}

test('a search whose steps are brief in its history asks the same and ends the same', async () => {
  const presets = fc.constantFrom('fast' as const, 'thorough' as const, 'paper' as const);
  await fc.assert(
    fc.asyncProperty(fc.nat(1_000_000), presets, async (seed, preset) => {
      const settings = testSettings(preset, { iterations: 4, layer: 'on' });
      const [plain, durable] = [new FakeSteps(randomWorld(seed)), new FakeSteps(randomWorld(seed))];
      const start = { searchId: 's', settings, state: null };
      const wanted = await runSearch(start, plain, testHooks());
      const carried = { ...start, settings: wholeSettings(written(briefSettings(settings))) };
      expect(await runSearch(carried, throughHistory(durable), testHooks())).toEqual(wanted);
      expect(written(durable.log)).toEqual(written(plain.log));
      expect(durable.finished).toEqual(plain.finished);
    }),
    { numRuns: 60 },
  );
});

describe('what histories hold keeps its meaning', () => {
  test('of a plan', () => {
    const reply = {
      value: {
        kind: 'plan',
        plan: { planId: 'p', operators: [{ name: 'op_a', shape: 's', intent: 'i' }] },
        potential: 1,
      },
      usage: { llmCalls: 1 },
    };
    expect(whole(modelOutcome('plan'), reply as never)).toMatchObject({
      kind: 'ok',
      value: {
        ...{ bottleneck: null, proposalId: null, proposed: [] },
        plan: {
          ordered: false,
          operators: [
            {
              ...{ name: 'op_a', state: 'assumed', bodyId: null, updateId: null, inputs: [], readsBase: false },
              ...{ risk: 0, assumptions: 0, immaterial: null, barren: 0 },
            },
          ],
        },
      },
    });
  });

  test('of a judgement and of what it settles', () => {
    const judged = { value: { groundingId: 'g', operators: [{ operator: 'op_a' }], facts: [{ id: 'f' }] } };
    expect(whole(modelOutcome('ground'), judged as never)).toMatchObject({
      kind: 'ok',
      value: {
        ...{ groundingId: 'g', learned: null, written: [], delta: null, impossible: null },
        ...{ nextProposalId: null, nextOperators: [] },
        operators: [{ operator: 'op_a', winner: null, bodyId: null, decided: true }],
        facts: [{ id: 'f', status: 'active', dependsOn: [] }],
      },
    });
    const settled = { results: [{ operator: 'op_a', update: { id: 'u' } }], next: { rowCount: 3 } };
    expect(whole(SQL_RESULT.settle, settled as never)).toMatchObject({
      results: [
        {
          ...{ operator: 'op_a', bodyId: null, assumed: false, error: null },
          update: { id: 'u', inputs: [], status: 'active', dependsOn: [], reuses: 0 },
        },
      ],
      next: { rowCount: 3, outcome: 'rows', trivial: false, control: null, equalTo: null },
    });
    expect(whole(SQL_RESULT.probe, { tests: [{ operator: 'op_a' }] } as never)).toMatchObject({
      tests: [{ operator: 'op_a', outcome: 'rows', immaterial: null }],
    });
  });

  test('of the settings', () => {
    const held = { method: 'gate', preset: 'fast', models: { default: 'm' }, budgets: { costUsd: 1 } } as const;
    expect(wholeSettings(held as never)).toEqual({
      ...{ method: 'gate', preset: 'fast', models: { default: 'm' } },
      ...{ iterations: 6, attempts: 2, rounds: 1, cMin: 2, cMax: 4, frontier: 8, maxPlans: 3, parallelism: 1 },
      ...{ breadth: 4, proof: 'execution', exploration: 'code', followOn: true, parseRetries: 3, sqlTimeoutMs: 25_000 },
      budgets: {
        ...{ llmCalls: null, tokens: null, costUsd: 1, wallMs: null },
        ...{ sqlExecutions: null, sqlMs: null, sqlRows: null },
      },
    });
  });
});

test('a reply that is no plan, or could not be read, gains no field of one', () => {
  const unanswerable = { kind: 'ok' as const, value: { kind: 'unanswerable', reason: 'no', potential: 0 }, usage: {} };
  const invalid = { kind: 'invalid' as const, error: 'not JSON', usage: {} };
  const shape = modelOutcome('plan');
  expect(whole(shape, brief(shape, unanswerable))).toMatchObject({ value: unanswerable.value });
  expect(Object.keys(whole(shape, brief(shape, unanswerable)).value)).toEqual(['kind', 'reason', 'potential']);
  expect(Object.keys(whole(shape, brief(shape, invalid))).sort()).toEqual(['error', 'kind', 'usage']);
});
