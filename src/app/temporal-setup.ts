/**
 * Registers the search attributes by which the Temporal UI lists searches; safe to repeat. Searches run without them, too: only
 * the lists of the UI show less then.
 */
import { loadConfig } from '../config';
import { ATTRIBUTE_TYPES, isNotAllowed, registerSearchAttributes } from '../workers/search-attributes';
import { GateError } from './errors';
import type { Surroundings } from './surroundings';
import { openRunning } from './open-temporal';

export interface TemporalSetup {
  /** Null: no Temporal is configured, and the embedded one registers its attributes by itself. */
  readonly address: string | null;
  readonly namespace?: string;
  readonly added: readonly string[];
  /** Registered before. */
  readonly present: readonly string[];
}

export async function setUpTemporal(at: Surroundings): Promise<TemporalSetup> {
  const session = await openRunning(loadConfig(at), at.env, ({ what, fix }) => {
    throw new GateError(`${what}: ${fix}`);
  });
  if (session === null) return { address: null, added: [], present: [] };
  const { address, namespace } = session;
  try {
    const { added, present, conflicts } = await registerSearchAttributes(session.gate.client);
    if (conflicts.length === 0) return { address, namespace, added, present };
    throw new GateError(
      `${conflicts.join(', ')} in namespace ${namespace} at ${address}: the name is in use with another type; remove it, or go on without lists by question`,
    );
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    const names = ATTRIBUTE_TYPES.map(([name, type]) => `${name}=${type}`).join(' ');
    throw new GateError(
      `${address} does not let this user register search attributes in namespace ${namespace}: ask its administrator for ${names}`,
      undefined,
      { cause: error },
    );
  } finally {
    await session.close();
  }
}
