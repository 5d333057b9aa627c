/**
 * Role `propose`: rival readings of a bottleneck and one probe that tells them apart (paper §3.2). Mode `rollout` is the
 * paper's: several probes, one after the other, before the judgement.
 */
import type { ModelOutcome } from '../domain/ports/step-parts';
import { parserScope } from './shared/bodies';
import {
  buildTests,
  storeProposal,
  type TestScope,
  checkTests,
  soundTests,
  testRules,
  TestReply,
  tidyTest,
} from './shared/tests';
import type { StepContext } from './shared/context';
import { loadPlan, type LoadedPlan } from './shared/load-plan';
import { contentId, invalid, runModelStep, type Read } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { columnsOfNamed } from './shared/shown-tables';
import {
  evidenceTexts,
  planText,
  planShape,
  shownEvidence,
  shownPlan,
  type EvidenceText,
  type PlanText,
} from './shared/evidence-text';
import * as z from 'zod';
import { parseReply, replySchema, sketch, unless, type Problem, type Prompt } from './shared/reply';
import * as shared from './shared/prompt-parts';
import * as web from './shared/lookups';
import type { MayLookUp, Given, Gives } from '../domain/ports/steps';

export interface ProposePrompt extends shared.PromptContext, MayLookUp {
  readonly plan: PlanText;
  /** The operators to test, most useful first. */
  readonly targets: readonly string[];
  /** What earlier attempts showed, failures included. */
  readonly evidence: readonly EvidenceText[];
  /** Mode `rollout`: the probes of this attempt so far. */
  readonly rollout: readonly EvidenceText[];
  /** Probes left in this attempt, this one included. */
  readonly callsLeft: number;
  readonly mode: 'single' | 'rollout';
}

export const ProposeReply = z.object({ note: z.string(), tests: z.array(TestReply), done: z.boolean() });
export type ProposeReply = z.infer<typeof ProposeReply>;

type Said = ProposeReply & { readonly lookups?: web.LookupsReply['lookups'] };

/** What this very prompt asks for: lookups only where they are allowed. */
function replyOf(input: shared.PromptContext & MayLookUp): z.ZodType<Said> {
  const { note, ...rest } = ProposeReply.shape;
  const tools = web.lookupTools(input);
  const lookups = tools.length === 0 ? {} : { lookups: web.lookupList(tools) };
  return z.object({ note, ...lookups, ...rest }) as z.ZodType<Said>;
}

export const proposeRole: Prompt<ProposePrompt, ProposeReply | web.LookupsReply> = {
  schema: (input) => replySchema('propose', replyOf(input)),
  render(input) {
    const tools = web.lookupTools(input);
    const rules = [
      'You design the next test in a search for the right SQL: which readings of the target operators are plausible, and which query tells them apart.',
      testRules(input.mode === 'rollout' ? 'rollout' : 'execution'),
      LEARN,
      ...(tools.length === 0
        ? []
        : [
            web.lookupRules(tools, 'Before you propose you may look things up: tests [], done false, note saying why,'),
          ]),
      shared.replyRule(sketch(replyOf(input))),
    ];
    const shown = [
      shared.data('plan', shownPlan(input.plan)),
      ...input.evidence.map((evidence) => shared.data('earlier evidence', shownEvidence(evidence))),
      ...input.rollout.map((evidence) => shared.data('this attempt so far', shownEvidence(evidence))),
    ];
    return shared.searchConversation(input, rules, shown, task(input));
  },
  /** The reply may ask for lookups instead; with tests, these count. */
  parse(text, input) {
    const asks = ({ tests, lookups = [] }: Said) => tests.length === 0 && lookups.length > 0;
    const parsed = parseReply(text, replyOf(input), (reply) =>
      asks(reply) ? web.lookupProblems(reply.lookups ?? [], input) : checkPropose(reply, input),
    );
    if (parsed.kind === 'invalid') return parsed;
    const { lookups = [], ...reply } = parsed.reply;
    if (asks(parsed.reply))
      return { kind: 'ok', reply: { kind: 'lookup', note: reply.note, lookups: web.newLookups(lookups, input) } };
    return { kind: 'ok', reply: { ...reply, tests: usableTests(reply, input).map(tidyTest) } };
  },
};

const LEARN = `LEARN. Earlier evidence comes first: do not repeat a probe, do not bring back a refuted reading, follow "try next", keep clear of "avoid". After a failed or empty probe mend its cause (a column, a cast, a filter too narrow) or come from another side; if all readings failed, look at what the rows hold. note: in one or two sentences, what is in doubt and why this probe decides it.`;

function task(input: ProposePrompt): string {
  const targets = input.targets.join(', ');
  const lookups = web.lookupsLeft(input);
  if (input.mode === 'single') return [`Task: one test for each of: ${targets}. done: true.`, ...lookups].join('\n');
  return [
    `Task: the next probe for: ${targets}. Probes left in this attempt: ${input.callsLeft}.`,
    'One reading keeps one id through the attempt; a new reading gets a new id. done: true, with tests [], once what was seen is enough to judge; otherwise false.',
    ...lookups,
  ].join('\n');
}

function usableTests(reply: ProposeReply, input: ProposePrompt): TestReply[] {
  return soundTests(reply.tests, planShape(input.plan), input.targets);
}

/** One test that can run is worth more than another call for the rest. */
function checkPropose(reply: ProposeReply, input: ProposePrompt): Problem[] {
  if (reply.tests.length > 0)
    return usableTests(reply, input).length > 0
      ? []
      : checkTests(reply.tests, 'tests', planShape(input.plan), input.targets);
  const isEnough = reply.done && input.mode === 'rollout' && input.rollout.length > 0;
  return unless(isEnough, 'tests', 'found []', `give a test of ${input.targets.join(' or ')}`);
}

export async function propose(context: StepContext, step: Given<'propose'>): Promise<ModelOutcome<Gives<'propose'>>> {
  const plan = await loadPlan(context, step.plan);
  const earlier = step.attempts.filter((id) => !step.rollout.includes(id));
  const prompt = {
    ...(await promptContext(context, step.memory, { plans: [step.plan.planId] })),
    plan: planText(context, plan),
    targets: step.targets,
    evidence: await evidenceTexts(context, earlier),
    rollout: await evidenceTexts(context, step.rollout, context.settings.csvChars),
    callsLeft: step.callsLeft,
    lookupsLeft: step.lookupsLeft,
    mode: context.settings.rounds > 1 ? ('rollout' as const) : ('single' as const),
  };
  const scope = await testScope(context, plan);
  return runModelStep(context, step, proposeRole, prompt, (reply) => read(context, contentId(step), reply, scope), {
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
  reply: ProposeReply | web.LookupsReply,
  scope: TestScope,
): Read<Gives<'propose'>> {
  if ('lookups' in reply)
    return async () => ({
      proposalId,
      operators: [],
      done: false,
      lookups: await web.storeLookups(context, proposalId, reply),
    });
  const { built, problems } = buildTests(reply.tests, scope);
  if (problems.length > 0 && built.length === 0)
    return invalid(problems, 'a probe or predicate cannot run as written: change what is named above');
  return async () => {
    await storeProposal(context, proposalId, built, reply.done || built.length === 0);
    return { proposalId, operators: built.map(({ test }) => test.operator), done: reply.done };
  };
}
