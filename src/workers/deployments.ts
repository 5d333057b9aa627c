/**
 * Worker deployments whose versions name compute: the server itself starts their workers when tasks arrive (Temporal's worker
 * controller, from server 1.31). A version is created with its compute, which starts a worker once so that it registers its
 * task queues; then the version is made current or ramps. Only then its queues belong to it.
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

export interface DeploymentVersion {
  readonly buildId: string;
  /** `draining`: searches that began on it still run. */
  readonly state: 'current' | 'ramping' | 'draining' | 'drained' | 'inactive';
  /** null: the server starts no workers for it. */
  readonly provider: string | null;
  /** What the server found wrong with its compute when it last looked. */
  readonly problem: string | null;
  readonly createdAtMs: number;
  /** When it was current last; null: never. */
  readonly currentAtMs: number | null;
}

export interface Deployment {
  readonly name: string;
  readonly current: string | null;
  readonly ramping: { readonly buildId: string; readonly percentage: number } | null;
  /** Newest first. */
  readonly versions: readonly DeploymentVersion[];
}

/** One for all task types. */
const GROUP = 'all';

/** null: the server knows none of this name. */
export async function describeDeployment(client: Client, deploymentName: string): Promise<Deployment | null> {
  const { namespace } = client.options;
  const found = await unlessGone(client.workflowService.describeWorkerDeployment({ namespace, deploymentName }));
  const info = found?.workerDeploymentInfo;
  if (!info) return null;
  const current = info.routingConfig?.currentDeploymentVersion?.buildId || null;
  const rampingId = info.routingConfig?.rampingDeploymentVersion?.buildId || null;
  const percentage = info.routingConfig?.rampingVersionPercentage ?? 0;
  const versions = (info.versionSummaries ?? []).map((summary): DeploymentVersion => {
    const buildId = summary.deploymentVersion?.buildId ?? '';
    const state =
      buildId === current ? 'current' : buildId === rampingId ? 'ramping' : drainage(summary.drainageStatus);
    const [group] = Object.values(summary.computeConfig?.scalingGroups ?? {});
    return {
      buildId,
      state,
      provider: group?.providerType || null,
      problem: summary.computeStatus?.providerValidation?.errorMessage || null,
      createdAtMs: millis(summary.createTime) ?? 0,
      currentAtMs: millis(summary.lastCurrentTime ?? summary.currentSinceTime),
    };
  });
  return {
    name: deploymentName,
    current,
    ramping: rampingId === null ? null : { buildId: rampingId, percentage },
    versions: versions.sort((a, b) => b.createdAtMs - a.createdAtMs),
  };
}

/** `VersionDrainageStatus`. */
function drainage(status: unknown): DeploymentVersion['state'] {
  return status === 1 ? 'draining' : status === 2 ? 'drained' : 'inactive';
}

function millis(time: { readonly seconds?: unknown } | null | undefined): number | null {
  return time?.seconds === undefined || time.seconds === null ? null : Number(time.seconds) * 1000;
}

/** False: the version was there before, and is as it was. */
export async function createVersion(client: Client, version: WorkerVersion, compute: Compute): Promise<boolean> {
  const { namespace } = client.options;
  const { deploymentName } = version;
  const more = { namespace, identity: processIdentity() };
  await unlessThere(
    client.workflowService.createWorkerDeployment({ ...more, deploymentName, requestId: randomUUID() }),
  );
  const created = await unlessThere(
    client.workflowService.createWorkerDeploymentVersion({
      ...more,
      deploymentVersion: version,
      requestId: randomUUID(),
      computeConfig: { scalingGroups: { [GROUP]: groupOf(compute) } },
    }),
  );
  return created !== null;
}

/** Gives a version other compute; a worker is started once more. */
export async function updateCompute(client: Client, version: WorkerVersion, compute: Compute): Promise<void> {
  const { namespace } = client.options;
  await client.workflowService.updateWorkerDeploymentVersionComputeConfig({
    namespace,
    identity: processIdentity(),
    deploymentVersion: version,
    requestId: randomUUID(),
    computeConfigScalingGroups: { [GROUP]: { scalingGroup: groupOf(compute) } },
  });
}

function groupOf({ provider, details, scaling }: Compute) {
  return {
    provider: { type: provider, details: jsonPayload(details) },
    scaler: scaling && { type: scaling.algorithm, details: jsonPayload(scaling.details) },
  };
}

/** The server reads it, so no codec of ours may touch it. */
function jsonPayload(value: Settings) {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) };
}

/** The task queues that workers of this version registered. */
async function registeredQueues(client: Client, version: WorkerVersion): Promise<readonly string[]> {
  const { namespace } = client.options;
  const described = await unlessGone(
    client.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion: version }),
  );
  const queues = described?.workerDeploymentVersionInfo?.taskQueueInfos ?? [];
  return [...new Set(queues.map(({ name }) => name ?? ''))].sort();
}

const LOOK_EVERY_MS = 250;

/** What is registered once `isEnough` says so or the time is over. */
export async function awaitQueues(
  client: Client,
  version: WorkerVersion,
  isEnough: (queues: readonly string[]) => boolean,
  withinMs: number,
): Promise<readonly string[]> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const queues = await registeredQueues(client, version);
    if (isEnough(queues) || Date.now() > deadline) return queues;
    await sleep(LOOK_EVERY_MS);
  }
}

/**
 * Sends all new searches to a version (null: back to workers without a version). It need not have a worker now: the server
 * starts one. Queues of the version before it that it does not serve stay as they are: another configuration has other names.
 */
export async function makeCurrent(client: Client, deploymentName: string, buildId: string | null): Promise<void> {
  await client.workflowService.setWorkerDeploymentCurrentVersion({
    ...change(client, deploymentName),
    buildId: buildId ?? '',
  });
}

/** Sends a share of the new searches to a version; null ends that. */
export async function ramp(
  client: Client,
  deploymentName: string,
  to: { readonly buildId: string; readonly percentage: number } | null,
): Promise<void> {
  const { buildId = '', percentage = 0 } = to ?? {};
  const request = { ...change(client, deploymentName), buildId, percentage };
  await client.workflowService.setWorkerDeploymentRampingVersion(request);
}

function change(client: Client, deploymentName: string) {
  const { namespace } = client.options;
  const lenient = { ignoreMissingTaskQueues: true, allowNoPollers: true };
  return { namespace, deploymentName, identity: processIdentity(), ...lenient };
}

/** The queues that the server starts workers for: those of the current version, where it names compute. */
export async function startedQueues(client: Client, deploymentName: string): Promise<ReadonlySet<string>> {
  const deployment = await describeDeployment(client, deploymentName);
  const current = deployment?.versions.find(({ state }) => state === 'current');
  if (current === undefined || current.provider === null) return new Set();
  return new Set(await registeredQueues(client, { deploymentName, buildId: current.buildId }));
}
