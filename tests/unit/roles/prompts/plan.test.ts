import { planRole, type PlanPrompt, type PlanReply } from '../../../../src/roles/plan/prompt';
import { checkTests } from '../../../../src/roles/shared/tests';
import { planInput } from './fixtures';

const rows = {
  name: 'op_rows',
  purpose: 'rows',
  intent: 'All laps',
  relations: ['lap'],
  inputs: [] as string[],
  columns: [{ name: 'race_id', type: 'integer', meaning: 'race' }],
  grain: ['race_id'],
  mapping: null as string | null,
  sql: 'SELECT race_id FROM lap;' as string | null,
  assumptions: [{ kind: 'join', statement: 'one lap per race', risk: 0.3 }],
};
const gap = { ...rows, name: 'op_gap', inputs: ['op_rows'], sql: null, mapping: 'total or gap', assumptions: [] };
const answer = {
  ...rows,
  name: 'op_answer',
  relations: [],
  inputs: ['op_gap'],
  columns: [{ name: 'n', type: 'integer', meaning: 'count' }],
  grain: [],
  sql: 'SELECT count(*) AS n FROM op_gap',
  assumptions: [],
};
const hypothesis = (id: string) => ({
  id,
  mapping: 'a gap',
  expectation: 'most start with +',
  predicates: ['(SELECT plus > 0 FROM observation);'],
  agreement: { matching: '(SELECT plus FROM observation)', examined: '(SELECT n FROM observation)' },
  sql: null,
  notStored: null,
});
const test = {
  operator: 'op_gap',
  probe: 'SELECT 1 AS n, 1 AS plus FROM op_rows ;',
  hypotheses: [hypothesis('h1'), hypothesis('h2')],
};
const good = {
  outline: 'rows, gap, count',
  kind: 'plan',
  reason: null as string | null,
  operators: [rows, gap, answer],
  ordered: false,
  control: 'SELECT count(*) FROM lap;' as string | null,
  wording: [{ operator: 'op_answer', taken: 'strictly more', other: 'at least', otherSql: 'SELECT 1 AS n;' }],
  bottleneck: 'op_gap' as string | null,
  potential: 2,
  tests: [test],
};
type Draft = typeof good;

const parse = (change: Partial<Draft> = {}, input: Partial<PlanPrompt> = {}) =>
  planRole.parse(JSON.stringify({ ...good, ...change }), { ...planInput, ...input });
const withOperator = (at: number, change: object) =>
  parse({ operators: good.operators.map((operator, index) => (index === at ? { ...operator, ...change } : operator)) });

function replyOf(parsed: ReturnType<typeof planRole.parse>): PlanReply {
  if (parsed.kind === 'invalid') throw new Error(parsed.error);
  if (parsed.reply.kind === 'lookup') throw new Error('it asks');
  return parsed.reply;
}

describe('a plan reply', () => {
  it('is accepted, without its trailing semicolons', () => {
    const reply = replyOf(parse());
    expect(reply.operators[0]?.sql).toBe('SELECT race_id FROM lap');
    expect(reply.control).toBe('SELECT count(*) FROM lap');
    expect(reply.wording[0]?.otherSql).toBe('SELECT 1 AS n');
    expect(reply.tests[0]?.probe).toBe('SELECT 1 AS n, 1 AS plus FROM op_rows');
    expect(reply.tests[0]?.hypotheses[0]?.predicates).toEqual(['(SELECT plus > 0 FROM observation)']);
  });

  it('keeps only the tests that were asked for', () => {
    expect(replyOf(parse({}, { carryTests: false })).tests).toEqual([]);
    expect(replyOf(parse({ tests: [test, { ...test, operator: 'op_x' }] }, { breadth: 1 })).tests).toHaveLength(1);
  });

  it('that calls the question unanswerable brings a reason and nothing else', () => {
    const reply = replyOf(parse({ kind: 'unanswerable', reason: 'no weather is stored' }));
    expect(reply).toMatchObject({ reason: 'no weather is stored', operators: [], tests: [], bottleneck: null });
    expect(parse({ kind: 'unanswerable' })).toEqual({
      kind: 'invalid',
      error: 'reason: found null',
      hint: 'reason: say which fact is missing and where you looked.',
    });
  });
});

