/** Replies of the roles that judge or act: propose, ground, evaluate, select, react. */
import { evaluateRole } from '../../../../src/roles/evaluate';
import { groundRole } from '../../../../src/roles/ground/prompt';
import { proposeRole } from '../../../../src/roles/propose';
import { selectRole, selectByNumberRole } from '../../../../src/roles/select';
import { agentRole } from '../../../../src/methods/agent/prompt';
import type { Parsed } from '../../../../src/roles/shared/reply';
import * as given from './fixtures';

const json = JSON.stringify;

function refused(parsed: Parsed<unknown>, error: string, hint: string): void {
  expect(parsed.kind).toBe('invalid');
  if (parsed.kind === 'invalid') {
    expect(parsed.error).toContain(error);
    expect(parsed.hint).toContain(hint);
  }
}

const test = {
  operator: 'op_gap',
  probe: 'SELECT count(*) AS n FROM op_finals',
  hypotheses: [
    {
      id: 'h1',
      mapping: 'm',
      expectation: 'e',
      predicates: ['(SELECT n > 0 FROM observation)'],
      agreement: null,
      sql: null,
    },
  ],
};

describe('propose', () => {
  const rollout = { ...given.proposeInput, mode: 'rollout' as const, rollout: [given.evidence] };

  it('takes a test of a target', () => {
    expect(proposeRole.parse(json({ note: '', tests: [test], done: true }), given.proposeInput).kind).toBe('ok');
  });
  it('refuses a test of another operator', () => {
    const reply = json({ note: '', tests: [{ ...test, operator: 'op_answer' }], done: true });
    refused(proposeRole.parse(reply, given.proposeInput), 'tests[0].operator: found "op_answer"', 'use one of op_gap');
  });
  it('keeps what can run of several tests', () => {
    const other = { ...test, operator: 'op_answer' };
    const reply = proposeRole.parse(json({ note: '', tests: [other, test], done: true }), given.proposeInput);
    expect(reply).toMatchObject({ kind: 'ok', reply: { tests: [{ operator: 'op_gap' }] } });
  });
  it('refuses to end without a test, except in a rollout that has seen something', () => {
    const reply = json({ note: '', tests: [], done: true });
    refused(proposeRole.parse(reply, given.proposeInput), 'tests: found []', 'give a test of op_gap');
    refused(proposeRole.parse(reply, { ...rollout, rollout: [] }), 'tests: found []', 'give a test of op_gap');
    expect(proposeRole.parse(reply, rollout).kind).toBe('ok');
    refused(proposeRole.parse(json({ note: '', tests: [], done: false }), rollout), 'tests: found []', 'give a test');
  });
});

