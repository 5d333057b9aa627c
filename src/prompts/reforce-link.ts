/** Role `reforce-link`: whether one table, shown alone, is needed for the question, and which of its columns (ReFoRCE). */
import { z } from 'zod';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, type Parsed } from './reply';
import * as shared from './shared';
import type { PromptContext } from './shared';

/** `schema` is the text of the one table. */
export type LinkInput = PromptContext;

export const LinkReply = z.object({ note: z.string(), needed: z.enum(['Y', 'N']), columns: z.array(z.string()) });
export type LinkReply = z.infer<typeof LinkReply>;

export const linkSchema = replySchema('reforce-link', LinkReply);

export function renderLink(input: LinkInput): ChatMessage[] {
  return shared.searchConversation(input, RULES, [], 'Task: decide about the one table of the schema above.');
}

export function parseLink(text: string): Parsed<LinkReply> {
  return parseReply(text, LinkReply, () => []);
}

const RULES = [
  'You decide whether one table of a large database is needed to answer the question.',
  `- note: think step by step.
- needed: Y or N.
- columns: with Y, the names of the columns that may matter: for the result, for conditions, for joins.`,
  shared.replyRule(sketch(LinkReply)),
];
