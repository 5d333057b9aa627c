/** Check, probe, ground and settle: what the data says, and what is kept of it. */
import { planRef } from '../../../src/search/plan-view';
import { columnDifference } from '../../../src/roles/shared/bodies';
import type { PlanRef } from '../../../src/domain/ports/step-parts';
import type { bench } from './fixtures';
import {
  GAP_SQL,
  NO_MEMORY,
  SEARCH,
  TEST,
  containing,
  groundReply,
  matching,
  planReply,
  text,
  PLAN,
  prepared,
} from './fixtures';

type Bench = Awaited<ReturnType<typeof bench>>;

async function planned(
  replies: { plan?: unknown; ground?: unknown[]; propose?: unknown[] },
  settings: Parameters<typeof bench>[1] = {},
) {
  const { plan: first = planReply(), ground = [], propose = [] } = replies;
  const scripted = { plan: [text(first)], ground: ground.map(text), propose: propose.map(text) };
  const made = await prepared(scripted, settings);
  const plan = await made.steps.plan(PLAN);
  if (plan.kind !== 'ok' || plan.value.kind !== 'plan') throw new Error(text(plan));
  return { ...made, ref: planRef(plan.value.plan), proposalId: plan.value.proposalId!, view: plan.value.plan };
}

const checkAll = ({ steps }: Pick<Bench, 'steps'>, plan: PlanRef) =>
  steps.check({
    ...{ purpose: 'check', searchId: SEARCH, position: 'check', plan },
    operators: plan.bodies.map(([name]) => name),
  });
const probeOf = (made: { steps: Bench['steps']; ref: PlanRef; proposalId: string }, position = 'a1.probe') =>
  made.steps.probe({ purpose: 'probe', searchId: SEARCH, position, plan: made.ref, proposalId: made.proposalId });
const groundOf = (made: { steps: Bench['steps']; ref: PlanRef }, observation = 'a1.probe') =>
  made.steps.ground({
    ...{ role: 'ground', searchId: SEARCH, position: 'a1.ground', tryNumber: 0, memory: NO_MEMORY },
    ...{ plan: made.ref, observations: [observation], attempts: [observation] },
  });
const settleOf = (made: { steps: Bench['steps']; ref: PlanRef }) =>
  made.steps.settle({
    ...{ purpose: 'settle', searchId: SEARCH, position: 'a1.settle0', plan: made.ref },
    ...{ groundingId: 'a1.ground', memory: NO_MEMORY },
  });

const attempted = async (made: Awaited<ReturnType<typeof planned>>) => {
  await probeOf(made);
  await groundOf(made);
  return settleOf(made);
};

describe('check', () => {
  test('bodies that run and return their declared columns pass; those over open inputs wait', async () => {
    const made = await planned({});
    expect(await checkAll(made, made.ref)).toMatchObject({ failures: [], usage: { sqlExecutions: 1 } });
  });

  test('only the first cause of a failure is reported', async () => {
    const written = { name: 'op_gap', mapping: null, sql: GAP_SQL };
    const made = await planned({
      plan: planReply({ tests: [] }, [
        written,
        { name: 'op_runners', sql: 'SELECT event, place, marc AS mark FROM entry' },
      ]),
    });
    const { failures } = await checkAll(made, made.ref);
    expect(failures).toEqual([{ operator: 'op_runners', error: containing('marc') }]);
  });

  test.each([
    ['columns that others read by name, in another order', 'SELECT place, EVENT, mark FROM entry', []],
    ['a column too many', 'SELECT place, event, mark, car FROM entry', [containing('returns')]],
    [
      'another column',
      'SELECT place, event AS id, mark FROM entry',
      [containing('(place, id, mark) but declares (event,')],
    ],
  ])('%s', async (_, sql, errors) => {
    const made = await planned({ plan: planReply({ tests: [] }, [{ name: 'op_runners', sql }]) });
    expect((await checkAll(made, made.ref)).failures.map(({ error }) => error)).toEqual(errors);
  });

  test('the answer may lack an alias, but its columns keep their places', () => {
    const type = 'text' as const;
    const operator = { columns: ['name', 'n'].map((name) => ({ name, type, meaning: '' })) };
    const returned = (...names: string[]) => ({
      kind: 'rows' as const,
      columns: names.map((name) => ({ name, kind: 'text' as const })),
      rows: [],
      truncated: false,
      elapsedMs: 1,
    });
    expect(columnDifference(operator, returned('Name', 'COUNT(*)'), true)).toBeNull();
    expect(columnDifference(operator, returned('Name', 'COUNT(*)'), false)).toContain('declares (name, n)');
    expect(columnDifference(operator, returned('n', 'name'), true)).toContain('declares (name, n)');
    expect(columnDifference(operator, returned('name'), true)).toContain('declares (name, n)');
  });
});

