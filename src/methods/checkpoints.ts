/**
 * The checkpoint of an iteration is stored with the next SQL step, or with the final record, whichever comes first: it needs no
 * write of its own. Until then a workflow holds it in its history.
 */
import { SQL_PURPOSES } from '../domain/role-names';
import type { SearchState } from '../domain';
import type { SqlCall, StepOptions } from '../domain/ports/step-parts';
import type { AllSteps, SqlSteps, StoredSteps } from '../domain/ports/steps';

/** `waiting`: the state that a search goes on from. */
export function withCheckpoints<Steps extends StoredSteps>(
  steps: Steps,
  waiting: SearchState | null,
): Steps & Pick<AllSteps, 'checkpoint'> {
  const carrying = SQL_PURPOSES.map((purpose) => {
    const step = steps[purpose] as (input: SqlCall, options?: StepOptions) => Promise<unknown>;
    const carrier = (input: SqlCall, options?: StepOptions): Promise<unknown> => {
      const checkpoint = waiting;
      waiting = null;
      return step(checkpoint === null ? input : { ...input, checkpoint }, options);
    };
    return [purpose, carrier];
  });
  return {
    ...steps,
    ...(Object.fromEntries(carrying) as unknown as SqlSteps),
    checkpoint: (state) => {
      waiting = state;
    },
  };
}
