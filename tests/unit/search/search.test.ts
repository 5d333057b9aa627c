import type { Settings } from '../../../src/domain';
import { runSearch } from '../../../src/search/search';
import { reasonOf } from '../../../src/search/findings';
import type { Progress } from '../../../src/search/progress';
import {
  FakeSteps,
  judged,
  operator,
  planned,
  planOf,
  testHooks,
  testSettings,
  updateFor,
  type Script,
} from '../../helpers/fake-steps';
import { randomWorld } from '../../helpers/random-world';
import type { Given } from '../../../src/domain/ports/steps';

async function search(script: Script, settings: Settings = testSettings(), hooks = testHooks()) {
  const steps = new FakeSteps(script);
  await runSearch({ searchId: 's', settings, state: null }, steps, hooks);
  return { steps, end: steps.finished!, called: steps.log.map(({ step }) => step) };
}

/** Plans in the order asked for, the last one again after that. */
const inTurn = <T>(...items: readonly T[]) => {
  let next = 0;
  return () => items[Math.min(next++, items.length - 1)]!;
};
const written = (planId: string, ...bodies: readonly string[]) =>
  planOf(
    planId,
    bodies.map((bodyId, index) => operator(`op_${index}`, { bodyId })),
  );
const equalToFirst = (input: Given<'candidate'>) => ({ equalTo: input.against[0] ?? null });

describe('an easy question', () => {
  test('ends after two independent derivations agree: 2 model calls', async () => {
    const plans = inTurn(written('p1', 'a'), written('p2', 'b'));
    const { end, called } = await search({ plan: () => planned(plans()), candidate: equalToFirst });
    expect(called).toEqual(['prepare', ...['plan', 'check', 'candidate'], ...['plan', 'check', 'candidate'], 'finish']);
    expect(end).toMatchObject({ status: 'answered', endedBy: 'agreement', chosen: 'c1' });
    expect(end.state.usage.llmCalls).toBe(2);
  });

  test('with preset thorough a plan that rests on nothing doubtful is the answer: 1 model call', async () => {
    const { end, called } = await search({ plan: () => planned(written('p1', 'a')) }, testSettings('thorough'));
    expect(called).toEqual(['prepare', 'plan', 'check', 'candidate', 'finish']);
    expect(end).toMatchObject({ status: 'answered', endedBy: 'settled', chosen: 'c1' });
  });

  test('with preset thorough a plan with a doubt that nothing settled brings a second one', async () => {
    const doubtful = planOf('p1', [operator('op_0', { bodyId: 'a', risk: 0.6 })]);
    const plans = inTurn(doubtful, written('p2', 'b'));
    const { end, called } = await search(
      { plan: () => planned(plans()), candidate: equalToFirst },
      testSettings('thorough'),
    );
    expect(called.filter((step) => step === 'plan')).toHaveLength(2);
    expect(end).toMatchObject({ endedBy: 'settled', chosen: 'c2' });
  });

  test('that nothing is stored, shown by counts, is the answer; that a reply says so is weighed', async () => {
    const open = planned(planOf('p1', [operator('op_0')]), { proposalId: 'tests', proposed: ['op_0'] });
    const ended = (absenceShown: boolean) =>
      search(
        {
          plan: inTurn(open, { kind: 'unanswerable' as const, reason: 'no wages', potential: 1 }),
          probe: () => [{ operator: 'op_0', outcome: 'rows', immaterial: null }],
          ground: (input) =>
            judged(input, [], { impossible: '0 of 40 have wages', ...(absenceShown ? { absenceShown } : {}) }),
        },
        testSettings('thorough', { procedure: undefined }),
      );
    const shown = await ended(true);
    expect(shown.end).toMatchObject({ status: 'unanswerable', endedBy: 'settled', reason: '0 of 40 have wages' });
    expect(shown.end.state.usage.llmCalls).toBe(2);
    expect((await ended(false)).end.state.usage.llmCalls).toBeGreaterThan(2);
  });

  test('the second plan is told the first, so that it can differ', async () => {
    const plans = inTurn(written('p1', 'a'), written('p2', 'b'));
    const { steps } = await search({ plan: () => planned(plans()), candidate: equalToFirst });
    const [first, second] = steps.inputs<Given<'plan'>>('plan');
    expect(first?.otherPlans).toEqual([]);
    expect(second?.otherPlans).toEqual([{ planId: 'p1', bodies: [['op_0', 'a', null]] }]);
  });

  test('the same derivation again is no agreement: another plan is asked for, then the answer stands alone', async () => {
    const { end } = await search({ plan: () => planned(written('p', 'a')), candidate: equalToFirst });
    expect(end).toMatchObject({ endedBy: 'exhausted', status: 'answered', chosen: 'c1' });
    expect(end.state.candidates).toHaveLength(1);
    expect(end.state.usage.llmCalls).toBe(testSettings().maxPlans);
  });
});

