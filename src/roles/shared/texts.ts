/** Converts stored plans and evidence to the form that prompts need. */
import type { Hypothesis, HypothesisVerdict, TestOutcome } from '../../domain';
import type { EvidenceText, HypothesisText, OperatorText, PlanText, TestText } from './evidence-text';
import { resultText } from '../../text/result-text';
import type { PlanRef } from '../../ports/step-parts';
import { loadAttempts } from './attempts';
import type { StepContext } from './context';
import type { Contents } from '../../record/contents';
import { loadPlan, type LoadedOperator, type LoadedPlan } from './load-plan';

type Observation = Contents['observation'];
type Grounding = Contents['grounding'];

export async function planTextOf(context: StepContext, ref: PlanRef): Promise<PlanText> {
  return planText(context, await loadPlan(context, ref));
}

export function planText(context: StepContext, plan: LoadedPlan): PlanText {
  return { outline: plan.plan.outline, operators: plan.operators.map((each) => operatorText(context, each)) };
}

function operatorText(
  { settings }: StepContext,
  { operator, body, update, assumptions }: LoadedOperator,
): OperatorText {
  const settled = update !== null || settings.proof === 'model';
  return {
    name: operator.name,
    intent: operator.intent,
    purpose: operator.purpose,
    relations: operator.relations,
    inputs: operator.inputs,
    columns: operator.columns.map(
      ({ name, type, meaning }) => `${name} ${type}${meaning === '' ? '' : `: ${meaning}`}`,
    ),
    grain: operator.grain,
    state: body === null ? 'unresolved' : settled ? 'grounded' : 'assumed',
    sql: body?.sql ?? null,
    mapping: update?.mapping ?? (operator.body.kind === 'unresolved' ? operator.body.mapping : null),
    assumptions: assumptions.map(({ kind, statement, risk }) => `${kind}: ${statement} (risk ${risk})`),
  };
}

/**
 * Evidence by attempt id: observations, each with its judgement, if that is among the given ids. Observations that were
 * already judged are shown shorter, so that the prompts of a long search do not grow too large.
 */
export async function evidenceTexts(
  context: StepContext,
  ids: readonly string[],
  maxChars = Math.floor(context.settings.csvChars / 4),
): Promise<EvidenceText[]> {
  const { observations, groundings } = await loadAttempts(context.run, ids);
  return Promise.all(
    observations.map((observation) => {
      const judgement = groundings.find((each) => each.observations.includes(observation.observationId));
      return evidenceText(context, observation, maxChars, judgement);
    }),
  );
}

export async function evidenceText(
  context: StepContext,
  observation: Observation,
  maxChars: number,
  grounding?: Grounding,
): Promise<EvidenceText> {
  const last = grounding?.observations.at(-1) === observation.observationId ? grounding : undefined;
  return {
    attempt: observation.observationId,
    tests: await testTexts(context, observation, maxChars, grounding),
    summary: last?.groundings.map(({ operator, summary }) => `${operator}: ${summary}`).join('\n') ?? null,
    tryNext: [
      ...(last?.tryNext ?? []),
      ...(last?.interface ?? []).map(({ operator, why }) => `other columns or grain for ${operator}: ${why}`),
    ],
    avoid: last?.avoid ?? [],
  };
}

async function testTexts(
  context: StepContext,
  observation: Observation,
  maxChars: number,
  grounding?: Grounding,
): Promise<TestText[]> {
  // The queries of a look have no hypotheses.
  const proposal = await context.run.find('proposal', observation.proposalId);
  // The probes of an attempt share the space for a result.
  const share = Math.floor(maxChars / Math.max(1, observation.tests.length));
  return Promise.all(
    observation.tests.map(async (outcome) => {
      const test = proposal?.tests.find(({ operator }) => operator === outcome.operator);
      const verdicts = grounding?.groundings.find(({ operator }) => operator === outcome.operator)?.verdicts ?? [];
      const hypotheses = (test?.hypotheses ?? []).map(async (hypothesis): Promise<HypothesisText> => {
        const body = hypothesis.bodyId === null ? null : await context.run.get('body', hypothesis.bodyId);
        return hypothesisText(hypothesis, body?.sql ?? null, outcome, verdicts);
      });
      return {
        operator: outcome.operator,
        probe: test?.probe ?? outcome.probeSql,
        outcomeCsv: resultsText(outcome, share),
        hypotheses: await Promise.all(hypotheses),
        materiality: outcome.materiality?.reason ?? null,
      };
    }),
  );
}

function hypothesisText(
  { id, mapping, expectation, notStored }: Hypothesis,
  sql: string | null,
  outcome: TestOutcome,
  verdicts: readonly HypothesisVerdict[],
): HypothesisText {
  const seen = outcome.hypotheses.find((each) => each.id === id);
  const verdict = verdicts.find(({ hypothesis }) => hypothesis === id);
  return {
    id,
    mapping: expectation === '' ? mapping : `${mapping} (expected: ${expectation})`,
    sql,
    ...(notStored === undefined ? {} : { notStored }),
    predicates: seen?.predicates ?? [],
    agreement: seen === undefined ? null : agreementText(seen),
    ...(seen?.sameAnswer === undefined ? {} : { sameAnswer: seen.sameAnswer.map(({ as }) => as) }),
    verdict: verdict?.verdict ?? null,
    reason: verdict === undefined ? null : (verdict.overruled ?? verdict.reason),
  };
}

function agreementText({ agreement, agreementNote, notStored }: TestOutcome['hypotheses'][number]): string | null {
  if (agreement === null) return agreementNote === undefined ? null : `none: ${agreementNote}`;
  const { matching, examined } = agreement;
  const counted = `${matching} of ${examined}${notStored === true ? ' have nothing recorded' : ''}`;
  return agreementNote === undefined ? counted : `${counted} (${agreementNote})`;
}

/** Each reading's own result, where the probe ran once for each. */
function resultsText({ result, hypotheses }: TestOutcome, maxChars: number): string {
  const own = hypotheses.flatMap(({ id, run }) => (run === undefined ? [] : [{ id, result: run.result }]));
  if (own.length === 0) return resultText(result, maxChars);
  const share = Math.floor(maxChars / own.length);
  return own.map(({ id, result: seen }) => `with the SQL of ${id}:\n${resultText(seen, share).trimEnd()}`).join('\n');
}
