/**
 * The kinds of stored contents (design D1) and their schemas. Everything that the control loop refers to by id is one of
 * these (`run-store.ts` says where each stands).
 */
import * as z from 'zod';
import { ChatMessage, ModelReply } from '../domain/model-call';
import { LearnReply, LookReply } from '../domain/turns';
import { RowDoubt, TableProfile } from '../database/profile';
import {
  AnswerRecord,
  Assumption,
  Body,
  Claim,
  Coverage,
  DatabaseDescription,
  Defined,
  EntryId,
  Fact,
  FlagColumn,
  Grounding,
  LayerEntry,
  Observation,
  Plan,
  Proposal,
  Remark,
  SearchInput,
  SearchState,
  SqlResult,
  Update,
  UsedWithoutCheck,
} from '../domain';

/** The one id of a search's `schema` and of its `ranking`. */
export const SCHEMA_ID = 'schema';

/** What one search knows about its database; read once, so that all its prompts agree. */
export const SchemaContent = z.object({
  description: DatabaseDescription,
  /** The schema as models see it, within a budget of characters. */
  text: z.string(),
  /** Tables whose columns are in `text` or `chosen`; absent: all. */
  shown: z.array(z.string()).optional(),
  /** Of a wide database, whose `text` is the same for all questions: what this one adds to it. */
  chosen: z.object({ places: z.string(), whole: z.array(z.string()), blocks: z.array(z.string()) }).optional(),
  /** `text` says what the rows of each table tell. */
  profiled: z.boolean().optional(),
  /** What rows make doubtful of any SQL that reads them as they stand. */
  doubts: z.array(RowDoubt).optional(),
  /** Columns that tell the rows of their table apart, likeliest first. Absent: no profile. */
  flags: z.array(FlagColumn).optional(),
});
export type SchemaContent = z.infer<typeof SchemaContent>;

export const PlanRefContent = z.object({
  planId: z.string(),
  bodies: z.array(z.tuple([z.string(), z.string().nullable(), z.string().nullable()])),
});

/** The digest of a truncated result, computed by the database (rule S5). */
const Digest = z.object({ count: z.number(), hash: z.string() });

export const CandidateContent = z.object({
  candidateId: z.string(),
  sql: z.string(),
  result: SqlResult,
  digest: Digest.nullable(),
  control: z.number().nullable(),
  /** The SQL of the control count. */
  controlSql: z.string().optional(),
  ordered: z.boolean(),
  /** Left out where nobody counted it. */
  coverage: Coverage.optional(),
  /** The results of other readings of the question's words. */
  wording: z.array(
    z.object({ operator: z.string(), taken: z.string(), other: z.string(), result: SqlResult.nullable() }),
  ),
  /** When it ran, and the clock that its SQL read; absent if the SQL reads none. */
  takenAt: z.string(),
  clock: z.string().optional(),
  /** null for a method without plans. */
  plan: PlanRefContent.nullable(),
  /** The sentence of a method without plans, with places for values. */
  answer: z.string().nullable(),
});
export type CandidateContent = z.infer<typeof CandidateContent>;

export const CallIntent = z.object({
  inputHash: z.string(),
  model: z.string(),
  role: z.string(),
  messages: z.array(ChatMessage),
  maxOutputTokens: z.number().int().positive(),
  /** Number of calls that may have been billed although no reply came. */
  unanswered: z.number().int(),
  startedAtMs: z.number(),
});
export type CallIntent = z.infer<typeof CallIntent>;

export const CallReply = z.object({
  inputHash: z.string(),
  /** The model asked for; `reply.model` is what the endpoint says it used. */
  model: z.string(),
  reply: ModelReply,
  possiblyBilledCalls: z.number().int(),
  endedAtMs: z.number(),
  /** What its step gives, without its usage. Left out: the reply could not be read to its end. */
  outcome: z.unknown().optional(),
});
export type CallReply = z.infer<typeof CallReply>;

