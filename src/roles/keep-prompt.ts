/**
 * Role `keep`: reads what a search proved before the layer of the database keeps it (docs/layer.md). The figures are the
 * database's; the reading decides what they say, in words that other questions can rely on.
 */
import { z } from 'zod';
import type { Dialect } from '../domain';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, type Parsed } from './shared/reply';
import * as shared from './shared/prompt-parts';

export interface KeepInput {
  readonly dialect: Dialect;
  /** null: learned without a question. */
  readonly question: string | null;
  /** With their checks and figures, numbered from 1. */
  readonly claims: readonly string[];
  /** Entries on the same tables, by key. */
  readonly known: readonly { readonly key: string; readonly text: string }[];
}

export const KeepReply = z.object({
  claims: z.array(
    z.object({
      claim: z.int(),
      keep: z.boolean(),
      /** null: as claimed. */
      statement: z.string().nullable(),
      scope: z.string().nullable(),
      restsOn: z.array(z.string()),
      replaces: z.array(z.string()),
      contradicts: z.array(z.object({ key: z.string(), rival: z.int().nullable() })),
    }),
  ),
});
export type KeepReply = z.infer<typeof KeepReply>;

export const keepSchema = replySchema('keep', KeepReply);

export function renderKeep(input: KeepInput): ChatMessage[] {
  const { dialect, question, claims, known } = input;
  return shared.conversation(dialect, [
    shared.rulesSection([RULES, shared.replyRule(sketch(KeepReply))]),
    shared.data('kept before', known.map(({ key, text }) => `${key}: ${text}`).join('\n') || 'nothing on these tables'),
    ...claims.map((claim, at) => shared.data(`claim ${at + 1}`, claim)),
    ...(question === null ? [] : [`Question: ${question}`]),
    `${question === null ? '' : 'They were made to answer it. '}Read ${claims.length === 1 ? 'the claim' : `all ${claims.length} claims`}.`,
  ]);
}

export function parseKeep(text: string, { claims }: KeepInput): Parsed<KeepReply> {
  return parseReply(text, KeepReply, (reply) =>
    reply.claims.flatMap(({ claim }, at) =>
      claim >= 1 && claim <= claims.length
        ? []
        : [{ where: `claims[${at}].claim`, found: `found ${claim}`, allowed: `use 1 to ${claims.length}` }],
    ),
  );
}

const RULES = `You read what a database has just counted, before it is kept for every later question about it. Others will rely on your wording and will not see the check. For each claim:
- keep: false if what was kept before says it already (also in other words, or with its lists in another order), if it helps no other question (it is about one customer, one period, one filter of the question), if the check cannot fail (it compares a thing with itself, or counts rows that were filtered by the condition), if it counts something else than it says, if no rival is a reading that a careful person would try, or if it is a mere value of today (a highest number, a count of rows).
- statement: null where the claim's own sentence can stand as it is; else one sentence, general, that says what the check counts and nothing more: tables and columns as table.column, the rule or formula to use. Of a code or a sign say what each side of the check is, so that nobody has to guess the rest. What was not counted stays out: other tables, other periods, why; but the everyday word that the counted rows bear out (cats, for rows whose breeds are cats; a night shift) may stand in brackets, because later questions use it. Figures of the counts stay out too; they are shown beside it.
- scope: which rows or which period the check looks at, where these are not all; else null.
- restsOn: keys of what was kept before, without which it means nothing; mostly [].
- replaces: keys of what was kept before that this one says as well, and more, or more strictly; mostly [].
- contradicts: what was kept before that cannot be true if this is, by key, and which rival of this claim, counted from 1, is its reading, if one is; mostly [].`;