describe('ground', () => {
  const judgement = {
    operator: 'op_gap',
    observation: '118 of 158 start with +',
    verdicts: [
      { hypothesis: 'h1', reason: 'FALSE', verdict: 'refuted' },
      { hypothesis: 'h2', reason: 'TRUE', verdict: 'supported' },
    ],
    winner: 'h2' as string | null,
    sql: 'SELECT race_id, 1 AS gap_s FROM lap;' as string | null,
    summary: 's',
  };
  const good = {
    judgements: [judgement],
    facts: [],
    tryNext: [],
    avoid: [],
    delta: -1,
    impossible: null,
    written: [] as object[],
    tests: [] as object[],
  };
  const parse = (change: Partial<typeof good>) => groundRole.parse(json({ ...good, ...change }), given.groundInput);
  const judged = (change: Partial<typeof judgement>) => parse({ judgements: [{ ...judgement, ...change }] });

  it('takes one judgement per operator observed, and drops trailing semicolons', () => {
    expect(judged({})).toMatchObject({
      kind: 'ok',
      reply: { judgements: [{ sql: 'SELECT race_id, 1 AS gap_s FROM lap' }] },
    });
  });
  it('lets a winner keep the SQL that its hypothesis carried', () => {
    const kept = given.evidence.tests[0]!.hypotheses[1]!.sql;
    expect(judged({ sql: null })).toMatchObject({ reply: { judgements: [{ winner: 'h2', sql: kept }] } });
  });
  it('takes a winner without SQL where that reading is that nothing is stored', () => {
    const [observed] = given.groundInput.observed;
    const [first] = observed!.tests;
    const hypotheses = first!.hypotheses.map((each) => ({ ...each, sql: null, notStored: each.id === 'h2' }));
    const input = { ...given.groundInput, observed: [{ ...observed!, tests: [{ ...first!, hypotheses }] }] };
    const said = (winner: string) => {
      const verdicts = judgement.verdicts.map((each) => ({
        ...each,
        verdict: each.hypothesis === winner ? ('supported' as const) : ('refuted' as const),
      }));
      return groundRole.parse(json({ ...good, judgements: [{ ...judgement, verdicts, winner, sql: null }] }), input);
    };
    expect(said('h2')).toMatchObject({ kind: 'ok', reply: { judgements: [{ winner: 'h2', sql: null }] } });
    expect(said('h1')).toMatchObject({ kind: 'invalid' });
  });
  it('drops SQL without a winner', () => {
    expect(judged({ winner: null })).toMatchObject({ reply: { judgements: [{ winner: null, sql: null }] } });
  });
  it('takes next tests that read what the reply has just written', () => {
    const next = { ...test, operator: 'op_answer', probe: 'SELECT count(*) AS n FROM op_gap' };
    expect(parse({ tests: [next] })).toMatchObject({ reply: { tests: [{ operator: 'op_answer' }] } });
    const lost = parse({ tests: [next], judgements: [{ ...judgement, winner: null }] });
    expect(lost).toMatchObject({ kind: 'ok', reply: { tests: [] } });
  });
  it('drops tests that were not asked for', () => {
    const reply = groundRole.parse(json({ ...good, tests: [test] }), { ...given.groundInput, carryTests: false });
    expect(reply).toMatchObject({ kind: 'ok', reply: { tests: [] } });
  });
  it('judges the hypotheses of all observations of one operator together', () => {
    const second = { ...given.groundInput.observed[0]!, observationId: 'o2' };
    const hypotheses = [{ ...second.tests[0]!.hypotheses[0]!, id: 'h3' }];
    const observed = [...given.groundInput.observed, { ...second, tests: [{ ...second.tests[0]!, hypotheses }] }];
    expect(groundRole.parse(json(good), { ...given.groundInput, observed })).toMatchObject({
      reply: { judgements: [{ verdicts: [{}, {}, { hypothesis: 'h3', verdict: 'open' }], winner: 'h2' }] },
    });
  });
  it('leaves a hypothesis without a verdict open, and has no winner that its verdict does not support', () => {
    expect(judged({ verdicts: judgement.verdicts.slice(1) })).toMatchObject({
      kind: 'ok',
      reply: { judgements: [{ verdicts: [{ hypothesis: 'h2' }, { hypothesis: 'h1', verdict: 'open' }] }] },
    });
    expect(judged({ winner: 'h1' })).toMatchObject({
      kind: 'ok',
      reply: { judgements: [{ winner: null, sql: null }] },
    });
  });
  it('is not asked again for a body that came along but cannot be used', () => {
    const of = (operator: string, sql: string) => parse({ written: [{ operator, sql, assumptions: [] }] });
    for (const parsed of [of('op_gap', 'SELECT 1'), of('op_none', 'SELECT 1'), of('op_answer', ';')])
      expect(parsed).toMatchObject({ kind: 'ok', reply: { written: [] } });
  });

  it.each<[string, string, ReturnType<typeof judged>]>([
    ['judgements[0].operator: found "op_finals"', 'use one of op_gap', judged({ operator: 'op_finals' })],
    ['judgements: nothing on op_gap', 'judge op_gap too', parse({ judgements: [] })],
    ['op_gap is judged twice', 'one judgement per operator', parse({ judgements: [judgement, judgement] })],
    [
      'verdicts[2].hypothesis: found "h9"',
      'use one of h1, h2',
      judged({ verdicts: [...judgement.verdicts, { hypothesis: 'h9', reason: '', verdict: 'open' }] }),
    ],
    [
      'h1 has a verdict already',
      'one verdict per hypothesis',
      judged({ verdicts: [...judgement.verdicts, judgement.verdicts[0]!] }),
    ],
    [
      'verdict: found "true"',
      '"supported", "refuted", "open"',
      judged({ verdicts: [{ hypothesis: 'h1', reason: '', verdict: 'true' }] }),
    ],
    ['winner: found "h7"', 'use one of h1, h2', judged({ winner: 'h7' })],
    [
      'written[0].assumptions[0].risk: found 2',
      'from 0 to 1',
      parse({
        written: [{ operator: 'op_answer', sql: 'SELECT 1', assumptions: [{ kind: 'unit', statement: 's', risk: 2 }] }],
      }),
    ],
  ])('refuses %s', (error, hint, parsed) => refused(parsed, error, hint));

  it('refuses a winner without SQL anywhere', () => {
    const verdicts = [
      { hypothesis: 'h1', reason: '', verdict: 'supported' },
      { hypothesis: 'h2', reason: '', verdict: 'refuted' },
    ];
    refused(
      judged({ winner: 'h1', sql: '', verdicts }),
      'judgements[0].sql: found null with winner h1',
      "write the operator's body",
    );
  });
});

