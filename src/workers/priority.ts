/** The priority of the step that runs. A module of its own: commands without a worker do not load Temporal's activities. */
import { asyncLocalStorage } from '@temporalio/activity';

/** Temporal's own. */
const USUAL_PRIORITY = 3;

/** What a person asks goes before the questions of a batch (`workflows/run-batch.ts`). */
export function priorityOfStep(): number {
  return asyncLocalStorage.getStore()?.info.priority?.priorityKey ?? USUAL_PRIORITY;
}
