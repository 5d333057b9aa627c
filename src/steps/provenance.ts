/** The dependencies of an observation and of everything concluded from it (rule S10). */
import type { Dependencies } from '../domain';
import type { StepContext } from './context';
import { SCHEMA_ID, type Contents } from '../record/contents';
import { restsOn, type LoadedPlan } from './load-plan';

/** Covers the operators that the probes name in their SQL, and the operators that the given ones read. */
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