describe('a doubtful question', () => {
  const doubtful = (planId: string, name: string, sum: string) =>
    planOf(planId, [
      operator(name, {
        shape: 'S',
        intent: 'gaps',
        bodyId: planId === 'p1' ? null : 'guess',
        risk: 0.8,
        assumptions: 1,
      }),
      operator('op_sum', { bodyId: sum, inputs: [name] }),
    ]);
  const first = doubtful('p1', 'op_gap', 'sum1');
  const second = doubtful('p2', 'op_lag', 'sum2');
  const proving: Script = {
    plan: (input) =>
      input.otherPlans.length === 0
        ? planned(first, { proposalId: 'tests of p1', proposed: ['op_gap'] })
        : planned(second, { proposalId: 'tests of p2', proposed: ['op_lag'] }),
    probe: () => [{ operator: 'op_gap', outcome: 'rows', immaterial: null }],
    ground: (input) => judged(input, [{ operator: 'op_gap', winner: 'h1', bodyId: 'gap', decided: true }]),
    settle: () => [
      {
        operator: 'op_gap',
        bodyId: 'gap',
        update: updateFor('u1', first, 'op_gap', 'gap'),
        assumed: false,
        error: null,
      },
    ],
    candidate: equalToFirst,
  };

  test('with the proof found at once costs 3 calls, and the second plan reuses it', async () => {
    const { steps, end, called } = await search(proving);
    expect(called.filter((step) => ['plan', 'propose', 'ground', 'evaluate', 'select'].includes(step))).toEqual([
      'plan',
      'ground',
      'plan',
    ]);
    expect(end).toMatchObject({ status: 'answered', endedBy: 'agreement' });
    expect(end.state.updates).toMatchObject([{ id: 'u1', reuses: 1 }]);
    expect(steps.inputs<Given<'probe'>>('probe')).toHaveLength(1);
    expect(end.state.candidates.map(({ bodies }) => bodies[0])).toMatchObject([
      { bodyId: 'gap', updateId: 'u1', counts: false },
      { bodyId: 'gap', updateId: 'u1', counts: false },
    ]);
  });

  test.each([
    ['the input first', ['op_a', 'op_b']],
    ['the input last', ['op_b', 'op_a']],
  ])('what was observed over an input that is proved to read otherwise is assumed, %s', async (_, order) => {
    const guesses = planOf('p1', [
      operator('op_a', { bodyId: 'a', risk: 0.6, assumptions: 1 }),
      operator('op_b', { bodyId: 'b', risk: 0.6, assumptions: 1, inputs: ['op_a'] }),
    ]);
    const settledWith = (inputBody: string) =>
      search(
        {
          plan: () => planned(guesses, { proposalId: 'tests of p1', proposed: ['op_a', 'op_b'] }),
          probe: () => order.map((name) => ({ operator: name, outcome: 'rows', immaterial: null })),
          ground: (input) =>
            judged(
              input,
              order.map((name) => ({ operator: name, winner: 'h1', bodyId: name, decided: true })),
            ),
          settle: () =>
            order.map((name) => {
              const bodyId = name === 'op_a' ? inputBody : 'b';
              const inputs = name === 'op_a' ? [] : [{ local: 'op_a', bodyId: inputBody }];
              const update = updateFor(`u of ${name}`, guesses, name, bodyId, { inputs });
              return { operator: name, bodyId, update, assumed: false, error: null };
            }),
        },
        testSettings('fast', { iterations: 1, maxPlans: 1, attempts: 1 }),
      );
    const states = ({ end }: Awaited<ReturnType<typeof search>>) =>
      end.state.trajectories[1]?.plan?.operators.map(({ state, bodyId }) => [state, bodyId]);
    const changed = await settledWith('a2');
    expect(states(changed)).toEqual([
      ['grounded', 'a2'],
      ['assumed', 'b'],
    ]);
    expect(changed.end.state.updates.map(({ id }) => id)).toEqual(['u of op_a']);
    expect(states(await settledWith('a'))).toEqual([
      ['grounded', 'a'],
      ['grounded', 'b'],
    ]);
  });

  test('a judgement that wants another look brings its test along: no call asks for it', async () => {
    let looks = 0;
    const { called, end } = await search({
      ...proving,
      ground: (input) =>
        ++looks === 1
          ? judged(input, [{ operator: 'op_gap', winner: null, bodyId: null, decided: true }], {
              nextProposalId: 'second look',
              nextOperators: ['op_gap'],
            })
          : judged(input, [{ operator: 'op_gap', winner: 'h1', bodyId: 'gap', decided: true }]),
    });
    expect(called).not.toContain('propose');
    expect(end.state.usage.llmCalls).toBe(4);
  });

  test('a probe that does not run is not judged: its error goes into the next proposal', async () => {
    let probes = 0;
    const { steps, called, end } = await search({
      ...proving,
      probe: () => [{ operator: 'op_gap', outcome: ++probes === 1 ? 'sql-error' : 'rows', immaterial: null }],
    });
    expect(called.filter((step) => ['propose', 'ground'].includes(step))).toEqual(['propose', 'ground']);
    expect(steps.inputs<Given<'propose'>>('propose')[0]?.attempts).toHaveLength(1);
    expect(end.state.updates).toHaveLength(1);
  });

  test('without that, 4 to 6 calls', async () => {
    let looks = 0;
    const { end } = await search({
      ...proving,
      ground: (input) =>
        judged(input, [{ operator: 'op_gap', winner: ++looks === 1 ? null : 'h1', bodyId: null, decided: true }]),
    });
    expect(end.state.usage.llmCalls).toBe(5);
  });

  test('readings that do not matter are settled by the probe alone', async () => {
    const guessed = planOf('p1', [operator('op_gap', { bodyId: 'x', risk: 0.8 }), operator('op_sum', { bodyId: 'y' })]);
    const plans = inTurn(planned(guessed, { proposalId: 'tests', proposed: ['op_gap'] }), planned(written('p2', 'b')));
    const { end, called } = await search({
      plan: plans,
      probe: () => [{ operator: 'op_gap', outcome: 'rows', immaterial: { bodyId: 'x', relativeTo: ['y'] } }],
      candidate: equalToFirst,
    });
    expect(called).not.toContain('ground');
    expect(end.state.usage.llmCalls).toBe(2);
    expect(end.state.candidates[0]).toMatchObject({ openRisk: 0 });
  });

  test('what falls short of proof is assumed, with less doubt than before', async () => {
    const { end } = await search({
      ...proving,
      settle: () => [{ operator: 'op_gap', bodyId: 'gap', update: null, assumed: true, error: null }],
    });
    expect(end.state.updates).toEqual([]);
    const gap = end.state.trajectories[1]?.plan?.operators[0];
    expect(gap).toMatchObject({ state: 'assumed', bodyId: 'gap', updateId: null });
  });

  test('that cannot be proved brings a second derivation before further attempts, without an evaluation', async () => {
    const guess = (planId: string, bodyId: string) =>
      planned(planOf(planId, [operator('op_gap', { bodyId, risk: 0.6 })]));
    const plans = inTurn(guess('p1', 'x'), guess('p2', 'y'));
    const { end, called } = await search({ plan: plans, candidate: equalToFirst });
    expect(called).not.toContain('evaluate');
    expect(called.filter((step) => step === 'plan')).toHaveLength(2);
    expect(end).toMatchObject({ status: 'answered', endedBy: 'agreement' });
  });

  describe('whose columns or grain the rows contradict', () => {
    const first = planOf('p1', [
      operator('op_rows', { bodyId: 'rows', risk: 0.6 }),
      operator('op_gap', { shape: 'one row', inputs: ['op_rows'] }),
      operator('op_sum', { bodyId: 'sum', inputs: ['op_gap'] }),
    ]);
    const second = planOf('p2', [
      operator('op_rows', { bodyId: 'other' }),
      operator('op_gap', { shape: 'many rows', bodyId: 'gap', risk: 0.6, inputs: ['op_rows'] }),
      operator('op_sum', { bodyId: 'sum2', inputs: ['op_gap'] }),
    ]);
    const tests = (proposalId: string, name: string) => ({ proposalId, proposed: [name] });
    const proof = (plan: typeof first, name: string, bodyId: string) => [
      { operator: name, bodyId, update: updateFor(`u_${name}`, plan, name, bodyId), assumed: false, error: null },
    ];
    const won = (name: string, bodyId: string) => [{ operator: name, winner: 'h1', bodyId, decided: true }];
    const script: Script = {
      plan: inTurn(planned(first, tests('q1', 'op_rows')), planned(second, tests('q2', 'op_gap'))),
      probe: ({ proposalId }) => [
        { operator: proposalId === 'q1' ? 'op_rows' : 'op_gap', outcome: 'rows', immaterial: null },
      ],
      ground: (input) =>
        input.plan.planId === 'p1'
          ? judged(input, won('op_rows', 'rows'), { refit: ['op_gap'] })
          : judged(input, won('op_gap', 'gap')),
      settle: ({ plan }) => (plan.planId === 'p1' ? proof(first, 'op_rows', 'rows') : proof(second, 'op_gap', 'gap')),
    };

    test('gets another plan at once, with the evidence and what was proved', async () => {
      const { steps, end, called } = await search(script, testSettings('thorough', { cMin: 1 }));
      expect(called).toEqual([
        ...['prepare', 'plan', 'check', 'probe', 'ground', 'settle'],
        ...['plan', 'check', 'probe', 'ground', 'settle', 'candidate', 'finish'],
      ]);
      const [, revised] = steps.inputs<Given<'plan'>>('plan');
      expect(revised).toMatchObject({
        position: 'i1.t0.s1.refit',
        revise: {
          plan: { planId: 'p1', bodies: [['op_rows', 'rows', 'u_op_rows'], ['op_gap', null, null], {}] },
          blocked: [],
          refit: 'i1.t0.s1.a1.ground.grounding',
        },
      });
      expect(revised?.revise?.attempts).toContain('i1.t0.s1.a1.ground.grounding');
      expect(revised?.memory.updates).toEqual(['u_op_rows']);
      expect(end).toMatchObject({ status: 'answered', endedBy: 'settled' });
      expect(end.state.trajectories[1]?.plan).toMatchObject({
        planId: 'p2',
        operators: [{ bodyId: 'rows', updateId: 'u_op_rows' }, { bodyId: 'gap', updateId: 'u_op_gap' }, {}],
      });
      expect(end.state.events).toContainEqual(expect.objectContaining({ kind: 'plan-revised', subject: 'op_gap' }));
    });

    test('keeps its plan where no other can be made, and asks once an iteration', async () => {
      const made = inTurn<ReturnType<typeof planned> | { invalid: string }>(planned(first, tests('q1', 'op_rows')), {
        invalid: 'none',
      });
      const settings = testSettings('thorough', { iterations: 1, parseRetries: 0 });
      const { end, called } = await search({ ...script, plan: made }, settings);
      expect(called.filter((step) => step === 'plan')).toHaveLength(2);
      expect(end.state.trajectories[1]).toMatchObject({ status: 'open', plan: { planId: 'p1' } });
      const always = { ...script, ground: (input: Given<'ground'>) => judged(input, [], { refit: ['op_gap'] }) };
      const again = await search(always, testSettings('thorough', { iterations: 1 }));
      expect(again.called.filter((step) => step === 'plan')).toHaveLength(2);
    });
  });

  test('a body that the database rejects goes back to the judge with the exact error', async () => {
    const { steps } = await search({
      ...proving,
      settle: (input) =>
        input.position.endsWith('settle0')
          ? [{ operator: 'op_gap', bodyId: null, update: null, assumed: false, error: 'no such column: gap_s' }]
          : (proving.settle?.(input) ?? []),
    });
    const [, retry] = steps.inputs<Given<'ground'>>('ground');
    expect(retry).toMatchObject({ tryNumber: 1, executionError: 'op_gap: no such column: gap_s' });
    expect(steps.finished?.state.updates).toHaveLength(1);
  });

  test('an operator that becomes testable is attempted in the same iteration', async () => {
    const chain = planOf('p1', [operator('op_a'), operator('op_b', { inputs: ['op_a'] })]);
    const target = (input: Given<'ground'>) => input.plan.bodies.find(([, bodyId]) => bodyId === null)?.[0] ?? '';
    const { steps } = await search(
      {
        plan: () => planned(chain),
        probe: (input) => [
          { operator: input.plan.bodies.find(([, b]) => b === null)?.[0] ?? '', outcome: 'rows', immaterial: null },
        ],
        ground: (input) => judged(input, [{ operator: target(input), winner: 'h1', bodyId: null, decided: true }]),
        settle: (input) => {
          const name = input.plan.bodies.find(([, bodyId]) => bodyId === null)?.[0] ?? '';
          const update = updateFor(`u-${name}`, chain, name, `body of ${name}`);
          return [{ operator: name, bodyId: update.bodyId, update, assumed: false, error: null }];
        },
      },
      testSettings('fast', { maxPlans: 1, iterations: 1 }),
    );
    expect(steps.inputs<Given<'propose'>>('propose').map(({ targets }) => targets)).toEqual([['op_a'], ['op_b']]);
    expect(steps.finished?.state.candidates).toHaveLength(1);
  });
});

