/**
 * `settle`: runs the winners' bodies over their inputs. A body that meets rule S1 becomes an update, with its dependencies
 * (rule S10). A body that runs without proof is reported as assumed, one that fails is reported with its error.
 */
import type { Body, Hypothesis, OperatorGrounding, Proof, SqlResult, TestOutcome, Update } from '../domain';
import { compareText } from '../domain/canonical';
import { compilePlan } from '../sql/compile';
import { prove } from '../sql/proof';
import { hasLost } from '../sql/refutation';
import { operatorShape } from '../sql/shape';
import { updateIdOf, type Settled, type SettleInput } from '../ports/search-steps';
import { columnDifference, isAnswer, runError, tryCompile } from './body-errors';
import { addDeltas, once, openInspector, runSql, type StepContext } from './context';
import type { Contents } from '../record/contents';
import { mergedOutcomes } from './ground';
import { findLoaded, loadPlan, planOperators, withBodies, type LoadedPlan } from './load-plan';
import { updateView } from './memory';
import { dependencies } from './provenance';
import { runAhead } from './run-ahead';

type Won = OperatorGrounding & { readonly winner: string; readonly bodyId: string };

export async function settle(context: StepContext, step: SettleInput): Promise<Settled> {
  return once(context, async () => {
    const grounding = await context.run.get('grounding', step.groundingId);
    const won = grounding.groundings.filter((each): each is Won => each.winner !== null && each.bodyId !== null);
    const plan = await planWith(context, await loadPlan(context, step.plan), won);
    const { dialect } = await openInspector(context);
    const compiled = won.map(({ operator }) => tryCompile(() => compilePlan(planOperators(plan), dialect, operator)));
    const run = await runSql(
      context,
      compiled.flatMap(({ sql }) => sql ?? []),
    );
    const pending = [...run.results];
    const results: Settled['results'][number][] = [];
    for (const [index, winner] of won.entries()) {
      const { sql = null, error = '' } = compiled[index] ?? {};
      const result: SqlResult = (sql === null ? undefined : pending.shift()) ?? { kind: 'refused', message: error };
      results.push(await settleOne({ context, step, plan, grounding }, winner, result));
    }
    const ahead = results.every(({ update }) => update !== null) ? await runAhead(context, step.next) : null;
    return { results, usage: addDeltas(run.usage, ahead?.usage ?? {}), ...ahead?.output };
  });
}

async function planWith(context: StepContext, plan: LoadedPlan, won: readonly Won[]): Promise<LoadedPlan> {
  const bodies = won.map(async ({ operator, bodyId }): Promise<[string, Body]> => [
    operator,
    await context.run.get('body', bodyId),
  ]);
  return withBodies(plan, Object.fromEntries(await Promise.all(bodies)));
}

interface Settling {
  readonly context: StepContext;
  readonly step: SettleInput;
  readonly plan: LoadedPlan;
  readonly grounding: Contents['grounding'];
}

async function settleOne(settling: Settling, won: Won, result: SqlResult): Promise<Settled['results'][number]> {
  const { context, plan, grounding } = settling;
  const base = { operator: won.operator, bodyId: won.bodyId };
  const loaded = findLoaded(plan, won.operator);
  if (loaded === undefined) return { ...base, update: null, assumed: false, error: 'the plan has no such operator' };
  const bodyError = runError(result);
  const columnsDiffer = columnDifference(loaded.operator, result, isAnswer(plan, won.operator));
  const observations = await Promise.all(grounding.observations.map((id) => context.run.get('observation', id)));
  const observation = observations.find(({ observationId }) => observationId === won.observationId);
  const judged = observation?.tests.find(({ operator }) => operator === won.operator);
  if (observation === undefined || judged === undefined) {
    return {
      ...base,
      update: null,
      assumed: bodyError === null && columnsDiffer === null,
      error: bodyError ?? columnsDiffer,
    };
  }
  const outcome: TestOutcome = { ...judged, hypotheses: mergedOutcomes(observations, won.operator) };
  const { verdicts, winner } = won;
  const proposal = await context.run.get('proposal', observation.proposalId);
  const hypotheses = proposal.tests.find((test) => test.operator === won.operator)?.hypotheses ?? [];
  const sameAnswer = sameAnswerNow(plan, won, outcome, hypotheses);
  const proof = prove({
    ...{ outcome, verdicts, winner, bodyError, columnsDiffer, mode: context.settings.proof },
    equivalent: sameAnswer.rivals.map(({ hypothesis }) => hypothesis),
  });
  const update = proof.proved ? await makeUpdate(settling, won, { proof, observation, hypotheses, sameAnswer }) : null;
  return {
    ...base,
    update:
      update === null ? null : updateView(update, [...update.dependsOn.updates, ...update.dependsOn.assumedBodies]),
    assumed: update === null && bodyError === null && columnsDiffer === null,
    error: bodyError ?? columnsDiffer,
  };
}

