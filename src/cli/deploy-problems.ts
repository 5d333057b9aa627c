/** Why a server cannot start workers, each as one line that says what to change. */
import { GRPC } from '../workers/grpc-status';
import { STARTS_WORKERS } from '../workers/temporal-servers';
import { CommandFailed } from './errors';
import type { TemporalSession } from './temporal-session';

/** Providers that a server has only if it was built with them. */
const BUILT_IN = ['subprocess', 'k8s'];

/** Other errors stay as they are. */
export async function computeProblem(error: unknown, session: TemporalSession): Promise<unknown> {
  const { code, details } = error as { readonly code?: unknown; readonly details?: unknown };
  const text = typeof details === 'string' ? details : '';
  const { address, namespace, gate } = session;
  if (code === GRPC.unimplemented) {
    const { serverVersion } = await gate.client.workflowService.getSystemInfo({});
    return failed(
      `${address} is Temporal ${serverVersion}, which starts no workers: upgrade it to ${STARTS_WORKERS.from} or newer`,
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

function failed(line: string, cause: unknown): CommandFailed {
  return new CommandFailed(line, undefined, { cause });
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
  if (needed !== undefined) return `the server requires ${needed === 'role' ? '--role' : '--external-id'}: give it`;
  return `the server refuses these settings: ${text.replace(/^\w+: /, '')}`;
}

export const NOT_ALLOWED = /Could not instantiate compute provider with type '([^']+)'/;
