/**
 * The part of `gate doctor` about workers that the server starts: the version in use and what is wrong with its compute, or
 * which providers the server allows. Nothing where worker versioning is not configured and no deployment is known.
 */
import type { Client } from '@temporalio/client';
import { deploymentOf, type VersioningConfig } from '../config';
import { describeDeployment, validateCompute } from '../workers/deployments';
import { GRPC } from '../workers/grpc-status';
import { NOT_ALLOWED, PROVIDERS } from './ops-deploy-register';
import { missing, note, ok, type Finding } from './doctor-finding';

const WHAT = 'workers started by Temporal';

export async function checkServerless(client: Client, versioning: VersioningConfig | null): Promise<Finding[]> {
  const name = deploymentOf(versioning);
  const deployment = await describeDeployment(client, name);
  const used = deployment?.versions.find(({ state }) => state === 'current');
  if (used !== undefined && used.provider !== null) {
    const version = `${name}.${used.buildId} by ${used.provider}`;
    if (used.problem === null) return [ok(WHAT, version)];
    return [missing(WHAT, `${version}: ${used.problem}`, 'correct it, or gate ops deploy register --rollback')];
  }
  if (versioning === null) return [];
  const allowed = await allowedProviders(client);
  if (allowed === null) return [note(WHAT, 'this server cannot', 'upgrade it to 1.31 or newer')];
  const fix =
    'set workercontroller.enabled and workercontroller.compute_providers.enabled in its dynamic configuration';
  if (allowed.length === 0) return [note(WHAT, 'the server allows no provider', fix)];
  return [note(WHAT, `none; the server allows ${allowed.join(', ')}`, 'gate ops deploy register')];
}

/** Settings that lack everything are refused for what they lack, unless the provider itself is not allowed. */
async function allowedProviders(client: Client): Promise<readonly string[] | null> {
  const tried = await Promise.all(
    Object.keys(PROVIDERS).map(async (provider) => {
      try {
        await validateCompute(client, { provider, details: {} });
      } catch (error) {
        const { code, details } = error as { readonly code?: unknown; readonly details?: unknown };
        if (code === GRPC.unimplemented) return null;
        if (NOT_ALLOWED.test(String(details))) return [];
      }
      return [provider];
    }),
  );
  return tried.includes(null) ? null : tried.flatMap((each) => each ?? []);
}
