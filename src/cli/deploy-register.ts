/** What `gate deploy register` does: create a version with its compute, wait until its queues are known, use it. */
import { loadConfig, type Config } from '../config';
import { deploymentOf } from '../config/limits';
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
import { workerVersion, type WorkerVersion } from '../workers/workflow-bundle';
import {
  PROVIDERS,
  SETTINGS,
  valueName,
  type Provider,
  type RegisterFlags,
  type Setting,
} from './deploy-register-options';
import { computeProblem } from './deploy-problems';
import { CommandFailed, UsageError } from './errors';
import type { Io } from './io';
import { textTable } from './table';
import { openRunning, type TemporalSession } from './temporal-session';

/** Those that run for one call scale by one algorithm, sets of workers by the other. */
const ALGORITHM: Readonly<Record<Provider, string>> = {
  'aws-lambda': 'no-sync',
  subprocess: 'no-sync',
  'aws-ecs': 'rate-based',
  'gcp-cloud-run': 'rate-based',
  k8s: 'rate-based',
};

export async function deployRegister(flags: RegisterFlags, io: Io): Promise<void> {
  const config = loadConfig(io);
  const isChange = flags.show !== true && flags.rollback !== true;
  const compute = isChange ? computeOf(flags) : null;
  const session = await openRunning(config, io.env, ({ what, fix }) => {
    throw new CommandFailed(`${what}: ${fix}`);
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

/** Only what the provider knows may be given, and what it needs must be. */
function computeOf(flags: RegisterFlags): Compute {
  const { provider, scale } = flags;
  if (provider === undefined)
    throw new UsageError(`give --provider ${Object.keys(PROVIDERS).join('|')}, --show or --rollback`);
  const settings: readonly Setting[] = PROVIDERS[provider];
  const known = new Set(settings.map(valueName));
  const foreign = SETTINGS.find((each) => flags[valueName(each)] !== undefined && !known.has(valueName(each)));
  if (foreign !== undefined) throw new UsageError(`${nameOf(foreign)} is no setting of ${provider}: leave it out`);
  const missing = settings.filter((setting) => setting.needed === true && flags[valueName(setting)] === undefined);
  if (missing.length > 0) throw new UsageError(`${provider} needs ${missing.map(({ flag }) => flag).join(' ')}`);
  const given = settings.flatMap((setting) => {
    const value = flags[valueName(setting)];
    return typeof value === 'string' ? [[setting.key, value] as const] : [];
  });
  return {
    ...{ provider, details: Object.fromEntries(given) },
    ...(scale === undefined ? {} : { scaling: { algorithm: ALGORITHM[provider], details: scale } }),
  };
}

function nameOf({ flag }: Setting): string {
  return flag.split(' ')[0] ?? flag;
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
    throw new CommandFailed(
      `version ${named(version)} is registered already: give another GATE_BUILD_ID, or --update to change how its workers are started`,
    );
  io.err(`waiting for the first worker of ${named(version)}\n`);
  const queues = await awaitQueues(client, version, (known) => known.length > 0, flags.wait * 1000);
  if (queues.length === 0)
    throw new CommandFailed(
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
    throw new CommandFailed(
      `${deploymentName} has no earlier version to go back to; gate deploy register --show lists all`,
    );
  await makeCurrent(client, deploymentName, before.buildId);
}

async function found(client: TemporalSession['gate']['client'], deploymentName: string): Promise<Deployment> {
  const deployment = await describeDeployment(client, deploymentName);
  if (deployment !== null) return deployment;
  throw new CommandFailed(
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