describe('S2: probe', () => {
  const settings = { settings: { materiality: false } };

  test('the probe and all predicates share one snapshot, and a repeated step runs nothing', async () => {
    const made = await planned({}, settings);
    const before = made.engine.runs.length;
    const probed = await probeOf(made);
    expect(probed).toMatchObject({
      observationId: 'a1.probe',
      tests: [{ operator: 'op_gap', outcome: 'rows', immaterial: null }],
      usage: { sqlExecutions: 5 },
    });
    expect(made.engine.runs.slice(before).map((statements) => statements.length)).toEqual([5]);
    expect(await probeOf(made)).toEqual(probed);
    expect(made.engine.runs).toHaveLength(before + 1);
    const observation = await made.run.get('observation', 'a1.probe');
    expect(observation.tests[0]?.hypotheses).toMatchObject([
      { id: 'h1', predicates: [{ outcome: 'true' }], agreement: { matching: 6, examined: 6 } },
      { id: 'h2', predicates: [{ outcome: 'false' }], agreement: { matching: 0, examined: 6 } },
    ]);
  });

  test('a probe that fails is an observation, not an exception', async () => {
    const made = await planned(
      { plan: planReply({ tests: [{ ...TEST, probe: 'SELECT marc AS n, 1 AS plus FROM op_runners' }] }) },
      settings,
    );
    expect((await probeOf(made)).tests[0]?.outcome).toBe('sql-error');
  });

  test('a probe over an operator that has lost its SQL is refused by name', async () => {
    const made = await planned({}, settings);
    const ref = { ...made.ref, bodies: made.ref.bodies.map(([name]) => [name, null, null] as const) };
    expect((await probeOf({ ...made, ref })).tests[0]?.outcome).toBe('refused');
  });
});

describe('a probe that reads the operator under test', () => {
  const settings = { settings: { materiality: false } };
  const counts = { matching: '(SELECT fits FROM observation)', examined: '(SELECT n FROM observation)' };
  const reading = (change: object[]) => ({
    plan: planReply({
      tests: [
        {
          ...TEST,
          probe:
            'SELECT count(*) AS n, count(CASE WHEN gap BETWEEN 0 AND 60 THEN 1 END) AS fits FROM op_gap WHERE place > 1',
          hypotheses: TEST.hypotheses.map((each, at) => ({
            ...each,
            predicates: [],
            agreement: counts,
            ...change[at],
          })),
        },
      ],
    }),
    ground: [groundReply()],
  });

  test('runs once for each reading, with its SQL in place, and proves by these runs', async () => {
    const made = await planned(reading([]), settings);
    const before = made.engine.runs.length;
    expect(await probeOf(made)).toMatchObject({ tests: [{ outcome: 'rows' }], usage: { sqlExecutions: 4 } });
    const [statements] = made.engine.runs.slice(before);
    expect(statements?.[0]).toContain('CAST(substr(mark, 2) AS REAL)');
    expect(statements?.[2]).toContain('CAST(mark AS REAL) - 1680');
    const run = made.run;
    const [seen] = (await run.get('observation', 'a1.probe')).tests;
    expect(seen?.hypotheses).toMatchObject([
      { agreement: { matching: 6, examined: 6 }, run: { result: { rows: [[6, 6]] } } },
      { agreement: { matching: 0, examined: 6 }, run: { result: { rows: [[6, 0]] } } },
    ]);
    expect(seen?.result).toMatchObject({ rows: [[6, 6]] });
    await groundOf(made);
    expect(made.model.requests.at(-1)!.messages.at(-1)!.content).toContain(
      'with the SQL of h1:\nn,fits\n6,6\nwith the SQL of h2:\nn,fits\n6,0',
    );
    const runners = made.ref.bodies[0]![1];
    expect((await settleOf(made)).results).toMatchObject([{ assumed: false, update: { dependsOn: [runners] } }]);
    expect((await run.get('update', 'a1.settle0.op_gap')).dependsOn.assumedBodies).toEqual([runners]);
  });

  test('whose SQL fails under one reading says nothing of that one', async () => {
    const failing = 'SELECT event, place, marc AS gap FROM op_runners';
    const made = await planned(reading([{}, { sql: failing }]), settings);
    await probeOf(made);
    const [seen] = (await made.run.get('observation', 'a1.probe')).tests;
    expect(seen?.hypotheses).toMatchObject([
      { agreement: { matching: 6, examined: 6 } },
      { agreement: null, run: { result: { kind: 'sql-error' } } },
    ]);
  });

  test('is none where a reading has no SQL', async () => {
    const { steps } = await prepared({ plan: [text(reading([{}, { sql: null }]).plan)] }, settings);
    expect(await steps.plan(PLAN)).toMatchObject({ kind: 'ok', value: { proposalId: null } });
  });
});

