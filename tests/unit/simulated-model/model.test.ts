import { evaluateRole } from '../../../src/roles/evaluate';
import { groundRole } from '../../../src/roles/ground/prompt';
import { planRole } from '../../../src/roles/plan/prompt';
import { proposeRole } from '../../../src/roles/propose';
import { selectRole } from '../../../src/roles/select';
import { agentRole } from '../../../src/methods/agent/prompt';
import type { Gold } from '../../../simulated-model/gold';
import { contentHashOf, simulateReply, type ReplyOptions } from '../../../simulated-model/reply';
import type { ChatBody } from '../../../simulated-model/request';
import { DEFAULT_RATES } from '../../../simulated-model/world';
import { questionIndex, type GoldQuestion } from '../../../simulated-model/questions';

const QUESTION: GoldQuestion = {
  id: 'q1',
  engine: 'sqlite',
  database: 'shop',
  question: 'How many orders are open?',
  gold_sql: ["SELECT count(*) FROM orders WHERE state = 'open'"],
  answerable: true,
};
const NEVER: GoldQuestion = {
  ...QUESTION,
  id: 'q2',
  question: 'What do clouds weigh?',
  gold_sql: [],
  answerable: false,
};
const GOLD: Gold = {
  sql: "SELECT count(*) FROM orders WHERE state = 'open'",
  dialect: 'sqlite',
  columns: [{ name: 'value_1', type: 'number', meaning: '' }],
  relations: ['orders'],
  ordered: false,
  singleRow: true,
};

const context = (text = QUESTION.question) => ({
  question: {
    text,
    database: 'shop',
    outputMode: 'sql' as const,
    tools: ['execute_sql' as const],
    context: null,
    instructions: null,
    documents: [],
  },
  dialect: 'sqlite' as const,
  schema: 'orders(id integer, state text)',
  memory: [],
  facts: [],
});

const planInput = (text?: string, more = {}) => ({
  ...context(text),
  knownIntents: [],
  otherPlans: [],
  revise: null,
  carryTests: true,
  breadth: 4,
  strict: 'execution' as const,
  ...more,
});

const options = (more: Partial<ReplyOptions> = {}): ReplyOptions => ({
  seed: 1,
  lookup: questionIndex([QUESTION, NEVER]),
  gold: () => Promise.resolve(GOLD),
  rates: DEFAULT_RATES,
  brokenJson: 0,
  ...more,
});

function body(messages: readonly { role: string; content: string }[], name: string | null): ChatBody {
  return {
    model: 'simulated',
    seed: 0,
    messages: [...messages],
    ...(name === null ? {} : { response_format: { type: 'json_schema', json_schema: { name } } }),
  };
}

async function reply(request: ChatBody, more: Partial<ReplyOptions> = {}): Promise<string> {
  const made = await simulateReply(request, contentHashOf(request), options(more));
  if (made.kind === 'refused') throw new Error(made.error);
  return made.text;
}

const operators = [
  {
    ...{ name: 'op_rows', intent: 'the rows', purpose: 'rows', relations: ['orders'], inputs: [], grain: [] },
    ...{ columns: ['value_1 number'], sql: null, mapping: 'once or twice', assumptions: [] },
    state: 'unresolved' as const,
  },
];
const planText = { outline: 'count', operators };

