/**
 * Worker deployments whose versions name compute: the server itself starts their workers when tasks arrive (Temporal's worker
 * controller, from server 1.31). A version is created with its compute, which starts a worker once so that it registers its
 * task queues; then the version is made current. Only then its queues belong to it. Temporal's own CLI shows, ramps and rolls
 * back versions (`temporal worker deployment`).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { unlessGone, unlessThere } from './grpc-status';
import { processIdentity } from './process-identity';
import type { WorkerVersion } from './workflow-bundle';

/** Settings as the provider, or the scaling algorithm, names them. */
type Settings = Readonly<Record<string, string | number>>;

export interface Compute {
  readonly provider: string;
  readonly details: Settings;
  /** Left out: as the provider's algorithm has them. */
  readonly scaling?: { readonly algorithm: string; readonly details: Settings };
}

/** One for all task types. */
const GROUP = 'all';
const LOOK_EVERY_MS = 250;

/**
 * Creates the version, or changes how its workers are started; either starts one. Once `isEnough` of its task queues are registered
 * it becomes current: it gets all new searches, also without a worker, which the server starts. Gives the registered queues: too few
 * where the time was over, and then it is not current. Queues of the version before it that it does not serve stay as they are:
 * another configuration has other names.
 */
export async function useVersion(
  client: Client,
  version: WorkerVersion,
  compute: Compute,
  { isEnough, withinMs }: { readonly isEnough: (queues: readonly string[]) => boolean; readonly withinMs: number },
): Promise<readonly string[]> {
  const { workflowService } = client;
  const { deploymentName } = version;
  const request = { namespace: client.options.namespace, identity: processIdentity() };
  const scalingGroup = {
    provider: { type: compute.provider, details: jsonPayload(compute.details) },
    scaler: compute.scaling && { type: compute.scaling.algorithm, details: jsonPayload(compute.scaling.details) },
  };
  const ofVersion = { ...request, deploymentVersion: version };
  await unlessThere(workflowService.createWorkerDeployment({ ...request, deploymentName, requestId: randomUUID() }));
  const computeConfig = { scalingGroups: { [GROUP]: scalingGroup } };
  const created = await unlessThere(
    workflowService.createWorkerDeploymentVersion({ ...ofVersion, requestId: randomUUID(), computeConfig }),
  );
  const computeConfigScalingGroups = { [GROUP]: { scalingGroup } };
  if (created === null)
    await workflowService.updateWorkerDeploymentVersionComputeConfig({
      ...ofVersion,
      requestId: randomUUID(),
      computeConfigScalingGroups,
    });
  const deadline = Date.now() + withinMs;
  let queues = await registeredQueues(client, version);
  while (!isEnough(queues) && Date.now() <= deadline) {
    await sleep(LOOK_EVERY_MS);
    queues = await registeredQueues(client, version);
  }
  const current = { ...request, ...version, ignoreMissingTaskQueues: true, allowNoPollers: true };
  if (isEnough(queues)) await workflowService.setWorkerDeploymentCurrentVersion(current);
  return queues;
}

/** The server reads it, so no codec of ours may touch it. */
function jsonPayload(value: Settings) {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) };
}

export interface StartedVersion extends WorkerVersion {
  readonly provider: string;
  /** What the server found wrong with its compute when it last looked. */
  readonly problem: string | null;
}

/** The current version, where it names compute; null: the server starts no workers for this deployment. */
export async function startedVersion(client: Client, deploymentName: string): Promise<StartedVersion | null> {
  const { namespace } = client.options;
  const found = await unlessGone(client.workflowService.describeWorkerDeployment({ namespace, deploymentName }));
  const info = found?.workerDeploymentInfo;
  const buildId = info?.routingConfig?.currentDeploymentVersion?.buildId;
  const summary = info?.versionSummaries?.find(({ deploymentVersion }) => deploymentVersion?.buildId === buildId);
  const [group] = Object.values(summary?.computeConfig?.scalingGroups ?? {});
  if (!buildId || !group?.providerType) return null;
  const problem = summary?.computeStatus?.providerValidation?.errorMessage || null;
  return { deploymentName, buildId, provider: group.providerType, problem };
}

/** The queues that the server starts workers for. */
export async function startedQueues(client: Client, deploymentName: string): Promise<ReadonlySet<string>> {
  const version = await startedVersion(client, deploymentName);
  return new Set(version === null ? [] : await registeredQueues(client, version));
}

/** The task queues that workers of this version registered. */
async function registeredQueues(
  { workflowService, options: { namespace } }: Client,
  { deploymentName, buildId }: WorkerVersion,
): Promise<readonly string[]> {
  const deploymentVersion = { deploymentName, buildId };
  const described = await unlessGone(workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion }));
  const queues = described?.workerDeploymentVersionInfo?.taskQueueInfos ?? [];
  return [...new Set(queues.map(({ name }) => name ?? ''))].sort();
}
