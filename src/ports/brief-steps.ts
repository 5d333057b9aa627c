/**
 * The usual values of what steps are given and return (`brief.ts`), by role and purpose. A field that is not named here is
 * always written, so a new one needs nothing.
 */
import type { Shape } from './brief';

const USAGE = {
  usual: {
    ...{ llmCalls: 0, possiblyBilledCalls: 0, promptTokens: 0, completionTokens: 0, costUsd: 0 },
    ...{ sqlExecutions: 0, sqlMs: 0, sqlRows: 0 },
  },
};
const MEMORY = { usual: { updates: [], facts: [] } };
const UPDATE = { usual: { inputs: [], status: 'active', dependsOn: [], reuses: 0 } };
const FACT = { usual: { status: 'active', dependsOn: [] } };

const OPERATOR = {
  usual: {
    ...{ state: 'assumed', bodyId: null, updateId: null, inputs: [], readsBase: false },
    ...{ risk: 0, assumptions: 0, immaterial: null, barren: 0 },
  },
};
const PLAN = {
  usual: { bottleneck: null, proposalId: null, proposed: [] },
  inner: { plan: { usual: { ordered: false }, inner: { operators: OPERATOR } } },
};
const GROUNDED = {
  usual: {
    ...{ learned: null, written: [], facts: [], delta: null, impossible: null },
    ...{ nextProposalId: null, nextOperators: [] },
  },
  inner: { operators: { usual: { winner: null, bodyId: null, decided: true } }, facts: FACT },
};

const PROBED = {
  usual: { usage: {} },
  inner: { tests: { usual: { outcome: 'rows', immaterial: null } }, usage: USAGE },
};
const CANDIDATE = {
  usual: { outcome: 'rows', trivial: false, control: null, equalTo: null, usage: {} },
  inner: { usage: USAGE },
};
const NEXT: Shape = (next) => ('observationId' in next ? PROBED : CANDIDATE);

/** A commit that ran; what is invalid, or a decline, has none of these fields. */
const ANSWERED = {
  usual: { updates: [], evidenceId: null, settled: true, declined: null, learned: null, usage: {} },
  inner: { plan: PLAN.inner.plan, run: CANDIDATE, updates: UPDATE, usage: USAGE },
};

const given = (usual: Readonly<Record<string, unknown>>) => ({
  usual: { tryNumber: 0, memory: {}, ...usual },
  inner: { memory: MEMORY },
});
const GIVEN = {
  look: given({ turns: [] }),
  evaluate: given({}),
  plan: given({ otherPlans: [], revise: null }),
  propose: given({ attempts: [], rollout: [] }),
  ground: given({ attempts: [] }),
  select: given({}),
  keep: given({}),
  learn: given({ turns: [] }),
  react: given({ turns: [] }),
  redel: given({ turns: [] }),
  'reforce-link': given({}),
  'reforce-format': given({}),
  'reforce-explore': given({ turns: [] }),
  'reforce-generate': given({ formatId: null, explored: [], turns: [] }),
  'reforce-choose': given({}),
  'reforce-answer': given({}),
};
const REPLIES: Readonly<Record<keyof typeof GIVEN, Shape>> = {
  look: {},
  evaluate: { inner: { scores: { usual: { bottleneck: null } } } },
  // What is no plan (`unanswerable`, `lookup`) has none of its fields.
  plan: ({ kind }) => (kind === 'plan' ? PLAN : {}),
  propose: { usual: { done: false } },
  ground: GROUNDED,
  select: {},
  keep: { usual: { kept: 0, contradicted: [] } },
  learn: { usual: { done: false } },
  react: {},
  redel: {},
  'reforce-link': { usual: { linkId: null } },
  'reforce-format': {},
  'reforce-explore': {},
  'reforce-generate': {},
  'reforce-choose': {},
  'reforce-answer': {},
};

/** What a model step is given. */
export const MODEL_INPUT: Shape = ({ role }) => GIVEN[role as keyof typeof GIVEN];

/** What a model step of this role returns. */
export const modelOutcome = (role: keyof typeof GIVEN): Shape => ({
  usual: { kind: 'ok', usage: {} },
  inner: { value: REPLIES[role], usage: USAGE },
});

/** What a step on the database returns, by purpose. What it is given enters a history only where it runs elsewhere. */
export const SQL_RESULT = {
  prepare: { usual: { knownUpdates: [], usage: {} }, inner: { knownUpdates: UPDATE, usage: USAGE } },
  prove: { usual: { usage: {} }, inner: { usage: USAGE } },
  restate: { usual: { proved: 0, usage: {} }, inner: { usage: USAGE } },
  recount: { usual: { broken: 0, usage: {} }, inner: { usage: USAGE } },
  queries: { usual: { usage: {} }, inner: { usage: USAGE } },
  commit: (({ kind }) => (kind === 'answer' ? ANSWERED : { usual: { usage: {} }, inner: { usage: USAGE } })) as Shape,
  check: { usual: { failures: [], usage: {} }, inner: { next: NEXT, usage: USAGE } },
  probe: PROBED,
  settle: {
    usual: { usage: {} },
    inner: {
      results: { usual: { bodyId: null, update: null, assumed: false, error: null }, inner: { update: UPDATE } },
      ...{ next: NEXT, usage: USAGE },
    },
  },
  candidate: CANDIDATE,
  tool: { usual: { outcome: 'rows', usage: {} }, inner: { usage: USAGE } },
  final: { ...CANDIDATE, usual: { ...CANDIDATE.usual, error: null } },
  compress: { usual: { tables: 0, worded: false, usage: {} }, inner: { usage: USAGE } },
  explore: { usual: { failed: false, usage: {} }, inner: { usage: USAGE } },
  refine: { ...CANDIDATE, usual: { ...CANDIDATE.usual, repeats: false, flawed: false } },
  agree: { usual: { agreeing: {}, usage: {} }, inner: { usage: USAGE } },
} satisfies Readonly<Record<string, Shape>>;
