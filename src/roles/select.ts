/**
 * Role `select`: the answer among distinct candidates, with their evidence in view, or abstention (design §3, step 9). By number,
 * as in the paper (App. LLM Answer Selector), it sees answers with how often each was found.
 */
import { groupBy } from '../group-by';
import { headlineText } from '../text/answer-text';
import { resultText } from '../text/result-text';
import type { ModelOutcome } from '../domain/ports/step-parts';
import type { StepContext } from './shared/context';
import { told } from './answer/finish';
import { loadPlan } from './shared/load-plan';
import { contentId, runModelStep } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import * as z from 'zod';
import type { Dialect, Question } from '../domain';
import { parseReply, replySchema, sketch, unless, type Prompt } from './shared/reply';
import * as shared from './shared/prompt-parts';
import type { Given, Gives } from '../domain/ports/steps';

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

export interface SelectAnswerPrompt extends shared.PromptContext {
  readonly candidates: readonly CandidateText[];
}

export const SelectAnswerReply = z.object({ reason: z.string(), choice: z.int() });
export type SelectAnswerReply = z.infer<typeof SelectAnswerReply>;

export const selectRole: Prompt<SelectAnswerPrompt, SelectAnswerReply> = {
  schema: () => replySchema('select', SelectAnswerReply),
  render(input) {
    const rules = [
      'You choose the answer among candidates that were executed, each with what was proved and what is still assumed.',
      RULES,
      shared.replyRule(sketch(SelectAnswerReply)),
    ];
    const count = input.candidates.length;
    const shown = input.candidates.map((candidate, at) =>
      shared.data(`candidate ${at + 1}`, shownCandidate(candidate)),
    );
    const task = `Task: choose 1${count > 1 ? ` to ${count}` : ''}, or 0 to abstain.`;
    return shared.searchConversation(input, rules, shown, task);
  },
  parse: (text, input) => parseReply(text, SelectAnswerReply, (reply) => choiceProblems(reply, input)),
};