describe('an interface that the rows contradict', () => {
  const settings = { settings: { materiality: false } };
  const amending = groundReply({ interface: [{ operator: 'op_gap', why: 'two gaps for one place' }] });

  test('is told to control, and kept with the judgement', async () => {
    const made = await planned({ ground: [amending] }, settings);
    await probeOf(made);
    expect(await groundOf(made)).toMatchObject({ kind: 'ok', value: { refit: ['op_gap'] } });
    const grounding = await made.run.get('grounding', 'a1.ground');
    expect(grounding.interface).toEqual([{ operator: 'op_gap', why: 'two gaps for one place' }]);
  });

  test('is left alone where the judge is the proof, and where the plan has no such operator', async () => {
    const value = async (reply: object, proof: 'execution' | 'model') => {
      const made = await planned({ ground: [reply] }, { settings: { materiality: false, proof } });
      await probeOf(made);
      const grounded = await groundOf(made);
      return grounded.kind === 'ok' ? grounded.value.refit : grounded;
    };
    expect(await value(amending, 'model')).toBeUndefined();
    const elsewhere = groundReply({ interface: [{ operator: 'op_other', why: 'w' }] });
    expect(await value(elsewhere, 'execution')).toBeUndefined();
  });
});

describe('the reading "not stored"', () => {
  const probe =
    "SELECT count(*) AS n, count(CASE WHEN mark LIKE '%h' THEN 1 END) AS hours, count(mark) AS marks FROM op_runners";
  const none = {
    ...{ id: 'h2', mapping: 'no running time in hours is stored', expectation: 'no mark in hours', sql: null },
    ...{ notStored: true, predicates: ['(SELECT marks > 0 FROM observation)'] },
    agreement: { matching: '(SELECT hours FROM observation)', examined: '(SELECT n FROM observation)' },
  };
  const stored = {
    ...{ id: 'h1', mapping: 'marks hold hours', expectation: 'all end in h', sql: GAP_SQL, predicates: [] },
    agreement: none.agreement,
  };
  const verdicts = [
    { hypothesis: 'h1', reason: 'no mark ends in h', verdict: 'refuted' },
    { hypothesis: 'h2', reason: '0 of 8', verdict: 'supported' },
  ];
  const judged = groundReply({}, { verdicts, winner: 'h2', summary: 'no mark is in hours' });
  const run = async (change: object, settings = {}) => {
    const hypotheses = [stored, { ...none, ...change }];
    const made = await planned(
      { plan: planReply({ tests: [{ ...TEST, probe, hypotheses }] }), ground: [judged, judged] },
      { settings: { materiality: false, ...settings } },
    );
    await probeOf(made);
    return { made, grounded: await groundOf(made) };
  };

  test('that wins with its counts beside a positive control ends the plan with that reason', async () => {
    const { made, grounded } = await run({});
    expect(grounded).toMatchObject({
      kind: 'ok',
      value: {
        impossible: 'no mark is in hours (0 of 8 have it recorded)',
        absenceShown: true,
        operators: [{ operator: 'op_gap', winner: null, bodyId: null, decided: true }],
      },
    });
    expect(made.model.requests.at(-1)!.messages.at(-1)!.content).toContain('h2 [not stored]: no running time');
    expect(made.model.requests.at(-1)!.messages.at(-1)!.content).toContain('agreement: 8 of 8 have nothing recorded');
    const grounding = await made.run.get('grounding', 'a1.ground');
    expect(grounding.groundings[0]).toMatchObject({ winner: 'h2', bodyId: null });
  });

  test.each<[string, object]>([
    ['without a control', { predicates: [] }],
    ['with a control that finds nothing', { predicates: ['(SELECT marks > 99 FROM observation)'] }],
    ['that some have recorded', { agreement: { ...none.agreement, matching: '(SELECT n - 6 FROM observation)' } }],
    ['without counts', { agreement: null }],
  ])('%s is not shown, and the search goes on', async (_, change) => {
    const { grounded } = await run(change);
    expect(grounded).toMatchObject({ kind: 'ok', value: { impossible: null, operators: [{ winner: null }] } });
    expect(grounded.kind === 'ok' && grounded.value).not.toHaveProperty('absenceShown');
  });
});

