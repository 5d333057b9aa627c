/** `gate ops deploy register`: create a version with its compute, wait until its queues are known, use it. */
import { loadConfig, type Config } from '../config';
import { deploymentOf } from '../config';
import {
  awaitQueues,
  createVersion,
  describeDeployment,
  makeCurrent,
  ramp,
  updateCompute,
  type Compute,
  type Deployment,
} from '../workers/deployments';
import { GRPC } from '../workers/grpc-status';
import { workerVersion, type WorkerVersion } from '../workers/workflow-bundle';
import { GateError, UsageError } from './errors';
import type { Io } from '../cli/io';
import { textTable } from '../cli/table';
import { openRunning, type TemporalSession } from './temporal-session';

export interface RegisterFlags {
  readonly provider?: Provider;
  readonly set?: Readonly<Record<string, string>>;
  readonly scale?: Readonly<Record<string, number>>;
  readonly update?: boolean;
  readonly ramp?: number;
  readonly show?: boolean;
  readonly rollback?: boolean;
  readonly wait: number;
  readonly json?: boolean;
}

interface Settings {
  readonly needed: readonly string[];
  readonly more: readonly string[];
  /** Providers that run for one call scale by the first algorithm, sets of workers by the second. */
  readonly algorithm: 'no-sync' | 'rate-based';
}

const ROLE = ['role', 'role_external_id'];
/** Settings of the server's compute providers, under the names that the server uses. */
export const PROVIDERS = {
  'aws-lambda': { needed: ['arn'], more: ROLE, algorithm: 'no-sync' },
  'aws-ecs': { needed: ['cluster', 'service'], more: ['region', ...ROLE], algorithm: 'rate-based' },
  'gcp-cloud-run': { needed: ['project', 'region', 'worker_pool'], more: ['service_account'], algorithm: 'rate-based' },
  k8s: { needed: ['namespace', 'deployment'], more: [], algorithm: 'rate-based' },
  subprocess: { needed: ['command'], more: ['args', 'timeout'], algorithm: 'no-sync' },
} as const satisfies Readonly<Record<string, Settings>>;

export type Provider = keyof typeof PROVIDERS;

export async function deployRegister(flags: RegisterFlags, io: Io): Promise<void> {
  const config = loadConfig(io);
  const isChange = flags.show !== true && flags.rollback !== true;
  const compute = isChange ? computeOf(flags) : null;
  const session = await openRunning(config, io.env, ({ what, fix }) => {
    throw new GateError(`${what}: ${fix}`);
  });
  if (session === null)
    throw new UsageError('no Temporal is configured: set TEMPORAL_ADDRESS, or use gate dev --serverless');
  try {
    const deploymentName = deploymentOf(config.temporal.versioning);
    if (compute !== null) await register(config, session, compute, flags, io);
    else if (flags.rollback === true) await rollBack(session, deploymentName);
    await show(session, deploymentName, flags.json ?? false, io);
  } catch (error) {
    throw await computeProblem(error, session);
  } finally {
    await session.close();
  }
}

/** Only settings that the provider knows may be given, and those that it needs must be. */
function computeOf({ provider, set = {}, scale }: RegisterFlags): Compute {
  if (provider === undefined)
    throw new UsageError(`give --provider ${Object.keys(PROVIDERS).join('|')}, --show or --rollback`);
  const { needed, more, algorithm }: Settings = PROVIDERS[provider];
  const foreign = Object.keys(set).find((key) => ![...needed, ...more].includes(key));
  if (foreign !== undefined)
    throw new UsageError(`--set ${foreign} is no setting of ${provider}, which has ${[...needed, ...more].join(', ')}`);
  const missing = needed.filter((key) => set[key] === undefined);
  if (missing.length > 0) throw new UsageError(`${provider} needs ${missing.map((key) => `--set ${key}=…`).join(' ')}`);
  return { provider, details: set, scaling: scale && { algorithm, details: scale } };
}

async function register(
  config: Config,
  { gate: { client } }: TemporalSession,
  compute: Compute,
  flags: RegisterFlags,
  io: Io,
): Promise<void> {
  const { versioning } = config.temporal;
  const version = workerVersion(versioning);
  const { deploymentName, buildId } = version;
  const before = await describeDeployment(client, deploymentName);
  const isCurrent = before?.current === buildId;
  if (flags.ramp !== undefined && (before?.current ?? null) === null)
    throw new UsageError('no version is current yet, so there is nothing to ramp from: leave --ramp out');
  if (flags.ramp !== undefined && isCurrent)
    throw new UsageError(`${named(version)} is current already: ramp another build, see GATE_BUILD_ID`);
  if (flags.update === true) await updateCompute(client, version, compute);
  else if (!(await createVersion(client, version, compute)))
    throw new GateError(
      `version ${named(version)} is registered already: give another GATE_BUILD_ID, or --update to change how its workers are started`,
    );
  io.err(`waiting for the first worker of ${named(version)}\n`);
  const queues = await awaitQueues(client, version, (known) => known.length > 0, flags.wait * 1000);
  if (queues.length === 0)
    throw new GateError(
      `no worker of ${named(version)} reached Temporal in ${flags.wait} s: read its log, then run this again with --update`,
    );
  io.err(`it serves ${queues.join(', ')}\n`);
  if (flags.ramp !== undefined) await ramp(client, deploymentName, { buildId, percentage: flags.ramp });
  else if (!isCurrent) await makeCurrent(client, deploymentName, buildId);
}