describe('every role gives replies that its parser takes', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))('plan, seed %i', async (seed) => {
    const input = planInput();
    const text = await reply(body(planRole.render(input), 'plan'), { seed, rates: { ...DEFAULT_RATES, doubt: 0.7 } });
    const parsed = planRole.parse(text, input);
    expect(parsed.kind).toBe('ok');
  });

  it('unanswerable for an unanswerable question, with a reason', async () => {
    const input = planInput(NEVER.question);
    const parsed = planRole.parse(await reply(body(planRole.render(input), 'plan')), input);
    expect(parsed).toMatchObject({ kind: 'ok', reply: { kind: 'unanswerable', operators: [] } });
  });

  it.each(['single', 'rollout'] as const)('propose, mode %s', async (mode) => {
    const input = { ...context(), plan: planText, targets: ['op_rows'], evidence: [], rollout: [], callsLeft: 3, mode };
    expect(proposeRole.parse(await reply(body(proposeRole.render(input), 'propose')), input).kind).toBe('ok');
  });

  it('evaluate, select and react', async () => {
    const trajectories = [{ id: 't1', depth: 1, distance: 60, density: 1, plan: planText, evidence: [] }];
    const scored = { ...context(), trajectories, exploration: 'code' as const };
    expect(evaluateRole.parse(await reply(body(evaluateRole.render(scored), 'evaluate')), scored)).toMatchObject({
      reply: { scores: [{ trajectory: 't1', bottleneck: 'op_rows' }] },
    });
    const candidate = {
      ...{
        resultCsv: '1',
        rowCount: 1,
        agreesWith: 1,
        proved: [],
        openAssumptions: [],
        control: 5,
        unanswerable: null,
      },
    };
    const rivals = {
      ...context(),
      candidates: [
        { ...candidate, sql: 'SELECT 1 FROM gold0 UNION ALL SELECT 1 FROM gold0 AS misread' },
        { ...candidate, sql: 'SELECT 1 FROM gold0' },
      ],
    };
    expect(selectRole.parse(await reply(body(selectRole.render(rivals), 'select')), rivals)).toMatchObject({
      reply: { choice: 2 },
    });
    const acting = {
      ...context(),
      ...{ turns: [], callsLimit: 20, queriesPerAction: 1, coverage: true },
    };
    expect(agentRole.parse(await reply(body(agentRole.render(acting), 'react')), acting)).toMatchObject({
      reply: { action: 'tool_call' },
    });
    const several = { ...acting, queriesPerAction: 8 };
    expect(agentRole.parse(await reply(body(agentRole.render(several), 'react')), several)).toMatchObject({
      reply: { action: 'tool_call', queries: [{ why: 'look' }] },
    });
    const spent = { ...acting, callsLimit: 0 };
    expect(agentRole.parse(await reply(body(agentRole.render(spent), 'react')), spent)).toMatchObject({
      reply: { action: 'end' },
    });
  });
});

describe('verdicts follow the outcomes that the prompt shows', () => {
  const ground = async (outcomes: readonly string[]) => {
    const hypotheses = outcomes.map((outcome, at) => ({
      id: `h${at + 1}`,
      mapping: 'a reading',
      sql: at === 0 ? 'SELECT 1 AS value_1' : null,
      predicates: [{ sql: '(SELECT 1 FROM observation)', outcome, note: null }],
      agreement: null,
      verdict: null,
      reason: null,
    }));
    const test = { operator: 'op_rows', probe: 'SELECT 1', outcomeCsv: 'n\n1', hypotheses, materiality: null };
    const observed = [{ attempt: 'o1', observationId: 'o1', tests: [test], summary: null, tryNext: [], avoid: [] }];
    const input = {
      ...context(),
      plan: planText,
      evidence: [],
      observed,
      carryTests: false,
      breadth: 1,
      strict: 'execution' as const,
    };
    const parsed = groundRole.parse(await reply(body(groundRole.render(input), 'ground')), input);
    if (parsed.kind !== 'ok') throw new Error(parsed.error);
    return parsed.reply.judgements[0]!;
  };

  it('TRUE against FALSE has a winner that keeps its SQL', async () => {
    expect(await ground(['true', 'false'])).toMatchObject({
      winner: 'h1',
      sql: 'SELECT 1 AS value_1',
      verdicts: [{ verdict: 'supported' }, { verdict: 'refuted' }],
    });
  });

  it.each([[['not-established', 'false']], [['true', 'true']], [['false', 'false']]])(
    '%j has no winner',
    async (outcomes) => {
      expect((await ground(outcomes)).winner).toBeNull();
    },
  );
});

test('the same request gets the same reply, another seed may give another', async () => {
  const request = body(planRole.render(planInput()), 'plan');
  const seeds = await Promise.all([0, 1, 2, 3, 4, 5].map((seed) => reply(request, { seed })));
  expect(await reply(request, { seed: 3 })).toBe(seeds[3]);
  expect(new Set(seeds).size).toBeGreaterThan(1);
});

test('a second derivation shares no body with the first', async () => {
  const rates = { ...DEFAULT_RATES, doubt: 0 };
  const bodies = async (otherPlans: readonly (typeof planText)[]) => {
    const input = planInput(undefined, { otherPlans });
    const parsed = planRole.parse(await reply(body(planRole.render(input), 'plan'), { rates }), input);
    return parsed.kind === 'ok' && 'operators' in parsed.reply ? parsed.reply.operators.map(({ sql }) => sql) : [];
  };
  const [first, second] = [await bodies([]), await bodies([planText])];
  expect(first.filter((sql) => second.includes(sql))).toEqual([]);
});

test('the role is read from the system message when the request carries no schema; an unknown question is refused', async () => {
  const input = planInput();
  expect(planRole.parse(await reply(body(planRole.render(input), null)), input).kind).toBe('ok');
  const request = body(planRole.render(planInput('Who is it?')), 'plan');
  expect(await simulateReply(request, contentHashOf(request), options())).toEqual({
    kind: 'refused',
    error: 'no gold SQL for this question (it is in no --questions file): Who is it?',
  });
});