describe('S9: materiality', () => {
  const SAME = 'SELECT event, place, CAST(substr(mark, 2) AS REAL) * 1.01 AS gap FROM op_runners';
  const unchecked = { predicates: [], agreement: null };
  const [h1, h2] = TEST.hypotheses.map((each) => ({ ...each, ...unchecked })) as [object, object];
  const rival = (sql: string, ...others: object[]) => ({
    plan: planReply({ tests: [{ ...TEST, hypotheses: [h1, { ...h2, sql }, ...others] }] }),
  });

  test('rival readings that give the same answer are immaterial relative to the other bodies', async () => {
    const made = await planned(rival(SAME));
    const [test] = (await probeOf(made)).tests;
    const others = made.view.operators.flatMap(({ bodyId }) => bodyId ?? []).sort();
    expect(test?.immaterial).toEqual({ relativeTo: others, bodyId: matching(/^b/) });
  });

  const [right, wrong] = TEST.hypotheses as [(typeof TEST.hypotheses)[0], (typeof TEST.hypotheses)[0]];
  const besides = {
    plan: planReply({
      tests: [{ ...TEST, hypotheses: [right, wrong, { ...h2, id: 'h3', mapping: 'gaps with a margin', sql: SAME }] }],
    }),
    ground: [
      groundReply(
        {},
        { verdicts: [...groundReply().judgements[0]!.verdicts, { hypothesis: 'h3', reason: 'r', verdict: 'open' }] },
      ),
    ],
  };

  test('what a check refuted is judged, and not run with the plan', async () => {
    const made = await planned({
      plan: planReply({ tests: [{ ...TEST, hypotheses: [right, { ...wrong, sql: SAME }] }] }),
    });
    const before = made.engine.runs.length;
    expect((await probeOf(made)).tests[0]?.immaterial).toBeNull();
    expect(made.engine.runs).toHaveLength(before + 1);
  });

  test('a rival that the checks left standing and that gives the same answer does not block the proof', async () => {
    const made = await planned(besides);
    expect((await probeOf(made)).tests[0]?.immaterial).toBeNull();
    const run = made.run;
    const others = [...made.view.operators.flatMap(({ bodyId }) => bodyId ?? [])].sort();
    const [seen] = (await run.get('observation', 'a1.probe')).tests;
    expect(seen?.hypotheses.map(({ sameAnswer }) => sameAnswer)).toEqual([
      [{ as: 'h3', relativeTo: [others] }],
      undefined,
      [{ as: 'h1', relativeTo: [others] }],
    ]);
    await groundOf(made);
    expect(made.model.requests.at(-1)!.messages.at(-1)!.content).toContain('same answer as: h3');
    expect((await settleOf(made)).results).toMatchObject([{ assumed: false, update: { beside: others } }]);
    const update = await run.get('update', 'a1.settle0.op_gap');
    expect(update.sameAnswer).toMatchObject({ relativeTo: others, rivals: [{ hypothesis: 'h3' }] });
    expect(update.proof.checks.filter(({ requirement }) => /rival/.test(requirement))).toMatchObject([
      { requirement: 'the rival h2 has a false predicate, or fewer of the same rows match it', met: true },
      { requirement: 'the rival h3 gives the same answer', met: true },
      { requirement: 'at least one rival is refuted', met: true, seen: 'h2' },
    ]);
  });

  test('other SQL of the judge was not run beside the rival, which then blocks the proof', async () => {
    const [reply] = besides.ground;
    const sql = `${GAP_SQL} WHERE place > 0`;
    const made = await planned({ ...besides, ground: [{ ...reply, judgements: [{ ...reply!.judgements[0]!, sql }] }] });
    expect((await attempted(made)).results).toMatchObject([{ assumed: true, update: null }]);
  });

  test('readings that change the answer are not, nor are those that fail', async () => {
    const immaterial = async (sql: string) => (await probeOf(await planned(rival(sql)))).tests[0]?.immaterial;
    expect(
      await immaterial('SELECT event, place, CAST(substr(mark, 2) AS REAL) * 60 AS gap FROM op_runners'),
    ).toBeNull();
    expect(await immaterial('SELECT event, place, marc AS gap FROM op_runners')).toBeNull();
  });

  test('nothing is run while the rest of the plan is not written', async () => {
    const made = await planned({ plan: planReply({}, [{ name: 'op_answer', sql: null, mapping: 'open' }]) });
    const before = made.engine.runs.length;
    expect((await probeOf(made)).tests[0]?.immaterial).toBeNull();
    expect(made.engine.runs).toHaveLength(before + 1);
  });
});

