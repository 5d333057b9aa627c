/**
 * Role `plan`: a partially grounded plan, a revision or another derivation, with its first tests if the method asks for them
 * (design §3, step 3). Bodies are checked by the engine's parser before they are stored (rule S8).
 */
import type { Assumption, Body, Operator, Plan } from '../../domain';
import { planRole, type PlanReply } from './prompt';
import { type LookupsReply, storeLookups } from '../shared/lookups';
import { CLOCK } from '../../sql/clock';
import { sha256 } from '../../sha256';
import { toOperatorView } from '../../sql/body';
import type { ModelOutcome } from '../../domain/ports/step-parts';
import { sameRelation } from '../../sql/validate';
import { operatorBody, parserScope, queryBody, storeBody, type SearchScope } from '../shared/bodies';
import { buildTests, storeProposal, type BuiltTest } from '../shared/tests';
import type { StepContext } from '../shared/context';
import { contentId, invalid, runModelStep, type Read } from '../shared/model-step';
import { promptContext } from '../shared/prompt-context';
import { columnsOfNamed, showTables } from '../shared/shown-tables';
import { evidenceTexts, planTextOf } from '../shared/evidence-text';
import type { Given, Gives } from '../../domain/ports/steps';

export async function plan(context: StepContext, step: Given<'plan'>): Promise<ModelOutcome<Gives<'plan'>>> {
  const { settings } = context;
  const revised = step.revise === null ? [] : [step.revise.plan.planId];
  const plans = [...revised, ...step.otherPlans.map(({ planId }) => planId)];
  const base = await promptContext(context, step.memory, { plans });
  const prompt = {
    ...base,
    knownIntents: [...new Set(base.memory.map((entry) => entry.intent))],
    otherPlans: await Promise.all(step.otherPlans.map((ref) => planTextOf(context, ref))),
    unanswerable: step.unanswerable ?? [],
    revise: step.revise === null ? null : await revision(context, step.revise),
    seen: await evidenceTexts(context, step.seen ?? []),
    carryTests: settings.planCarriesTests,
    breadth: settings.breadth,
    strict: settings.proof,
    lookupsLeft: step.lookupsLeft,
  };
  const writer = { context, scope: await parserScope(context), knownIntents: prompt.knownIntents };
  return runModelStep(context, step, planRole, prompt, (reply) => read(writer, contentId(step), reply), {
    details: (text) => columnsOfNamed(context, text),
  });
}

async function revision(context: StepContext, revise: NonNullable<Given<'plan'>['revise']>) {
  const [text, evidence] = await Promise.all([
    planTextOf(context, revise.plan),
    evidenceTexts(context, revise.attempts),
  ]);
  const grounding = revise.refit === undefined ? null : await context.run.get('grounding', revise.refit);
  const refit = grounding?.interface;
  return { plan: text, blocked: revise.blocked, evidence, ...(refit === undefined ? {} : { refit }) };
}

interface Writer {
  readonly context: StepContext;
  readonly scope: SearchScope;
  readonly knownIntents: readonly string[];
}

interface WrittenOperator {
  readonly operator: Operator;
  readonly body: Body | null;
  readonly assumptions: readonly Assumption[];
}

function read(writer: Writer, id: string, reply: PlanReply | LookupsReply): Read<Gives<'plan'>> {
  if (reply.kind === 'lookup')
    return async () => ({ kind: 'lookup', lookups: await storeLookups(writer.context, id, reply) });
  if (reply.kind === 'unanswerable') {
    const reason = reply.reason ?? 'no reason given';
    return () => Promise.resolve({ kind: 'unanswerable', reason, potential: reply.potential });
  }
  const made = reply.operators.map((operator) => writeOperator(writer, operator));
  const problems = made.flatMap((each) => (Array.isArray(each) ? each : []));
  if (problems.length > 0)
    return invalid(problems, 'declare what the SQL reads, and read only what the schema and the plan have');
  const written = made.flatMap((each) => (Array.isArray(each) ? [] : [each]));
  return () => storePlan(writer, id, reply, written);
}

type OperatorReply = PlanReply['operators'][number];

