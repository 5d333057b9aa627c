/**
 * Vectors from any OpenAI-compatible `/embeddings` (OpenAI, gateways, vLLM, llama.cpp, Ollama).
 *
 * 1. One `embed` is one billed request at most: the client never retries, and only a 400 or 422 (not billed) that names the
 *    encoding is followed by another request without it.
 * 2. Vectors are asked for in base64, a fifth of the size; an endpoint that sends numbers all the same is understood.
 * 3. Errors are those of the chat model, with the names of the settings that are meant here.
 */
import { APIError } from 'openai';
import type { Embedder } from '../../ports';
import { openEndpoint, withinLimit, type EndpointConfig } from '../openai/endpoint';
import type { CallContext } from '../openai/errors';
import type { PriceTable } from '../openai/prices';
import { toEmbedded } from './reply';

export interface OpenAiEmbedderConfig extends EndpointConfig {
  readonly model: string;
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
  const { client, endpoint } = openEndpoint(config);
  const prices = { ...EMBEDDING_PRICES, ...config.prices };
  const { key = 'schema.embeddings.apiKeyEnv', url = 'schema.embeddings.baseUrl' } = config.settings ?? {};
  const settings = { key, url, model: 'schema.embeddings.model', path: '/embeddings' };
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
    embed(texts, { signal }) {
      const nowMs = (config.now ?? Date.now)();
      const context: CallContext = { endpoint, model, apiKey, timeoutMs, nowMs, settings };
      return withinLimit(
        () => context,
        { signal, timeoutMs },
        async (within) => toEmbedded(await send(texts, within), texts, context, prices),
      );
    },
  };
}

function refusesEncoding(error: unknown): boolean {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return false;
  return /encoding.?format|base64/i.test(`${String(error.param)} ${error.message}`);
}
