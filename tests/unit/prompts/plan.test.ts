import { parsePlan } from '../../../src/prompts';
import type { PlanInput, PlanReply } from '../../../src/prompts';
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

const parse = (change: Partial<Draft> = {}, input: Partial<PlanInput> = {}) =>
  parsePlan(JSON.stringify({ ...good, ...change }), { ...planInput, ...input });
const withOperator = (at: number, change: object) =>
  parse({ operators: good.operators.map((operator, index) => (index === at ? { ...operator, ...change } : operator)) });
const withTest = (change: object) => parse({ tests: [{ ...test, ...change }] });
const withHypothesis = (change: object) =>
  withTest({ hypotheses: [{ ...hypothesis('h1'), ...change }, hypothesis('h2')] });

function replyOf(parsed: ReturnType<typeof parsePlan>): PlanReply {
  if (parsed.kind === 'invalid') throw new Error(parsed.error);
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
  it.each<[string, ReturnType<typeof parsePlan>, string, string]>([
    ['no operators', parse({ operators: [] }), 'operators: found []', 'at least one operator'],
    ['a name without prefix', withOperator(2, { name: 'answer' }), 'operators[2].name: found "answer"', 'use op_ and'],
    ['a name used twice', withOperator(1, { name: 'op_rows', inputs: [] }), 'op_rows is used twice', 'its own name'],
    [
      'an input that is no operator',
      withOperator(1, { inputs: ['op_rows', 'lap'] }),
      '"lap" is no earlier operator',
      'base tables go into relations',
    ],
    [
      'an input that comes later',
      withOperator(0, { inputs: ['op_gap'] }),
      'operators[0].inputs: "op_gap" is no earlier',
      'takes nothing here',
    ],
    [
      'neither sql nor mapping',
      withOperator(1, { mapping: null }),
      'sql and mapping are both null',
      'write sql, or describe',
    ],
    [
      'both sql and mapping',
      withOperator(1, { sql: 'SELECT 1' }),
      'sql and mapping are both given',
      'set mapping to null if',
    ],
    [
      'an operator that nothing uses',
      withOperator(2, { inputs: [] }),
      'no later operator reads op_gap',
      'put the answer last',
    ],
    [
      'no columns',
      withOperator(1, { columns: [], grain: [] }),
      'operators[1].columns: found []',
      'at least one output column',
    ],
    [
      'a column twice',
      withOperator(2, { columns: [answer.columns[0], { ...answer.columns[0], name: 'N' }] }),
      'n is declared twice',
      'its own name',
    ],
    [
      'an unnamed column',
      withOperator(2, { columns: [{ ...answer.columns[0], name: ' ' }] }),
      'columns[0].name: found ""',
      'as the SELECT does',
    ],
    [
      'a grain that is no column',
      withOperator(0, { grain: ['lap_id'] }),
      '"lap_id" is no output column',
      'use race_id, or []',
    ],
    [
      'an unknown type',
      withOperator(2, { columns: [{ ...answer.columns[0], type: 'int' }] }),
      'operators[2].columns[0].type: found "int"',
      '"integer", "number"',
    ],
    [
      'an unknown assumption kind',
      withOperator(0, { assumptions: [{ kind: 'guess', statement: 's', risk: 0 }] }),
      'assumptions[0].kind: found "guess"',
      '"meaning", "unit"',
    ],
    [
      'a risk above 1',
      withOperator(0, { assumptions: [{ kind: 'unit', statement: 's', risk: 30 }] }),
      'assumptions[0].risk: found 30',
      'from 0 to 1',
    ],
    [
      'an unstated assumption',
      withOperator(0, { assumptions: [{ kind: 'unit', statement: ' ', risk: 0 }] }),
      'assumptions[0].statement: found ""',
      'state what is assumed',
    ],
    ['no intent', withOperator(0, { intent: '' }), 'operators[0].intent: found ""', 'in one sentence'],
    ['an unknown kind', parse({ kind: 'maybe' }), 'kind: found "maybe"', '"plan", "unanswerable"'],
    [
      'an unknown bottleneck',
      parse({ bottleneck: 'op_z' }),
      'bottleneck: found "op_z"',
      'use one of op_rows, op_gap, op_answer',
    ],
    ['a negative potential', parse({ potential: -1 }), 'potential: found -1', '0 or more'],
    [
      'wording on an unknown operator',
      parse({ wording: [{ ...good.wording[0]!, operator: 'op_z' }] }),
      'wording[0].operator: found "op_z"',
      'use one of',
    ],
    [
      'a test of an unknown operator',
      withTest({ operator: 'op_z' }),
      'tests[0].operator: found "op_z"',
      'use one of op_rows',
    ],
    [
      'two tests of one operator',
      parse({ tests: [test, test] }),
      'tests[1].operator: op_gap has a test already',
      'one test per operator',
    ],
    ['a test without hypotheses', withTest({ hypotheses: [] }), 'tests[0].hypotheses: found []', 'rival readings'],
    ['a hypothesis id out of form', withHypothesis({ id: 'first' }), 'hypotheses[0].id: found "first"', 'h1, h2'],
    ['a hypothesis id twice', withHypothesis({ id: 'h2' }), 'h2 is used twice', 'number the hypotheses'],
    ['a hypothesis without a reading', withHypothesis({ mapping: '' }), 'hypotheses[0].mapping: found ""', 'in words'],
    [
      'a predicate without observation',
      withHypothesis({ predicates: ['plus > 0'] }),
      'predicates[0]: found "plus > 0"',
      '(SELECT … FROM observation)',
    ],
    [
      'an agreement that is no subquery',
      withHypothesis({ agreement: { matching: 'count(*)', examined: '1' } }),
      'agreement.matching: found "count(*)"',
      '(SELECT … FROM observation)',
    ],
    ['an empty probe', withTest({ probe: ' ; ' }), 'tests[0].probe: found ""', 'write one SELECT'],
    [
      'a probe that reads what it tests',
      withTest({ probe: 'SELECT * FROM op_gap' }),
      'it reads op_gap, the operator under test',
      'read its inputs',
    ],
    [
      'a probe that reads what is built on it',
      withTest({ probe: 'SELECT * FROM op_answer' }),
      'op_answer, which is built on op_gap',
      'leave op_answer out',
    ],
    [
      'a probe that reads an unwritten operator',
      parse({
        tests: [{ ...test, operator: 'op_rows', probe: 'SELECT * FROM OP_GAP' }],
        operators: [rows, { ...gap, inputs: [] }, { ...answer, inputs: ['op_rows', 'op_gap'] }],
      }),
      'it reads op_gap, which has no SQL yet',
      'base relations or written operators',
    ],
  ])('%s', (_, parsed, error, hint) => {
    expect(parsed.kind).toBe('invalid');
    if (parsed.kind === 'invalid') {
      expect(parsed.error).toContain(error);
      expect(parsed.hint).toContain(hint);
    }
  });
});
