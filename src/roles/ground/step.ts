/**
 * Role `ground`: a verdict on every hypothesis, the winner's body, facts and what to try next (design §3, step 4). Verdicts
 * that the data contradicts are not kept (rules S1, S2). Execution decides afterwards whether a winner is proved.
 */
import type { Assumption, Body, Fact, FactView, HypothesisOutcome, OperatorGrounding, TestOutcome } from '../../domain';
import { groundRole, type GroundReply } from './prompt';
import { CLOCK } from '../../sql/clock';
import { oneLine } from '../../clip';
import { keepVerdict, prove, resultsOf } from '../../sql/proof';
import type { ModelOutcome } from '../../domain/ports/step-parts';
import { mergedOutcomes, dependencies } from '../shared/attempts';
import { operatorBody, storeBody } from '../shared/bodies';
import { buildTests, storeProposal, type TestScope } from '../shared/tests';
import type { StepContext } from '../shared/context';
import type { Contents } from '../../record/contents';
import { findLoaded, loadPlan, type LoadedPlan } from '../shared/load-plan';
import { contentId, invalid, runModelStep, type Read } from '../shared/model-step';
import { promptContext } from '../shared/prompt-context';
import { testScope } from '../propose';
import { columnsOfNamed } from '../shared/shown-tables';
import { evidenceText, evidenceTexts, planText } from '../shared/evidence-text';
import type { Given, Gives } from '../../domain/ports/steps';

type Observation = Contents['observation'];

export async function ground(context: StepContext, step: Given<'ground'>): Promise<ModelOutcome<Gives<'ground'>>> {
  const { run, settings } = context;
  const plan = await loadPlan(context, step.plan);
  const observations = await Promise.all(step.observations.map((id) => run.get('observation', id)));
  const earlier = step.attempts.filter((id) => !step.observations.includes(id));
  const prompt = {
    ...(await promptContext(context, step.memory, { plans: [step.plan.planId] })),
    plan: planText(context, plan),
    evidence: await evidenceTexts(context, earlier),
    observed: await Promise.all(
      observations.map(async (observation) => ({
        ...(await evidenceText(context, observation, settings.csvChars)),
        observationId: observation.observationId,
      })),
    ),
    carryTests: settings.planCarriesTests && settings.followOn,
    breadth: settings.breadth,
    strict: settings.proof,
  };
  const judge: Judge = { context, plan, observations, step, scope: await testScope(context, plan) };
  return runModelStep(context, step, groundRole, prompt, (reply) => read(judge, reply), {
    details: (text) => columnsOfNamed(context, text),
  });
}

interface Judge {
  readonly context: StepContext;
  readonly plan: LoadedPlan;
  readonly observations: readonly Observation[];
  readonly step: Given<'ground'>;
  readonly scope: TestScope;
}

interface Judged {
  readonly grounding: OperatorGrounding;
  readonly body: Body | null;
  /** Set if the reading "not stored" won: what its checks say. */
  readonly absence: { readonly reason: string; readonly proved: boolean } | null;
}

function read(judge: Judge, reply: GroundReply): Read<Gives<'ground'>> {
  const judged = reply.judgements.map((judgement) => judgeOperator(judge, judgement));
  const problems = judged.filter((each) => typeof each === 'string');
  if (problems.length > 0)
    return invalid(problems, 'the SQL of a winner reads tables of the schema and the inputs of its operator');
  const kept = judged.filter((each) => typeof each !== 'string');
  return () => storeGrounding(judge, reply, kept);
}

type Judgement = GroundReply['judgements'][number];

