/** The final record: what `gate ask --json` prints and the store keeps under the search id (design D4, D6). */
import * as z from 'zod';
import { AnswerStatus } from './answer-status';
import { Citation } from './evidence';
import { EntryId, FitsAsWell } from './layer';
import { Ablation, PresetName } from './question';
import { EndedBy, Usage } from './state';
import { DataFiles, ResultColumn, SqlValue } from './sql';
import { Remark } from './steering';

/** A cancelled or failed question is searched again when asked again; its journalled calls cost nothing. */
export function isConclusive({ status }: { readonly status: AnswerStatus }): boolean {
  return status === 'answered' || status === 'unanswerable' || status === 'abstained';
}

/**
 * Whether a benchmark counts it as the method's answer: a search whose model gave no usable reply failed, and answered wrongly.
 * It is not asked again there, because trying until it succeeds would flatter.
 */
export function isDecided(answer: { readonly status: AnswerStatus; readonly endedBy: EndedBy }): boolean {
  return isConclusive(answer) || answer.endedBy === 'unusable';
}

/** The first rows of a result, and how many there were. */
export const Excerpt = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(SqlValue)),
  rowCount: z.number(),
});
export type Excerpt = z.infer<typeof Excerpt>;

export const Evidence = z.object({
  operator: z.string(),
  intent: z.string(),
  /** `proved`: rule S1. `assumed`: written, not proved. `immaterial`: rival readings give the same answer (S9). */
  state: z.enum(['proved', 'assumed', 'immaterial']),
  updateId: z.string().nullable(),
  /** The reading kept, in words. */
  reading: z.string(),
  summary: z.string(),
  sql: z.string().nullable(),
  probe: z.string().nullable(),
  observed: Excerpt.nullable(),
  rejected: z.array(z.object({ reading: z.string(), verdict: z.string(), reason: z.string() })),
  /** What the kept reading's own checks say against it: exceptions, a check that is FALSE. Left out: nothing. */
  against: z.array(z.string()).optional(),
  reusedFrom: z.string().nullable(),
  /** Addresses of the web observations that the reading cites: from outside, no part of a proof. Left out: none. */
  sources: z.array(z.string()).optional(),
});
export type Evidence = z.infer<typeof Evidence>;

/**
 * What the answer's SQL takes for granted, with the counts by which the database decided it (S1 for claims): a claim and its
 * rivals are counted side by side over the same rows.
 */
export const Claim = z.object({
  /** The operator whose SQL rests on it; null for a claim that something is not stored. */
  operator: z.string().nullable(),
  /** In the model's words. */
  statement: z.string(),
  /** What one examined row is, in the model's words. */
  rows: z.string(),
  /** `exceptions`: at least 95 % of the rows agree, but not all. `immaterial`: every rival left gives the same answer. */
  state: z.enum(['proved', 'exceptions', 'immaterial', 'failed', 'open']),
  /** Why it is not proved; null if it is. */
  reason: z.string().nullable(),
  /** The SQL that counted. */
  check: z.string(),
  /** Of the rows examined; for a claim that something is not stored: how many have nothing recorded. */
  matching: z.number().nullable(),
  examined: z.number().nullable(),
  /** Only for a claim that something is not stored: of the same rows, how many have a comparable fact recorded. */
  control: z.number().optional(),
  rivals: z.array(
    z.object({
      reading: z.string(),
      matching: z.number().nullable(),
      examined: z.number().nullable(),
      verdict: z.enum(['refuted', 'same-answer', 'open']),
      /** What the answer would be under it, where it is another one. Only of a rival that an entry of the layer leaves open. */
      gives: z.string().optional(),
    }),
  ),
  /** Two figures within this of each other count as equal, as the check says. Left out: they are compared exactly. */
  within: z.string().optional(),
  /**
   * Values that fit the rows as well as one of the check (`sql/fitted.ts`, `sql/thresholds.ts`), with what the answer would be;
   * null: the same, or there is no answer. Left out: none.
   */
  fitsAsWell: z.array(FitsAsWell.extend({ gives: z.string().nullable() })).optional(),
  /** The entry of the semantic layer that it repeats: proved before, and counted again for this answer. Left out: its own. */
  entry: z.object({ entryId: EntryId, provedAt: z.string(), searchId: z.string() }).optional(),
});
export type Claim = z.infer<typeof Claim>;

