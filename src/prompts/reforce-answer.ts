/** Role `reforce-answer`: the chosen result in words. ReFoRCE itself ends with SQL and its rows. */
import { z } from 'zod';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, type Parsed } from './reply';
import { SentenceReply, sentenceRule } from './sentence';
import * as shared from './shared';
import type { PromptContext } from './shared';

export interface PhraseInput extends PromptContext {
  readonly sql: string;
  readonly outcome: string;
}

export const PhraseReply = z.object({ answer: SentenceReply });
export type PhraseReply = z.infer<typeof PhraseReply>;

export const phraseSchema = replySchema('reforce-answer', PhraseReply);

export function renderPhrase(input: PhraseInput): ChatMessage[] {
  const shown = [shared.data('sql', input.sql), shared.data('rows', input.outcome)];
  return shared.searchConversation(input, RULES, shown, 'Task: answer the question from the rows above.');
}

export function parsePhrase(text: string): Parsed<PhraseReply> {
  return parseReply(text, PhraseReply, () => []);
}

const RULES = [
  'You put the result of a query into words.',
  sentenceRule('answer', '. column: one of the rows above'),
  shared.replyRule(sketch(PhraseReply)),
];
