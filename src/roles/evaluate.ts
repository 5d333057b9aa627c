/** Role `evaluate`: one call scores the open trajectories (design §3, step 1). */
import { evaluateSchema, parseEvaluate, renderEvaluate } from './evaluate-prompt';
import type { EvaluateInput, Evaluation, ModelOutcome } from '../ports/search-steps';
import type { StepContext } from './shared/context';
import { contentId, runModelStep } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { evidenceTexts, planTextOf } from './shared/texts';

/** How much of a result is shown: scores compare trajectories, and the rows were judged before. */
const SEEN_CHARS = 800;

export async function evaluate(context: StepContext, step: EvaluateInput): Promise<ModelOutcome<Evaluation>> {
  const trajectories = step.trajectories.map(async ({ id, depth, distance, density, plan, attempts }) => ({
    id,
    depth,
    distance: rounded(distance),
    density: rounded(density),
    plan: plan === null ? null : await planTextOf(context, plan),
    evidence: await evidenceTexts(context, attempts, SEEN_CHARS),
  }));
  const prompt = {
    ...(await promptContext(context, step.memory)),
    trajectories: await Promise.all(trajectories),
    exploration: context.settings.exploration,
  };
  return runModelStep(context, step, {
    role: 'evaluate',
    schema: evaluateSchema,
    messages: () => renderEvaluate(prompt),
    parse: (text) => parseEvaluate(text, prompt),
    read: (reply) => ({
      kind: 'ok',
      store: async () => {
        await context.run.put('evaluation', contentId(step), { reply });
        const scores = reply.scores.map(({ trajectory, progress, potential, bottleneck }) => ({
          trajectory,
          progress,
          potential,
          bottleneck,
        }));
        return { scores };
      },
    }),
  });
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