function named({ deploymentName, buildId }: WorkerVersion): string {
  return `${deploymentName}.${buildId}`;
}

async function rollBack({ gate: { client } }: TemporalSession, deploymentName: string): Promise<void> {
  const deployment = await found(client, deploymentName);
  if (deployment.ramping !== null) {
    await ramp(client, deploymentName, null);
    return;
  }
  const [before] = deployment.versions
    .filter(({ state, currentAtMs }) => state !== 'current' && currentAtMs !== null)
    .sort((a, b) => (b.currentAtMs ?? 0) - (a.currentAtMs ?? 0));
  if (before === undefined)
    throw new GateError(
      `${deploymentName} has no earlier version to go back to; gate ops deploy register --show lists all`,
    );
  await makeCurrent(client, deploymentName, before.buildId);
}

async function found(client: TemporalSession['gate']['client'], deploymentName: string): Promise<Deployment> {
  const deployment = await describeDeployment(client, deploymentName);
  if (deployment !== null) return deployment;
  throw new GateError(
    `the server knows no deployment ${deploymentName}: register a version, or correct GATE_DEPLOYMENT`,
  );
}

async function show({ gate: { client } }: TemporalSession, name: string, json: boolean, io: Io): Promise<void> {
  const deployment = await found(client, name);
  if (json) {
    io.out(`${JSON.stringify(deployment, null, 2)}\n`);
    return;
  }
  const rows = deployment.versions.map(({ buildId, state, provider, problem }) => [
    `${name}.${buildId}`,
    state === 'ramping' ? `ramping at ${deployment.ramping?.percentage ?? 0} %` : state,
    provider ?? 'started by hand',
    problem ?? '',
  ]);
  io.out(`${textTable(['version', 'state', 'workers', 'problem'], rows, { width: io.columns, whole: 1 })}\n`);
}

/** Providers that a server has only if it was built with them. */
const BUILT_IN = ['subprocess', 'k8s'];

/** The line that says why the server cannot start workers and what to change; other errors stay as they are. */
async function computeProblem(error: unknown, session: TemporalSession): Promise<unknown> {
  const { code, details } = error as { readonly code?: unknown; readonly details?: unknown };
  const text = typeof details === 'string' ? details : '';
  const { address, namespace, gate } = session;
  if (code === GRPC.unimplemented) {
    const { serverVersion } = await gate.client.workflowService.getSystemInfo({});
    return failed(
      `${address} is Temporal ${serverVersion}, which starts no workers: upgrade it to 1.31 or newer`,
      error,
    );
  }
  if (code === GRPC.permissionDenied)
    return failed(
      `${address} does not let this user change worker deployments in namespace ${namespace} (${text}): ask its administrator for write access`,
      error,
    );
  return code === GRPC.invalidArgument ? failed(providerProblem(text), error) : error;
}

function failed(line: string, cause: unknown): GateError {
  return new GateError(line, undefined, { cause });
}

/** Of what the server found when it tried the provider; the innermost reason stands at the end of its message. */
export function providerProblem(text: string): string {
  const [, provider] = NOT_ALLOWED.exec(text) ?? [];
  if (provider !== undefined) {
    const built = BUILT_IN.includes(provider) ? ` and build it with -tags computeprovider_${provider}` : '';
    return `the server allows no provider ${provider}: in its dynamic configuration, set workercontroller.enabled and add ${provider} to workercontroller.compute_providers.enabled${built}`;
  }
  const [, who, action, resource] =
    /User: (\S+) is not authorized to perform: (\S+) on resource: (\S+)/.exec(text) ?? [];
  if (action === 'sts:AssumeRole')
    return `${who ?? ''} may not assume ${resource ?? ''}: allow it in the role's trust policy, with the external id that was given`;
  if (action !== undefined) return `${who ?? ''} may not ${action} on ${resource ?? ''}: allow it in the role's policy`;
  const [, needed] = /requires "(\w+)" to be configured/.exec(text) ?? [];
  if (needed !== undefined) return `the server requires ${needed}: give --set ${needed}=…`;
  return `the server refuses these settings: ${text.replace(/^\w+: /, '')}`;
}

export const NOT_ALLOWED = /Could not instantiate compute provider with type '([^']+)'/;
