/** Lookups on the web in the control loop: limited, counted, kept for every later prompt, and gone where nobody asked. */
import { SearchState, type Settings } from '../../../src/domain';
import { runSearch } from '../../../src/search/search';
import type { Lookup } from '../../../src/domain/ports/step-parts';
import {
  FakeSteps,
  judged,
  operator,
  planned,
  planOf,
  testHooks,
  testSettings,
  type Gate,
  type Script,
} from '../../helpers/fake-steps';
import type { WebInput, Given, Gives } from '../../../src/domain/ports/steps';

async function search(script: Script, settings: Settings, hooks = testHooks(), gate?: Gate) {
  const steps = new FakeSteps(script, gate);
  await runSearch({ searchId: 's', settings, state: null }, steps, hooks);
  return { steps, end: steps.finished!, called: steps.log.map(({ step }) => step) };
}

const withWeb = (lookups: number, more: Partial<Settings> = {}) => testSettings('fast', { lookups, ...more });
const asks = (position: string, count = 1): Lookup[] =>
  Array.from({ length: count }, (_, at) => ({ actionId: `${position}.ask${at + 1}`, tool: 'web_search' }));
const lookup = ({ position }: { readonly position: string }, count = 1): Gives<'plan'> => ({
  kind: 'lookup',
  lookups: asks(position, count),
});
const written = (planId: string) => planned(planOf(planId, [operator('op_answer', { bodyId: planId })]));
/** Looks up `count` things before its first plan. */
const curious = (count: number) => (input: Given<'plan'>) =>
  input.memory.web === undefined ? lookup(input, count) : written(input.position);
const equalToFirst = ({ against }: { readonly against: readonly string[] }) => ({ equalTo: against[0] ?? null });

describe('a plan that wants to know more', () => {
  test('is asked again with what was found, and so is every later plan', async () => {
    const { steps, end, called } = await search({ plan: curious(2), candidate: equalToFirst }, withWeb(5));
    expect(called).toEqual([
      'prepare',
      ...['plan', 'web', 'web', 'plan', 'check', 'candidate'],
      ...['plan', 'check', 'candidate'],
      'finish',
    ]);
    expect(steps.inputs<WebInput>('web')).toEqual([
      expect.objectContaining({ position: 'i1.t0.w1', actionId: 'i1.t0.plan.ask1', turns: [], mayFail: true }),
      expect.objectContaining({ position: 'i1.t0.w2', actionId: 'i1.t0.plan.ask2', turns: ['i1.t0.w1'] }),
    ]);
    const plans = steps.inputs<Given<'plan'>>('plan');
    expect(plans.map(({ position, lookupsLeft, memory }) => [position, lookupsLeft, memory.web])).toEqual([
      ['i1.t0.plan', 5, undefined],
      ['i1.t0.plan.w1', 3, ['i1.t0.w1', 'i1.t0.w2']],
      ['i2.t0.plan', 3, ['i1.t0.w1', 'i1.t0.w2']],
    ]);
    expect(end).toMatchObject({ status: 'answered', state: { lookups: ['i1.t0.w1', 'i1.t0.w2'] } });
    expect(end.state.usage).toEqual(steps.charged);
    expect(end.state.usage).toMatchObject({ llmCalls: 3, lookups: 2 });
  });

  test('goes on when a lookup fails', async () => {
    const { end, steps } = await search({ plan: curious(1), candidate: equalToFirst, web: () => 'failed' }, withWeb(5));
    expect(end.status).toBe('answered');
    expect(steps.inputs<Given<'plan'>>('plan')[1]?.memory.web).toEqual(['i1.t0.w1']);
    expect(end.state.usage.lookups).toBe(1);
  });

  test('that asks for more than is left is told so, and nothing of it is looked up', async () => {
    const plan = (input: Given<'plan'>) => (input.tryNumber === 0 ? lookup(input, 3) : written(input.position));
    const { steps, end } = await search({ plan, candidate: equalToFirst }, withWeb(2));
    expect(steps.count('web')).toBe(0);
    expect(steps.inputs<Given<'plan'>>('plan')[1]).toMatchObject({
      tryNumber: 1,
      executionError: 'only 2 lookups are left',
    });
    expect(end.status).toBe('answered');
  });

  test('never stops asking: it has its limit, then its retries, and the search still ends', async () => {
    const { steps, end } = await search({ plan: lookup }, withWeb(3, { maxPlans: 1, parseRetries: 2 }));
    expect(steps.count('web')).toBe(3);
    const last = steps.inputs<Given<'plan'>>('plan').at(-1);
    expect(last).toMatchObject({ lookupsLeft: 0, executionError: 'no lookups are left: do without' });
    expect(end).toMatchObject({ status: 'abstained', endedBy: 'exhausted' });
    expect(end.state.events).toContainEqual(
      expect.objectContaining({ kind: 'step-failed', subject: 'i1.t0.plan' }) as unknown,
    );
    expect(end.state.usage).toEqual(steps.charged);
  });

  test('that allows no lookups gets none, and no input, state or ledger speaks of them', async () => {
    const plan = (input: Given<'plan'>) => (input.tryNumber === 0 ? lookup(input) : written(input.position));
    const { steps, end } = await search({ plan, candidate: equalToFirst }, testSettings());
    expect(steps.count('web')).toBe(0);
    const calm = await search({ plan: (input) => written(input.position), candidate: equalToFirst }, testSettings());
    expect(JSON.stringify(calm.steps.log)).not.toMatch(/lookup|"web"/);
    expect(end.state).not.toHaveProperty('lookups');
    expect(end.state.usage).not.toHaveProperty('lookups');
  });
});