/** The operator, or its errors. Tables of the schema that its SQL reads are added to the declared ones (rule S8). */
function writeOperator({ scope, knownIntents }: Writer, reply: OperatorReply): WrittenOperator | string[] {
  const { sql, mapping, assumptions, ...said } = reply;
  // The clock is not data, so it is not part of the interface.
  const ofData = (relations: readonly string[]): string[] =>
    relations.map((each) => knownRelation(each, scope.relations) ?? each).filter((each) => each !== CLOCK);
  const declared = ofData(said.relations);
  const made = sql === null ? null : operatorBody(sql, { ...said, relations: declared }, scope);
  const body = made?.kind === 'ok' ? made.value : null;
  const face = { ...said, relations: [...new Set([...declared, ...ofData(body?.relations ?? [])])] };
  const problems = [
    ...(scope.relations.some((relation) => sameRelation(relation, face.name))
      ? [`${face.name} is the name of a table: choose another`]
      : []),
    ...face.relations
      .filter((relation) => knownRelation(relation, scope.relations) === null)
      .map((relation) => `${face.name} declares the relation ${relation}, which the schema does not have`),
    ...(made?.kind === 'invalid' ? [made.error] : []),
  ];
  if (problems.length > 0) return problems;
  const operator: Operator = {
    ...face,
    intent: knownIntent(face.intent, knownIntents),
    body:
      body === null
        ? { kind: 'unresolved', mapping: mapping ?? face.purpose }
        : { kind: 'assumed', bodyId: body.bodyId, assumptions },
  };
  return { operator, body, assumptions };
}

/** The table's name in the schema, so that a table has the same name in every interface (rule S3). */
export function knownRelation(relation: string, known: readonly string[]): string | null {
  const plain = relation.replace(/["`[\]]/g, '').trim();
  return (
    known.find((each) => each.toLowerCase() === plain.toLowerCase()) ??
    known.find((each) => sameRelation(each, plain)) ??
    null
  );
}

/** The known intent, if the reply copied it with other case or blanks (rule S3). */
function knownIntent(intent: string, known: readonly string[]): string {
  const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();
  return known.find((each) => plain(each) === plain(intent)) ?? intent.trim();
}

async function storePlan(
  writer: Writer,
  id: string,
  reply: PlanReply,
  written: readonly WrittenOperator[],
): Promise<Gives<'plan'>> {
  const { context } = writer;
  const operators = written.map(({ operator }) => operator);
  const control = extraBody(writer, operators, reply.control);
  const wording = reply.wording.map((choice) => ({ ...choice, body: otherReading(writer, operators, choice) }));
  for (const { body, assumptions } of written) if (body !== null) await storeBody(context, body, assumptions);
  for (const body of [control, ...wording.map((choice) => choice.body)])
    if (body !== null) await storeBody(context, body);
  const content: Plan = {
    planId: id,
    outline: reply.outline,
    operators,
    ordered: reply.ordered,
    controlBodyId: control?.bodyId ?? null,
    wording: wording.map(({ operator, taken, other, body }) => ({
      operator,
      taken,
      other,
      otherBodyId: body?.bodyId ?? null,
    })),
    ...(reply.sentence ? { sentence: reply.sentence } : {}),
  };
  await context.run.put('plan', id, content);
  await showTables(
    context,
    id,
    operators.flatMap(({ relations }) => relations),
    JSON.stringify([reply.operators, reply.tests]),
  );
  const built = firstTests(writer, operators, reply);
  return {
    kind: 'plan',
    plan: {
      planId: id,
      ordered: reply.ordered,
      operators: operators.map((each) => toOperatorView(each, sha256)),
    },
    potential: reply.potential,
    bottleneck: reply.bottleneck,
    proposalId: await storeProposal(context, `${id}.tests`, built, false),
    proposed: built.map(({ test }) => test.operator),
  };
}

/** A control count that does not parse is left out: it is optional, and not worth another model call. */
function extraBody({ scope }: Writer, operators: readonly Operator[], sql: string | null): Body | null {
  if (sql === null) return null;
  const names = operators.map(({ name }) => name);
  const made = queryBody(sql, 'the control', scope, names);
  return made.kind === 'ok' ? made.value : null;
}

/** SQL of another reading that does not parse is left out too: the answer then names that reading in words only. */
function otherReading(
  { scope }: Writer,
  operators: readonly Operator[],
  choice: PlanReply['wording'][number],
): Body | null {
  const operator = operators.find(({ name }) => name === choice.operator);
  if (operator === undefined || choice.otherSql === null) return null;
  const made = operatorBody(choice.otherSql, operator, scope);
  return made.kind === 'ok' ? made.value : null;
}

/** The first tests. Tests that cannot run are dropped; their operators get a separate proposal later. */
function firstTests({ scope }: Writer, operators: readonly Operator[], reply: PlanReply): readonly BuiltTest[] {
  return buildTests(reply.tests, {
    ...scope,
    operators,
    written: operators.flatMap(({ name, body }) => (body.kind === 'assumed' ? [{ name, bodyId: body.bodyId }] : [])),
  }).built;
}
