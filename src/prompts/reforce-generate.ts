/**
 * Role `reforce-generate`: the SQL of one vote, and its refinement by what the database says to it (ReFoRCE). Turns are
 * replayed as a conversation to which messages are only appended.
 */
import { z } from 'zod';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, unless, type Parsed } from './reply';
import * as shared from './shared';
import type { PromptContext } from './shared';

export const GenerateReply = z.object({ note: z.string(), sql: z.string() });
export type GenerateReply = z.infer<typeof GenerateReply>;

export const generateSchema = replySchema('reforce-generate', GenerateReply);

export interface GenerateTurn {
  readonly reply: GenerateReply;
  /** The rows as CSV, or the error. */
  readonly outcome: string;
  /** It returned rows; they are to be confirmed. */
  readonly succeeded: boolean;
  /** What speaks against its rows. */
  readonly flaw: { readonly kind: 'nested' | 'empty'; readonly where: readonly string[] } | null;
}

export interface GenerateInput extends PromptContext {
  /** The header of the answer. */
  readonly format: string | null;
  /** Queries of the exploration, with their results. */
  readonly explored: readonly { readonly sql: string; readonly outcome: string }[];
  readonly turns: readonly GenerateTurn[];
}

export function renderGenerate(input: GenerateInput): ChatMessage[] {
  const { format, explored, turns } = input;
  const shown = [
    ...(explored.length === 0
      ? []
      : [
          'Queries that ran on this database, with their results, to learn from:',
          ...explored.map(({ sql, outcome }, at) => shared.data(`example ${at + 1}`, `${sql}\n\n${outcome}`)),
        ]),
    ...(format === null ? [] : [`The result has this header:\n${shared.data('answer format', format)}`]),
  ];
  return [
    ...shared.searchConversation(input, RULES, shown, 'Wanted: sql.'),
    ...turns.flatMap((turn): ChatMessage[] => [
      { role: 'assistant', content: JSON.stringify(turn.reply) },
      { role: 'user', content: told(turn, format !== null) },
    ]),
  ];
}

export function parseGenerate(text: string): Parsed<GenerateReply> {
  const parsed = parseReply(text, GenerateReply, ({ sql }) =>
    unless(sql.trim() !== '', 'sql', 'found nothing', 'write one complete SELECT'),
  );
  if (parsed.kind === 'invalid') return parsed;
  return { kind: 'ok', reply: { ...parsed.reply, sql: shared.tidySql(parsed.reply.sql) } };
}

const RULES = [
  'You write the SQL that answers the question; it is run, and you mend it until it returns the answer.',
  `- note: think step by step, before the SQL.
- sql: one read-only SELECT, complete, that yields what the question asks for.
- Where one table stands for others of the same structure, name each that is needed in a UNION ALL; leave none out.
- Four decimals where the question says no precision.
- Names and values may be stored in other words or cases than the question has.`,
  shared.replyRule(sketch(GenerateReply)),
];

function told({ outcome, succeeded, flaw }: GenerateTurn, hasFormat: boolean): string {
  if (!succeeded) return `${shared.data('error', outcome)}\nCorrect it: one complete SELECT.`;
  return [
    shared.data('result', outcome),
    ...(flaw === null ? [] : [shared.data(FLAW[flaw.kind], flaw.where.join(', ')), 'Mend that.']),
    `Check this result and its SQL once more against the question${hasFormat ? ' and its header' : ''}: conditions, rows, columns, order. If it is right, send the same SQL again; if not, send it corrected.`,
  ].join('\n');
}

const FLAW = { nested: 'values of several lines: make each one line', empty: 'columns without any value but zero' };
