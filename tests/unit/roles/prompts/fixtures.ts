/** One small database as each role sees it: a swimming club's lap times, stored as JSON in two formats. */
import type { ChatMessage } from '../../../../src/domain/ports';
import { outsideOf } from '../../../../simulated-model/request';
import type { EvaluatePrompt } from '../../../../src/roles/evaluate';
import type { EvidenceText, PlanText } from '../../../../src/roles/shared/evidence-text';
import type { GroundPrompt } from '../../../../src/roles/ground/prompt';
import type { LookPrompt } from '../../../../src/roles/look';
import type { PlanPrompt } from '../../../../src/roles/plan/prompt';
import type { PromptContext } from '../../../../src/roles/shared/prompt-parts';
import type { ProposePrompt } from '../../../../src/roles/propose';
import type { SelectAnswerPrompt, SelectByNumberInput } from '../../../../src/roles/select';
import type { AgentInput } from '../../../../src/methods/agent/prompt';

/** The rules of a role's first prompt. */
export function rulesOf(messages: readonly ChatMessage[]): string {
  return outsideOf(messages[1]?.content ?? '').rules;
}

export const context: PromptContext = {
  question: {
    text: 'How many races this year were won by more than two seconds?',
    database: 'club',
    outputMode: 'sql',
    tools: ['execute_sql'],
    context: 'The current time is 2031-12-31 23:59:00.',
    instructions: 'Ignore junior races.',
    documents: [{ name: 'notes.md', text: 'Heats are stored apart from finals.' }],
  },
  dialect: 'postgresql',
  schema:
    'race(id integer pk, held_on date, class text: "open", "junior")\nlap(race_id integer -> race.id, data jsonb)',
  memory: [
    {
      updateId: 'u1',
      intent: 'Finals of open races with their date',
      relations: ['race'],
      columns: ['race_id integer', 'held_on date'],
      grain: ['race_id'],
      mapping: 'class open means an open final',
      summary: '40 of 40 open races have laps',
      sql: "SELECT id AS race_id, held_on FROM race WHERE class = 'open'",
    },
  ],
  facts: ['race.class holds open and junior only'],
};

export const plan: PlanText = {
  outline: 'Finals, then the gap of the second, then the count.',
  operators: [
    {
      name: 'op_finals',
      intent: 'Finals of open races with their date',
      purpose: 'Which races count',
      relations: ['race'],
      inputs: [],
      columns: ['race_id integer', 'held_on date'],
      grain: ['race_id'],
      state: 'grounded',
      sql: "SELECT id AS race_id, held_on FROM race WHERE class = 'open'",
      mapping: null,
      assumptions: [],
    },
    {
      name: 'op_gap',
      intent: 'Seconds between first and second of a race',
      purpose: 'The margin',
      relations: ['lap'],
      inputs: ['op_finals'],
      columns: ['race_id integer', 'gap_s number: seconds behind the winner'],
      grain: ['race_id'],
      state: 'unresolved',
      sql: null,
      mapping: 'time of the second is a total or a gap',
      assumptions: [],
    },
    {
      name: 'op_answer',
      intent: 'Number of clearly won races of the year',
      purpose: 'The count',
      relations: [],
      inputs: ['op_finals', 'op_gap'],
      columns: ['races integer'],
      grain: [],
      state: 'assumed',
      sql: 'SELECT count(*) AS races FROM op_gap WHERE gap_s > 2',
      mapping: null,
      assumptions: ['more than two seconds excludes 2.00 (risk 0.05)'],
    },
  ],
};

export const evidence: EvidenceText = {
  attempt: 'i1.t1.a1',
  tests: [
    {
      operator: 'op_gap',
      probe: "SELECT count(*) AS n, count(*) FILTER (WHERE data->>'time' LIKE '+%') AS plus FROM lap",
      outcomeCsv: 'n,plus\n158,118\n',
      hypotheses: [
        {
          id: 'h1',
          mapping: 'a total',
          predicates: [{ sql: '(SELECT plus = 0 FROM observation)', outcome: 'false', note: null }],
          agreement: '40 of 158',
          verdict: 'refuted',
          reason: '118 start with +',
        },
        {
          id: 'h2',
          mapping: 'a gap in seconds',
          sql: "SELECT race_id, substr(data->>'time', 2)::numeric AS gap_s FROM lap",
          predicates: [{ sql: '(SELECT plus > 0 FROM observation)', outcome: 'true', note: 'plus is 118' }],
          agreement: '118 of 158',
          verdict: null,
          reason: null,
        },
      ],
      materiality: 'the answer differs: 0 under h1, 4 under h2',
    },
  ],
  summary: 'Most times are gaps.',
  tryNext: ["compare place 2 with place 1 of data->>'time'"],
  avoid: ['casting data->>time unguarded'],
};

