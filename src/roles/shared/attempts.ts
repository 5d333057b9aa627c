/** The attempts of a search as they are stored: what was tested, what was seen, what was concluded. */
import type { HypothesisOutcome, Test, TestOutcome } from '../../domain';
import type { Contents } from '../../record/contents';
import type { RunStore } from '../../record/run-store';

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