/** The judgement without the verdicts that the data contradicts, or the error in its SQL. */
function judgeOperator(judge: Judge, judgement: Judgement): Judged | string {
  const operator = findLoaded(judge.plan, judgement.operator)?.operator;
  if (operator === undefined) return `there is no operator ${judgement.operator}`;
  const outcomes = mergedOutcomes(judge.observations, judgement.operator);
  const verdicts = judgement.verdicts.map((verdict) => {
    const outcome = outcomes.find(({ id }) => id === verdict.hypothesis);
    const { hypothesis, reason } = verdict;
    const said = { hypothesis, verdict: verdict.verdict, reason };
    return outcome === undefined ? { ...said, overruled: null } : keepVerdict(said, outcome);
  });
  const stands = verdicts.some(({ hypothesis, verdict }) => hypothesis === judgement.winner && verdict === 'supported');
  const made = stands && judgement.sql !== null ? operatorBody(judgement.sql, operator, judge.scope) : null;
  if (made?.kind === 'invalid') return made.error;
  const body = made?.kind === 'ok' ? made.value : null;
  const grounding = {
    operator: operator.name,
    observationId: observedIn(judge.observations, judgement),
    verdicts,
    winner: stands ? judgement.winner : null,
    bodyId: body?.bodyId ?? null,
    summary: judgement.summary,
  };
  return { grounding, body, absence: absenceOf(judge, grounding, outcomes) };
}

/** Rule S1 for the reading "not stored", which has no body that could run. The counts are told in the program's words. */
function absenceOf(
  { context, observations }: Judge,
  { operator, observationId, verdicts, winner, summary }: OperatorGrounding,
  hypotheses: readonly HypothesisOutcome[],
): Judged['absence'] {
  const own = hypotheses.find(({ id }) => id === winner);
  const test = observations
    .find((each) => each.observationId === observationId)
    ?.tests.find((each) => each.operator === operator);
  if (own?.notStored !== true || own.agreement === null || test === undefined) return null;
  const { examined, matching } = own.agreement;
  const mode = context.settings.proof;
  const outcome = { ...test, hypotheses: [...hypotheses] };
  const { proved } = prove({ outcome, verdicts, winner, bodyError: null, columnsDiffer: null, mode });
  return { reason: `${summary} (${examined - matching} of ${examined} have it recorded)`, proved };
}

/** The id of the last observation with rows for the operator. Not taken from the reply, which may name it differently. */
function observedIn(observations: readonly Observation[], { operator, winner }: Judgement): string {
  const covering = observations.filter(({ tests }) => tests.some((test) => test.operator === operator));
  const telling = covering.filter(({ tests }) =>
    tests.some(
      (test) => test.operator === operator && hasRows(test) && test.hypotheses.some(({ id }) => id === winner),
    ),
  );
  return (telling.at(-1) ?? covering.at(-1) ?? observations.at(-1))?.observationId ?? '';
}

function hasRows(outcome: TestOutcome): boolean {
  return resultsOf(outcome).some((result) => result.kind === 'rows' && result.rows.length > 0);
}

async function storeGrounding(judge: Judge, reply: GroundReply, judged: readonly Judged[]): Promise<Gives<'ground'>> {
  const { context, observations, step } = judge;
  const groundingId = contentId(step);
  for (const { body, grounding } of judged)
    if (body !== null) await storeBody(context, body, unproved(judge, grounding));
  const written = await storeWritten(judge, reply);
  const { views, statements } = await storeFacts(judge, reply.facts, groundingId);
  const absence = judged.find((each) => each.absence?.proved === true)?.absence;
  const impossible = absence?.reason ?? reply.impossible;
  await context.run.put('grounding', groundingId, {
    groundingId,
    groundings: judged.map(({ grounding }) => grounding),
    facts: statements,
    tryNext: reply.tryNext,
    avoid: reply.avoid,
    delta: reply.delta,
    impossible,
    ...(reply.interface.length === 0 ? {} : { interface: reply.interface }),
    observations: observations.map(({ observationId }) => observationId),
  });
  const next = nextTests(judge, reply, judged, written);
  return {
    groundingId,
    operators: judged.map(({ grounding }) => ({
      operator: grounding.operator,
      // There is nothing to settle where nothing is stored.
      winner: grounding.bodyId === null ? null : grounding.winner,
      bodyId: grounding.bodyId,
      decided: grounding.verdicts.some(({ verdict }) => verdict !== 'open'),
    })),
    learned: learned(judged, statements),
    written,
    facts: views,
    delta: reply.delta,
    impossible,
    ...(absence === undefined ? {} : { absenceShown: true }),
    ...(reply.interface.length === 0 ? {} : { refit: reply.interface.map(({ operator }) => operator) }),
    nextProposalId: await storeProposal(context, `${groundingId}.tests`, next, false),
    nextOperators: next.map(({ test }) => test.operator),
  };
}