describe('S1: ground and settle', () => {
  const settings = { settings: { materiality: false } };

  test('a winner that the data supports becomes an update with its proof and what it rests on', async () => {
    const made = await planned({ ground: [groundReply()] }, settings);
    await probeOf(made);
    const grounded = await groundOf(made);
    expect(grounded).toMatchObject({
      kind: 'ok',
      value: {
        operators: [{ operator: 'op_gap', winner: 'h1', decided: true }],
        facts: [{ status: 'active' }],
        learned: containing('gaps in seconds'),
      },
    });
    const settled = await settleOf(made);
    const runners = made.ref.bodies[0]![1];
    expect(settled.results).toMatchObject([
      {
        operator: 'op_gap',
        assumed: false,
        error: null,
        update: { id: 'a1.settle0.op_gap', inputs: [{ local: 'op_runners', bodyId: runners }], dependsOn: [runners] },
      },
    ]);
    const update = await made.run.get('update', 'a1.settle0.op_gap');
    expect(update.proof.proved).toBe(true);
    expect(update.dependsOn).toMatchObject({
      database: 'races',
      assumedBodies: [runners],
      snapshotAt: '2026-01-01T00:00:00.000Z',
    });
    expect(update.mapping).toContain('gaps to the winner');
  });

  test('a verdict that the data contradicts is not stored, and its winner is none', async () => {
    const flipped = groundReply(
      {},
      {
        verdicts: [
          { hypothesis: 'h1', reason: 'no', verdict: 'refuted' },
          { hypothesis: 'h2', reason: 'yes', verdict: 'supported' },
        ],
        winner: 'h2',
        sql: 'SELECT event, place, CAST(mark AS REAL) - 1680 AS gap FROM op_runners',
      },
    );
    const made = await planned({ ground: [flipped] }, settings);
    await probeOf(made);
    expect(await groundOf(made)).toMatchObject({ kind: 'ok', value: { operators: [{ winner: null, bodyId: null }] } });
    const grounding = await made.run.get('grounding', 'a1.ground');
    expect(grounding.groundings[0]?.verdicts).toMatchObject([
      { verdict: 'open', overruled: containing('') },
      { verdict: 'refuted', overruled: containing('') },
    ]);
    expect((await settleOf(made)).results).toEqual([]);
  });

  test('S4: SQL that a judgement writes over a table nobody declared rests on that, whatever it says', async () => {
    const sql = ['SELECT count(*) AS n FROM entry WHERE place = 2', 'SELECT count(*) AS n FROM op_gap'];
    for (const [text, assumptions] of [
      [sql[0], 1],
      [sql[1], 0],
    ]) {
      const reply = groundReply({ written: [{ operator: 'op_answer', sql: text, assumptions: [] }] });
      const open = { name: 'op_answer', mapping: 'how many?', sql: null, assumptions: [] };
      const made = await planned({ plan: planReply({}, [open]), ground: [reply] }, settings);
      await probeOf(made);
      expect(await groundOf(made)).toMatchObject({ value: { written: [{ operator: 'op_answer', assumptions }] } });
    }
  });

  test('without a predicate the winner is assumed, with proof by model it is an update', async () => {
    const bare = { ...TEST, hypotheses: TEST.hypotheses.map((each) => ({ ...each, predicates: [], agreement: null })) };
    const run = async (proof: 'execution' | 'model') => {
      const made = await planned(
        { plan: planReply({ tests: [bare] }), ground: [groundReply()] },
        { settings: { materiality: false, proof } },
      );
      return (await attempted(made)).results;
    };
    expect(await run('execution')).toMatchObject([{ update: null, assumed: true, error: null }]);
    expect(await run('model')).toMatchObject([{ update: { id: 'a1.settle0.op_gap' }, assumed: false }]);
  });

  test('a body that does not run goes back with its error', async () => {
    const made = await planned(
      { ground: [groundReply({}, { sql: 'SELECT event, place, gapp AS gap FROM op_runners' })] },
      settings,
    );
    expect((await attempted(made)).results).toMatchObject([
      { update: null, assumed: false, error: containing('gapp') },
    ]);
  });

  test('S8: a winner may read any table of the schema, but no operator that it does not declare', async () => {
    const reading = async (relation: string) => {
      const made = await planned(
        { ground: [groundReply({}, { sql: `SELECT 1 AS event, 2 AS place, 3 AS gap FROM ${relation}` })] },
        settings,
      );
      await probeOf(made);
      return groundOf(made);
    };
    expect(await reading('event')).toMatchObject({ kind: 'ok' });
    expect(await reading('op_answer')).toMatchObject({ kind: 'invalid', error: containing('reads op_answer') });
    expect(await reading('races')).toMatchObject({ kind: 'invalid', error: containing('reads races') });
  });

  test('an observation without rows establishes no fact', async () => {
    const made = await planned(
      {
        plan: planReply({ tests: [{ ...TEST, probe: 'SELECT 1 AS n, 1 AS plus FROM op_runners WHERE place = 99' }] }),
        ground: [
          groundReply(
            {},
            {
              winner: null,
              verdicts: TEST.hypotheses.map(({ id }) => ({ hypothesis: id, reason: 'no rows', verdict: 'open' })),
            },
          ),
        ],
      },
      settings,
    );
    expect((await probeOf(made)).tests[0]?.outcome).toBe('empty');
    expect(await groundOf(made)).toMatchObject({ kind: 'ok', value: { facts: [], operators: [{ decided: false }] } });
  });
});

