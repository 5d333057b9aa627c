/**
 * Continues as new on the current build of the worker, where worker versioning is on and the server says that there is a
 * newer one than the run is pinned to (docs/deploying.md); else as the run was. A server that never says so changes nothing.
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
