/**
 * Role `evaluate`: one call scores progress, bottleneck and potential of the open trajectories (paper §3.3, rule S6). The
 * exploration term is arithmetic and belongs to code; only the method `paper` leaves it to the model.
 */
import type { ModelOutcome } from '../domain/ports/step-parts';
import type { StepContext } from './shared/context';
import { contentId, runModelStep } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import {
  evidenceTexts,
  planTextOf,
  shownEvidence,
  shownPlan,
  type EvidenceText,
  type PlanText,
} from './shared/evidence-text';
import * as z from 'zod';
import { oneOf, parseReply, replySchema, sketch, unless, type Problem, type Prompt } from './shared/reply';
import * as shared from './shared/prompt-parts';
import type { Given, Gives } from '../domain/ports/steps';

type TrajectoryText = Omit<Given<'evaluate'>['trajectories'][number], 'plan' | 'attempts'> & {
  readonly plan: PlanText | null;
  readonly evidence: readonly EvidenceText[];
};

export interface EvaluatePrompt extends shared.PromptContext {
  readonly trajectories: readonly TrajectoryText[];
  readonly exploration: 'code' | 'model';
}

export const EvaluateReply = z.object({
  scores: z.array(
    z.object({
      trajectory: z.string(),
      note: z.string(),
      progress: z.number(),
      bottleneck: z.string().nullable(),
      potential: z.number(),
    }),
  ),
});
export type EvaluateReply = z.infer<typeof EvaluateReply>;

export const evaluateRole: Prompt<EvaluatePrompt, EvaluateReply> = {
  schema: () => replySchema('evaluate', EvaluateReply),
  render(input) {
    const rules = [
      'You score the open trajectories of a search for the right SQL. Each is a plan of operators, partly settled, with the evidence gathered so far.',
      SCORES,
      input.exploration === 'code' ? EXPLORED_ELSEWHERE : EXPLORE,
      shared.replyRule(sketch(EvaluateReply)),
    ];
    return shared.conversation(
      input.dialect,
      [shared.rulesSection(rules)],
      [
        ...shared.knowledgeSections(input, false),
        ...input.trajectories.map((trajectory) =>
          shared.data(`trajectory ${trajectory.id}`, trajectoryText(trajectory)),
        ),
        shared.questionSection(input.question),
        `Task: one score for each of: ${input.trajectories.map(({ id }) => id).join(', ')}, no others.`,
      ],
    );
  },
  parse: (text, input) => parseReply(text, EvaluateReply, (reply) => checkScores(reply, input)),
};

const SCORES = `For each trajectory:
- note: one or two sentences: what is settled, what blocks it, and whether its evidence contradicts its plan.
- progress, 0 to 1: the share of the final SQL that is written and holds. Grounded operators count in full, assumed ones less the riskier they are, unresolved ones nothing. SQL that merely runs is no progress: a zero, empty or all-NULL result more often means a wrong reading than an answer.
- bottleneck: the unresolved operator, or the one with the riskiest assumption, whose settling helps most and whose inputs all have SQL. One that every route to the answer needs beats a side condition; one that keeps failing for want of data does not. null only if nothing in the plan is in doubt, or there is no plan.
- potential, 0 or more: how many probes or queries remain if that bottleneck were settled. 0 to 1 only if independent derivations agree and no rival reading is left; 2 to 4 one result, not cross-checked; 4 to 7 several doubts; 8 and more little beyond the schema. When in doubt, higher.
Compare the trajectories with each other before you score.`;

const EXPLORED_ELSEWHERE = `depth, distance and density are there to be read; add no bonus for exploration, that is done elsewhere.`;

const EXPLORE = `Then adjust potential for exploration, by density (how often the trajectory and its ancestors were chosen, per depth): up to 1.5 subtract 1 to 3 (not below 0); to 2.5 nothing; above 2.5 add 2 to 5 if its distance has stopped falling, else nothing.`;

function trajectoryText(trajectory: TrajectoryText): string {
  const { depth, distance, density, plan, evidence } = trajectory;
  return [
    `depth ${depth}, distance ${distance}, density ${density}`,
    plan === null ? 'no plan yet' : shownPlan(plan),
    ...evidence.map(shownEvidence),
  ].join('\n');
}

function checkScores(reply: EvaluateReply, input: EvaluatePrompt): Problem[] {
  const ids = input.trajectories.map(({ id }) => id);
  const scored = reply.scores.map(({ trajectory }) => trajectory);
  const missing = ids.filter((id) => !scored.includes(id));
  return [
    ...missing.flatMap((id) => unless(false, 'scores', `no score for ${id}`, `score each of ${ids.join(', ')}`)),
    ...reply.scores.flatMap(({ trajectory: id, progress, potential, bottleneck }, at) => {
      const where = `scores[${at}]`;
      const trajectory = input.trajectories.find((each) => each.id === id);
      if (trajectory === undefined) return oneOf(`${where}.trajectory`, id, ids);
      const operators = trajectory.plan?.operators.map(({ name }) => name) ?? [];
      const isFirst = scored.indexOf(id) === at;
      const isShare = progress >= 0 && progress <= 1;
      return [
        ...unless(isFirst, `${where}.trajectory`, `${id} is scored twice`, 'one score per trajectory'),
        ...unless(isShare, `${where}.progress`, `found ${progress}`, 'use a number from 0 to 1'),
        ...unless(potential >= 0, `${where}.potential`, `found ${potential}`, 'use 0 or more'),
        ...(bottleneck === null || operators.includes(bottleneck)
          ? []
          : oneOf(`${where}.bottleneck`, bottleneck, [...operators, 'null'])),
      ];
    }),
  ];
}

/** How much of a result is shown: scores compare trajectories, and the rows were judged before. */
const SEEN_CHARS = 800;

export async function evaluate(
  context: StepContext,
  step: Given<'evaluate'>,
): Promise<ModelOutcome<Gives<'evaluate'>>> {
  const trajectories = step.trajectories.map(async ({ id, depth, distance, density, plan, attempts }) => ({
    ...{ id, depth },
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
  return runModelStep(context, step, evaluateRole, prompt, (reply) => async () => {
    await context.run.put('evaluation', contentId(step), { reply });
    return { scores: reply.scores.map(({ note: _, ...score }) => score) };
  });
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