describe('bodies that come with a plan or a judgement', () => {
  test('one that fails is asked for again with the exact error, then left unresolved', async () => {
    const plan = written('p1', 'a', 'bad');
    const settings = testSettings('fast', { iterations: 1, parseRetries: 2 });
    const failing = (input: Given<'check'>) =>
      input.operators.includes('op_1') ? [{ operator: 'op_1', error: 'no such table: sale' }] : [];
    const { steps, end } = await search({ plan: () => planned(plan), check: failing }, settings);
    expect(steps.inputs<Given<'plan'>>('plan').map((p) => [p.tryNumber, p.executionError])).toEqual([
      [0, undefined],
      [1, 'op_1: no such table: sale'],
      [2, 'op_1: no such table: sale'],
    ]);
    expect(end.state.trajectories[1]?.plan?.operators.map(({ state }) => state)).toEqual(['assumed', 'unresolved']);
    expect(steps.inputs<Given<'propose'>>('propose')[0]?.targets).toEqual(['op_1']);
  });

  test('one that a judgement wrote and that fails does not displace the body that runs', async () => {
    const plan = planOf('p1', [operator('op_a'), operator('op_b', { bodyId: 'runs', risk: 0.1 })]);
    const { end } = await search(
      {
        plan: () => planned(plan),
        probe: () => [{ operator: 'op_a', outcome: 'rows', immaterial: null }],
        ground: (input) =>
          judged(input, [], { written: [{ operator: 'op_b', bodyId: 'fails', risk: 0.1, assumptions: 1 }] }),
        check: (input) => (input.position.endsWith('.written') ? [{ operator: 'op_b', error: 'no column' }] : []),
      },
      testSettings('fast', { iterations: 1 }),
    );
    expect(end.state.trajectories[1]?.plan?.operators[1]).toMatchObject({ state: 'assumed', bodyId: 'runs' });
  });

  test('a whole that does not run although its parts do is replanned', async () => {
    const plans = inTurn(written('p1', 'a'), written('p2', 'b'), written('p3', 'c'));
    const { steps, end } = await search(
      {
        plan: () => planned(plans()),
        candidate: (input) => (input.candidateId === 'c1' ? { outcome: 'timeout' } : {}),
      },
      testSettings('fast', { maxPlans: 1 }),
    );
    expect(steps.inputs<Given<'plan'>>('plan')[1]?.revise).toMatchObject({ plan: { planId: 'p1' } });
    expect(end).toMatchObject({ status: 'answered', chosen: 'c2' });
  });
});

