/** Role `evaluate`: one call scores the open trajectories (design §3, step 1). */
import { evaluateSchema, parseEvaluate, renderEvaluate } from './evaluate-prompt';
import type { ModelOutcome, PlanRef, ModelStepInput } from '../ports/step-parts';
import type { StepContext } from './shared/context';
import { contentId, runModelStep } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { evidenceTexts, planTextOf } from './shared/texts';

export interface TrajectoryRef {
  readonly id: string;
  readonly depth: number;
  readonly plan: PlanRef | null;
  readonly distance: number;
  readonly density: number;
  /** Its evidence: ids of observations and of the groundings that judged them, oldest first. */
  readonly attempts: readonly string[];
}

export interface EvaluateInput extends ModelStepInput {
  readonly role: 'evaluate';
  readonly trajectories: readonly TrajectoryRef[];
}
export interface Evaluation {
  readonly scores: readonly {
    readonly trajectory: string;
    readonly progress: number;
    readonly potential: number;
    readonly bottleneck: string | null;
  }[];
}

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
