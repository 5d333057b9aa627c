/**
 * Vectors from any OpenAI-compatible `/embeddings` (OpenAI, gateways, vLLM, llama.cpp, Ollama).
 *
 * 1. One `embed` is one billed request at most: the client never retries, and only a 400 or 422 (not billed) that names the
 *    encoding is followed by another request without it.
 * 2. Vectors are asked for in base64, a fifth of the size; an endpoint that sends numbers all the same is understood.
 * 3. Errors are those of the chat model, with the names of the settings that are meant here.
 */
import { APIError } from 'openai';
import { z } from 'zod';
import { type Embedder, ModelError, type Embedded } from '../../ports';
import { openEndpoint, withinLimit, type EndpointConfig } from '../openai/endpoint';
import { type CallContext, errorInBody, oneLine } from '../openai/errors';
import { type PriceTable, costUsd } from '../openai/prices';

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

const Tokens = z.number().int().nonnegative().nullish().catch(null);
const Body = z.object({
  data: z.array(
    z.object({
      index: z.number().int().nonnegative().nullish(),
      embedding: z.union([z.string(), z.array(z.number())]),
    }),
  ),
  usage: z.object({ prompt_tokens: Tokens, total_tokens: Tokens }).nullish(),
});
const Failure = z.object({
  error: z.object({ code: z.unknown().optional(), message: z.unknown().optional(), type: z.unknown().optional() }),
});

/** From the body of a 200 to vectors. What is no list of as many vectors as texts, all of one length, is an error. */
function toEmbedded(body: unknown, texts: readonly string[], context: CallContext, prices: PriceTable): Embedded {
  const parsed = Body.safeParse(body);
  if (!parsed.success) throw notVectors(body, context);
  const { data, usage } = parsed.data;
  const vectors = data
    .map(({ index, embedding }, at) => ({ index: index ?? at, vector: decoded(embedding) }))
    .sort((a, b) => a.index - b.index)
    .map(({ vector }) => vector);
  const [first] = vectors;
  const length = first?.length ?? 0;
  if (vectors.length !== texts.length || length === 0 || vectors.some((vector) => vector.length !== length))
    throw bad(context, `${vectors.length} vectors of ${length} numbers for ${texts.length} texts`);
  if (vectors.some((vector) => !vector.every(Number.isFinite))) throw bad(context, 'vectors that are no numbers');
  const tokens = usage?.prompt_tokens ?? usage?.total_tokens ?? estimatedTokens(texts);
  return { vectors, tokens, costUsd: costUsd(context.model, { promptTokens: tokens, completionTokens: 0 }, prices) };
}

/** Base64 of little-endian 32-bit floats. */
function decoded(embedding: string | readonly number[]): readonly number[] {
  if (typeof embedding !== 'string') return embedding;
  const bytes = Buffer.from(embedding, 'base64');
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => bytes.readFloatLE(at * 4));
}

/** For an endpoint that reports no usage: about four characters to a token. */
function estimatedTokens(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, { length }) => sum + length, 0) / 4);
}

function notVectors(body: unknown, context: CallContext): ModelError {
  const failure = Failure.safeParse(body);
  if (failure.success) return errorInBody(failure.data.error, context);
  const start = typeof body === 'string' ? body : ((JSON.stringify(body) as string | undefined) ?? '');
  return bad(context, `something else than vectors: ${oneLine(start, 120)}`);
}

function bad({ endpoint }: CallContext, what: string): ModelError {
  return new ModelError('server-error', `${endpoint} answered with ${what}`);
}
