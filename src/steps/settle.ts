/**
 * `settle`: runs the winners' bodies over their inputs. A body that meets rule S1 becomes an update, with its dependencies
 * (rule S10). A body that runs without proof is reported as assumed, one that fails is reported with its error.
 */
import type { Body, OperatorGrounding, Proof, SqlResult, TestOutcome, Update } from '../domain';
import { compilePlan } from '../search/compile';
import { prove } from '../search/proof';
import { operatorShape } from '../search/shape';
import { updateIdOf, type Settled, type SettleInput } from '../search/steps';
import { columnDifference, isAnswer, runError, tryCompile } from './body-errors';
import { addDeltas, once, openInspector, runSql, type StepContext } from './context';
import type { Contents } from './contents';
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
  const proof = prove({ outcome, verdicts, winner, bodyError, columnsDiffer, mode: context.settings.proof });
  const update = proof.proved ? await makeUpdate(settling, won, { proof, observation }) : null;
  return {
    ...base,
    update:
      update === null ? null : updateView(update, [...update.dependsOn.updates, ...update.dependsOn.assumedBodies]),
    assumed: update === null && bodyError === null && columnsDiffer === null,
    error: bodyError ?? columnsDiffer,
  };
}

async function makeUpdate(
  { context, step, plan }: Settling,
  won: Won,
  { proof, observation }: { readonly proof: Proof; readonly observation: Contents['observation'] },
): Promise<Update | null> {
  const operator = findLoaded(plan, won.operator)?.operator;
  if (operator === undefined) return null;
  const proposal = await context.run.get('proposal', observation.proposalId);
  const hypotheses = proposal.tests.find((test) => test.operator === won.operator)?.hypotheses ?? [];
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
    dependsOn: await dependencies(context, plan, observation, operator.inputs),
    searchId: context.run.searchId,
  };
  await context.run.put('update', update.updateId, update);
  return update;
}
