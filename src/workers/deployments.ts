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
 * Creates the version, or changes how its workers are started; either starts one. Returns the task queues that are registered once
 * `isEnough` says so or the time is over.
 */
export async function registerVersion(
  client: Client,
  version: WorkerVersion,
  compute: Compute,
  { isEnough, withinMs }: { isEnough(queues: readonly string[]): boolean; readonly withinMs: number },
): Promise<readonly string[]> {
  const { workflowService } = client;
  const { deploymentName } = version;
  const request = { namespace: client.options.namespace, identity: processIdentity() };
  const scalingGroup = {
    provider: { type: compute.provider, details: jsonPayload(compute.details) },
    scaler: compute.scaling && { type: compute.scaling.algorithm, details: jsonPayload(compute.scaling.details) },
  };
  await unlessThere(workflowService.createWorkerDeployment({ ...request, deploymentName, requestId: randomUUID() }));
  const created = await unlessThere(
    workflowService.createWorkerDeploymentVersion({
      ...request,
      deploymentVersion: version,
      requestId: randomUUID(),
      computeConfig: { scalingGroups: { [GROUP]: scalingGroup } },
    }),
  );
  if (created === null)
    await workflowService.updateWorkerDeploymentVersionComputeConfig({
      ...request,
      deploymentVersion: version,
      requestId: randomUUID(),
      computeConfigScalingGroups: { [GROUP]: { scalingGroup } },
    });
  const deadline = Date.now() + withinMs;
  for (;;) {
    const queues = await registeredQueues(client, version);
    if (isEnough(queues) || Date.now() > deadline) return queues;
    await sleep(LOOK_EVERY_MS);
  }
}

/** The server reads it, so no codec of ours may touch it. */
function jsonPayload(value: Settings) {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) };
}

/**
 * Sends all new searches to a version. It need not have a worker now: the server starts one. Queues of the version before it that it
 * does not serve stay as they are: another configuration has other names.
 */
export async function makeCurrent({ workflowService, options }: Client, version: WorkerVersion): Promise<void> {
  await workflowService.setWorkerDeploymentCurrentVersion({
    ...version,
    namespace: options.namespace,
    identity: processIdentity(),
    ignoreMissingTaskQueues: true,
    allowNoPollers: true,
  });
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
