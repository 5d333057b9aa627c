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
import { z } from 'zod';

export const TokenCount = z.number().int().nonnegative().nullish().catch(null);

export const PromptUsage = z.object({
  prompt_tokens: TokenCount,
  prompt_tokens_details: z.object({ cached_tokens: TokenCount }).nullish().catch(null),
  prompt_cache_hit_tokens: TokenCount,
  cached_tokens: TokenCount,
  cache_read_input_tokens: TokenCount,
  cache_creation_input_tokens: TokenCount,
});
export type PromptUsage = z.infer<typeof PromptUsage>;

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
