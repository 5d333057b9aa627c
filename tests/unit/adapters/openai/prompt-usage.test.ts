/** The bodies are what the providers document; `prompt_tokens` is the whole prompt for all but the last. */
import { PromptUsage, promptTokensOf } from '../../../../src/adapters/openai/reply';

const read = (usage: object) => promptTokensOf(PromptUsage.parse(usage));

test.each([
  ['OpenAI', { prompt_tokens: 2006, prompt_tokens_details: { cached_tokens: 1920 } }, 2006, 1920],
  ['OpenAI without a hit', { prompt_tokens: 2006, prompt_tokens_details: { cached_tokens: 0 } }, 2006, 0],
  ['DeepSeek', { prompt_tokens: 21530, prompt_cache_hit_tokens: 320, prompt_cache_miss_tokens: 21210 }, 21530, 320],
  ['Moonshot', { prompt_tokens: 19, cached_tokens: 10 }, 19, 10],
  [
    'LiteLLM in front of Anthropic',
    { prompt_tokens: 9668, prompt_tokens_details: { cached_tokens: 9474 }, cache_read_input_tokens: 9474 },
    ...[9668, 9474],
  ],
  [
    'Anthropic, read',
    { prompt_tokens: 9, cache_read_input_tokens: 17102, cache_creation_input_tokens: 0 },
    17111,
    17102,
  ],
  [
    'Anthropic, written',
    { prompt_tokens: 194, cache_read_input_tokens: 0, cache_creation_input_tokens: 9474 },
    9668,
    0,
  ],
] as const)('%s', (_, usage, promptTokens, cachedTokens) => {
  expect(read(usage)).toEqual({ promptTokens, cachedTokens });
});

test('an endpoint that tells nothing of a cache has told of none', () => {
  expect(read({ prompt_tokens: 19 })).toEqual({ promptTokens: 19 });
  expect(read({ prompt_tokens: 19, prompt_tokens_details: null })).toEqual({ promptTokens: 19 });
  expect(read({})).toBeNull();
});

test('a figure that cannot be is no reason to fail, and no more than the prompt is cached', () => {
  expect(read({ prompt_tokens: 19, prompt_tokens_details: 'none' })).toEqual({ promptTokens: 19 });
  expect(read({ prompt_tokens: 19, prompt_tokens_details: { cached_tokens: -1 } })).toEqual({ promptTokens: 19 });
  expect(read({ prompt_tokens: 19, cached_tokens: 20 })).toEqual({ promptTokens: 19, cachedTokens: 19 });
});