function choiceProblems(
  { choice }: { readonly choice: number },
  { candidates }: { readonly candidates: readonly unknown[] },
) {
  const isListed = choice >= 0 && choice <= candidates.length;
  return unless(isListed, 'choice', `found ${choice}`, `use a whole number from 0 to ${candidates.length}`);
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

function shownCandidate(candidate: CandidateText): string {
  if (candidate.unanswerable !== null) return `unanswerable: ${candidate.unanswerable}`;
  return [
    `sql: ${candidate.sql ?? ''}`,
    `rows: ${candidate.rowCount}; rows examined: ${candidate.control ?? 'not counted'}; independent derivations with the same result: ${candidate.agreesWith}`,
    `result:\n${candidate.resultCsv.trimEnd()}`,
    ...candidate.proved.map((reading) => `proved: ${reading}`),
    ...candidate.openAssumptions.map((assumption) => `assumed: ${assumption}`),
  ].join('\n');
}

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

export const selectByNumberRole: Prompt<SelectByNumberInput, SelectByNumberReply> = {
  schema: () => replySchema('select', SelectByNumberReply),
  render({ dialect, question, candidates }) {
    const rules = [
      'You choose the answer among candidates, by its number.',
      BY_NUMBER,
      shared.replyRule(sketch(SelectByNumberReply)),
    ];
    return shared.conversation(
      dialect,
      [shared.rulesSection(rules)],
      [
        ...candidates.map((candidate, at) => shared.data(`candidate ${at + 1}`, foundText(candidate))),
        shared.questionSection(question),
        `Task: choose the best of 1 to ${candidates.length}, or 0 to abstain.`,
      ],
    );
  },
  /** A number alone is a reply too. */
  parse(text, input) {
    const [, number] = /^\s*\[?(\d{1,3})\]?\.?\s*$/.exec(text) ?? [];
    const json = number === undefined ? text : `{"choice": ${number}}`;
    return parseReply(json, SelectByNumberReply, (reply) => choiceProblems(reply, input));
  },
};

const BY_NUMBER = `- Stronger evidence makes the better answer: rows of queries count for more than inferences.
- An answer that more paths found is more likely right, but their number does not decide.
- A complete answer is better than a part of it.
- If no candidate is reliable enough, abstain: 0.`;

function foundText({ answer, frequency, depth, evidence }: FoundAnswer): string {
  return [
    `found by ${frequency} path${frequency === 1 ? '' : 's'}; depth ${depth ?? '?'}`,
    `answer: ${answer.trimEnd()}`,
    ...evidence.map((line) => `evidence: ${line}`),
  ].join('\n');
}

export async function select(context: StepContext, step: Given<'select'>): Promise<ModelOutcome<Gives<'select'>>> {
  if (step.byNumber) return selectByNumber(context, step);
  const candidates = await Promise.all(step.candidates.map((each) => candidateText(context, each, step)));
  const prompt = { ...(await promptContext(context, step.memory)), candidates };
  return runModelStep(context, step, selectRole, prompt, (reply) => async () => {
    await context.run.put('selection', contentId(step), { reply });
    return { candidate: step.candidates[reply.choice - 1]?.id ?? null, reason: reply.reason };
  });
}

/** The paper merges answers that are the same so far, in any case, and shows at most 10. */
const SAME_CHARS = 200;
const MOST_SHOWN = 10;

async function selectByNumber(context: StepContext, step: Given<'select'>): Promise<ModelOutcome<Gives<'select'>>> {
  const { question, dialect } = await promptContext(context, step.memory);
  const found = await Promise.all(step.candidates.map((each) => foundAnswer(context, each, step)));
  const same = [...groupBy(found, ({ text }) => text.toLowerCase().slice(0, SAME_CHARS)).values()].slice(0, MOST_SHOWN);
  const candidates = same.map(([first, ...others]) => ({ ...(first as Found).shown, frequency: 1 + others.length }));
  const prompt = { question, dialect, candidates };
  return runModelStep(context, step, selectByNumberRole, prompt, (reply) => async () => {
    await context.run.put('selection', contentId(step), { reply });
    return { candidate: same[reply.choice - 1]?.[0]?.id ?? null, reason: 'no candidate was reliable enough' };
  });
}

interface Found {
  readonly id: string;
  /** What makes two answers the same. */
  readonly text: string;
  readonly shown: Omit<FoundAnswer, 'frequency'>;
}

/** The answer is the sentence if the question wants one; else the rows, by their values alone. */
async function foundAnswer(
  context: StepContext,
  candidate: Given<'select'>['candidates'][number],
  step: Given<'select'>,
): Promise<Found> {
  const { id, depth = null } = candidate;
  const { unanswerable, resultCsv, proved, openAssumptions } = await candidateText(context, candidate, step);
  const evidence = [
    ...proved.map((reading) => `proved: ${reading}`),
    ...openAssumptions.map((assumption) => `assumed: ${assumption}`),
  ];
  const found = (answer: string, text = answer): Found => ({ id, text, shown: { answer, depth, evidence } });
  if (unanswerable !== null) return found(`unanswerable: ${unanswerable}`);
  const content = await context.run.get('candidate', id);
  const { result } = content;
  if (result.kind !== 'rows') return found(resultCsv);
  if (context.input.question.outputMode === 'sql') return found(resultCsv, JSON.stringify(result.rows));
  const words = await told(context, content, result.columns);
  const answer = headlineText({ ...result, ...words, evidence: [], openAssumptions: [] });
  return found(result.rows.length > 1 ? `${answer}\n${resultCsv}` : answer);
}

async function candidateText(
  context: StepContext,
  { id, agreesWith, unanswerable }: Given<'select'>['candidates'][number],
  step: Given<'select'>,
): Promise<CandidateText> {
  if (unanswerable !== null) {
    const nothing = { sql: null, resultCsv: '', rowCount: 0, proved: [], openAssumptions: [], control: null };
    return { ...nothing, agreesWith, unanswerable };
  }
  const content = await context.run.get('candidate', id);
  const plan = content.plan === null ? null : await loadPlan(context, content.plan);
  const operators = plan?.operators ?? [];
  return {
    sql: content.sql,
    resultCsv: resultText(content.result, Math.floor(context.settings.csvChars / step.candidates.length)),
    rowCount: content.digest?.count ?? (content.result.kind === 'rows' ? content.result.rows.length : 0),
    agreesWith,
    proved: operators.flatMap(({ operator, update }) =>
      update === null ? [] : [`${operator.name}: ${update.mapping}`],
    ),
    openAssumptions: operators.flatMap(({ operator, assumptions }) =>
      assumptions.map(({ statement, risk }) => `${operator.name}: ${statement} (risk ${risk})`),
    ),
    control: content.control,
    unanswerable: null,
  };
}
