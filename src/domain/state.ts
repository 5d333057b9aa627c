/**
 * The control view (design D1): ids, states, dependencies, scores and counters, and no contents. It is what the workflow
 * holds, what a checkpoint stores and what continue-as-new carries: plain JSON, replaced and never mutated.
 */
import * as z from 'zod';
import { BudgetName, Budgets } from './question';

export const OperatorView = z.object({
  name: z.string(),
  state: z.enum(['unresolved', 'assumed', 'grounded']),
  bodyId: z.string().nullable(),
  updateId: z.string().nullable(),
  /** Hash of base relations, output names and types, and grain (rule S3). */
  shape: z.string(),
  intent: z.string(),
  inputs: z.array(z.string()),
  /** Reads at least one base relation. */
  readsBase: z.boolean(),
  /** Highest risk among the assumptions of the current body; 0 when nothing is doubtful or everything is proved. */
  risk: z.number(),
  assumptions: z.number().int(),
  /** Rule S9: immaterial relative to these bodies of the other operators; rechecked when one changes. */
  immaterial: z.array(z.string()).nullable(),
  /** Grounded beside rivals that give the same answer, which holds relative to these bodies of the other operators (S9). */
  beside: z.array(z.string()).optional(),
  /** Iterations in a row on this operator without new evidence (rule S7). */
  barren: z.number().int(),
});
export type OperatorView = z.infer<typeof OperatorView>;

export const PlanView = z.object({
  planId: z.string(),
  ordered: z.boolean(),
  operators: z.array(OperatorView),
});
export type PlanView = z.infer<typeof PlanView>;

export const Trajectory = z.object({
  id: z.string(),
  parent: z.string().nullable(),
  depth: z.number().int(),
  iteration: z.number().int(),
  /** `replan`: every bottleneck is blocked, only its plan may be revised (rule S7). */
  status: z.enum(['open', 'replan', 'complete', 'merged', 'exhausted', 'impossible']),
  via: z.enum(['root', 'plan', 'replan', 'ground', 'reuse']),
  plan: PlanView.nullable(),
  selections: z.number().int(),
  distance: z.number(),
  distanceAtSelection: z.number().nullable(),
  progress: z.number(),
  potential: z.number(),
  bottleneck: z.string().nullable(),
  /** Ids of the attempts along this trajectory, oldest first (its evidence). */
  attempts: z.array(z.string()),
  mergedInto: z.string().nullable(),
});
export type Trajectory = z.infer<typeof Trajectory>;

export const UpdateView = z.object({
  id: z.string(),
  shape: z.string(),
  intent: z.string(),
  inputs: z.array(z.object({ local: z.string(), bodyId: z.string() })),
  bodyId: z.string(),
  status: z.enum(['active', 'withdrawn']),
  /** Updates, facts and assumed bodies it rests on (rule S10). */
  dependsOn: z.array(z.string()),
  /** It holds only beside these bodies of the other operators (sorted): under them a rival gives the same answer (S9). */
  beside: z.array(z.string()).optional(),
  /** No other plan may take it over (`Settings.without`). */
  reusable: z.literal(false).optional(),
  reuses: z.number().int(),
});
export type UpdateView = z.infer<typeof UpdateView>;

export const FactView = z.object({
  id: z.string(),
  status: z.enum(['active', 'withdrawn']),
  dependsOn: z.array(z.string()),
});
export type FactView = z.infer<typeof FactView>;

export const CandidateBody = z.object({
  operator: z.string(),
  bodyId: z.string(),
  updateId: z.string().nullable(),
  /** Whether sharing it makes derivations dependent (rule S4): it is unproved and not mere arithmetic over other operators. */
  counts: z.boolean(),
});

export const CandidateView = z.object({
  id: z.string(),
  trajectory: z.string(),
  kind: z.enum(['rows', 'unanswerable']),
  outcome: z.enum(['rows', 'sql-error', 'timeout', 'refused']),
  rowCount: z.number().int(),
  /** Empty, all NULL or zero only (rule S5). */
  trivial: z.boolean(),
  /** Rows examined, where the plan counts them. */
  control: z.number().nullable(),
  /** First earlier candidate with an equal result, else its own id. */
  resultClass: z.string(),
  bodies: z.array(CandidateBody),
  /** Highest risk of an assumption still open. */
  openRisk: z.number(),
  status: z.enum(['active', 'withdrawn']),
  /** `unanswerable`, and counts beside a positive control show it (rule S1). Left out: a reply says so. */
  absenceShown: z.boolean().optional(),
});
export type CandidateView = z.infer<typeof CandidateView>;

/** Confirmed calls have a reply in the journal; possibly billed ones only an intent (design D2). */
export const Usage = z.object({
  llmCalls: z.number().int(),
  possiblyBilledCalls: z.number().int(),
  promptTokens: z.number().int(),
  /** Prompt tokens that a provider read from its cache; absent if no endpoint told of any. */
  cachedTokens: z.number().int().optional(),
  completionTokens: z.number().int(),
  costUsd: z.number(),
  sqlExecutions: z.number().int(),
  sqlMs: z.number(),
  sqlRows: z.number().int().default(0),
  /** What the database bills by bytes, and its price in US dollars; absent where it bills none so. */
  sqlBytes: z.number().int().optional(),
  sqlUsd: z.number().optional(),
  /** Web lookups, including failed ones; absent if there were none. */
  lookups: z.number().int().optional(),
});
export type Usage = z.infer<typeof Usage>;

