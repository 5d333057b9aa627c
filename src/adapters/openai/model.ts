/**
 * A language model behind any OpenAI-compatible chat-completions endpoint.
 *
 * 1. One `complete` is one billed call at most: the client never retries, and only a 400 (which is not billed) is
 *    followed by another request in a narrower shape.
 * 2. The time limit covers the whole exchange, body included; an abort throws the signal's own reason.
 * 3. A reply without text is a reply: the caller charges it and decides.
 */
import OpenAI, { APIError } from 'openai';
import { ModelError, type LanguageModel, type ModelRequest } from '../../ports';
import { Deadline } from './deadline';
import { timeoutError, toModelError, type CallContext } from './errors';
import { DEFAULT_PRICES, type PriceTable } from './prices';
import { toReply } from './reply';
import { narrower, refusesTheSchema, requestBody } from './request-shape';
import type { Refusal, ReplyFormat, RequestShape } from './request-shape';
import { ShapeMemory } from './shape-memory';
import { transport } from './transport';

export interface OpenAiConfig {
  /** null for an endpoint that wants none: then no Authorization header is sent. */
  readonly apiKey: string | null;
  /** null for OpenAI itself. */
  readonly baseUrl: string | null;
  readonly timeoutMs: number;
  /** Added to the default table, and winning over it. */
  readonly prices?: PriceTable;
  /** What to try first; an endpoint that refuses gets the next simpler one. */
  readonly format?: ReplyFormat;
  readonly now?: () => number;
}

export const OPENAI_BASE_URL = 'https://api.openai.com/v1';
/** Enough to give up every field of the shape once. */
const MAX_SHAPES = 8;

export function createOpenAiModel(config: OpenAiConfig): LanguageModel {
  const baseUrl = checkedBaseUrl(config);
  const endpoint = new URL(baseUrl).host;
  const prices = { ...DEFAULT_PRICES, ...config.prices };
  const shapes = new ShapeMemory(config.format ?? 'json_schema');
  const client = new OpenAI({
    apiKey: config.apiKey ?? 'none',
    baseURL: baseUrl,
    maxRetries: 0,
    ...transport(config.timeoutMs),
    // Unset options are read from the environment: an address and its key come from the configuration alone.
    adminAPIKey: null,
    organization: null,
    project: null,
    logLevel: 'off',
    ...(config.apiKey === null && { defaultHeaders: { Authorization: null } }),
  });

  return {
    endpoint,
    async complete(request, { signal }) {
      signal.throwIfAborted();
      const context = (): CallContext => ({
        endpoint,
        model: request.model,
        apiKey: config.apiKey,
        timeoutMs: config.timeoutMs,
        nowMs: (config.now ?? Date.now)(),
      });
      const deadline = new Deadline(config.timeoutMs, signal);
      try {
        const body = await inAcceptedShape(request, shapes, (shape) =>
          client.chat.completions.create(requestBody(request, shape), { signal: deadline.signal }),
        );
        return toReply(body, request, context(), prices);
      } catch (error) {
        signal.throwIfAborted();
        throw deadline.passed ? timeoutError(context(), error) : toModelError(error, context());
      } finally {
        deadline.clear();
      }
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

/** The address to ask; also of the embeddings. */
export function checkedBaseUrl({ baseUrl, apiKey }: Pick<OpenAiConfig, 'apiKey' | 'baseUrl'>): string {
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
