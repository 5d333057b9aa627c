/**
 * From the body of a 200 to a `ModelReply`. Compatible servers differ in nearly everything but the text, so the schema
 * asks for little; a body that is no completion at all is an error that says what it looks like instead.
 */
import * as z from 'zod';
import { oneLine } from '../../clip';
import { ModelError, type ModelReply, type ModelRequest } from '../../domain/ports';
import { errorInBody, type CallContext } from './errors';
import { costUsd, type PriceTable } from './prices';

/**
 * How many tokens a prompt had, and how many of them the provider read from its cache. Compatible endpoints say it in four
 * ways:
 *
 * - `prompt_tokens_details.cached_tokens`: OpenAI, Azure, xAI, vLLM, OpenRouter, LiteLLM; a part of `prompt_tokens`;
 * - `prompt_cache_hit_tokens`: DeepSeek; a part of `prompt_tokens`;
 * - `cached_tokens`: Moonshot; a part of `prompt_tokens`;
 * - `cache_read_input_tokens` and `cache_creation_input_tokens`, as Anthropic counts: `prompt_tokens` is what is left.
 *
 * A gateway that gives the last form beside one of the others counts like the others. Where it stands alone, all three are
 * added: a gateway that had added them already is then priced too high rather than too low.
 */
const TokenCount = z.number().int().nonnegative().nullish().catch(null);

export const PromptUsage = z.object({
  prompt_tokens: TokenCount,
  prompt_tokens_details: z.object({ cached_tokens: TokenCount }).nullish().catch(null),
  prompt_cache_hit_tokens: TokenCount,
  cached_tokens: TokenCount,
  cache_read_input_tokens: TokenCount,
  cache_creation_input_tokens: TokenCount,
});
export type PromptUsage = z.infer<typeof PromptUsage>;

const Completion = z.object({
  model: z.string().nullish(),
  choices: z.array(
    z.object({
      finish_reason: z.string().nullish(),
      message: z
        .object({
          content: z.union([z.string(), z.array(z.object({ text: z.string().optional() }))]).nullish(),
          refusal: z.string().nullish(),
        })
        .nullish(),
    }),
  ),
  usage: PromptUsage.extend({ completion_tokens: TokenCount }).nullish(),
});
const Failure = z.object({
  error: z.object({ code: z.unknown().optional(), message: z.unknown().optional(), type: z.unknown().optional() }),
});

export function toReply(body: unknown, request: ModelRequest, context: CallContext, prices: PriceTable): ModelReply {
  const parsed = Completion.safeParse(body);
  if (!parsed.success) throw notACompletion(body, context);
  const { choices, usage, model } = parsed.data;
  const choice = choices[0];
  const content = choice?.message?.content ?? '';
  const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
  const refusal = choice?.message?.refusal ?? null;
  const refused = text === '' && refusal !== null;
  // For an endpoint that reports no usage: about four characters to a token.
  const estimated = (chars: number): number => Math.ceil(chars / 4);
  const prompt = request.messages.reduce((chars, message) => chars + message.content.length, 0);
  const tokens = {
    ...(promptTokensOf(usage ?? {}) ?? { promptTokens: estimated(prompt) }),
    completionTokens: usage?.completion_tokens ?? estimated(text.length),
  };
  return {
    text: refused ? refusal : text,
    model: model ?? request.model,
    ...tokens,
    // Priced by the name asked for: that is the one the user's price list knows.
    costUsd: costUsd(request.model, tokens, prices),
    finishReason: refused ? 'refusal' : (choice?.finish_reason ?? 'unknown'),
  };
}

function notACompletion(body: unknown, context: CallContext): ModelError {
  const failure = Failure.safeParse(body);
  if (failure.success) return errorInBody(failure.data.error, context);
  const start = typeof body === 'string' ? body : ((JSON.stringify(body) as string | undefined) ?? '');
  if (start.trimStart().startsWith('<')) {
    const fix = 'check OPENAI_BASE_URL (it often ends in /v1)';
    return new ModelError('bad-answer', `${context.endpoint} answered with a web page, not a completion: ${fix}`);
  }
  return new ModelError(
    start === '' ? 'server-error' : 'bad-answer',
    `${context.endpoint} answered with something else than a completion: ${oneLine(start, 120)}`,
  );
}

/** Null where the endpoint does not say how long the prompt was. */
export function promptTokensOf(
  usage: Partial<PromptUsage>,
): { readonly promptTokens: number; readonly cachedTokens?: number } | null {
  const { prompt_tokens: told, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  if (told === undefined || told === null) return null;
  const part = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens;
  if (part !== undefined && part !== null) return { promptTokens: told, cachedTokens: Math.min(part, told) };
  if (read === undefined || read === null) return { promptTokens: told };
  return { promptTokens: told + read + (written ?? 0), cachedTokens: read };
}