export const CONTENTS = {
  input: SearchInput,
  schema: SchemaContent,
  /** Profiles of tables that a plan reads and that `schema` only lists by name. */
  profile: z.object({
    /** Of tables that `schema` only lists by name. */
    tables: z.array(TableProfile),
  }),
  /** Tables that a plan reads and that `schema` only lists by name. Prompts show them from then on. */
  'schema-extra': z.object({ tables: z.array(z.string()) }),
  /** The entries of the layer that a search is shown, by the keys that its replies use, and those that no longer hold. */
  known: z.object({
    entries: z.array(z.object({ key: z.string(), entry: LayerEntry })),
    withheld: z.array(z.object({ entryId: EntryId, statement: z.string(), why: z.string() })),
    /** Those whose checks did not end in time. Left out: none. */
    unchecked: z.array(z.object({ entryId: EntryId, statement: z.string(), why: z.string() })).optional(),
  }),
  /** Of a question that follows another: the earlier ones of its chain, oldest first, and the claims of the last that still hold. */
  earlier: z.object({
    questions: z.array(
      z.object({
        searchId: z.string(),
        question: z.string(),
        understoodAs: z.string().nullable(),
        /** null: it was declined, or it may not be read here. */
        sql: z.string().nullable(),
        /** What its SQL gives now, or why there is no answer. */
        found: z.string(),
        /** Keys of the entries that carry it. */
        claims: z.array(z.string()),
        /** Claims that the rows no longer show, and why. */
        lost: z.array(z.object({ statement: z.string(), why: z.string() })),
        assumed: z.array(z.string()),
        /** What people told it, each with its author. */
        remarks: z.array(z.string()),
      }),
    ),
    entries: z.array(z.object({ key: z.string(), entry: LayerEntry })),
  }),
  /** The rules of the layer that a search is told, as prompts show them. */
  told: z.object({ rules: z.array(z.object({ entryId: EntryId, text: z.string() })) }),
  /** How a lesson takes the tables of its database. */
  'lesson-tables': z.object({
    /** All tables, as each of its prompts begins. */
    catalogue: z.string(),
    /** The tables to learn, in groups that hang together, in their order. */
    groups: z.array(z.array(z.string())),
    /** Each table of the database as a prompt shows it in full. */
    blocks: z.record(z.string(), z.string()),
    /** Of the lesson before, on the tables at which it stopped. */
    notes: z.array(z.string()),
  }),
  /** One turn of learning a database. */
  lesson: z.object({ turnId: z.string(), reply: LearnReply }),
  /** What the probes of a search proved of its answer, as claims with checks, by the position of the step. */
  restated: z.object({ candidateId: z.string(), claims: z.array(Claim) }),
  /** What a search proved and the layer keeps, by the position of the reading: there also if it is nothing. */
  kept: z.object({
    entries: z.array(z.object({ entryId: EntryId, statement: z.string() })),
  }),
  plan: Plan,
  body: Body,
  /** The assumptions of an unproved body, by body id. */
  assumptions: z.object({ assumptions: z.array(Assumption) }),
  proposal: Proposal,
  observation: Observation.extend({ takenAt: z.string() }),
  grounding: Grounding.extend({ observations: z.array(z.string()) }),
  update: Update,
  fact: Fact,
  remark: Remark,
  candidate: CandidateContent,
  evaluation: z.object({ reply: z.unknown() }),
  selection: z.object({ reply: z.unknown() }),
  /** A reply of the conversation of `look-then-prove`. */
  turn: z.object({ turnId: z.string(), reply: LookReply }),
  /** What the database decided about a commit or a decline, and how the model is told. */
  verdict: z.object({
    turnId: z.string(),
    /** The candidate that a commit made. */
    candidateId: z.string().nullable(),
    claims: z.array(Claim),
    /** The body that each rival of each claim puts in place of an operator's, to run it again; null: none. */
    edits: z.array(z.array(z.object({ operator: z.string(), bodyId: z.string() }).nullable())).optional(),
    /** Left out: nothing. */
    usedWithoutCheck: z.array(UsedWithoutCheck).optional(),
    defined: z.array(Defined).optional(),
    found: z.string(),
  }),
  action: z.object({
    actionId: z.string(),
    note: z.string(),
    sql: z.string().nullable(),
    /** Instead of `sql`, where an action may run several queries. */
    queries: z.array(z.object({ why: z.string(), sql: z.string() })).optional(),
    answer: z.string().nullable(),
    /** Of the end: SQL that counts how much of what is asked the final SQL could use. */
    coverage: z.string().optional(),
    /** A web request, instead of `sql`. */
    web: z.object({ tool: z.enum(['web_search', 'fetch_url']), request: z.string() }).optional(),
    /** Of an action that delegates. `refused`: why no helper gets it. */
    subtasks: z.array(z.object({ text: z.string(), refused: z.string().optional() })).optional(),
  }),
  /** The schema text of a method `reforce-…`, and its tables, each as linking shows it. */
  compressed: z.object({
    text: z.string(),
    tables: z.array(z.object({ name: z.string(), text: z.string() })),
  }),
  /** That a table is needed, and with which columns. */
  link: z.object({ table: z.string(), columns: z.array(z.string()) }),
  /** The header of the answer. */
  format: z.object({ header: z.string() }),
  /** The state after an iteration, stored with the next SQL step or the final record. */
  checkpoint: SearchState,
  /** Replaced when the question is asked again and the answer still holds (`roles/answer/refresh.ts`). */
  result: AnswerRecord,
  intent: CallIntent,
  reply: CallReply,
};
export type Kind = keyof typeof CONTENTS;
export type Contents = { readonly [K in Kind]: z.infer<(typeof CONTENTS)[K]> };