test('a proposal may look things up before it names its probe, and the judgement sees them too', async () => {
  const propose = (input: Given<'propose'>) => ({
    proposalId: `${input.position}.proposal`,
    operators: input.memory.web === undefined ? [] : input.targets,
    done: true,
    ...(input.memory.web === undefined ? { lookups: asks(input.position) } : {}),
  });
  const { steps, called } = await search(
    {
      plan: (input) => planned(planOf(input.position, [operator('op_answer')])),
      propose,
      probe: () => [{ operator: 'op_answer', outcome: 'rows', immaterial: null }],
      ground: (input) => judged(input, []),
    },
    withWeb(5, { iterations: 1, attempts: 1, maxPlans: 1, planCarriesTests: false }),
  );
  expect(called.slice(0, 7)).toEqual(['prepare', 'plan', 'propose', 'web', 'propose', 'probe', 'ground']);
  expect(steps.inputs<Given<'propose'>>('propose')[1]).toMatchObject({
    position: 'i1.t0.s1.a1.r1.propose.w1',
    lookupsLeft: 4,
    memory: { web: ['i1.t0.w1'] },
  });
  expect(steps.inputs<{ memory: object }>('ground')[0]?.memory).toMatchObject({ web: ['i1.t0.w1'] });
});

describe('the limit', () => {
  test('ends the lookups, which are kept in their order', async () => {
    const { steps, end } = await search({ plan: lookup }, withWeb(3, { maxPlans: 2, iterations: 1, parseRetries: 0 }));
    expect(steps.count('web')).toBe(3);
    expect(end.state.lookups).toEqual(['i1.t0.w1', 'i1.t0.w2', 'i1.t0.w3']);
  });

  test('counts what was looked up before a checkpoint', async () => {
    const greedy: Script = {
      plan: (input) =>
        (input.memory.web ?? []).filter((id) => id.startsWith(input.position.slice(0, 3))).length < 2
          ? lookup(input)
          : written(input.position),
    };
    const settings = withWeb(3, { parseRetries: 0 });
    const first = new FakeSteps(greedy);
    const hooks = testHooks({ afterIteration: () => 'continue-as-new' });
    const outcome = await runSearch({ searchId: 's', settings, state: null }, first, hooks);
    if (outcome.kind !== 'continue') throw new Error('it ended early');
    const state = SearchState.parse(JSON.parse(JSON.stringify(outcome.state)));
    const second = new FakeSteps(greedy);
    await runSearch({ searchId: 's', settings, state }, second, testHooks());
    expect([first.count('web'), second.count('web')]).toEqual([2, 1]);
    expect(second.finished?.state.lookups).toEqual(['i1.t0.w1', 'i1.t0.w2', 'i2.t0.w1']);
  });

  test('of model calls comes first: what nobody could read is not looked up', async () => {
    const settings = withWeb(5);
    const { steps, end } = await search(
      { plan: lookup },
      { ...settings, budgets: { ...settings.budgets, llmCalls: 1 } },
    );
    expect(steps.count('web')).toBe(0);
    expect(end.endedBy).toBe('budget:llmCalls');
  });
});

test('a cancelled search looks nothing more up, and keeps what it found', async () => {
  let cancelled = false;
  const gate: Gate = ({ step }) => {
    if (step === 'web') cancelled = true;
    return Promise.resolve();
  };
  const hooks = testHooks({ stopRequested: () => (cancelled ? 'cancel' : null) });
  const { steps, end } = await search({ plan: (input) => lookup(input, 3) }, withWeb(5), hooks, gate);
  expect(steps.count('web')).toBe(1);
  expect(end).toMatchObject({ status: 'cancelled', state: { lookups: ['i1.t0.w1'] } });
});

test('an outage that ends the search leaves the lookups before it in the record', async () => {
  const gate: Gate = ({ step }, number) => {
    if (step === 'web' && number === 4) throw new Error('web.apiKeyEnv: wrong key');
    return Promise.resolve();
  };
  const steps = new FakeSteps({ plan: (input) => lookup(input, 2) }, gate);
  const running = runSearch({ searchId: 's', settings: withWeb(5), state: null }, steps, testHooks());
  await expect(running).rejects.toThrow('wrong key');
  expect(steps.finished).toMatchObject({ status: 'failed', state: { lookups: ['i1.t0.w1'], usage: { lookups: 1 } } });
});
