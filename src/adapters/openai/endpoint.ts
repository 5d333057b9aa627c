/** One OpenAI-compatible endpoint: its client, its transport; and a local Ollama. */
import OpenAI from 'openai';
import { types } from 'node:util';
import * as z from 'zod';
import { ModelError } from '../../domain/ports';
import { CONNECT_TIMEOUT_MS } from './errors';
import type * as Undici from './undici';

export interface EndpointConfig {
  /** null for an endpoint that wants none: then no Authorization header is sent. */
  readonly apiKey: string | null;
  /** null for OpenAI itself. The configuration has checked it. */
  readonly baseUrl: string | null;
  readonly timeoutMs: number;
}

export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** Timers of the HTTP client may run a second early. */
const BEHIND_MS = 30_000;

export function openEndpoint({ apiKey, baseUrl, timeoutMs }: EndpointConfig): {
  readonly client: OpenAI;
  readonly endpoint: string;
} {
  if (baseUrl === null && apiKey === null)
    throw new ModelError(
      'not-configured',
      'No model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for a local endpoint',
    );
  const baseURL = baseUrl ?? OPENAI_BASE_URL;
  const client = new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL,
    maxRetries: 0,
    timeout: timeoutMs + BEHIND_MS,
    fetch: endpointFetch(timeoutMs + BEHIND_MS),
    // Unset options are read from the environment: an address and its key come from the configuration alone.
    adminAPIKey: null,
    organization: null,
    project: null,
    logLevel: 'off',
    ...(apiKey === null && { defaultHeaders: { Authorization: null } }),
  });
  return { client, endpoint: new URL(baseURL).host };
}

/**
 * The HTTP client below the OpenAI client. Node's own `fetch` gives up after five minutes without headers, or between two parts
 * of a body, whatever the configuration says; here the configured limit comes first. One pool of connections per endpoint,
 * loaded at the first request: `gate ask` starts without it. `fetch` and its agent come from the same package, because an agent
 * of one version cannot serve the `fetch` of another.
 */
function endpointFetch(limitMs: number): typeof fetch {
  let opened: Promise<{ readonly agent: Undici.Agent; readonly undici: typeof Undici }> | null = null;
  const open = async () => {
    const undici = await import('./undici');
    const connect = { timeout: CONNECT_TIMEOUT_MS };
    return { undici, agent: new undici.Agent({ connect, headersTimeout: limitMs, bodyTimeout: limitMs }) };
  };
  const send = async (url: string | URL, init: object = {}) => {
    const { undici, agent } = await (opened ??= open());
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

/** On this machine: a free port refuses at once, and a busy machine may take a second to answer. */
const OLLAMA_WITHIN_MS = 2_000;

export interface LocalOllama {
  /** Its OpenAI-compatible address. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const Tags = z.object({ models: z.array(z.object({ name: z.string() })).nullish() });

/**
 * An Ollama on its usual local port, for a first run without any configuration. null when nothing answers there in time, or
 * something that is not an Ollama; that is no error.
 */
export async function detectOllama(url = 'http://127.0.0.1:11434'): Promise<LocalOllama | null> {
  try {
    const response = await fetch(`${url}/api/tags`, {
      signal: AbortSignal.timeout(OLLAMA_WITHIN_MS),
      redirect: 'error',
    });
    if (!response.ok) return null;
    const { models } = Tags.parse(await response.json());
    return { baseUrl: `${url}/v1`, models: (models ?? []).map((model) => model.name).sort() };
  } catch {
    return null;
  }
}
