/**
 * The semantic layer of a database (docs/layer.md): conventions that its rows proved, kept beyond the question. An entry is
 * never changed; what happens to it later is an event, and `layer/state.ts` says what follows from all of them.
 */
import * as z from 'zod';

const When = z.iso.datetime();

export const EntryId = z.string().regex(/^e[0-9a-f]{16}$/);

/** A rival reading and how many of the rows examined match it; null: it was not counted. */
export const EntryRival = z.object({
  reading: z.string(),
  matching: z.number().int().nullable(),
  examined: z.number().int().nullable(),
  /** Refuted by its counts. Others gave the same answer to the question that they come from. */
  refuted: z.boolean(),
  /** Of one that was not refuted: the piece of the SQL that it would replace, and what would stand there. Left out: none. */
  instead: z.object({ of: z.string(), put: z.string() }).optional(),
});

/** A value of a check, and another one with which it counts the same: the rows do not tell them apart. */
export const FitsAsWell = z.object({ literal: z.string(), put: z.string() });
export type FitsAsWell = z.infer<typeof FitsAsWell>;

export const LayerEntry = z.object({
  /** A hash of the check: two questions that count the same have one entry. */
  entryId: EntryId,
  /** One sentence that says no more than the check counts. */
  statement: z.string().min(1),
  /** What one examined row is. */
  rows: z.string(),
  /** Which rows and which period it is about; null: all rows that can tell. */
  scope: z.string().nullable(),
  /** One SELECT of one row: examined, matching, then a count for each rival, or both counts again for each. */
  check: z.string().min(1),
  matching: z.number().int(),
  examined: z.number().int(),
  rivals: z.array(EntryRival).min(1),
  /** Rivals that its rows leave open. Left out: none. */
  fitsAsWell: z.array(FitsAsWell).optional(),
  /** The tables that the check reads, and those of their columns that it names, as `table.column`. */
  tables: z.array(z.string()),
  columns: z.array(z.string()),
  /** The SQL of the operator that took it for granted, what its rows mean, and what it reads. */
  operator: z
    .object({ intent: z.string(), sql: z.string(), tables: z.array(z.string()), columns: z.array(z.string()) })
    .nullable(),
  /** Entries that have to hold for this one to mean anything. */
  restsOn: z.array(EntryId),
  /** Where it comes from; a search of `gate learn` has no question. */
  from: z.object({ searchId: z.string(), question: z.string().nullable() }),
  provedAt: When,
  schemaFingerprint: z.string(),
});
export type LayerEntry = z.infer<typeof LayerEntry>;

/** What a person says of a database. Nobody counted it, so it is never called proved. */
export const LayerRule = z.object({
  /** A hash of the statement, or of the question that it answers: who answers again says it anew. */
  entryId: EntryId,
  /** An answer begins with its question. */
  statement: z.string().min(1),
  /** What it names. */
  tables: z.array(z.string()),
  columns: z.array(z.string()),
  /** The open question that it answers (`questionId`). */
  answers: z.string().nullable(),
  author: z.string().min(1),
  saidAt: When,
});
export type LayerRule = z.infer<typeof LayerRule>;

/** The counts of an entry when its check ran again. */
export const EntryCounts = z.object({
  matching: z.number().int().nullable(),
  examined: z.number().int().nullable(),
  rivals: z.array(z.object({ matching: z.number().int().nullable(), examined: z.number().int().nullable() })),
});
export type EntryCounts = z.infer<typeof EntryCounts>;

const about = { entryId: EntryId, at: When };
/** What a person did: who it was, and why. */
const byPerson = { ...about, author: z.string().min(1), note: z.string().nullable() };

export const LayerEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('proved'), at: When, entry: LayerEntry }),
  z.object({ kind: z.literal('said'), at: When, rule: LayerRule }),
  /** Its check ran and no longer shows it; `why` in one line. */
  z.object({ kind: z.literal('broken'), ...about, why: z.string(), counts: EntryCounts.nullable() }),
  /** Its check ran and shows it, with other figures than before, or again after it was broken. */
  z.object({ kind: z.literal('counted'), ...about, counts: EntryCounts }),
  z.object({ kind: z.literal('confirmed'), ...byPerson }),
  z.object({ kind: z.literal('rejected'), ...byPerson }),
  z.object({ kind: z.literal('edited'), ...byPerson, statement: z.string().min(1) }),
  /** Two entries that cannot both be right: neither is used until a probe or a person decides. */
  z.object({ kind: z.literal('contradicted'), ...about, by: EntryId, why: z.string() }),
  /** `by` says the same and more: this one is used no more, as long as that one is active. */
  z.object({ kind: z.literal('superseded'), ...about, by: EntryId }),
  /** The checks of these entries ran (`gate layer verify`). */
  z.object({ kind: z.literal('verified'), at: When, checked: z.array(EntryId) }),
  /**
   * How far lessons came (`gate learn`): tables learned since they began with the first one, those that are left, and notes on
   * what the last one was at.
   */
  z.object({
    ...{ kind: z.literal('learned'), at: When },
    ...{ tables: z.array(z.string()), left: z.array(z.string()), notes: z.array(z.string()) },
  }),
  /** What no data can decide, for a person (`gate learn`). */
  z.object({
    ...{ kind: z.literal('asked'), at: When, questionId: z.string(), text: z.string().min(1) },
    /** What it names, as in a rule. */
    ...{ tables: z.array(z.string()), columns: z.array(z.string()) },
  }),
]);
export type LayerEvent = z.infer<typeof LayerEvent>;