export const OpenAssumption = z.object({
  operator: z.string().nullable(),
  kind: z.enum(['assumption', 'open-by-wording']),
  statement: z.string(),
  risk: z.number().nullable(),
  /** Open by wording: the other reading and what it would give. */
  alternative: z.object({ reading: z.string(), gives: z.string() }).nullable(),
});
export type OpenAssumption = z.infer<typeof OpenAssumption>;

/** How many things the question asks about, how many of them the SQL could use, and what counted both. */
export const Coverage = z.object({ asked: z.number(), used: z.number(), sql: z.string() });
export type Coverage = z.infer<typeof Coverage>;

/** How far an answer stands proved (`text/standing.ts`): what claims nothing is unchecked. */
export const Standing = z.enum(['unchecked', 'partly proved', 'proved']);
export type Standing = z.infer<typeof Standing>;

/** What a person said of a table that an answer reads, and its SQL leaves aside. */
export const NotUsed = z.object({
  /** Of the rule, or of the question that the person answered. */
  id: z.string(),
  statement: z.string(),
});
export type NotUsed = z.infer<typeof NotUsed>;

/** A literal on which the SQL rests and that nothing shows, names or defines (`sql/literal-cover.ts`). */
export const UsedWithoutCheck = z.object({
  operator: z.string(),
  /** The condition or term, in one form: `vk_cl = '310'`. */
  sql: z.string(),
});
export type UsedWithoutCheck = z.infer<typeof UsedWithoutCheck>;

/** A literal of the SQL, and the stored row or the line of a document that says what it stands for. Neither proved nor open. */
export const Defined = UsedWithoutCheck.extend({
  /** The value, then the words of the row or document: `310 | TESSMAR LIVE`. */
  row: z.string(),
});
export type Defined = z.infer<typeof Defined>;

/** A column that tells the rows of its table apart: a mark, a state, a kind with few values. */
export const FlagColumn = z.object({
  table: z.string(),
  column: z.string(),
  /** What it holds, in a few words. */
  holds: z.string(),
});

export const CandidateSummary = z.object({
  id: z.string(),
  kind: z.enum(['rows', 'unanswerable']),
  sql: z.string().nullable(),
  outcome: z.string(),
  rowCount: z.number(),
  preview: z.string(),
  /** Ids of the candidates with an equal result. */
  agreesWith: z.array(z.string()),
  proved: z.boolean(),
  chosen: z.boolean(),
});
export type CandidateSummary = z.infer<typeof CandidateSummary>;

/** What a person told the search: the words of a remark. */
export const SteeringNote = Remark.omit({ remarkId: true }).extend({
  /** Of a hint: whether a model replied to a prompt that showed it. */
  shown: z.boolean().optional(),
});
export type SteeringNote = z.infer<typeof SteeringNote>;

export const Reuse = z.object({
  updates: z.number().int().describe('grounding updates that hold at its end'),
  reused: z.number().int().describe('those that another plan took over'),
  reuses: z.number().int().describe('how often'),
});

