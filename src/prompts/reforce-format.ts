/** Role `reforce-format`: the header that the answer must have as CSV, fixed before any SQL is written (ReFoRCE). */
import { z } from 'zod';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, unless, type Parsed } from './reply';
import * as shared from './shared';
import type { PromptContext } from './shared';

export const FormatReply = z.object({ header: z.string() });
export type FormatReply = z.infer<typeof FormatReply>;

export const formatSchema = replySchema('reforce-format', FormatReply);

export function renderFormat(input: PromptContext): ChatMessage[] {
  return shared.searchConversation(input, RULES, [], 'Task: write the header.');
}

/** Only the first line counts. */
export function parseFormat(text: string): Parsed<FormatReply> {
  const parsed = parseReply(text, FormatReply, ({ header }) =>
    unless(header.trim() !== '', 'header', 'found nothing', 'name the columns of the answer, with commas between'),
  );
  if (parsed.kind === 'invalid') return parsed;
  return { kind: 'ok', reply: { header: parsed.reply.header.trim().split('\n', 1)[0] ?? '' } };
}

const RULES = [
  'You say which columns the answer has, before anyone writes SQL for it.',
  `- header: one line of CSV, the simplest that answers the question: a name for each column, and its type where that is not plain, such as name:text,total:number.
- Columns in the order of the question, none that it does not ask for. Where it asks for things without saying whether by name or by id, give both.`,
  shared.replyRule(sketch(FormatReply)),
];
