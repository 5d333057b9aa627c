/** The attempts of a search as they are stored: what was tested, seen and concluded, and on what a proof rests (rule S10). */
import type { HypothesisOutcome, Test, TestOutcome, Dependencies, Operator, Update, UpdateView } from '../../domain';
import { type Contents, SCHEMA_ID } from '../../record/contents';
import type { RunStore } from '../../record/run-store';
import { updateIdOf } from '../../domain/ports/step-parts';
import { sha256 } from '../../sha256';
import { operatorShape } from '../../sql/body';
import type { StepContext } from './context';
import { findLoaded, restsOn, type LoadedPlan } from './load-plan';

type Observation = Contents['observation'];
type Grounding = Contents['grounding'];

export interface Attempts {
  readonly observations: readonly Observation[];
  readonly groundings: readonly Grounding[];
}

export async function loadAttempts(run: RunStore, ids: readonly string[]): Promise<Attempts> {
  const distinct = [...new Set(ids)];
  const observations = await Promise.all(distinct.map((id) => run.find('observation', id)));
  const groundings = await Promise.all(distinct.map((id) => run.find('grounding', id)));
  return {
    observations: observations.filter((each) => each !== null),
    groundings: groundings.filter((each) => each !== null),
  };
}

export interface SeenTest {
  readonly observationId: string;
  readonly test: Test;
  readonly outcome: TestOutcome;
}

/** The test of an operator, with what it showed. */
export async function testOf(run: RunStore, observationId: string | null, operator: string): Promise<SeenTest | null> {
  const observation = observationId === null ? null : await run.find('observation', observationId);
  if (observation === null) return null;
  const proposal = await run.find('proposal', observation.proposalId);
  const outcome = observation.tests.find((test) => test.operator === operator);
  const test = proposal?.tests.find((each) => each.operator === operator);
  return outcome === undefined || test === undefined
    ? null
    : { observationId: observation.observationId, test, outcome };
}

/** The outcomes of each hypothesis over all probes of the attempt: in a rollout one is tested several times. */
export function mergedOutcomes(
  observations: readonly Pick<Observation, 'tests'>[],
  operator: string,
): HypothesisOutcome[] {
  const merged = new Map<string, HypothesisOutcome>();
  for (const test of observations.flatMap(({ tests }) => tests)) {
    if (test.operator !== operator) continue;
    for (const outcome of test.hypotheses) {
      const before = merged.get(outcome.id);
      merged.set(outcome.id, {
        id: outcome.id,
        predicates: [...(before?.predicates ?? []), ...outcome.predicates],
        agreement: outcome.agreement ?? before?.agreement ?? null,
        ...(outcome.sameAnswer === undefined ? {} : { sameAnswer: outcome.sameAnswer }),
        ...(outcome.run === undefined ? {} : { run: outcome.run }),
        ...(outcome.notStored === undefined ? {} : { notStored: outcome.notStored }),
      });
    }
  }
  return [...merged.values()];
}

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
  { run }: StepContext,
  plan: LoadedPlan,
  operator: Operator,
  { position, ...proved }: Pick<Update, Proved | Seen> & { readonly position: string },
): Promise<UpdateView> {
  const { name, intent, relations, columns, grain, inputs } = operator;
  const update: Update = {
    updateId: updateIdOf(position, name),
    operator: name,
    intent,
    shape: operatorShape(operator, sha256),
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
