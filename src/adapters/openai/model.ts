/**
 * A language model behind any OpenAI-compatible chat-completions endpoint.
 *
 * 1. One `complete` is one billed call at most: the client never retries, and only a 400 (which is not billed) is
 *    followed by another request in a narrower shape.
 * 2. The time limit covers the whole exchange, body included; an abort throws the signal's own reason.
 * 3. A reply without text is a reply: the caller charges it and decides.
 */
import { APIError } from 'openai';
import type { LanguageModel, ModelRequest } from '../../domain/ports';
import { openEndpoint, withinLimit, type EndpointConfig } from './endpoint';
import type { CallContext } from './errors';
import { DEFAULT_PRICES, type PriceTable } from './prices';
import { toReply } from './reply';

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

/**
 * What one model behind one endpoint accepts, learned from its refusals instead of guessed from its name. Every request
 * starts from the full shape; a 400 that names a field takes that field away (or renames it) and the call is made again.
 * The endpoint bills nothing for a 400. What worked is remembered per model, and only a shape that worked, so an error
 * that merely mentions a field does not degrade later calls.
 */

type ReplyFormat = 'json_schema' | 'json_object' | 'none';
const FORMATS: readonly ReplyFormat[] = ['json_schema', 'json_object', 'none'];

export interface RequestShape {
  readonly format: ReplyFormat;
  readonly temperature: boolean;
  readonly topP: boolean;
  readonly seed: boolean;
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
}

export const fullShape = (format: ReplyFormat): RequestShape => ({
  format,
  temperature: true,
  topP: true,
  seed: true,
  tokenLimit: 'max_tokens',
});

/** What a refusal says: the parameter it names, if any, and its text. */
interface Refusal {
  readonly param: string | null;
  readonly message: string;
}

const REFUSED =
  /unsupported|not support|does ?n.t support|instead|unrecognized|unknown|unexpected|not permitted|extra/i;

/** The shape to try next after this refusal, or null when it names nothing that can be given up. */
export function narrower(shape: RequestShape, refusal: Refusal): RequestShape | null {
  const text = `${refusal.param ?? ''} ${refusal.message}`;
  if (shape.tokenLimit === 'max_tokens' && /max_completion_tokens/.test(text) && REFUSED.test(text)) {
    return { ...shape, tokenLimit: 'max_completion_tokens' };
  }
  // A refusal may name both samplers ("use only one"): top_p goes first, temperature matters more.
  if (shape.topP && /\btop_?p\b/i.test(text)) return { ...shape, topP: false };
  if (shape.temperature && /\btemperature\b/i.test(text)) return { ...shape, temperature: false };
  if (shape.seed && /\bseed\b/i.test(text)) return { ...shape, seed: false };
  if (
    shape.format !== 'none' &&
    /response_format|json_schema|json_object|structured.?output|invalid format/i.test(text)
  ) {
    return { ...shape, format: shape.format === 'json_schema' ? 'json_object' : 'none' };
  }
  return null;
}

/** The refusal is about this very schema, not about schemas: other roles keep theirs. */
function refusesTheSchema(refusal: Refusal): boolean {
  return /invalid.{0,20}schema/i.test(refusal.message);
}

/** What both accept: calls that run side by side learn the same things and must not undo each other. */
export function combined(a: RequestShape, b: RequestShape): RequestShape {
  return {
    format: FORMATS[Math.max(FORMATS.indexOf(a.format), FORMATS.indexOf(b.format))] ?? 'none',
    temperature: a.temperature && b.temperature,
    topP: a.topP && b.topP,
    seed: a.seed && b.seed,
    tokenLimit: a.tokenLimit === 'max_tokens' ? b.tokenLimit : a.tokenLimit,
  };
}

/**
 * The body of a chat-completions request. Messages are sent as they are in every shape: prompts describe their reply
 * themselves, for endpoints that take no schema, and a recording holds exactly what was sent. Half a character (of a text
 * that was cut) is none: endpoints refuse the whole request for it.
 */
export function requestBody(request: ModelRequest, shape: RequestShape) {
  return {
    model: request.model,
    messages: request.messages.map((message) => ({ ...message, content: wellFormed(message.content) })),
    [shape.tokenLimit]: request.maxOutputTokens,
    ...(shape.temperature && { temperature: request.temperature }),
    ...(shape.topP && { top_p: request.topP }),
    ...(shape.seed && { seed: request.seed }),
    ...(shape.format === 'json_schema' && {
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: request.schema.name, strict: true, schema: request.schema.schema },
      },
    }),
    ...(shape.format === 'json_object' && { response_format: { type: 'json_object' as const } }),
  };
}

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const wellFormed = (text: string): string => text.replace(HALF, '\ufffd');

/** Shapes that worked, per model; a format that only one schema could not have, per model and schema. */
class ShapeMemory {
  private readonly byModel = new Map<string, RequestShape>();
  private readonly bySchema = new Map<string, ReplyFormat>();

  constructor(private readonly first: ReplyFormat) {}

  of({ model, schema }: ModelRequest): RequestShape {
    const shape = this.byModel.get(model) ?? fullShape(this.first);
    const format = this.bySchema.get(key(model, schema.name));
    return format === undefined ? shape : combined(shape, { ...shape, format });
  }

  learned({ model, schema }: ModelRequest, shape: RequestShape, schemaOnly: boolean): void {
    const known = this.byModel.get(model) ?? fullShape(this.first);
    const schemaKey = key(model, schema.name);
    const ownFormat = schemaOnly || this.bySchema.has(schemaKey);
    if (ownFormat) this.bySchema.set(schemaKey, shape.format);
    this.byModel.set(model, combined(known, ownFormat ? { ...shape, format: known.format } : shape));
  }
}

const key = (model: string, schemaName: string): string => `${model}\n${schemaName}`;
