/** Role `select`: the answer among distinct candidates, with their evidence in view, or abstention (design §3, step 9). */
import { groupBy } from '../group-by';
import { parseSelectAnswer, renderSelectAnswer, selectAnswerSchema, type CandidateText } from './select-prompt';
import { parseSelectByNumber, renderSelectByNumber, selectByNumberSchema, type FoundAnswer } from './select-by-number';
import { headlineText } from '../text/answer-text';
import { resultText } from '../text/result-text';
import type { ModelOutcome, ModelStepInput } from '../ports/step-parts';
import type { StepContext } from './shared/context';
import { told } from './answer/finish';
import { loadPlan } from './shared/load-plan';
import { contentId, runModelStep } from './shared/model-step';
import { promptContext } from './shared/prompt-context';

export interface SelectAnswerInput extends ModelStepInput {
  readonly role: 'select';
  /** Best first, one per distinct result, at most 10. */
  readonly candidates: readonly {
    readonly id: string;
    /** How many independent derivations have this result. */
    readonly agreesWith: number;
    /** The reason, if the candidate is that the question is unanswerable. */
    readonly unanswerable: string | null;
    /** By number: grounding updates on the way to it. */
    readonly depth?: number;
  }[];
  /** All candidates, in the order they were found: what they answer is merged, and at most 10 are shown. */
  readonly byNumber?: true;
}
export interface SelectedAnswer {
  /** null: the judge abstains. */
  readonly candidate: string | null;
  readonly reason: string;
}

export async function select(context: StepContext, step: SelectAnswerInput): Promise<ModelOutcome<SelectedAnswer>> {
  if (step.byNumber) return selectByNumber(context, step);
  const candidates = await Promise.all(step.candidates.map((each) => candidateText(context, each, step)));
  const prompt = { ...(await promptContext(context, step.memory)), candidates };
  return runModelStep(context, step, {
    role: 'select',
    schema: selectAnswerSchema,
    messages: () => renderSelectAnswer(prompt),
    parse: (text) => parseSelectAnswer(text, prompt),
    read: (reply) => ({
      kind: 'ok',
      store: async () => {
        await context.run.put('selection', contentId(step), { reply });
        return { candidate: step.candidates[reply.choice - 1]?.id ?? null, reason: reply.reason };
      },
    }),
  });
}

/** The paper merges answers that are the same so far, in any case, and shows at most 10. */
const SAME_CHARS = 200;
const MOST_SHOWN = 10;

async function selectByNumber(context: StepContext, step: SelectAnswerInput): Promise<ModelOutcome<SelectedAnswer>> {
  const { question, dialect } = await promptContext(context, step.memory);
  const found = await Promise.all(step.candidates.map((each) => foundAnswer(context, each, step)));
  const same = [...groupBy(found, ({ text }) => text.toLowerCase().slice(0, SAME_CHARS)).values()].slice(0, MOST_SHOWN);
  const candidates = same.map(([first, ...others]) => ({ ...(first as Found).shown, frequency: 1 + others.length }));
  const prompt = { question, dialect, candidates };
  return runModelStep(context, step, {
    role: 'select',
    schema: selectByNumberSchema,
    messages: () => renderSelectByNumber(prompt),
    parse: (text) => parseSelectByNumber(text, prompt),
    read: (reply) => ({
      kind: 'ok',
      store: async () => {
        await context.run.put('selection', contentId(step), { reply });
        return { candidate: same[reply.choice - 1]?.[0]?.id ?? null, reason: 'no candidate was reliable enough' };
      },
    }),
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
  candidate: SelectAnswerInput['candidates'][number],
  step: SelectAnswerInput,
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
  { id, agreesWith, unanswerable }: SelectAnswerInput['candidates'][number],
  step: SelectAnswerInput,
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