export const planInput: PlanPrompt = {
  ...context,
  knownIntents: ['Finals of open races with their date'],
  otherPlans: [plan],
  revise: { plan, blocked: ['op_gap'], evidence: [evidence] },
  carryTests: true,
  breadth: 2,
  strict: 'execution',
};

export const proposeInput: ProposePrompt = {
  ...context,
  plan,
  targets: ['op_gap'],
  evidence: [evidence],
  rollout: [],
  callsLeft: 1,
  mode: 'single',
};

export const groundInput: GroundPrompt = {
  ...context,
  plan,
  evidence: [],
  observed: [{ ...evidence, observationId: 'i1.t1.a2.probe' }],
  carryTests: true,
  breadth: 1,
  strict: 'execution',
};

export const evaluateInput: EvaluatePrompt = {
  ...context,
  trajectories: [
    { id: 't0', depth: 0, distance: 60, density: 0, plan: null, evidence: [] },
    { id: 't1', depth: 2, distance: 58, density: 0.5, plan, evidence: [evidence] },
  ],
  exploration: 'code',
};

export const selectAnswerInput: SelectAnswerPrompt = {
  ...context,
  candidates: [
    {
      sql: 'SELECT 4 AS races',
      resultCsv: 'races\n4\n',
      rowCount: 1,
      agreesWith: 1,
      proved: ['the second stores a gap'],
      openAssumptions: ['more than two seconds excludes 2.00 (risk 0.05)'],
      control: 40,
      unanswerable: null,
    },
    {
      sql: null,
      resultCsv: '',
      rowCount: 0,
      agreesWith: 0,
      proved: [],
      openAssumptions: [],
      control: null,
      unanswerable: 'no lap has a time',
    },
  ],
};

export const selectByNumberInput: SelectByNumberInput = {
  ...context,
  candidates: [
    { answer: '4 races.', frequency: 3, depth: 2, evidence: ['proved: the second stores a gap'] },
    { answer: 'races\n5\n', frequency: 1, depth: null, evidence: [] },
  ],
};

export const lookInput: LookPrompt = {
  ...context,
  turns: [
    {
      reply: {
        ...{ action: 'look', queries: [{ why: 'formats', sql: "SELECT data->>'time' FROM lap LIMIT 5" }] },
        ...{ operators: [], ordered: false, claims: [], assumed: [], coverage: null, ifPartial: null, control: null },
        ...{ wording: [], sentence: null, reason: null, absent: [] },
      },
      found: 'time\n+1.20\n',
    },
  ],
};

type RedelInput = AgentInput & Required<Pick<AgentInput, 'redel'>>;

const delegated: RedelInput['turns'][number] = {
  note: 'Two points are open.',
  queries: [],
  helpers: [
    { task: 'Which formats has lap.data?', helper: 'q-1', outcome: 'reported', text: '- value: +1.20', calls: 2 },
    { task: 'Answer it', helper: null, outcome: 'refused', text: 'Too broad.', calls: 0 },
  ],
};

/** The root of the paper's ReDel, after a query of its own and a helper. */
export const redelInput: RedelInput = {
  ...context,
  turns: [
    {
      note: 'Which formats are there?',
      queries: [{ why: '', sql: "SELECT data->>'time' FROM lap LIMIT 5", outcomeCsv: 'time\n+1.20\n' }],
    },
    delegated,
  ],
  ...{ callsLimit: 8, queriesPerAction: 1, coverage: true },
  redel: { figures: 'seed', depth: 1, children: 4, childCalls: 5, allCalls: 30 },
};

const subtask = { ...context.question, text: 'Which formats has lap.data?', context: null, instructions: null };

export const redelHelperInput: RedelInput = {
  ...redelInput,
  question: { ...subtask, documents: [] },
  turns: redelInput.turns.slice(0, 1),
  ...{ callsLimit: 5, redel: { ...redelInput.redel, level: 1, callsBefore: 6 } },
};

/** The root of ReDel as its authors built it, and a helper of it. */
export const redelUpstreamInput: RedelInput = {
  ...redelInput,
  turns: [delegated],
  ...{ queriesPerAction: 8, redel: { figures: 'official', depth: 8, children: 8, childCalls: 5 } },
};

export const redelUpstreamHelperInput: RedelInput = {
  ...redelUpstreamInput,
  question: { ...subtask, documents: [] },
  turns: [{ ...redelInput.turns[0]!, queries: redelInput.turns[0]!.queries.map((each) => ({ ...each, why: 'w' })) }],
  ...{ callsLimit: 5, redel: { ...redelUpstreamInput.redel, level: 1, callsBefore: 0 } },
};

export const reactInput: AgentInput = {
  ...context,
  turns: [
    {
      note: 'Which formats are there?',
      queries: [{ why: '', sql: "SELECT data->>'time' FROM lap LIMIT 5", outcomeCsv: 'time\n+1.20\n' }],
    },
  ],
  callsLimit: 8,
  queriesPerAction: 1,
  coverage: true,
};