describe('a plan is refused, with the field, what was found and what is allowed:', () => {
  it.each<[string, string, ReturnType<typeof planRole.parse>]>([
    ['operators: found []', 'at least one operator', parse({ operators: [] })],
    ['operators[2].name: found "answer"', 'use op_ and', withOperator(2, { name: 'answer' })],
    ['op_rows is used twice', 'its own name', withOperator(1, { name: 'op_rows', inputs: [] })],
    ['operators[0].inputs: "op_gap" is no earlier', 'takes nothing here', withOperator(0, { inputs: ['op_gap'] })],
    ['sql and mapping are both null', 'write sql, or describe', withOperator(1, { mapping: null })],
    ['operators[1].columns: found []', 'at least one output column', withOperator(1, { columns: [], grain: [] })],
    [
      'n is declared twice',
      'its own name',
      withOperator(2, { columns: [answer.columns[0], { ...answer.columns[0], name: 'N' }] }),
    ],
    [
      'columns[0].name: found ""',
      'as the SELECT does',
      withOperator(2, { columns: [{ ...answer.columns[0], name: ' ' }] }),
    ],
    ['"lap_id" is no output column', 'use race_id, or []', withOperator(0, { grain: ['lap_id'] })],
    [
      'assumptions[0].risk: found 30',
      'from 0 to 1',
      withOperator(0, { assumptions: [{ kind: 'unit', statement: 's', risk: 30 }] }),
    ],
    [
      'assumptions[0].statement: found ""',
      'state what is assumed',
      withOperator(0, { assumptions: [{ kind: 'unit', statement: ' ', risk: 0 }] }),
    ],
    ['operators[0].intent: found ""', 'in one sentence', withOperator(0, { intent: '' })],
    ['kind: found "maybe"', '"plan", "unanswerable"', parse({ kind: 'maybe' })],
    ['bottleneck: found "op_z"', 'use one of op_rows, op_gap, op_answer', parse({ bottleneck: 'op_z' })],
    ['potential: found -1', '0 or more', parse({ potential: -1 })],
    [
      'wording[0].operator: found "op_z"',
      'use one of',
      parse({ wording: [{ ...good.wording[0]!, operator: 'op_z' }] }),
    ],
  ])('%s', (error, hint, parsed) => {
    expect(parsed.kind).toBe('invalid');
    if (parsed.kind === 'invalid') {
      expect(parsed.error).toContain(error);
      expect(parsed.hint).toContain(hint);
    }
  });
});

