/**
 * Vectors from any OpenAI-compatible `/embeddings` (OpenAI, gateways, vLLM, llama.cpp, Ollama).
 *
 * 1. One `embed` is one billed request at most: the client never retries, and only a 400 or 422 (not billed) that names the
 *    encoding is followed by another request without it.
 * 2. Vectors are asked for in base64, a fifth of the size; an endpoint that sends numbers all the same is understood.
 * 3. Errors are those of the chat model, with the names of the settings that are meant here.
 */
import OpenAI, { APIError } from 'openai';
import type { Embedder } from '../../ports';
import { Deadline } from '../openai/deadline';
import { timeoutError, toModelError, type CallContext } from '../openai/errors';
import { checkedBaseUrl } from '../openai/model';
import type { PriceTable } from '../openai/prices';
import { transport } from '../openai/transport';
import { toEmbedded } from './reply';

export interface OpenAiEmbedderConfig {
  readonly model: string;
  /** null for an endpoint that wants none: then no Authorization header is sent. */
  readonly apiKey: string | null;
  /** null for OpenAI itself. */
  readonly baseUrl: string | null;
  readonly timeoutMs: number;
  readonly batchSize: number;
  /** null: as long as the model makes them. */
  readonly dimensions?: number | null;
  /** Added to the default table, and winning over it. */
  readonly prices?: PriceTable;
  /** How messages call the settings; default: `schema.embeddings` with an endpoint of its own. */
  readonly settings?: { readonly key: string; readonly url: string };
  readonly now?: () => number;
}

/** US dollars per million tokens, list prices of the day that the chat models' table names. */
export const EMBEDDING_PRICES: PriceTable = {
  'text-embedding-3-small': { inputPerMillion: 0.02, outputPerMillion: 0 },
  'text-embedding-3-large': { inputPerMillion: 0.13, outputPerMillion: 0 },
  'text-embedding-ada-002': { inputPerMillion: 0.1, outputPerMillion: 0 },
};

type Encoding = 'base64' | 'float';

export function createOpenAiEmbedder(config: OpenAiEmbedderConfig): Embedder {
  const { model, apiKey, timeoutMs, batchSize } = config;
  const baseUrl = checkedBaseUrl(config);
  const endpoint = new URL(baseUrl).host;
  const prices = { ...EMBEDDING_PRICES, ...config.prices };
  const { key = 'schema.embeddings.apiKeyEnv', url = 'schema.embeddings.baseUrl' } = config.settings ?? {};
  const settings = { key, url, model: 'schema.embeddings.model', path: '/embeddings' };
  const client = new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL: baseUrl,
    maxRetries: 0,
    ...transport(timeoutMs),
    // Unset options are read from the environment: an address and its key come from the configuration alone.
    adminAPIKey: null,
    organization: null,
    project: null,
    logLevel: 'off',
    ...(apiKey === null && { defaultHeaders: { Authorization: null } }),
  });
  const dimensions = config.dimensions ?? null;
  let encoding: Encoding = 'base64';

  async function send(texts: readonly string[], signal: AbortSignal): Promise<unknown> {
    const body = { model, input: [...texts], ...(dimensions === null ? {} : { dimensions }) };
    const asked = encoding;
    try {
      return await client.embeddings.create({ ...body, encoding_format: asked }, { signal });
    } catch (error) {
      if (asked === 'float' || !refusesEncoding(error)) throw error;
      encoding = 'float';
      return client.embeddings.create({ ...body, encoding_format: 'float' }, { signal });
    }
  }

  return {
    model,
    endpoint,
    batchSize,
    requestTimeoutMs: timeoutMs,
    async embed(texts, { signal }) {
      signal.throwIfAborted();
      const nowMs = (config.now ?? Date.now)();
      const context: CallContext = { endpoint, model, apiKey, timeoutMs, nowMs, settings };
      const deadline = new Deadline(timeoutMs, signal);
      try {
        return toEmbedded(await send(texts, deadline.signal), texts, context, prices);
      } catch (error) {
        signal.throwIfAborted();
        throw deadline.passed ? timeoutError(context, error) : toModelError(error, context);
      } finally {
        deadline.clear();
      }
    },
  };
}

function refusesEncoding(error: unknown): boolean {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return false;
  return /encoding.?format|base64/i.test(`${String(error.param)} ${error.message}`);
}
