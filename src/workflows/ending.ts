/**
 * How a run of a workflow ends early: it fails, or continues as new. A workflow may only fail with an ApplicationFailure:
 * after any other error Temporal retries the workflow task for ever.
 */
import {
  ApplicationFailure,
  type ContinueAsNewOptions,
  makeContinueAsNewFunc,
  type Workflow,
  workflowInfo,
  type WorkflowInfo,
} from '@temporalio/workflow';
import { reasonOf } from '../search/findings';
import { BrokenModelError, UNUSABLE_REPLIES } from '../search/select-answer';

/** Keeps the innermost message and type: the line that says what to change, and its kind. */
export function asWorkflowFailure(error: unknown, fallbackType: string): ApplicationFailure {
  return ApplicationFailure.create({
    message: reasonOf(error),
    type: failureType(error, fallbackType),
    nonRetryable: true,
  });
}

export function failureType(error: unknown, fallback: string): string {
  let type = fallback;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof BrokenModelError) type = UNUSABLE_REPLIES;
    if (at instanceof ApplicationFailure && at.type) type = at.type;
  }
  return type;
}

/**
 * Continues as new. With worker versioning, if the server reports a newer worker build than the one the run is pinned to
 * (docs/deploying.md), the new run goes to the current build; else it stays as it was.
 */
export function continueUpgraded<T extends Workflow>(...args: Parameters<T>): Promise<never> {
  return makeContinueAsNewFunc<T>(continuation(workflowInfo()))(...args);
}

export function continuation({
  targetWorkerDeploymentVersionChanged: outdated,
}: Pick<WorkflowInfo, 'targetWorkerDeploymentVersionChanged'>): ContinueAsNewOptions {
  return outdated ? { initialVersioningBehavior: 'AUTO_UPGRADE' } : {};
}
