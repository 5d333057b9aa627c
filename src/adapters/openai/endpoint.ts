/** One OpenAI-compatible endpoint, of chat completions or of embeddings: its client, and one call within the time limit. */
import OpenAI from 'openai';
import { ModelError } from '../../ports';
import { Deadline } from './deadline';
import { timeoutError, toModelError, type CallContext } from './errors';
import { transport } from './transport';

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
  const deadline = new Deadline(timeoutMs, signal);
  try {
    return await call(deadline.signal);
  } catch (error) {
    signal.throwIfAborted();
    throw deadline.passed ? timeoutError(context(), error) : toModelError(error, context());
  } finally {
    deadline.clear();
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