describe('evaluate', () => {
  const score = { note: '', progress: 0.5, potential: 3, bottleneck: null as string | null };
  const good = [
    { ...score, trajectory: 't0' },
    { ...score, trajectory: 't1', bottleneck: 'op_gap' },
  ];
  const parse = (scores: object[]) => evaluateRole.parse(json({ scores }), given.evaluateInput);

  it('takes exactly one score per trajectory', () => {
    expect(parse(good).kind).toBe('ok');
  });
  it.each<[string, string, object[]]>([
    ['no score for t0', 'each of t0, t1', good.slice(1)],
    ['scores[2].trajectory: found "t9"', 'use one of t0, t1', [...good, { ...score, trajectory: 't9' }]],
    ['t0 is scored twice', 'one score per trajectory', [...good, good[0]!]],
    ['scores[0].progress: found 50', 'from 0 to 1', [{ ...good[0]!, progress: 50 }, good[1]!]],
    ['scores[0].potential: found -2', '0 or more', [{ ...good[0]!, potential: -2 }, good[1]!]],
    ['scores[0].bottleneck: found "op_gap"', 'use one of null', [{ ...good[0]!, bottleneck: 'op_gap' }, good[1]!]],
  ])('refuses %s', (error, hint, scores) => refused(parse(scores), error, hint));
});

describe('select', () => {
  const parse = (choice: unknown) => selectRole.parse(json({ reason: 'r', choice }), given.selectAnswerInput);

  it.each([0, 1, 2])('takes %d', (choice) => expect(parse(choice)).toMatchObject({ kind: 'ok', reply: { choice } }));
  it.each([-1, 3])('refuses %d', (choice) => refused(parse(choice), `choice: found ${choice}`, 'from 0 to 2'));
  it('takes a number in quotes', () => expect(parse('1')).toMatchObject({ kind: 'ok', reply: { choice: 1 } }));
  it('refuses a choice in words', () => refused(parse('first'), 'choice: found "first"', 'a number'));
});

describe('select by number', () => {
  const parse = (text: string) => selectByNumberRole.parse(text, given.selectByNumberInput);

  it.each(['2', ' [2]\n', '{"choice": 2}'])('takes %j', (text) =>
    expect(parse(text)).toMatchObject({ kind: 'ok', reply: { choice: 2 } }),
  );
  it('abstains with 0', () => expect(parse('0')).toMatchObject({ kind: 'ok', reply: { choice: 0 } }));
  it('refuses a number that no candidate has', () => refused(parse('3'), 'choice: found 3', 'from 0 to 2'));
});

describe('react', () => {
  const call = {
    note: 'n',
    action: 'tool_call',
    tool: 'execute_sql',
    sql: 'SELECT 1;',
    answer: null,
    finalSql: null,
    unanswerable: false,
  };
  const end = { ...call, action: 'end', tool: null, sql: null, finalSql: 'SELECT 4 AS n;' };
  const parse = (reply: object, change: object = {}) =>
    agentRole.parse(json(reply), { ...given.reactInput, ...change });

  it('takes a tool call and an end, without trailing semicolons', () => {
    expect(parse(call)).toMatchObject({ kind: 'ok', reply: { queries: [{ why: '', sql: 'SELECT 1' }] } });
    expect(parse(end)).toMatchObject({ kind: 'ok', reply: { finalSql: 'SELECT 4 AS n' } });
  });
  it('takes a coverage, and none', () => {
    expect(parse({ ...end, coverage: 'SELECT 4, 3;' })).toMatchObject({ reply: { coverage: 'SELECT 4, 3' } });
    expect(parse(end)).toMatchObject({ reply: { coverage: null } });
  });
  it('takes several queries in one call where that is allowed, without empty ones', () => {
    const queries = [
      { why: 'formats', sql: 'SELECT 1;' },
      { why: '', sql: ' ' },
      { why: 'nulls', sql: 'SELECT 2' },
    ];
    expect(parse({ ...call, sql: null, queries }, { queriesPerAction: 8 })).toMatchObject({
      reply: {
        queries: [
          { why: 'formats', sql: 'SELECT 1' },
          { why: 'nulls', sql: 'SELECT 2' },
        ],
      },
    });
    expect(parse({ ...end, queries: [] }, { queriesPerAction: 8 })).toMatchObject({ reply: { queries: [] } });
  });
  it('takes an end without a sentence where one is wanted: the program has words of its own', () => {
    expect(parse(end, { question: { ...given.context.question, outputMode: 'answer' } }).kind).toBe('ok');
  });
  it('takes an unanswerable end with its reason', () => {
    expect(parse({ ...end, finalSql: null, unanswerable: true, answer: 'no weather is stored' }).kind).toBe('ok');
  });
  it.each<[string, string, object, object]>([
    ['tool: found null', 'use "execute_sql"', { ...call, tool: null }, {}],
    ['tool: found "web_search"', '"execute_sql"', { ...call, tool: 'web_search' }, {}],
    ['sql: found null', 'or use action "end"', { ...call, sql: '' }, {}],
    ['queries: found no query', 'write 1 to 8', { ...call, queries: [] }, { queriesPerAction: 8 }],
    ['no tool calls left', 'use "end"', call, { callsLimit: 1 }],
    ['action: found "stop"', '"tool_call", "end"', { ...call, action: 'stop' }, {}],
    ['finalSql: found null with action "end"', 'or use "tool_call"', { ...end, finalSql: null }, {}],
    ['answer: found null', 'which fact is not stored', { ...end, unanswerable: true }, {}],
  ])('refuses %s', (error, hint, reply, change) => refused(parse(reply, change), error, hint));
});