describe('a question without an answer', () => {
  const no = { kind: 'unanswerable' as const, reason: 'wages are not stored', potential: 1 };

  test('two replies that say so end it: 2 calls, status unanswerable with the reason', async () => {
    const { end } = await search({ plan: () => no });
    expect(end).toMatchObject({ status: 'unanswerable', endedBy: 'agreement', reason: 'wages are not stored' });
    expect(end.state.usage.llmCalls).toBe(2);
  });

  test('the second look is told the reason of the first, so that it does not merely repeat it', async () => {
    const { steps } = await search({ plan: () => no });
    const [first, second] = steps.inputs<Given<'plan'>>('plan');
    expect(first?.unanswerable).toBeUndefined();
    expect(second?.unanswerable).toEqual(['wages are not stored']);
  });

  test('one such reply beside one candidate goes to the judge', async () => {
    const replies = inTurn<ReturnType<NonNullable<Script['plan']>>>(no, planned(written('p1', 'a')));
    const { steps, end } = await search({ plan: replies }, testSettings('fast', { maxPlans: 2 }));
    expect(steps.inputs<Given<'select'>>('select')[0]?.candidates).toEqual([
      { id: 'c2', agreesWith: 1, unanswerable: null },
      { id: 'c1', agreesWith: 1, unanswerable: 'wages are not stored' },
    ]);
    expect(end).toMatchObject({ status: 'answered', chosen: 'c2' });
  });

  test('one judgement that says so, about one plan, is not heard twice', async () => {
    const { end } = await search(
      {
        plan: () => planned(planOf('p1', [operator('op_a')])),
        probe: () => [{ operator: 'op_a', outcome: 'empty', immaterial: null }],
        ground: (input) => judged(input, [], { impossible: 'no wages in any table' }),
      },
      testSettings('fast', { maxPlans: 1 }),
    );
    expect(end.state.candidates).toHaveLength(1);
    expect(end.endedBy).toBe('exhausted');
  });
});

