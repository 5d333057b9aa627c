/**
 * `settle`: runs the winners' bodies over their inputs. A body that meets rule S1 becomes an update, with its dependencies
 * (rule S10). A body that runs without proof is reported as assumed, one that fails is reported with its error.
 */
import type { Hypothesis, OperatorGrounding, SqlResult, TestOutcome, Update } from '../../domain';
import { compareText } from '../../domain/canonical';
import { prove } from '../../sql/proof';
import { hasLost } from '../../sql/agreement';
import { mergedOutcomes, dependencies, storeUpdate } from '../shared/attempts';
import { columnDifference, isAnswer, runError } from '../shared/bodies';
import { runSql, type StepContext } from '../shared/context';
import type { Contents } from '../../record/contents';
import { findLoaded, loadPlan, planSql, withBodies, type LoadedPlan } from '../shared/load-plan';
import { orRefused, together } from '../shared/statements';
import type { Given, Gives } from '../../domain/ports/steps';

type Won = OperatorGrounding & { readonly winner: string; readonly bodyId: string };

export async function settle(context: StepContext, step: Given<'settle'>): Promise<Gives<'settle'>> {
  const grounding = await context.run.get('grounding', step.groundingId);
  const won = grounding.groundings.filter((each): each is Won => each.winner !== null && each.bodyId !== null);
  const bodies = await Promise.all(won.map(({ bodyId }) => context.run.get('body', bodyId)));
  const written = Object.fromEntries(bodies.map((body, at) => [won[at]?.operator ?? '', body]));
  const plan = withBodies(await loadPlan(context, step.plan), written);
  const { statements, read } = together(won.map(({ operator }) => orRefused(planSql(plan, operator))));
  const run = await runSql(context, statements);
  const results: Gives<'settle'>['results'][number][] = [];
  for (const [index, result] of read(run.results).entries())
    results.push(await settleOne({ context, step, plan, grounding }, won[index] as Won, result));
  return { results, usage: run.usage };
}

interface Settling {
  readonly context: StepContext;
  readonly step: Given<'settle'>;
  readonly plan: LoadedPlan;
  readonly grounding: Contents['grounding'];
}

async function settleOne(settling: Settling, won: Won, result: SqlResult): Promise<Gives<'settle'>['results'][number]> {
  const { context, step, plan, grounding } = settling;
  const base = { operator: won.operator, bodyId: won.bodyId };
  const loaded = findLoaded(plan, won.operator);
  if (loaded === undefined) return { ...base, update: null, assumed: false, error: 'the plan has no such operator' };
  const { operator } = loaded;
  const bodyError = runError(result);
  const columnsDiffer = columnDifference(operator, result, isAnswer(plan, won.operator));
  const error = bodyError ?? columnsDiffer;
  const unproved = { ...base, update: null, assumed: error === null, error };
  const observations = await Promise.all(grounding.observations.map((id) => context.run.get('observation', id)));
  const observation = observations.find(({ observationId }) => observationId === won.observationId);
  const judged = observation?.tests.find((test) => test.operator === won.operator);
  if (observation === undefined || judged === undefined) return unproved;
  const outcome: TestOutcome = { ...judged, hypotheses: mergedOutcomes(observations, won.operator) };
  const { verdicts, winner, bodyId, summary } = won;
  const { observationId, proposalId } = observation;
  const proposal = await context.run.get('proposal', proposalId);
  const hypotheses = proposal.tests.find((test) => test.operator === won.operator)?.hypotheses ?? [];
  const sameAnswer = sameAnswerNow(plan, won, outcome, hypotheses);
  const proof = prove({
    ...{ outcome, verdicts, winner, bodyError, columnsDiffer, mode: context.settings.proof },
    equivalent: sameAnswer.rivals.map(({ hypothesis }) => hypothesis),
  });
  if (!proof.proved) return unproved;
  const mapping = hypotheses.find(({ id }) => id === winner)?.mapping ?? summary;
  const dependsOn = await dependencies(context, plan, observation, operator.inputs);
  const update = await storeUpdate(context, plan, operator, {
    ...{ position: step.position, bodyId, mapping, summary, proof },
    ...{ proposalId, observationId, groundingId: step.groundingId, verdicts },
    // The same SQL in other words depends on no other operator.
    ...(sameAnswer.rivals.some((rival) => rival.bodyId !== bodyId) ? { sameAnswer } : {}),
    // A probe that reads the operator under test rests on what is below it, not on the body that it proves.
    dependsOn: { ...dependsOn, assumedBodies: dependsOn.assumedBodies.filter((id) => id !== bodyId) },
  });
  return { ...base, update, assumed: false, error };
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
