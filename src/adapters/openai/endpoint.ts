/** One OpenAI-compatible endpoint, of chat completions or of embeddings: its client, and one call within the time limit. */
import OpenAI from 'openai';
import { z } from 'zod';
import { ModelError } from '../../ports';
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

/** The caller's signal and a time limit in one, without leaving a listener behind on a signal that outlives the call. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = () => this.controller.abort();
  passed = false;

  constructor(
    timeoutMs: number,
    private readonly outer: AbortSignal,
  ) {
    outer.addEventListener('abort', this.onAbort, { once: true });
    this.timer = setTimeout(() => {
      this.passed = true;
      this.controller.abort();
    }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.onAbort);
  }
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
