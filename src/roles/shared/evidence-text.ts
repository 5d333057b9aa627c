/** Plans and evidence as prompts show them, one operator or test at a time, always as data; and how they are loaded. */
import type { Hypothesis, HypothesisVerdict, TestOutcome } from '../../domain';
import { resultText } from '../../text/result-text';
import type { PlanRef } from '../../domain/ports/step-parts';
import { loadAttempts } from './attempts';
import type { StepContext } from './context';
import type { Contents } from '../../record/contents';
import { loadPlan, type LoadedOperator, type LoadedPlan } from './load-plan';

export interface OperatorText {
  readonly name: string;
  readonly intent: string;
  readonly purpose: string;
  readonly relations: readonly string[];
  readonly inputs: readonly string[];
  /** `name type`, or `name type: meaning`, in output order. */
  readonly columns: readonly string[];
  readonly grain: readonly string[];
  readonly state: 'unresolved' | 'assumed' | 'grounded';
  readonly sql: string | null;
  readonly mapping: string | null;
  readonly assumptions: readonly string[];
}

export interface PlanText {
  readonly outline: string;
  readonly operators: readonly OperatorText[];
}

export interface HypothesisText {
  readonly id: string;
  readonly mapping: string;
  /** The operator's body under this reading, where the proposal wrote it; a winner may then keep it. */
  readonly sql?: string | null;
  readonly predicates: readonly { readonly sql: string; readonly outcome: string; readonly note: string | null }[];
  /** For example `118 of 120`. */
  readonly agreement: string | null;
  /** The reading that what is asked for is not stored. */
  readonly notStored?: boolean;
  /** Ids of the other readings under which the whole plan gives the same answer. */
  readonly sameAnswer?: readonly string[];
  readonly verdict: string | null;
  readonly reason: string | null;
}

export interface TestText {
  readonly operator: string;
  readonly probe: string;
  /** The rows as CSV, or what happened instead: empty, an error, a timeout. */
  readonly outcomeCsv: string;
  readonly hypotheses: readonly HypothesisText[];
  readonly materiality: string | null;
}

export interface EvidenceText {
  readonly attempt: string;
  readonly tests: readonly TestText[];
  readonly summary: string | null;
  readonly tryNext: readonly string[];
  readonly avoid: readonly string[];
}

export function shownPlan(plan: PlanText): string {
  return [`outline: ${plan.outline}`, ...plan.operators.map(shownOperator)].join('\n');
}

/** Which operators a probe may read: those with SQL, and those that a reply has just written. */
export function planShape(plan: PlanText, alsoWritten: readonly string[] = []) {
  return {
    operators: plan.operators.map(({ name, inputs, sql }) => ({
      name,
      inputs,
      written: sql !== null || alsoWritten.includes(name),
    })),
  };
}

export function shownEvidence(evidence: EvidenceText): string {
  return [
    `attempt ${evidence.attempt}`,
    ...evidence.tests.map(shownTest),
    ...optional('summary', evidence.summary),
    ...list('try next', evidence.tryNext),
    ...list('avoid', evidence.avoid),
  ].join('\n');
}

function shownOperator(operator: OperatorText): string {
  const grain = operator.grain.length === 0 ? 'a single row' : `one row per ${operator.grain.join(', ')}`;
  return [
    `${operator.name} [${operator.state}] ${grain}`,
    `  purpose: ${operator.purpose}`,
    `  intent: ${operator.intent}`,
    `  relations: ${operator.relations.join(', ') || 'none'}; inputs: ${operator.inputs.join(', ') || 'none'}`,
    `  columns: ${operator.columns.join(', ')}`,
    ...optional('  mapping', operator.mapping),
    ...optional('  sql', operator.sql),
    ...list('  assumes', operator.assumptions),
  ].join('\n');
}

function shownTest(test: TestText): string {
  return [
    `test of ${test.operator}`,
    `probe: ${test.probe}`,
    `result:\n${test.outcomeCsv.trimEnd()}`,
    ...test.hypotheses.map(shownHypothesis),
    ...optional('materiality', test.materiality),
  ].join('\n');
}

function shownHypothesis(hypothesis: HypothesisText): string {
  return [
    `${hypothesis.id}${hypothesis.notStored === true ? ' [not stored]' : ''}: ${hypothesis.mapping}`,
    ...optional('  sql', hypothesis.sql ?? null),
    ...hypothesis.predicates.map(
      ({ sql, outcome, note }) => `  predicate ${outcome.toUpperCase()}: ${sql}${note === null ? '' : ` (${note})`}`,
    ),
    ...optional('  agreement', hypothesis.agreement),
    ...optional('  same answer as', hypothesis.sameAnswer?.join(', ') ?? null),
    ...optional('  verdict', hypothesis.verdict),
    ...optional('  reason', hypothesis.reason),
  ].join('\n');
}

function optional(label: string, text: string | null): string[] {
  return text === null ? [] : [`${label}: ${text}`];
}

function list(label: string, items: readonly string[]): string[] {
  return items.map((item) => `${label}: ${item}`);
}

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
