/** What an observation, and whatever is concluded from it, rests on (rule S10). */
import type { Dependencies } from '../domain';
import type { StepContext } from './context';
import type { Contents } from './contents';
import { restsOn, type LoadedPlan } from './load-plan';
import { SCHEMA_ID } from './prompt-context';

/** Operators that the probes read, by name in their texts, and whatever the given operators read. */
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
    // A proof rests on bodies and rows; a remark that a model read on the way is no premise of it.
    facts: [],
    database: context.input.question.database,
    schemaFingerprint: schema.description.fingerprint,
    snapshotAt: observation.takenAt,
  };
}
