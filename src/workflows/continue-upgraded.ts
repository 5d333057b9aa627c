/**
 * Continues as new on the current build of the worker, where worker versioning is on and the server says that there is a
 * newer one than the run is pinned to (docs/deploying.md); else as the run was. A server that never says so changes nothing.
 */
import { makeContinueAsNewFunc, workflowInfo, type Workflow } from '@temporalio/workflow';

export function continueUpgraded<T extends Workflow>(...args: Parameters<T>): Promise<never> {
  const upgrade = workflowInfo().targetWorkerDeploymentVersionChanged;
  return makeContinueAsNewFunc<T>(upgrade ? { initialVersioningBehavior: 'AUTO_UPGRADE' } : {})(...args);
}