export const AnswerRecord = z.object({
  schemaVersion: z.literal(1),
  id: z.string(),
  question: z.string(),
  /** The search that it follows. Left out: none. */
  after: z.string().optional(),
  /** Of a question that follows another: what it was understood as, in full words. Left out: nobody said it. */
  understoodAs: z.string().optional(),
  database: z.string(),
  status: AnswerStatus,
  endedBy: EndedBy,
  /** With its settings, as `--method` takes it. */
  method: z.string(),
  /** null: the method is none of GATE's own. */
  preset: PresetName.nullable(),
  /** The part of the search that was left out (docs/methods/gate.md); left out where it was whole. */
  without: Ablation.optional(),
  models: z.record(z.string(), z.string()),
  sql: z.string().nullable(),
  columns: z.array(ResultColumn),
  rows: z.array(z.array(SqlValue)),
  truncated: z.boolean(),
  /** Whether the SQL puts the rows in order. Left out: there is no result. */
  ordered: z.boolean().optional(),
  /** One sentence with how far it is proved; then, line by line, what else has to be known (`text/answer-text.ts`). */
  answer: z.string().nullable(),
  /** The model's sentence with places for result values, where it can be used: filled again when only the rows change. */
  sentence: z.string().optional(),
  /** What `{examined}` in the sentence stands for, and the SQL that counts it; it belongs to the rows above. */
  examined: z.object({ sql: z.string(), count: z.number() }).optional(),
  /** Left out where nobody counted it: the same by construction. */
  coverage: Coverage.optional(),
  /** Why it is unanswerable, abstained, cancelled or failed. */
  reason: z.string().nullable(),
  evidence: z.array(Evidence),
  /** Of a search that looked and committed; left out of others. */
  claims: z.array(Claim).optional(),
  openAssumptions: z.array(OpenAssumption),
  /** Left out: nothing. */
  usedWithoutCheck: z.array(UsedWithoutCheck).optional(),
  /** Left out: nothing. */
  defined: z.array(Defined).optional(),
  /** Left out: nothing. */
  notUsed: z.array(NotUsed).optional(),
  /** Columns that tell rows of the tables read apart and that nobody looked at, likeliest first. Left out: none, or no profile. */
  notLookedAt: z.object({ columns: z.array(FlagColumn), more: z.number().int() }).optional(),
  candidates: z.array(CandidateSummary),
  /** What the web said and where; `lookup` is how a text cites it. Left out where nobody looked. */
  sources: z.array(Citation.extend({ lookup: z.string().optional() })).optional(),
  /** Why the web gave nothing where it was asked; left out where that did not happen. */
  failedLookups: z.array(z.object({ request: z.string(), reason: z.string() })).optional(),
  /** Steps for which the model gave no usable reply, and where the journal keeps the last one; left out: none. */
  givenUp: z.array(z.object({ step: z.string(), cause: z.string(), reply: z.string() })).optional(),
  /** In the order it was said; left out where nobody said anything. */
  steering: z.array(SteeringNote).optional(),
  /** The searches that it started; its usage contains theirs. Left out: none. */
  children: z
    .array(
      z.object({
        id: z.string(),
        question: z.string(),
        method: z.string(),
        status: AnswerStatus,
        endedBy: EndedBy,
        llmCalls: z.number().int(),
        costUsd: z.number(),
      }),
    )
    .optional(),
  /** Of an agent that may have helpers (method `redel`): its tool calls and theirs. */
  toolCalls: z.number().int().optional(),
  usage: Usage,
  startedAt: z.string(),
  endedAt: z.string(),
  /** When the rows were read. */
  asOf: z.string(),
  /** The data files whose rows the SQL reads. Left out: it reads a database. */
  files: DataFiles.optional(),
  /** Asked again, it no longer held: why, and the search that takes its place. */
  replacedBy: z.object({ id: z.string(), reason: z.string() }).optional(),
  /** What "now" was to the SQL, where it asks (`sql/clock.ts`). */
  clock: z.string().optional(),
  /** Left out: it has no updates that hold. */
  reuse: Reuse.optional(),
  /** The semantic layer in this search (docs/layer.md). Left out: it was off, or had nothing to say. */
  layer: z
    .object({
      /** How many entries the search was shown, each counted again before. */
      shown: z.number().int(),
      /** Entries that concern the question, but whose checks no longer show them. */
      withheld: z.array(z.object({ entryId: EntryId, statement: z.string(), why: z.string() })),
      /** Entries that concern the question, but whose checks did not end in time. Left out: none. */
      unchecked: z.array(z.object({ entryId: EntryId, statement: z.string(), why: z.string() })).optional(),
      /** What this search proved and the layer keeps. */
      kept: z.array(z.object({ entryId: EntryId, statement: z.string() })),
      /** Why the layer keeps nothing of what was proved. Left out: it was read, or there was nothing. */
      notKept: z.string().optional(),
      /** Of a lesson: what no data can decide and a person is asked (`gate layer answer`). Left out: nothing. */
      open: z.array(z.object({ questionId: z.string(), text: z.string() })).optional(),
    })
    .optional(),
  /** Of a lesson: the tables that it went through, and those that the next one begins with. */
  lesson: z.object({ learned: z.array(z.string()), left: z.array(z.string()) }).optional(),
});
export type AnswerRecord = z.infer<typeof AnswerRecord>;