/** The assumptions of a winner's body until it is proved: the reading itself. */
function unproved({ plan }: Judge, grounding: OperatorGrounding): Assumption[] {
  const before = findLoaded(plan, grounding.operator)?.assumptions.map(({ risk }) => risk) ?? [];
  const risk = before.length === 0 ? 0.5 : Math.max(...before) / 2;
  return [{ kind: 'meaning', statement: grounding.summary || `${grounding.operator} as judged`, risk }];
}

/** Stores bodies for other operators. One that does not parse is dropped, and its operator stays unchanged. */
async function storeWritten(
  { context, plan, scope }: Judge,
  reply: GroundReply,
): Promise<Gives<'ground'>['written'][number][]> {
  const written: Gives<'ground'>['written'][number][] = [];
  for (const { operator: name, sql, assumptions } of reply.written) {
    const operator = findLoaded(plan, name)?.operator;
    const made = operator === undefined ? null : operatorBody(sql, operator, scope);
    if (made?.kind !== 'ok') continue;
    await storeBody(context, made.value, assumptions);
    const risk = assumptions.reduce((highest, each) => Math.max(highest, each.risk), 0);
    // To read an undeclared table is an assumption, even if the reply does not say so: it is not mere arithmetic (rule S4).
    const unsaid =
      operator?.relations.length === 0 && made.value.relations.some((relation) => relation !== CLOCK) ? 1 : 0;
    written.push({
      operator: name,
      bodyId: made.value.bodyId,
      risk,
      assumptions: Math.max(unsaid, assumptions.length),
    });
  }
  return written;
}

/** Stores facts. A fact needs an observation with rows. */
async function storeFacts(
  { context, observations, plan, step }: Judge,
  facts: readonly string[],
  groundingId: string,
): Promise<{ readonly views: FactView[]; readonly statements: string[] }> {
  const shown = observations.find(({ tests }) => tests.some(hasRows));
  if (shown === undefined) return { views: [], statements: [] };
  const known = await Promise.all(step.memory.facts.map((id) => context.run.get('fact', id)));
  const taken = new Set(known.map(({ statement }) => plain(statement)));
  const statements = facts.filter((fact) => fact.trim() !== '' && !taken.has(plain(fact)) && taken.add(plain(fact)));
  const dependsOn = await dependencies(context, plan, shown);
  const views = statements.map(async (statement, index): Promise<FactView> => {
    const fact: Fact = {
      factId: `${groundingId}.fact${index + 1}`,
      statement,
      observationId: shown.observationId,
      dependsOn,
    };
    await context.run.put('fact', fact.factId, fact);
    return { id: fact.factId, status: 'active', dependsOn: [...dependsOn.updates, ...dependsOn.assumedBodies] };
  });
  return { views: await Promise.all(views), statements };
}

function plain(text: string): string {
  return text.toLowerCase().replace(/\W+/g, ' ').trim();
}

/** The next tests of the reply. Their probes may read bodies of this reply; tests that cannot run are dropped. */
function nextTests(
  { scope }: Judge,
  reply: GroundReply,
  judged: readonly Judged[],
  written: Gives<'ground'>['written'],
) {
  const fresh = [
    ...judged.flatMap(({ grounding, body }) =>
      body === null ? [] : [{ name: grounding.operator, bodyId: body.bodyId }],
    ),
    ...written.map(({ operator, bodyId }) => ({ name: operator, bodyId })),
  ];
  const kept = scope.written.filter(({ name }) => !fresh.some((each) => each.name === name));
  return buildTests(reply.tests, { ...scope, written: [...kept, ...fresh] }).built;
}

function learned(judged: readonly Judged[], facts: readonly string[]): string | null {
  const won = judged.find(({ grounding }) => grounding.winner !== null)?.grounding;
  const text = won?.summary ?? facts[0] ?? judged[0]?.grounding.summary ?? null;
  return text === null || text.trim() === '' ? null : oneLine(text, 160);
}
