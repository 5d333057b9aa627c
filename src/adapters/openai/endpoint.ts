/** One OpenAI-compatible endpoint: its client, and one call within the time limit. */
import OpenAI from 'openai';
import { z } from 'zod';
import { types } from 'node:util';
import type * as Undici from 'undici';
import { ModelError } from '../../domain/ports';
import { CONNECT_TIMEOUT_MS, timeoutError, toModelError, type CallContext } from './errors';

export interface EndpointConfig {
  /** null for an endpoint that wants none: then no Authorization header is sent. */
  readonly apiKey: string | null;
  /** null for OpenAI itself. */
  readonly baseUrl: string | null;
  readonly timeoutMs: number;
}

export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

export function openEndpoint(config: EndpointConfig): { readonly client: OpenAI; readonly endpoint: string } {
  const { apiKey, timeoutMs } = config;
  const baseURL = checkedBaseUrl(config);
  const client = new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL,
    maxRetries: 0,
    ...transport(timeoutMs),
    // Unset options are read from the environment: an address and its key come from the configuration alone.
    adminAPIKey: null,
    organization: null,
    project: null,
    logLevel: 'off',
    ...(apiKey === null && { defaultHeaders: { Authorization: null } }),
  });
  return { client, endpoint: new URL(baseURL).host };
}

/** What `call` throws becomes a `ModelError`; an abort throws the reason of `signal`. */
export async function withinLimit<T>(
  context: () => CallContext,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    return await call(AbortSignal.any([signal, limit]));
  } catch (error) {
    signal.throwIfAborted();
    throw limit.aborted ? timeoutError(context(), error) : toModelError(error, context());
  }
}

function checkedBaseUrl({ baseUrl, apiKey }: EndpointConfig): string {
  if (baseUrl === null && apiKey === null) {
    throw new ModelError(
      'not-configured',
      'No model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for a local endpoint',
    );
  }
  const address = baseUrl ?? OPENAI_BASE_URL;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ModelError(
      'not-configured',
      'OPENAI_BASE_URL is not an http or https address such as http://127.0.0.1:8000/v1',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ModelError(
      'not-configured',
      'OPENAI_BASE_URL holds a user name or password: put the key in OPENAI_API_KEY instead',
    );
  }
  return address;
}

export interface LocalOllama {
  /** Its OpenAI-compatible address. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const Tags = z.object({ models: z.array(z.object({ name: z.string() })).nullish() });

/**
 * An Ollama on its usual local port, for a first run without any configuration.
 *
 * null when nothing answers there in time, or something that is not an Ollama; that is no error.
 */
export async function detectOllama(
  options: { readonly url?: string; readonly timeoutMs?: number } = {},
): Promise<LocalOllama | null> {
  const url = options.url ?? 'http://127.0.0.1:11434';
  const found = await getJson(`${url}/api/tags`, options.timeoutMs ?? 400);
  const tags = Tags.safeParse(found);
  if (!tags.success) return null;
  return { baseUrl: `${url}/v1`, models: (tags.data.models ?? []).map((model) => model.name).sort() };
}

async function getJson(url: string, timeoutMs: number): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    return await response.json();
  } catch {
    return null; // Refused, too slow or not JSON: each of them means that there is no Ollama to use.
  }
}

/**
 * The HTTP client below the OpenAI client, with the time limit of the configuration. Node's own `fetch` gives up after
 * five minutes without headers, or between two parts of a body, whatever the configuration says. Here the configured
 * limit comes first, and the limits of the HTTP client lie behind it.
 *
 * `fetch` and its agent come from the same package: an agent of one version cannot serve the `fetch` of another.
 */

/** Timers of the HTTP client may run a second early. */
const BEHIND_MS = 30_000;

/** How long the HTTP client waits: for a connection, for headers, and between two parts of a body. */
function transportLimits(timeoutMs: number) {
  const behind = timeoutMs + BEHIND_MS;
  return { connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: behind, bodyTimeout: behind };
}

/** Options of the OpenAI client: nothing in it ends a request before `timeoutMs` have passed. */
function transport(timeoutMs: number): { readonly fetch: typeof fetch; readonly timeout: number } {
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
