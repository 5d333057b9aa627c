/** From the body of a 200 to vectors. What is no list of as many vectors as texts, all of one length, is an error. */
import { z } from 'zod';
import { ModelError, type Embedded } from '../../ports';
import { errorInBody, oneLine, type CallContext } from '../openai/errors';
import { costUsd, type PriceTable } from '../openai/prices';

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

export function toEmbedded(
  body: unknown,
  texts: readonly string[],
  context: CallContext,
  prices: PriceTable,
): Embedded {
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