describe('the judge', () => {
  const rivals = (input: Given<'candidate'>) => ({ equalTo: input.candidateId === 'c9' ? 'c1' : null });
  const plans = () => inTurn(written('p1', 'a'), written('p2', 'b'), written('p3', 'c'));

  test('is asked once about distinct results and may abstain', async () => {
    const make = plans();
    const { end, steps } = await search({
      plan: () => planned(make()),
      candidate: rivals,
      select: () => ({ candidate: null, reason: 'both contradict the facts' }),
    });
    expect(steps.count('select')).toBe(1);
    expect(end).toMatchObject({ status: 'abstained', chosen: null, reason: 'both contradict the facts' });
  });

  test('that cannot be understood leaves the ranking, and every try is charged', async () => {
    const make = plans();
    const { end, steps } = await search({
      plan: () => planned(make()),
      candidate: rivals,
      select: () => ({ invalid: 'prose' }),
    });
    expect(steps.count('select')).toBe(4);
    expect(end).toMatchObject({ status: 'answered', chosen: 'c1' });
    expect(end.state.usage).toEqual(steps.charged);
  });
});

describe('evaluation', () => {
  const plan = planOf('p1', [operator('op_a')]);
  const stuck: Script = {
    plan: (input) => (input.otherPlans.length === 0 ? planned(plan) : { invalid: 'none' }),
    probe: () => [{ operator: 'op_a', outcome: 'rows', immaterial: null }],
    ground: (input) => judged(input, [{ operator: 'op_a', winner: null, bodyId: null, decided: true }]),
  };

  test('is skipped while only one trajectory is open', async () => {
    const { called } = await search({ plan: () => planned(plan) }, testSettings('fast', { iterations: 1 }));
    expect(called).not.toContain('evaluate');
  });

  test('scores the open ones and steers the choice and the bottleneck', async () => {
    const scores = (input: Given<'evaluate'>) =>
      input.trajectories.map(({ id }) => ({
        trajectory: id,
        progress: 0,
        potential: id === 't0' ? 9 : 1,
        bottleneck: 'op_a',
      }));
    const { steps } = await search(
      { ...stuck, evaluate: (input) => ({ scores: scores(input) }) },
      testSettings('fast', { iterations: 2 }),
    );
    expect(
      steps
        .inputs<Given<'evaluate'>>('evaluate')[0]
        ?.trajectories.map(({ id }) => id)
        .sort(),
    ).toEqual(['t0', 't1']);
    expect(steps.inputs<Given<'propose'>>('propose').map(({ position }) => position.slice(0, 5))).toContain('i2.t1');
  });

  test('that cannot be understood is recorded, and the search goes on', async () => {
    const settings = testSettings('fast', { iterations: 2 });
    const { end } = await search({ ...stuck, evaluate: () => ({ invalid: 'prose' }) }, settings);
    expect(end.state.events).toContainEqual(expect.objectContaining({ kind: 'step-failed', subject: 'i2.evaluate' }));
    expect(end.endedBy).toBe('iterations');
  });
});

