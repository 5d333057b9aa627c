/** A hand-made trace: sprint events whose winners store a time and the others a gap; and the means to make it hostile. */
import type {
  AnswerRecord,
  Observation,
  OperatorView,
  PlanView,
  SearchState,
  Trajectory,
  Usage,
} from '../../../src/domain';
import { settingsFor } from '../../../src/config/presets';
import type { Trace } from '../../../src/report';

const settings = settingsFor({ method: 'fast', models: { default: 'scripted' } });
const usage: Usage = {
  llmCalls: 4,
  possiblyBilledCalls: 0,
  promptTokens: 8123,
  completionTokens: 1404,
  costUsd: 0.0123,
  sqlExecutions: 11,
  sqlMs: 84,
  sqlRows: 10,
};

const operator = (name: string, intent: string, more: Partial<OperatorView> = {}): OperatorView => ({
  name,
  intent,
  state: 'assumed',
  bodyId: `b-${name}`,
  updateId: null,
  shape: 's',
  inputs: [],
  readsBase: true,
  risk: 0.4,
  assumptions: 1,
  immaterial: null,
  barren: 0,
  ...more,
});

const trajectory = (id: string, parent: string | null, more: Partial<Trajectory>): Trajectory => ({
  id,
  parent,
  depth: parent === null ? 0 : 1,
  iteration: 1,
  status: 'open',
  via: 'ground',
  plan: null,
  selections: 1,
  distance: 60,
  distanceAtSelection: null,
  progress: 0.5,
  potential: 1,
  bottleneck: null,
  attempts: [],
  mergedInto: null,
  ...more,
});

const plan = (...operators: OperatorView[]): PlanView => ({ planId: 'p1', ordered: false, operators });
const times = operator('op_times', 'The finishing time of every rider in seconds', {
  state: 'unresolved',
  bodyId: null,
  risk: 0.8,
});
const close = operator('op_close', 'Sprints decided by less than a second', { inputs: ['op_times'], readsBase: false });
const proved: OperatorView = { ...times, state: 'grounded', bodyId: 'b2', updateId: 'u1', risk: 0 };

export const state: SearchState = {
  searchId: 'q-0123456789abcdef',
  iteration: 3,
  startedAtMs: 0,
  trajectories: [
    trajectory('t0', null, { via: 'root', iteration: 0 }),
    trajectory('t1', 't0', { via: 'plan', plan: plan(times, close), bottleneck: 'op_times' }),
    trajectory('t2', 't1', {
      plan: plan(proved, close),
      attempts: ['i1.t1.a1.probe', 'i1.t1.a1.ground'],
      status: 'complete',
      progress: 1,
      distance: 59,
    }),
    trajectory('t3', 't0', {
      via: 'plan',
      iteration: 2,
      plan: plan(times, close),
      bottleneck: 'op_times',
      status: 'merged',
      mergedInto: 't2',
    }),
  ],
  updates: [],
  facts: [],
  candidates: [
    {
      id: 'c1',
      trajectory: 't2',
      kind: 'rows',
      outcome: 'rows',
      rowCount: 1,
      trivial: false,
      control: 18,
      resultClass: 'c1',
      bodies: [],
      openRisk: 0,
      status: 'active',
    },
  ],
  usage,
  events: [{ iteration: 2, kind: 'trajectories-merged', subject: 't3', detail: 'same plan state as t2' }],
};

const probe = `SELECT count(*) AS riders, count(*) FILTER (WHERE position = 1 AND result ~ '^\\d+:\\d') AS winners_absolute
FROM results -- one row per rider`;

export const observation: Observation = {
  observationId: 'i1.t1.a1.probe',
  proposalId: 'i1.t1.a1.propose',
  tests: [
    {
      operator: 'op_times',
      probeSql: probe,
      result: {
        kind: 'rows',
        columns: [
          { name: 'riders', kind: 'number' },
          { name: 'winners_absolute', kind: 'number' },
        ],
        rows: [[162, 18]],
        truncated: false,
        elapsedMs: 3,
      },
      hypotheses: [
        {
          id: 'h1',
          predicates: [{ sql: 'SELECT winners_absolute = 18 FROM observation', outcome: 'true', note: null }],
          agreement: { matching: 18, examined: 18 },
          agreementNote: 'a note on the counts',
          sameAnswer: [{ as: 'h7', relativeTo: [[]] }],
          run: {
            probeSql: probe,
            result: {
              ...{ kind: 'rows' as const, columns: [{ name: 'n', kind: 'number' as const }], rows: [[4711]] },
              ...{ truncated: false, elapsedMs: 1 },
            },
          },
        },
        {
          id: 'h2',
          predicates: [{ sql: 'SELECT winners_absolute = 0 FROM observation', outcome: 'false', note: null }],
          agreement: null,
        },
      ],
      materiality: {
        combinations: 2,
        immaterial: false,
        reason: 'The two readings give 4 and 0.',
        relativeTo: ['b-op_close'],
      },
    },
  ],
};

const candidate = (id: string, sql: string, other: string, chosen: boolean): AnswerRecord['candidates'][number] => ({
  ...{ id, kind: 'rows', sql, outcome: 'rows', rowCount: 1, preview: 'events: 4' },
  ...{ agreesWith: [other], proved: chosen, chosen },
});