describe('a test that cannot run is dropped and the plan stands:', () => {
  const changed = (change: object) => [{ ...test, ...change }];
  const changedHypothesis = (change: object) =>
    changed({ hypotheses: [{ ...hypothesis('h1'), ...change }, hypothesis('h2')] });
  const shape = {
    operators: good.operators.map(({ name, inputs, sql }) => ({ name, inputs, written: sql !== null })),
  };

  it.each<[string, string, (typeof test)[]]>([
    ['tests[0].operator: found "op_z"', 'use one of op_rows', changed({ operator: 'op_z' })],
    ['tests[1].operator: op_gap has a test already', 'one test per operator', [test, test]],
    ['tests[0].hypotheses: found []', 'rival readings', changed({ hypotheses: [] })],
    ['hypotheses[0].id: found "first"', 'h1, h2', changedHypothesis({ id: 'first' })],
    ['h2 is used twice', 'number the hypotheses', changedHypothesis({ id: 'h2' })],
    ['hypotheses[0].mapping: found ""', 'in words', changedHypothesis({ mapping: '' })],
    ['tests[0].probe: found ""', 'write one SELECT', changed({ probe: ' ; ' })],
    [
      'it reads op_gap, the operator under test, without sql for h1, h2',
      'read its inputs',
      changed({ probe: 'SELECT * FROM op_gap' }),
    ],
    ['op_answer, which is built on op_gap', 'leave op_answer out', changed({ probe: 'SELECT * FROM op_answer' })],
    [
      'it reads op_gap, which is built on op_rows',
      'leave op_gap out',
      changed({ operator: 'op_rows', probe: 'SELECT * FROM OP_GAP' }),
    ],
    [
      'which reads nothing from observation',
      '(SELECT … FROM observation)',
      changedHypothesis({ predicates: ['(SELECT count(*) > 0 FROM lap)'] }),
    ],
    [
      'agreement.matching: found ""',
      '(SELECT … FROM observation)',
      changedHypothesis({ agreement: { matching: '', examined: 'n' } }),
    ],
  ])('%s', (error, hint, tests) => {
    expect(replyOf(parse({ tests })).tests).toHaveLength(tests.length - 1);
    const [problem] = checkTests(tests, 'tests', shape);
    expect(`${problem?.where}: ${problem?.found}`).toContain(error);
    expect(problem?.allowed).toContain(hint);
  });

  it('while bare expressions over the columns of the observation may run', () => {
    const tests = changedHypothesis({ predicates: ['plus > 0'], agreement: { matching: 'plus', examined: 'n' } });
    expect(replyOf(parse({ tests })).tests).toHaveLength(1);
  });
});

describe('slips that have one right correction are mended, not paid for again:', () => {
  it("quotes around a relation's name are SQL's", () => {
    const parsed = withOperator(0, { relations: ['"Order Items"', '"Sales"."Say ""hi"""', '`t x`', '[a b]', 'plain.name'] });
    expect(parsed).toMatchObject({
      reply: { operators: [{ relations: ['Order Items', 'Sales.Say "hi"', 't x', 'a b', 'plain.name'] }, {}, {}] },
    });
  }); // prettier-ignore

  const operatorsOf = (parsed: ReturnType<typeof planRole.parse>) => replyOf(parsed).operators;

  it('declarations follow what the SQL reads, and tables stand apart from operators', () => {
    const sloppy = withOperator(2, { inputs: ['lap'], relations: ['op_rows'] });
    expect(operatorsOf(sloppy)[2]).toMatchObject({ inputs: ['op_rows', 'op_gap'], relations: ['lap'] });
  });

  it('an operator that a written answer does not read is left out, with what was said of it', () => {
    const reply = replyOf(withOperator(2, { inputs: [], sql: 'SELECT count(*) AS n FROM op_rows' }));
    expect(reply.operators.map(({ name }) => name)).toEqual(['op_rows', 'op_answer']);
    expect(reply).toMatchObject({ bottleneck: null, tests: [] });
  });

  it('but what an open answer will read is not known, so a missing input is for its writer to mend', () => {
    const parsed = withOperator(2, { inputs: [], sql: null, mapping: 'count which?' });
    expect(parsed).toMatchObject({ kind: 'invalid', error: expect.stringContaining('no later operator') as unknown });
  });

  it.each([
    ['doubted, when it is what the reply wants settled', 1, 0.5],
    ['explained, when it is not', 2, 0.1],
  ])('SQL beside a mapping is %s', (_, at, risk) => {
    const both = withOperator(at, { sql: 'SELECT 1 AS race_id FROM op_gap, op_rows', mapping: 'the reading' });
    const { sql, mapping, assumptions } = operatorsOf(both)[at]!;
    expect({ sql: sql !== null, mapping }).toEqual({ sql: true, mapping: null });
    expect(assumptions).toEqual([{ kind: 'other', statement: 'the reading', risk }]);
  });

  it('a grain is spelled as its column', () => {
    expect(operatorsOf(withOperator(0, { grain: ['Race_ID'] }))[0]?.grain).toEqual(['race_id']);
  });
});
