/** Role `select`: the answer among distinct candidates, with their evidence in view, or abstention (design §3, step 9). */
import { z } from 'zod';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, unless, type Parsed } from './shared/reply';
import * as shared from './shared/prompt-parts';
import type { PromptContext } from './shared/prompt-parts';

export interface CandidateText {
  /** null for an unanswerable reading. */
  readonly sql: string | null;
  readonly resultCsv: string;
  readonly rowCount: number;
  /** How many independent derivations gave an equal result. */
  readonly agreesWith: number;
  /** Readings proved by execution. */
  readonly proved: readonly string[];
  readonly openAssumptions: readonly string[];
  /** Rows examined before the last condition, where counted. */
  readonly control: number | null;
  /** Why the question cannot be answered, where that is the candidate. */
  readonly unanswerable: string | null;
}

export interface SelectAnswerInput extends PromptContext {
  readonly candidates: readonly CandidateText[];
}

export const SelectAnswerReply = z.object({ reason: z.string(), choice: z.int() });
export type SelectAnswerReply = z.infer<typeof SelectAnswerReply>;

export const selectAnswerSchema = replySchema('select', SelectAnswerReply);

export function renderSelectAnswer(input: SelectAnswerInput): ChatMessage[] {
  const rules = [
    'You choose the answer among candidates that were executed, each with what was proved and what is still assumed.',
    RULES,
    shared.replyRule(sketch(SelectAnswerReply)),
  ];
  const count = input.candidates.length;
  const shown = [
    ...input.candidates.map((candidate, at) => shared.data(`candidate ${at + 1}`, candidateText(candidate))),
  ];
  return shared.searchConversation(
    input,
    rules,
    shown,
    `Task: choose 1${count > 1 ? ` to ${count}` : ''}, or 0 to abstain.`,
  );
}

export function parseSelectAnswer(text: string, input: SelectAnswerInput): Parsed<SelectAnswerReply> {
  const count = input.candidates.length;
  return parseReply(text, SelectAnswerReply, ({ choice }) =>
    unless(choice >= 0 && choice <= count, 'choice', `found ${choice}`, `use a whole number from 0 to ${count}`),
  );
}

const RULES = `In this order:
1. Does the SQL answer the question as it is worded: every condition, the right rows and time window (the user's clock), exactly the columns asked for, DISTINCT and order where they belong? A candidate that answers another question is out, however well proved.
2. Do facts or proved readings contradict what it assumes? Then it is out.
3. Proved readings beat assumed ones; low risk beats high.
4. Equal results from independent derivations count for a candidate, but several can share one mistake.
5. An empty, zero or all-NULL result needs a control count above 0 and a proved filter; otherwise prefer a sound rival.
6. A candidate that calls the question unanswerable wins if its reason holds against the schema: the fact is not stored. A rival that answers with a stand-in column does not beat it.
Candidates may differ only by a reading that the words leave open: take the plainest sense of the words.
Abstain (0) if none can be trusted more than its rivals or all are contradicted; not merely because assumptions remain. reason: compare the best two, name what decides.`;

function candidateText(candidate: CandidateText): string {
  if (candidate.unanswerable !== null) return `unanswerable: ${candidate.unanswerable}`;
  return [
    `sql: ${candidate.sql ?? ''}`,
    `rows: ${candidate.rowCount}; rows examined: ${candidate.control ?? 'not counted'}; independent derivations with the same result: ${candidate.agreesWith}`,
    `result:\n${candidate.resultCsv.trimEnd()}`,
    ...candidate.proved.map((reading) => `proved: ${reading}`),
    ...candidate.openAssumptions.map((assumption) => `assumed: ${assumption}`),
  ].join('\n');
}
