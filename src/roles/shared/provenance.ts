/** Proved readings with what they rest on (rule S10). */
import type { Dependencies, Operator, Update, UpdateView } from '../../domain';
import { updateIdOf } from '../../ports/step-parts';
import { operatorShape } from '../../sql/body';
import type { StepContext } from './context';
import { SCHEMA_ID, type Contents } from '../../record/contents';
import { findLoaded, restsOn, type LoadedPlan } from './load-plan';

/** Of an observation and of everything concluded from it: the operators that the probes name in their SQL, and the operators that the given ones read. */
export async function dependencies(
  context: StepContext,
  plan: LoadedPlan,
  observation: Contents['observation'],
  alsoReads: readonly string[] = [],
): Promise<Dependencies> {
  const [proposal, schema] = await Promise.all([
    context.run.get('proposal', observation.proposalId),
    context.run.get('schema', SCHEMA_ID),
  ]);
  const probes = proposal.tests.map(({ probe }) => probe.toLowerCase());
  const read = plan.operators
    .map(({ operator }) => operator.name)
    .filter((name) => probes.some((probe) => new RegExp(`\\b${name}\\b`).test(probe)));
  return {
    ...restsOn(plan, [...read, ...alsoReads]),
    // A proof rests on bodies and rows, not on facts that the model read.
    facts: [],
    database: context.input.question.database,
    schemaFingerprint: schema.description.fingerprint,
    snapshotAt: observation.takenAt,
  };
}

type Proved = 'bodyId' | 'mapping' | 'summary' | 'proof' | 'verdicts' | 'sameAnswer' | 'dependsOn';
type Seen = 'proposalId' | 'observationId' | 'groundingId';

/** `position`: of the step that proved it. */
export async function storeUpdate(
  { run, deps }: StepContext,
  plan: LoadedPlan,
  operator: Operator,
  { position, ...proved }: Pick<Update, Proved | Seen> & { readonly position: string },
): Promise<UpdateView> {
  const { name, intent, relations, columns, grain, inputs } = operator;
  const update: Update = {
    updateId: updateIdOf(position, name),
    operator: name,
    intent,
    shape: operatorShape(operator, deps.hash),
    interface: { relations, columns: columns.map((column) => `${column.name} ${column.type}`), grain },
    inputs: inputs.map((local) => ({ local, bodyId: findLoaded(plan, local)?.body?.bodyId ?? '' })),
    ...proved,
    searchId: run.searchId,
  };
  await run.put('update', update.updateId, update);
  return updateView(update);
}

function updateView(update: Update): UpdateView {
  const { updates, assumedBodies } = update.dependsOn;
  return {
    id: update.updateId,
    shape: update.shape,
    intent: update.intent,
    inputs: update.inputs,
    bodyId: update.bodyId,
    status: 'active',
    dependsOn: [...updates, ...assumedBodies],
    ...(update.sameAnswer === undefined ? {} : { beside: update.sameAnswer.relativeTo }),
    reuses: 0,
  };
}
