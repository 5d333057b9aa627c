/** Replies of a model that are stored whole, because later prompts repeat them: a turn of a conversation, and of a lesson. */
import * as z from 'zod';

/** The answer as a sentence with places for values. Whatever else stands there is none: no reply is paid for again because of it. */
export const SentenceReply = z.string().nullable().catch(null);

/** Another reading as an edit of the operator's SQL; an empty `of` replaces all of it. */
const Instead = z.object({ of: z.string(), put: z.string() });

export const LookReply = z.object({
  action: z.enum(['look', 'commit', 'unanswerable']),
  queries: z.array(z.object({ why: z.string(), sql: z.string() })),
  operators: z.array(z.object({ name: z.string(), intent: z.string(), sql: z.string() })),
  ordered: z.boolean(),
  claims: z.array(
    z.object({
      operator: z.string(),
      statement: z.string(),
      rows: z.string(),
      check: z.string(),
      rivals: z.array(z.object({ reading: z.string(), instead: Instead.nullable() })),
    }),
  ),
  assumed: z.array(z.object({ operator: z.string(), statement: z.string(), risk: z.number() })),
  coverage: z.string().nullable(),
  ifPartial: z.enum(['answer', 'decline']).nullable(),
  control: z.string().nullable(),
  wording: z.array(
    z.object({ operator: z.string(), taken: z.string(), other: z.string(), instead: Instead.nullable() }),
  ),
  sentence: SentenceReply,
  reason: z.string().nullable(),
  absent: z.array(z.object({ statement: z.string(), rows: z.string(), check: z.string() })),
  /** Keys of the known entries that the SQL follows; only where some were shown. */
  known: z.array(z.string()).optional(),
  /** Of a commit or a decline: the question in full words; only where it follows another. */
  understoodAs: z.string().nullable().optional(),
  /** Tables that a look asks to see in full; only where some were merely listed. */
  tables: z.array(z.string()).optional(),
});
export type LookReply = z.infer<typeof LookReply>;

export const LearnReply = z.object({
  notes: z.array(z.string()),
  queries: z.array(z.object({ why: z.string(), sql: z.string() })),
  claims: z.array(
    z.object({ statement: z.string(), rows: z.string(), check: z.string(), rivals: z.array(z.string()) }),
  ),
  open: z.array(z.string()),
  /** Those that the next turn is to show in full, beside the ones that nothing read yet. */
  tables: z.array(z.string()),
  done: z.boolean(),
});
export type LearnReply = z.infer<typeof LearnReply>;