/** A probe that reads the operator under test rests on what is below it, not on the body that it proves. */
function withoutItself(dependsOn: Update['dependsOn'], bodyId: string): Update['dependsOn'] {
  return { ...dependsOn, assumedBodies: dependsOn.assumedBodies.filter((id) => id !== bodyId) };
}

type SameAnswer = NonNullable<Update['sameAnswer']>;

/**
 * The rivals that the data left standing and that give the same answer as the winner, with the bodies that the other operators
 * now have. What was run is the SQL that the winner had then: if the judge wrote other SQL, none is known to.
 */
function sameAnswerNow(
  plan: LoadedPlan,
  won: Won,
  { hypotheses: outcomes }: TestOutcome,
  hypotheses: readonly Hypothesis[],
): SameAnswer {
  const relativeTo = plan.operators
    .flatMap(({ operator, body }) => (operator.name === won.operator ? [] : [body?.bodyId ?? '']))
    .sort(compareText);
  const own = outcomes.find(({ id }) => id === won.winner);
  if (own === undefined || hypotheses.find(({ id }) => id === own.id)?.bodyId !== won.bodyId)
    return { relativeTo, rivals: [] };
  const rivals = hypotheses.flatMap(({ id, bodyId }) => {
    const rival = outcomes.find((each) => each.id === id);
    if (id === own.id || bodyId === null || rival === undefined || hasLost(rival, own)) return [];
    const seen = own.sameAnswer?.find(({ as }) => as === id)?.relativeTo ?? [];
    const isSame = bodyId === won.bodyId || seen.some((others) => others.join() === relativeTo.join());
    return isSame ? [{ hypothesis: id, bodyId }] : [];
  });
  return { relativeTo, rivals };
}

interface Proved {
  readonly proof: Proof;
  readonly observation: Contents['observation'];
  readonly hypotheses: readonly Hypothesis[];
  readonly sameAnswer: SameAnswer;
}

async function makeUpdate(
  { context, step, plan }: Settling,
  won: Won,
  { proof, observation, hypotheses, sameAnswer }: Proved,
): Promise<Update | null> {
  const operator = findLoaded(plan, won.operator)?.operator;
  if (operator === undefined) return null;
  const update: Update = {
    schemaVersion: 1,
    updateId: updateIdOf(step.position, operator.name),
    operator: operator.name,
    intent: operator.intent,
    shape: operatorShape(operator, context.deps.hash),
    interface: {
      relations: operator.relations,
      columns: operator.columns.map(({ name, type }) => `${name} ${type}`),
      grain: operator.grain,
    },
    inputs: operator.inputs.map((local) => ({ local, bodyId: findLoaded(plan, local)?.body?.bodyId ?? '' })),
    bodyId: won.bodyId,
    mapping: hypotheses.find(({ id }) => id === won.winner)?.mapping ?? won.summary,
    summary: won.summary,
    proof,
    proposalId: observation.proposalId,
    observationId: observation.observationId,
    groundingId: step.groundingId,
    verdicts: won.verdicts,
    // The same SQL in other words depends on no other operator.
    ...(sameAnswer.rivals.some(({ bodyId }) => bodyId !== won.bodyId) ? { sameAnswer } : {}),
    dependsOn: withoutItself(await dependencies(context, plan, observation, operator.inputs), won.bodyId),
    searchId: context.run.searchId,
  };
  await context.run.put('update', update.updateId, update);
  return update;
}