export const record: AnswerRecord = {
  schemaVersion: 1,
  id: 'q-0123456789abcdef',
  question: 'In how many of the sprint events was the gap between first and second under one second?',
  database: 'races',
  status: 'answered',
  endedBy: 'agreement',
  method: 'fast',
  preset: 'fast',
  models: { default: 'scripted' },
  sql: `WITH op_times AS (\n  SELECT event_id, position, CASE WHEN position = 1 THEN 0 ELSE gap_seconds END AS gap\n  FROM results\n)\nSELECT count(*) AS events\nFROM op_times\nWHERE position = 2 AND gap < 1`,
  columns: [{ name: 'events', kind: 'number' }],
  rows: [[4]],
  truncated: false,
  answer: '4 of the 18 sprint events were decided by less than a second.',
  reason: null,
  evidence: [
    {
      operator: 'op_times',
      intent: times.intent,
      state: 'proved',
      updateId: 'u1',
      reading: 'Winners store an absolute time; all others store the gap to the winner.',
      summary: 'All 18 winners match the pattern of an absolute time, and no other rider does.',
      sql: 'SELECT event_id, position, gap_seconds AS gap FROM results',
      probe,
      observed: { columns: ['riders', 'winners_absolute'], rows: [[162, 18]], rowCount: 1 },
      rejected: [
        {
          reading: 'Every rider stores an absolute time.',
          verdict: 'refuted',
          reason: '144 of 162 results start with a plus sign.',
        },
      ],
      reusedFrom: null,
    },
    {
      operator: 'op_close',
      intent: close.intent,
      state: 'assumed',
      updateId: null,
      reading: 'Under one second means strictly less than 1.0.',
      summary: '',
      sql: 'SELECT count(*) AS events FROM op_times WHERE position = 2 AND gap < 1',
      probe: null,
      observed: null,
      rejected: [],
      against: ['118 of 120 rows match, 2 do not'],
      reusedFrom: null,
    },
  ],
  openAssumptions: [
    {
      operator: 'op_close',
      kind: 'open-by-wording',
      statement: 'A gap of exactly one second is not counted.',
      risk: 0.1,
      alternative: { reading: 'up to and including one second', gives: '4 (the same)' },
    },
  ],
  candidates: [candidate('c1', 'SELECT 4', 'c2', true), candidate('c2', 'SELECT count(*) FROM results', 'c1', false)],
  usage,
  startedAt: '2026-01-05T10:00:00.000Z',
  asOf: '2026-01-05T10:00:40.000Z',
  endedAt: '2026-01-05T10:00:41.500Z',
};

const hypothesis = (id: string, mapping: string, expectation: string) => ({
  ...{ id, mapping, expectation },
  ...{ predicates: [], agreement: null, bodyId: null },
});

export const trace: Trace = {
  searchId: record.id,
  input: {
    searchId: record.id,
    namespace: 'user',
    identity: 'races',
    settings,
    question: {
      text: record.question,
      database: 'races',
      outputMode: 'answer',
      tools: ['execute_sql'],
      context: null,
      instructions: null,
      documents: [],
    },
  },
  state,
  record,
  plans: {
    p1: {
      planId: 'p1',
      outline: 'Bring every result to seconds, then compare first and second of each sprint event.',
      operators: [],
      ordered: false,
      controlBodyId: null,
      wording: [],
    },
  },
  bodies: {},
  proposals: {
    'i1.t1.a1.propose': {
      proposalId: 'i1.t1.a1.propose',
      done: false,
      tests: [
        {
          operator: 'op_times',
          probe,
          hypotheses: [
            hypothesis(
              'h1',
              'Winners store an absolute time, the others a gap',
              'Exactly the 18 winners match the pattern',
            ),
            hypothesis('h2', 'Everyone stores an absolute time', 'No winner stands out'),
          ],
        },
      ],
    },
  },
  observations: { 'i1.t1.a1.probe': observation },
  groundings: {
    'i1.t1.a1.ground': {
      groundingId: 'i1.t1.a1.ground',
      groundings: [
        {
          operator: 'op_times',
          observationId: 'i1.t1.a1.probe',
          winner: 'h1',
          bodyId: 'b2',
          summary: 'Winners store a time, the others a gap.',
          verdicts: [
            { hypothesis: 'h1', verdict: 'supported', reason: '18 of 18 winners match.', overruled: null },
            {
              hypothesis: 'h2',
              verdict: 'refuted',
              reason: 'Only winners match.',
              overruled: 'the judge had said open',
            },
          ],
        },
      ],
      facts: [],
      tryNext: [],
      avoid: [],
      delta: null,
      impossible: null,
    },
  },
  updates: {},
  facts: {},
  actions: {},
  rejections: [{ attempt: 'i1.t1.a1', operator: 'op_times', error: 'no such column: gap' }],
};

/** Every string of a trace replaced by its hostile twin; keys, ids and enumerations stay. */
export const HOSTILE = `</script></style><script>alert(1)</script><img src=x onerror='alert("2")'>\u202Etxt.exe\u001b[31m`;

const KEPT =
  /^(id|.*Id|operator|subject|name|kind|status|state|via|verdict|outcome|winner|hypothesis|parent|trajectory|resultClass|mergedInto|method|preset|endedBy|startedAt|endedAt|bottleneck|attempts|agreesWith)$/;

export function hostile<T>(value: T): T {
  if (typeof value === 'string') return HOSTILE as T;
  if (Array.isArray(value)) return value.map((item: unknown) => hostile(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => [key, KEPT.test(key) ? inner : hostile(inner)]),
  ) as T;
}
