/**
 * What a function opens once: secrets, configuration, model, store and the connection to Temporal. It survives freezing: the
 * connection has to answer before each invocation or is made anew, and connections to databases are closed, which have few.
 */
import { NativeConnection } from '@temporalio/worker';
import { ConfigError, loadConfig, type Config } from '../../config';
import { resolveDatabase } from '../../config/databases';
import type { Environment } from '../../config/folders';
import { startTracing, telemetry } from '../telemetry/tracing';
import { compose } from '../composition';
import { configuredTemporal } from '../configured-temporal';
import { dataConverterOf } from '../payloads';
import { modelQueues } from '../task-queues';
import { createGateWorkers, installLogger } from '../run-worker';
import { servedName, servingOf } from '../serving';
import { workerVersion } from '../workflow-bundle';
import type { Kept } from './handler';
import { withSecrets } from './secret-references';

const IDLE_SECONDS = 3;
/** Longer than the server takes; a connection that broke while frozen does not say so. */
const ANSWERS_WITHIN_MS = 2_000;
/** A small machine: most steps wait for a model, and many invocations may run. */
const TUNING = {
  maxCachedWorkflows: 30,
  maxConcurrentWorkflowTaskExecutions: 10,
  workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
  activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
} as const;
const MODEL_CALLS = 20;

export async function openKept(given: Environment, cwd: string, log: (line: string) => void): Promise<Kept> {
  installLogger('WARN', log);
  const env = await withSecrets(given);
  const config = loadConfig({ env, cwd });
  await startTracing(env, log);
  const temporal = temporalOf(config, env);
  const connections = keptConnection(temporal);
  const names = Object.keys(config.databases);
  // The connection is made while the rest is loaded.
  const [composition] = await Promise.all([compose(config), connections.open()]);
  const databases = names.map((name) =>
    servedName(name, servingOf(config, composition, [resolveDatabase(config, name, cwd)])),
  );
  const { steps, scheduled, batch } = composition;
  const version = workerVersion(config.temporal.versioning);
  const served = {
    address: temporal.address,
    namespace: temporal.namespace,
    dataConverter: dataConverterOf(config),
    steps,
    batch,
    scheduled,
    databases,
    modelQueues: modelQueues(config, composition),
    version,
    maxModelCalls: MODEL_CALLS,
  };
  log(`build ${version.deploymentName}.${version.buildId} serves ${names.join(', ')}`);
  return {
    stepMs: config.models.requestTimeoutMs,
    idleMs: seconds(env, 'GATE_LAMBDA_IDLE_SECONDS', IDLE_SECONDS) * 1_000,
    drainMs: env['GATE_LAMBDA_DRAIN_SECONDS'] ? seconds(env, 'GATE_LAMBDA_DRAIN_SECONDS', 0) * 1_000 : null,
    workers: async ({ graceMs, forceMs }) => {
      const tuning = { ...TUNING, shutdownGraceTime: graceMs, shutdownForceTime: forceMs };
      return createGateWorkers({ ...served, invocation: { connection: await connections.answering(), tuning } });
    },
    rest: async () => {
      await composition.close();
      await telemetry.tracing?.flush();
    },
  };
}

function temporalOf(config: Config, env: Environment): NonNullable<ReturnType<typeof configuredTemporal>> {
  const temporal = configuredTemporal(config, env);
  if (temporal === null) throw new ConfigError(['no Temporal is configured: set TEMPORAL_ADDRESS']);
  if (Object.keys(config.databases).length === 0)
    throw new ConfigError([`${config.file ?? 'gate.config.json'}: names no database, so there is nothing to serve`]);
  return temporal;
}

function keptConnection({ address, connectionOptions }: ReturnType<typeof temporalOf>) {
  let current: NativeConnection | null = null;
  const open = async (): Promise<NativeConnection> => {
    current = await NativeConnection.connect({ ...connectionOptions, address }).catch((error: unknown) => {
      const message = `no Temporal at ${address} for this function (${String(error)}): check TEMPORAL_ADDRESS, subnets and security groups`;
      throw new Error(message, { cause: error });
    });
    return current;
  };
  const answering = async (): Promise<NativeConnection> => {
    const before = current;
    if (before === null) return open();
    const answers = await before
      .withDeadline(Date.now() + ANSWERS_WITHIN_MS, () => before.workflowService.getSystemInfo({}))
      .then(
        () => true,
        () => false,
      );
    if (answers) return before;
    await before.close();
    return open();
  };
  return { open, answering };
}

function seconds(env: Environment, name: string, otherwise: number): number {
  const given = env[name];
  if (!given) return otherwise;
  const value = Number(given);
  if (!(value > 0 && Number.isFinite(value)))
    throw new ConfigError([`${name}: '${given}' is not allowed; give seconds above 0`]);
  return value;
}
