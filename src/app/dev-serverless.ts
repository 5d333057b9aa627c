/**
 * A server without a worker that waits (`gate dev --serverless`): the embedded server starts a worker when a question arrives, and the worker ends when there is
 * nothing to do. Between questions only the server runs.
 *
 * The server runs a small script. It holds no secret: keys are in the environment that the server was started with.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, type Config } from '../config';
import { resolveDatabase } from '../config/databases';
import { sha256 } from '../sha256';
import { compose } from '../workers/composition';
import { useVersion, type Compute } from '../workers/deployments';
import { databaseQueue, modelQueues } from '../workers/task-queues';
import { servedName, servingOf } from '../workers/serving';
import { workerVersion, type WorkerVersion } from '../workers/workflow-bundle';
import { gateCommand, lastLine } from './background';
import { GateError, UsageError } from './errors';
import type { Told } from './surroundings';
import { configuredTemporal } from '../workers/configured-temporal';
import { openTemporal } from './open-temporal';
import type { TemporalSession } from './temporal-session';

/** Two questions in a row share a worker. */
const IDLE_SECONDS = 10;
const COMPUTE = {
  provider: 'subprocess',
  // A worker ends by itself; the provider's own limit of a minute would cut long searches.
  details: { timeout: '24h' },
  // A burst of questions starts one worker, which has the time to begin; what is missed is seen by the next look.
  scaling: { algorithm: 'no-sync', details: { scale_up_cooloff_ms: 5_000, metrics_poll_interval_ms: 10_000 } },
} as const;
const REGISTERED_WITHIN_MS = 60_000;

export interface ServerlessPorts {
  readonly port?: number;
  readonly uiPort?: number;
}

export async function devServerless(ports: ServerlessPorts, io: Told) {
  const config = loadConfig(io);
  if (configuredTemporal(config, io.env) !== null)
    throw new UsageError('--serverless is for the embedded server; for your own one: gate ops deploy register');
  if (io.platform === 'win32') throw new UsageError('--serverless needs a shell script, so not Windows');
  const names = Object.keys(config.databases);
  if (names.length === 0)
    throw new UsageError('--serverless answers questions on configured databases: add "databases" to gate.config.json');
  const onProgress = (line: string): void => io.err(`${line}\n`);
  const session = await openTemporal(config, io.env, { ...ports, onProgress, serverless: true });
  try {
    await register(config, session, await queuesOf(config, io), io);
  } finally {
    await session.close({ keep: true });
  }
  return { address: session.address, uiUrl: session.uiUrl, databases: names, idleSeconds: IDLE_SECONDS };
}

/** Those that a worker of this configuration serves. */
async function queuesOf(config: Config, io: Pick<Told, 'cwd'>): Promise<readonly string[]> {
  const composition = await compose(config);
  try {
    const databases = Object.keys(config.databases).map((name) => resolveDatabase(config, name, io.cwd));
    const queues = databases.map((one) => databaseQueue(servedName(one.name, servingOf(config, composition, [one]))));
    return [...queues, ...modelQueues(config, composition).map(({ taskQueue }) => taskQueue)].sort();
  } finally {
    await composition.close();
  }
}

async function register(
  config: Config,
  session: TemporalSession,
  queues: readonly string[],
  io: Pick<Told, 'env' | 'cwd'>,
): Promise<void> {
  const { client } = session.gate;
  // Another configuration has other queues, so it is another build.
  const { versioning } = config.temporal;
  const { deploymentName, buildId } = workerVersion(versioning);
  const version = { deploymentName, buildId: versioning?.buildId ?? `${buildId}-${sha256(queues.join()).slice(0, 8)}` };
  const { command, log } = writeCommand(config, session, version, io);
  const compute: Compute = { ...COMPUTE, details: { ...COMPUTE.details, command } };
  const isEnough = (registered: readonly string[]): boolean => queues.every((queue) => registered.includes(queue));
  const registered = await useVersion(client, version, compute, { isEnough, withinMs: REGISTERED_WITHIN_MS });
  if (!isEnough(registered))
    throw new GateError(`the worker did not start (${lastLine(log) || 'no reply in time'}); its log is ${log}`);
}

/** What the server runs, and where it logs. The server's provider takes a command without arguments most reliably. */
function writeCommand(
  config: Config,
  { address }: TemporalSession,
  { deploymentName, buildId }: WorkerVersion,
  io: Pick<Told, 'cwd'>,
): { readonly command: string; readonly log: string } {
  const folder = join(config.folders.state, 'serverless', buildId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [command, log] = [join(folder, 'worker.sh'), join(folder, 'worker.log')];
  const variables = { TEMPORAL_ADDRESS: address, GATE_DEPLOYMENT: deploymentName, GATE_BUILD_ID: buildId };
  const worker = [...gateCommand(), 'ops', 'worker', '--background', '--exit-when-idle', String(IDLE_SECONDS)];
  const lines = [
    '#!/bin/sh',
    '# Written by gate dev --serverless: the Temporal server runs it when work arrives.',
    `cd ${quoted(io.cwd)} || exit 1`,
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`),
    `exec ${worker.map(quoted).join(' ')} >>${quoted(log)} 2>&1`,
  ];
  writeFileSync(log, '', { mode: 0o600 });
  writeFileSync(command, `${lines.join('\n')}\n`);
  chmodSync(command, 0o700);
  return { command, log };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
