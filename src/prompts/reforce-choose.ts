/** Role `reforce-choose`: one of the candidates between which votes do not decide (ReFoRCE). */
import { z } from 'zod';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, unless, type Parsed } from './reply';
import * as shared from './shared';
import type { PromptContext } from './shared';

export interface ChooseInput extends PromptContext {
  readonly candidates: readonly { readonly sql: string; readonly outcome: string }[];
}

export const ChooseReply = z.object({ note: z.string(), choice: z.int() });
export type ChooseReply = z.infer<typeof ChooseReply>;

export const chooseSchema = replySchema('reforce-choose', ChooseReply);

export function renderChoose(input: ChooseInput): ChatMessage[] {
  const shown = input.candidates.map(({ sql, outcome }, at) =>
    shared.data(`candidate ${at + 1}`, `sql: ${sql}\nresult:\n${outcome}`),
  );
  return shared.searchConversation(input, RULES, shown, `Task: choose 1 to ${input.candidates.length}.`);
}

export function parseChoose(text: string, { candidates }: Pick<ChooseInput, 'candidates'>): Parsed<ChooseReply> {
  const { length } = candidates;
  return parseReply(text, ChooseReply, ({ choice }) =>
    unless(choice >= 1 && choice <= length, 'choice', `found ${choice}`, `use a whole number from 1 to ${length}`),
  );
}

const RULES = [
  'You pick one of several SQL queries that were run for the same question.',
  `In this order, step by step in note:
1. Leave out results that cannot be true. Those with NULL or zero tend to be wrong.
2. Hold each result against the question.
3. Hold each SQL against the question.`,
  shared.replyRule(sketch(ChooseReply)),
];
