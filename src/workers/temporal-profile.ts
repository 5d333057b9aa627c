/** Temporal's own settings, from `temporal.toml` and the environment; a mistake in them is one line. */
import { existsSync } from 'node:fs';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { ConfigError } from '../config';
import type { Environment } from '../config/folders';

export function temporalProfile(env: Environment): ReturnType<typeof toClientOptions> {
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
