/**
 * The HTTP client below the OpenAI client, with the time limit of the configuration. Node's own `fetch` gives up after
 * five minutes without headers, or between two parts of a body, whatever the configuration says. Here the configured
 * limit (`Deadline`) comes first, and the limits of the HTTP client lie behind it.
 *
 * `fetch` and its agent come from the same package: an agent of one version cannot serve the `fetch` of another.
 */
import { types } from 'node:util';
import type * as Undici from 'undici';

/** Timers of the HTTP client may run a second early. */
const BEHIND_MS = 30_000;
/** To set up a connection, TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** How long the HTTP client waits: for a connection, for headers, and between two parts of a body. */
function transportLimits(timeoutMs: number) {
  const behind = timeoutMs + BEHIND_MS;
  return { connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: behind, bodyTimeout: behind };
}

/** Options of the OpenAI client: nothing in it ends a request before `timeoutMs` have passed. */
export function transport(timeoutMs: number): { readonly fetch: typeof fetch; readonly timeout: number } {
  return { fetch: endpointFetch(timeoutMs), timeout: timeoutMs + BEHIND_MS };
}

/** One pool of connections per endpoint. Loaded at the first request: `gate ask` starts without it. */
function endpointFetch(timeoutMs: number): typeof fetch {
  let opened: Promise<{ readonly agent: Undici.Agent; readonly undici: typeof Undici }> | null = null;
  const open = async () => {
    const undici = await import('undici');
    return { undici, agent: new undici.Agent(transportLimits(timeoutMs)) };
  };
  const send = async (url: string | URL, init: object = {}) => {
    opened ??= open();
    const { undici, agent } = await opened;
    return undici.fetch(url, { ...init, dispatcher: agent }).catch((error: unknown) => {
      throw named(error);
    });
  };
  // The same interface by another name: the types of the package are not those of the platform.
  return send as unknown as typeof fetch;
}

/** The OpenAI client puts an error of its own in place of whatever speaks of a timeout; a code alone stays. */
function named(error: unknown): unknown {
  const cause = types.isNativeError(error) ? error.cause : undefined;
  if (!types.isNativeError(cause) || !('code' in cause) || !/TIMEOUT/.test(String(cause.code))) return error;
  return Object.assign(new Error('the HTTP client gave up'), { code: cause.code });
}
