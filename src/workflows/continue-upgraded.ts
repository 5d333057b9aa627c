/**
 * Continues as new. With worker versioning, if the server reports a newer worker build than the one the run is pinned to
 * (docs/deploying.md), the new run goes to the current build; else it stays as it was.
 */
import {
  makeContinueAsNewFunc,
  workflowInfo,
  type ContinueAsNewOptions,
  type Workflow,
  type WorkflowInfo,
} from '@temporalio/workflow';

export function continueUpgraded<T extends Workflow>(...args: Parameters<T>): Promise<never> {
  return makeContinueAsNewFunc<T>(continuation(workflowInfo()))(...args);
}

export function continuation({
  targetWorkerDeploymentVersionChanged: outdated,
}: Pick<WorkflowInfo, 'targetWorkerDeploymentVersionChanged'>): ContinueAsNewOptions {
  return outdated ? { initialVersioningBehavior: 'AUTO_UPGRADE' } : {};
}
