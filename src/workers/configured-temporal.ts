/** Which Temporal the configuration names: its own setting, the environment or a `temporal.toml` profile. */
import type { ConnectionOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { existsSync } from 'node:fs';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { ConfigError, type Config } from '../config';
import type { Environment } from '../config/folders';
import type { WorkersOptions } from './run-worker';

/** Where a client connects to, and a worker. */
export interface Target {
  readonly address: string;
  readonly namespace: string;
  readonly dataConverter: DataConverter;
  /** Left out for the embedded server. */
  readonly connectionOptions?: ConnectionOptions & WorkersOptions['connectionOptions'];
}

/** Null: none is configured, so the embedded server is used. */
export function configuredTemporal(config: Config, env: Environment): Required<Omit<Target, 'dataConverter'>> | null {
  const profile = temporalProfile(env);
  const address = config.temporal.address ?? profile.connectionOptions.address;
  if (!address) return null;
  const namespace = env['TEMPORAL_NAMESPACE'] ?? profile.namespace ?? config.temporal.namespace;
  const connectionOptions = { ...profile.connectionOptions, address } as Required<Target>['connectionOptions'];
  return { address, namespace, connectionOptions };
}

/** Temporal's own settings, from `temporal.toml` and the environment; a mistake in them is one line. */
function temporalProfile(env: Environment): ReturnType<typeof toClientOptions> {
  const file = env['TEMPORAL_CONFIG_FILE'];
  if (file && !existsSync(file))
    throw new ConfigError([`TEMPORAL_CONFIG_FILE: no file ${file}; correct the path or unset TEMPORAL_CONFIG_FILE`]);
  try {
    const profile = loadClientConfigProfile({ overrideEnvVars: { ...env } as Record<string, string> });
    // Half of the pair would be left out without a word.
    if ((profile.tls?.clientCert === undefined) !== (profile.tls?.clientKey === undefined))
      throw new Error('a client certificate needs its key: set both client_cert_path and client_key_path, or neither');
    return toClientOptions(profile);
  } catch (error) {
    const [message = ''] = (error as Error).message.split('\n');
    throw new ConfigError([`temporal.toml or TEMPORAL_*: ${message}`], { cause: error });
  }
}