describe('preset paper', () => {
  const plan = planOf('p1', [operator('op_a')]);
  const paper = testSettings('paper', { iterations: 1 });
  const rollouts: Script = {
    plan: () => planned(plan),
    propose: (input) => ({ proposalId: input.position, operators: ['op_a'], done: false }),
    probe: () => [{ operator: 'op_a', outcome: 'rows', immaterial: null }],
  };

  test('asks even about a single answer, by number, with the depth of its trajectory', async () => {
    const { steps, end } = await search({ plan: () => planned(written('p1', 'a')) }, paper);
    expect(steps.inputs<Given<'select'>>('select')).toMatchObject([
      { byNumber: true, candidates: [{ id: 'c1', depth: 1 }] },
    ]);
    expect(end).toMatchObject({ status: 'answered', chosen: 'c1' });
  });

  test('runs all J attempts with up to K rounds each, and judges each attempt once', async () => {
    const { steps } = await search(rollouts, paper);
    expect([paper.attempts, paper.rounds]).toEqual([3, 6]);
    expect(steps.count('propose')).toBe(18);
    expect(steps.count('probe')).toBe(18);
    const grounds = steps.inputs<Given<'ground'>>('ground');
    expect(grounds.map(({ observations }) => observations.length)).toEqual([6, 6, 6]);
    // B of Algorithm 1: what earlier attempts showed goes into the next.
    expect(grounds.map(({ attempts }) => attempts.length)).toEqual([6, 13, 20]);
    expect(
      steps
        .inputs<Given<'propose'>>('propose')
        .map(({ callsLeft }) => callsLeft)
        .slice(0, 7),
    ).toEqual([6, 5, 4, 3, 2, 1, 6]);
  });

  test('goes on with its attempts after one has grounded the bottleneck; another body makes a rival', async () => {
    const { steps, end } = await search(
      {
        ...rollouts,
        propose: (input) => ({ proposalId: input.position, operators: ['op_a'], done: true }),
        ground: (input) => judged(input, [{ operator: 'op_a', winner: 'h1', bodyId: null, decided: true }]),
        settle: (input) => {
          const update = updateFor(input.position, plan, 'op_a', input.position.includes('.a2.') ? 'y' : 'x');
          return [{ operator: 'op_a', bodyId: update.bodyId, update, assumed: false, error: null }];
        },
      },
      paper,
    );
    expect(steps.count('ground')).toBe(3);
    expect(end.state.updates).toHaveLength(3);
    const results = end.state.trajectories.slice(1).map(({ plan: made }) => made?.operators[0]?.bodyId);
    expect(new Set(results)).toEqual(new Set(['x', 'y']));
    expect(end.state.candidates).toHaveLength(2);
    expect(end.state.events.some(({ kind }) => kind === 'reuse-conflict')).toBe(true);
  });

  test('treats written SQL as grounded', async () => {
    const risky = planOf('p1', [operator('op_a', { bodyId: 'a', risk: 0.9 })]);
    const { called } = await search({ plan: () => planned(risky) }, paper);
    expect(called).not.toContain('propose');
  });
});

