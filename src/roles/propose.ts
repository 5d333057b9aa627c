/** Role `propose`: rival readings of the targets and one probe each that tells them apart (design §3, step 4). */
import { parseProposeOrLookups, proposeSchemaFor, renderPropose, type ProposeReply } from './propose-prompt';
import type { LookupsReply, MayLookUp } from './shared/lookups';
import type { ModelOutcome, PlanRef, Lookup, ModelStepInput } from '../ports/step-parts';
import { parserScope } from './shared/bodies';
import { buildTests, storeProposal, type TestScope } from './shared/build-tests';
import type { StepContext } from './shared/context';
import { loadPlan, type LoadedPlan } from './shared/load-plan';
import { storeLookups } from './shared/lookups-stored';
import { contentId, invalid, runModelStep, type Read } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { columnsOfNamed } from './shared/shown-tables';
import { evidenceTexts, planText } from './shared/texts';

export interface ProposeInput extends ModelStepInput, MayLookUp {
  readonly role: 'propose';
  readonly plan: PlanRef;
  readonly targets: readonly string[];
  /** Ids of observations and groundings to show: of the trajectory and of this expansion. */
  readonly attempts: readonly string[];
  /** Preset `paper`: the observations of this rollout so far. */
  readonly rollout: readonly string[];
  readonly callsLeft: number;
}
export interface Proposed {
  readonly proposalId: string;
  readonly operators: readonly string[];
  readonly done: boolean;
  /** Present if the reply wants lookups first; then there is no proposal. */
  readonly lookups?: readonly Lookup[];
}

export async function propose(context: StepContext, step: ProposeInput): Promise<ModelOutcome<Proposed>> {
  const plan = await loadPlan(context, step.plan);
  const earlier = step.attempts.filter((id) => !step.rollout.includes(id));
  const prompt = {
    ...(await promptContext(context, step.memory, [step.plan.planId])),
    plan: planText(context, plan),
    targets: step.targets,
    evidence: await evidenceTexts(context, earlier),
    rollout: await evidenceTexts(context, step.rollout, context.settings.csvChars),
    callsLeft: step.callsLeft,
    lookupsLeft: step.lookupsLeft,
    mode: context.settings.rounds > 1 ? ('rollout' as const) : ('single' as const),
  };
  const scope = await testScope(context, plan);
  return runModelStep(context, step, {
    role: 'propose',
    schema: proposeSchemaFor(prompt),
    messages: () => renderPropose(prompt),
    parse: (text) => parseProposeOrLookups(text, prompt),
    read: (reply) => read(context, contentId(step), reply, scope),
    details: (text) => columnsOfNamed(context, text),
  });
}

export async function testScope(context: StepContext, plan: LoadedPlan): Promise<TestScope> {
  return {
    ...(await parserScope(context)),
    operators: plan.operators.map(({ operator }) => operator),
    written: plan.operators.flatMap(({ operator, body, update }) =>
      body === null ? [] : [{ name: operator.name, bodyId: update === null ? body.bodyId : null }],
    ),
  };
}

function read(
  context: StepContext,
  proposalId: string,
  reply: ProposeReply | LookupsReply,
  scope: TestScope,
): Read<Proposed> {
  if ('lookups' in reply)
    return {
      kind: 'ok',
      store: async () => {
        const lookups = await storeLookups(context, proposalId, reply);
        return { proposalId, operators: [], done: false, lookups };
      },
    };
  const { built, problems } = buildTests(reply.tests, scope);
  if (problems.length > 0 && built.length === 0)
    return invalid(problems, 'a probe or predicate cannot run as written: change what is named above');
  return {
    kind: 'ok',
    store: async () => {
      await storeProposal(context, proposalId, built, reply.done || built.length === 0);
      return { proposalId, operators: built.map(({ test }) => test.operator), done: reply.done };
    },
  };
}