export const EndedBy = z.union([
  z.enum([
    'agreement',
    'settled',
    'candidates',
    'exhausted',
    'iterations',
    'cancel',
    'stop',
    'finished',
    'unusable',
    'error',
  ]),
  z.templateLiteral(['budget:', BudgetName]),
]);
export type EndedBy = z.infer<typeof EndedBy>;

/** Appended, never edited: reuse conflicts, withdrawals, failed steps (rule S10). */
export const SearchEvent = z.object({
  iteration: z.number().int(),
  kind: z.enum([
    'reuse-conflict',
    'update-withdrawn',
    'step-failed',
    'trajectories-merged',
    'immaterial',
    'plan-revised',
    'unanswerable',
    'steered',
  ]),
  subject: z.string(),
  detail: z.string(),
  /** A step that was given up because no reply could be used: where the journal keeps the last one. */
  reply: z.string().optional(),
});
export type SearchEvent = z.infer<typeof SearchEvent>;

/** A body for operators of this shape: vetoed or pinned by a person. */
const HumanVerdict = z.object({
  shape: z.string(),
  bodyId: z.string(),
  remarkId: z.string(),
  /** A pin: what the operator means. Other readings of the same intent are its rivals. */
  intent: z.string().optional(),
  /** For the pin of an operator: the names that its SQL uses, so that it can be written in again where they match. */
  written: z.object({ operator: z.string(), inputs: z.array(z.string()) }).optional(),
});
export type HumanVerdict = z.infer<typeof HumanVerdict>;

/** People's commands in the form that the control loop needs. Their words are stored as remarks. */
export const Steered = z.object({
  /** Ids of the remarks that models are shown. */
  remarks: z.array(z.string()),
  vetoes: z.array(HumanVerdict),
  pins: z.array(HumanVerdict),
  /** New limits that replace the first ones. */
  budgets: Budgets.nullable(),
  /** Hints among the remarks that were in no prompt yet which a model replied to. Left out: none. */
  unheard: z.array(z.string()).optional(),
  /** A program gave a hint: the layer keeps nothing of the search. Left out: none did. */
  byProgram: z.literal(true).optional(),
});
export type Steered = z.infer<typeof Steered>;

/** The conversation with which a search by `look-then-prove` begins. */
export const Looking = z.object({
  /** `search`: handed over to the search. `single`: the model kept no format, so it acts with one query at a time. */
  phase: z.enum(['look', 'search', 'single']),
  /** Ids of the turns, oldest first. */
  turns: z.array(z.string()),
  /** Commits and declines that went back with their figures. */
  returned: z.number().int(),
});
export type Looking = z.infer<typeof Looking>;

/** What an agent of the methods redel-… has delegated, and its report if it is a helper itself. */
export const Delegated = z.object({
  /** Actions that began at least one helper. */
  actions: z.number().int(),
  /** Tool calls of its helpers, with those of theirs. */
  calls: z.number().int(),
  /** The action that reports. */
  report: z.string().optional(),
});
export type Delegated = z.infer<typeof Delegated>;

/** Where a search by `reforce-…` stands. */
export const Reforce = z.object({
  /** The schema text that prompts show. */
  schemaId: z.string(),
  /** The answer is wanted in words. */
  worded: z.boolean(),
  /** Linking: how many tables there are to ask about, how many were asked, and the replies that keep one. */
  tables: z.number().int(),
  asked: z.number().int(),
  linked: z.array(z.string()),
  /** The header of the answer. Absent: not asked yet; null: none. */
  formatId: z.string().nullable().optional(),
  /** Passes that are over: the second explores first. */
  passes: z.number().int(),
  /** Votes of the last pass, in their order. */
  votes: z.array(z.object({ vote: z.string(), candidate: z.string().nullable(), ended: z.string() })),
  /** Of their candidates: those with an equal result, by id. */
  agreeing: z.record(z.string(), z.array(z.string())),
});
export type Reforce = z.infer<typeof Reforce>;

/** Where a lesson is (`methods/learn.ts`). */
export const Lesson = z.object({
  /** The group of tables that it is at, from 0. */
  group: z.number().int(),
  /** How many turns went before this group. */
  begun: z.number().int(),
  /** Turns whose proofs nobody has read yet, and how many proofs those are. */
  unread: z.array(z.string()),
  proofs: z.number().int(),
});
export type Lesson = z.infer<typeof Lesson>;

export const SearchState = z.object({
  searchId: z.string(),
  /** The iteration that runs next, from 1. */
  iteration: z.number().int(),
  startedAtMs: z.number(),
  trajectories: z.array(Trajectory),
  updates: z.array(UpdateView),
  facts: z.array(FactView),
  candidates: z.array(CandidateView),
  usage: Usage,
  events: z.array(SearchEvent),
  /** Ids of web observations, oldest first, known to every trajectory; absent if there are none. */
  lookups: z.array(z.string()).optional(),
  /** Ids of the searches that it started and that ended, in the order of their places in it; absent if there are none. */
  children: z.array(z.string()).optional(),
  steered: Steered.optional(),
  looking: Looking.optional(),
  lesson: Lesson.optional(),
  redel: Delegated.optional(),
  reforce: Reforce.optional(),
});
export type SearchState = z.infer<typeof SearchState>;
