/** Role `select` as in the paper (App. LLM Answer Selector): distinct answers with how often each was found; only a number comes back. */
import { z } from 'zod';
import type { Dialect, Question } from '../domain';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, unless, type Parsed } from './shared/reply';
import * as shared from './shared/prompt-parts';

export interface FoundAnswer {
  readonly answer: string;
  /** How many paths found it. */
  readonly frequency: number;
  /** Grounding updates on the way to it; null: its method has none. */
  readonly depth: number | null;
  /** What was proved and assumed on the way to it. */
  readonly evidence: readonly string[];
}

export interface SelectByNumberInput {
  readonly dialect: Dialect;
  readonly question: Question;
  readonly candidates: readonly FoundAnswer[];
}

export const SelectByNumberReply = z.object({ choice: z.int() });
export type SelectByNumberReply = z.infer<typeof SelectByNumberReply>;

export const selectByNumberSchema = replySchema('select', SelectByNumberReply);

export function renderSelectByNumber({ dialect, question, candidates }: SelectByNumberInput): ChatMessage[] {
  const rules = [
    'You choose the answer among candidates, by its number.',
    RULES,
    shared.replyRule(sketch(SelectByNumberReply)),
  ];
  return shared.conversation(dialect, [
    shared.rulesSection(rules),
    ...candidates.map((candidate, at) => shared.data(`candidate ${at + 1}`, candidateText(candidate))),
    shared.questionSection(question),
    `Task: choose the best of 1 to ${candidates.length}, or 0 to abstain.`,
  ]);
}

/** A number alone is a reply too. */
export function parseSelectByNumber(text: string, { candidates }: SelectByNumberInput): Parsed<SelectByNumberReply> {
  const [, number] = /^\s*\[?(\d{1,3})\]?\.?\s*$/.exec(text) ?? [];
  const count = candidates.length;
  return parseReply(number === undefined ? text : `{"choice": ${number}}`, SelectByNumberReply, ({ choice }) =>
    unless(choice >= 0 && choice <= count, 'choice', `found ${choice}`, `use a whole number from 0 to ${count}`),
  );
}

const RULES = `- Stronger evidence makes the better answer: rows of queries count for more than inferences.
- An answer that more paths found is more likely right, but their number does not decide.
- A complete answer is better than a part of it.
- If no candidate is reliable enough, abstain: 0.`;

function candidateText({ answer, frequency, depth, evidence }: FoundAnswer): string {
  return [
    `found by ${frequency} path${frequency === 1 ? '' : 's'}; depth ${depth ?? '?'}`,
    `answer: ${answer.trimEnd()}`,
    ...evidence.map((line) => `evidence: ${line}`),
  ].join('\n');
}
