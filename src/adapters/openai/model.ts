/**
 * A language model behind any OpenAI-compatible chat-completions endpoint.
 *
 * 1. One `complete` is one billed call at most: the client never retries, and only a 400 (which is not billed) is
 *    followed by another request, without what the endpoint refused.
 * 2. The time limit covers the whole exchange, body included; an abort throws the signal's own reason.
 * 3. A reply without text is a reply: the caller charges it and decides.
 */
import { APIError } from 'openai';
import { anySignal } from '../../any-signal';
import type { LanguageModel, ModelRequest } from '../../domain/ports';
import { openEndpoint, type EndpointConfig } from './endpoint';
import { timeoutError, toModelError } from './errors';
import { DEFAULT_PRICES, type PriceTable } from './prices';
import { toReply } from './reply';

export interface OpenAiConfig extends EndpointConfig {
  /** Added to the default table, and winning over it. */
  readonly prices?: PriceTable;
}

export function createOpenAiModel(config: OpenAiConfig): LanguageModel {
  const { client, endpoint } = openEndpoint(config);
  const { apiKey, timeoutMs } = config;
  const prices = { ...DEFAULT_PRICES, ...config.prices };
  const inAcceptedShape = rememberingRefusals();
  return {
    endpoint,
    async complete(request, { signal }) {
      signal.throwIfAborted();
      const context = { endpoint, model: request.model, apiKey, timeoutMs };
      const limit = AbortSignal.timeout(timeoutMs);
      const within = { signal: anySignal([signal, limit]) };
      try {
        const body = await inAcceptedShape(request, (refused) =>
          client.chat.completions.create(requestBody(request, refused), within),
        );
        return toReply(body, request, context, prices);
      } catch (error) {
        signal.throwIfAborted();
        throw limit.aborted ? timeoutError(context, error) : toModelError(error, context);
      }
    },
  };
}

/** What an endpoint may refuse, in the order in which it is given up, and how the refusal reads. */
const FORMAT = /response_format|json_schema|json_object|structured.?output|invalid format/i;
const REFUSALS = [
  [
    'max_tokens',
    /^(?=.*max_completion_tokens).*(unsupported|not support|does ?n.t support|instead|unrecognized|unknown|unexpected|not permitted|extra)/is,
  ],
  // A refusal may name both samplers ("use only one"): top_p goes first, temperature matters more.
  ['top_p', /\btop_?p\b/i],
  ['temperature', /\btemperature\b/i],
  ['seed', /\bseed\b/i],
  ['json_schema', FORMAT],
  ['json_object', FORMAT],
] as const;
export type Refusable = (typeof REFUSALS)[number][0];

/** What to give up after this refusal; null: it names nothing that is still sent. */
export function namedIn(refusal: string, refused: ReadonlySet<Refusable>): Refusable | null {
  return REFUSALS.find(([part, says]) => !refused.has(part) && says.test(refusal))?.[0] ?? null;
}

/**
 * What one model behind one endpoint accepts is learned from its refusals instead of guessed from its name. Every request
 * starts whole; a 400 that names a part takes it away and the call is made again. The endpoint bills nothing for a 400. A part
 * is remembered per model once the request succeeds without it, so an error that merely mentions it does not degrade later
 * calls. A refusal of one schema, not of schemas, is remembered for that schema alone.
 */
function rememberingRefusals() {
  const known = new Map<string, Set<Refusable>>();
  const of = (key: string): Set<Refusable> => {
    const found = known.get(key) ?? new Set();
    known.set(key, found);
    return found;
  };
  return async (
    { model, schema }: ModelRequest,
    send: (refused: ReadonlySet<Refusable>) => Promise<unknown>,
  ): Promise<unknown> => {
    const [ofModel, ofSchema] = [of(model), of(`${model}\n${schema.name}`)];
    const refused = new Set([...ofModel, ...ofSchema]);
    const learned: (readonly [Set<Refusable>, Refusable])[] = [];
    for (;;) {
      try {
        const body = await send(refused);
        for (const [place, part] of learned) place.add(part);
        return body;
      } catch (error) {
        const refusal = refusalIn(error);
        const part = refusal === null ? null : namedIn(refusal, refused);
        if (refusal === null || part === null) throw error;
        refused.add(part);
        learned.push([/^json/.test(part) && /invalid.{0,20}schema/i.test(refusal) ? ofSchema : ofModel, part]);
      }
    }
  };
}

/** Gateways differ in the status they refuse a part with: 400 for most, 422 where a validator answers. */
function refusalIn(error: unknown): string | null {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return null;
  return `${error.param ?? ''} ${error.message}`;
}

/**
 * The body of a chat-completions request. Messages are the same whatever is refused: prompts describe their reply themselves,
 * for endpoints that take no schema, and a recording holds exactly what was sent. Half a character (of a text that was cut)
 * is none: endpoints refuse the whole request for it.
 */
export function requestBody(request: ModelRequest, refused: ReadonlySet<Refusable>) {
  const { name, schema } = request.schema;
  const format = refused.has('json_schema')
    ? { type: 'json_object' as const }
    : { type: 'json_schema' as const, json_schema: { name, strict: true, schema } };
  return {
    model: request.model,
    messages: request.messages.map(({ role, content }) => ({ role, content: wellFormed(content) })),
    [refused.has('max_tokens') ? 'max_completion_tokens' : 'max_tokens']: request.maxOutputTokens,
    ...(!refused.has('temperature') && { temperature: request.temperature }),
    ...(!refused.has('top_p') && { top_p: request.topP }),
    ...(!refused.has('seed') && { seed: request.seed }),
    ...(!refused.has('json_object') && { response_format: format }),
  };
}

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const wellFormed = (text: string): string => text.replace(HALF, '\ufffd');
