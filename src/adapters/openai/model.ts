/**
 * A language model behind any OpenAI-compatible chat-completions endpoint.
 *
 * 1. One `complete` is one billed call at most: the client never retries, and only a 400 (which is not billed) is
 *    followed by another request in a narrower shape.
 * 2. The time limit covers the whole exchange, body included; an abort throws the signal's own reason.
 * 3. A reply without text is a reply: the caller charges it and decides.
 */
import { APIError } from 'openai';
import type { LanguageModel, ModelRequest } from '../../ports';
import { openEndpoint, withinLimit, type EndpointConfig } from './endpoint';
import type { CallContext } from './errors';
import { DEFAULT_PRICES, type PriceTable } from './prices';
import { toReply } from './reply';
import {
  narrower,
  refusesTheSchema,
  requestBody,
  type Refusal,
  type ReplyFormat,
  type RequestShape,
  ShapeMemory,
} from './request-shape';

export interface OpenAiConfig extends EndpointConfig {
  /** Added to the default table, and winning over it. */
  readonly prices?: PriceTable;
  /** What to try first; an endpoint that refuses gets the next simpler one. */
  readonly format?: ReplyFormat;
  readonly now?: () => number;
}

/** Enough to give up every field of the shape once. */
const MAX_SHAPES = 8;

export function createOpenAiModel(config: OpenAiConfig): LanguageModel {
  const { client, endpoint } = openEndpoint(config);
  const prices = { ...DEFAULT_PRICES, ...config.prices };
  const shapes = new ShapeMemory(config.format ?? 'json_schema');

  return {
    endpoint,
    complete(request, { signal }) {
      const context = (): CallContext => ({
        endpoint,
        model: request.model,
        apiKey: config.apiKey,
        timeoutMs: config.timeoutMs,
        nowMs: (config.now ?? Date.now)(),
      });
      return withinLimit(context, { signal, timeoutMs: config.timeoutMs }, async (within) => {
        const body = await inAcceptedShape(request, shapes, (shape) =>
          client.chat.completions.create(requestBody(request, shape), { signal: within }),
        );
        return toReply(body, request, context(), prices);
      });
    },
  };
}

async function inAcceptedShape(
  request: ModelRequest,
  shapes: ShapeMemory,
  send: (shape: RequestShape) => Promise<unknown>,
): Promise<unknown> {
  let shape = shapes.of(request);
  let schemaOnly = false;
  for (let tries = 1; ; tries += 1) {
    try {
      const body = await send(shape);
      shapes.learned(request, shape, schemaOnly);
      return body;
    } catch (error) {
      const refusal = refusalOf(error);
      const next = refusal === null || tries === MAX_SHAPES ? null : narrower(shape, refusal);
      if (refusal === null || next === null) throw error;
      schemaOnly = next.format === shape.format ? schemaOnly : refusesTheSchema(refusal);
      shape = next;
    }
  }
}

/** Gateways differ in the status they refuse a field with: 400 for most, 422 where a validator answers. */
function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return null;
  return { param: typeof error.param === 'string' ? error.param : null, message: error.message };
}