describe('propose', () => {
  const proposeOf = (made: { steps: Bench['steps']; ref: PlanRef }) =>
    made.steps.propose({
      ...{ role: 'propose', searchId: SEARCH, position: 'a2.propose', tryNumber: 0, memory: NO_MEMORY },
      ...{ plan: made.ref, targets: ['op_gap'], attempts: ['a1.probe'], rollout: [], callsLeft: 1 },
    });

  test('earlier evidence is shown, and the new tests are stored under one id', async () => {
    const made = await planned(
      { propose: [{ note: 'n', tests: [TEST], done: true }] },
      { settings: { materiality: false } },
    );
    await probeOf(made);
    expect(await proposeOf(made)).toMatchObject({
      kind: 'ok',
      value: { proposalId: 'a2.propose', operators: ['op_gap'], done: true },
    });
    expect(made.model.requests.at(-1)!.messages.at(-1)!.content).toContain('predicate TRUE');
  });

  test.each<[string, unknown, string]>([
    [
      'a predicate over a base relation',
      {
        ...TEST,
        hypotheses: [
          { ...TEST.hypotheses[0], predicates: ['(SELECT count(*) FROM observation, (SELECT 1 FROM entry)) > 0'] },
        ],
      },
      'it may read only the relation observation',
    ],
    ['a probe of an unknown table', { ...TEST, probe: 'SELECT 1 AS n FROM prices' }, 'reads prices'],
  ])('%s is invalid', async (_, test, message) => {
    const made = await planned({ propose: [{ note: 'n', tests: [test], done: true }] });
    expect(await proposeOf(made)).toMatchObject({ kind: 'invalid', error: containing(message) });
  });
});
