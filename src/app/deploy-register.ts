/** `gate ops deploy register`: create a version with its compute, wait until its queues are known, make it current. */
import { loadConfig } from '../config';
import { useVersion } from '../workers/deployments';
import { GRPC } from '../workers/grpc-status';
import { workerVersion } from '../workers/workflow-bundle';
import { GateError, UsageError } from './errors';
import type { Told } from './surroundings';
import { openRunning } from './open-temporal';
import type { TemporalSession } from './temporal-session';

const ROLE = ['role', 'role_external_id'];
/** Settings of the server's compute providers, under the names that the server uses. */
const SETTINGS = {
  'aws-lambda': ['arn', ...ROLE],
  'aws-ecs': ['cluster', 'service', 'region', ...ROLE],
  'gcp-cloud-run': ['project', 'region', 'worker_pool', 'service_account'],
  k8s: ['namespace', 'deployment'],
  subprocess: ['command', 'args', 'timeout'],
} as const;
export type Provider = keyof typeof SETTINGS;

/**
 * Of providers that start a worker for a signal. One may be missed when a worker ends at that very moment: the server looks
 * again this often. Sets of workers are resized by the server's own settings.
 */
const BY_SIGNAL = { algorithm: 'no-sync', details: { metrics_poll_interval_ms: 10_000 } };

export interface Registration {
  readonly provider: Provider;
  readonly set: Readonly<Record<string, string>>;
  readonly waitMs: number;
}

export async function deployRegister({ provider, set, waitMs }: Registration, at: Told) {
  const known: readonly string[] = SETTINGS[provider];
  const foreign = Object.keys(set).find((key) => !known.includes(key));
  if (foreign !== undefined)
    throw new UsageError(`--set ${foreign} is no setting of ${provider}, which has ${known.join(', ')}`);
  const config = loadConfig(at);
  const session = await openRunning(config, at.env, ({ what, fix }) => {
    throw new GateError(`${what}: ${fix}`);
  });
  if (session === null)
    throw new UsageError('no Temporal is configured: set TEMPORAL_ADDRESS, or use gate dev --serverless');
  const { client } = session.gate;
  const version = workerVersion(config.temporal.versioning);
  const named = `${version.deploymentName}.${version.buildId}`;
  const scaling = provider === 'aws-lambda' || provider === 'subprocess' ? BY_SIGNAL : undefined;
  try {
    at.err(`waiting for the first worker of ${named}\n`);
    const wait = { isEnough: (queues: readonly string[]) => queues.length > 0, withinMs: waitMs };
    const queues = await useVersion(client, version, { provider, details: set, scaling }, wait);
    if (queues.length === 0)
      throw new GateError(
        `no worker of ${named} reached Temporal in ${waitMs / 1000} s: read its log, then run this again`,
      );
    return { ...version, provider, queues };
  } catch (error) {
    throw await problemOf(error, session);
  } finally {
    await session.close();
  }
}

/** The line that says why the server cannot start workers and what to change; other errors stay as they are. */
async function problemOf(cause: unknown, { address, gate }: TemporalSession): Promise<unknown> {
  const { code, details } = cause as { readonly code?: unknown; readonly details?: unknown };
  if (code === GRPC.invalidArgument) return new GateError(providerProblem(String(details)), 'failed', { cause });
  if (code !== GRPC.unimplemented) return cause;
  const { serverVersion } = await gate.client.workflowService.getSystemInfo({});
  const line = `${address} is Temporal ${serverVersion}, which starts no workers: upgrade it to 1.31 or newer`;
  return new GateError(line, 'failed', { cause });
}

/** Of what the server found when it tried the provider. */
export function providerProblem(text: string): string {
  const [, provider] = /Could not instantiate compute provider with type '([^']+)'/.exec(text) ?? [];
  if (provider === undefined) return `the server refuses these settings: ${text.replace(/^\w+: /, '')}`;
  // Those that a server has only if it was built with them.
  const build =
    provider === 'subprocess' || provider === 'k8s' ? ` and build it with -tags computeprovider_${provider}` : '';
  return `the server allows no provider ${provider}: in its dynamic configuration, set workercontroller.enabled and add ${provider} to workercontroller.compute_providers.enabled${build}`;
}