describe('progress and cost', () => {
  test('reports where the search is, without touching the state', async () => {
    const seen: Progress[] = [];
    await search(randomWorld(7), testSettings(), testHooks({ onProgress: (progress) => seen.push(progress) }));
    expect(seen[0]).toMatchObject({ iteration: 1, trajectories: 1, usage: { llmCalls: 0 } });
    const iterations = seen.map(({ iteration }) => iteration);
    expect([...iterations].sort((a, b) => a - b)).toEqual(iterations);
  });

  test('shows the plan it works on already in the first iteration, with what was spent on it', async () => {
    const seen: Progress[] = [];
    const open = planned(planOf('p1', [operator('op_gap')]), { proposalId: 'tests', proposed: ['op_gap'] });
    const hooks = testHooks({ onProgress: (progress) => seen.push(progress) });
    await search({ plan: () => open }, testSettings('fast', { iterations: 1 }), hooks);
    const working = seen.find(({ bottleneck }) => bottleneck === 'op_gap');
    expect(working).toMatchObject({ plan: [{ name: 'op_gap', state: 'unresolved' }], usage: { llmCalls: 1 } });
  });

  test('a durable search of 40 model calls fits in 600 events: at most 2.5 steps a call, at 6 events a step', async () => {
    const ratios: number[] = [];
    for (let seed = 0; seed < 25; seed++) {
      for (const preset of ['fast', 'thorough', 'paper'] as const) {
        const { steps } = await search(randomWorld(seed), testSettings(preset, { cMin: 9, cMax: 9 }));
        if (steps.modelCalls >= 40) ratios.push(steps.log.length / steps.modelCalls);
      }
    }
    ratios.sort((a, b) => a - b);
    expect(ratios.length).toBeGreaterThan(5);
    expect(ratios[Math.floor(ratios.length / 2)]).toBeLessThan(2.5);
  });

  test('the innermost reason is what a user sees', () => {
    expect(reasonOf(new Error('outer', { cause: new Error('set GATE_MODEL') }))).toBe('set GATE_MODEL');
    expect(reasonOf('text')).toBe('text');
  });
});
