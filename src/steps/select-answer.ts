/** Role `select`: the answer among distinct candidates, with their evidence in view, or abstention (design §3, step 9). */
import { parseSelectAnswer, renderSelectAnswer, selectAnswerSchema, type CandidateText } from '../prompts';
import { resultText } from '../text/preview';
import type { ModelOutcome, SelectedAnswer, SelectAnswerInput } from '../ports/search-steps';
import type { StepContext } from './context';
import { loadPlan } from './load-plan';
import { contentId, runModelStep } from './model-step';
import { promptContext } from './prompt-context';

export async function selectAnswer(
  context: StepContext,
  step: SelectAnswerInput,
): Promise<ModelOutcome<SelectedAnswer>> {
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
        await context.run.put('selection', contentId(step), { schemaVersion: 1, reply });
        return { candidate: step.candidates[reply.choice - 1]?.id ?? null, reason: reply.reason };
      },
    }),
  });
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
