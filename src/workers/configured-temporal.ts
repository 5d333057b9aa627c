/** Which Temporal the configuration names: its own setting, the environment or a `temporal.toml` profile. */
import type { ConnectionOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Config } from '../config';
import type { Environment } from '../config/folders';
import type { WorkersOptions } from './run-worker';
import { temporalProfile } from './temporal-profile';

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
