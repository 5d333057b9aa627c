import { namedIn, requestBody, type Refusable } from '../../../../src/adapters/openai/model';
import type { ModelRequest } from '../../../../src/domain/ports';
import { PromptUsage, promptTokensOf } from '../../../../src/adapters/openai/reply';
import { costUsd, DEFAULT_PRICES, DEFAULT_PRICES_DATE, priceOf } from '../../../../src/adapters/openai/prices';
import { detectOllama } from '../../../../src/adapters/openai';
import { eventually } from '../../../helpers/engine';
import { startModelEndpoint, type ModelEndpoint } from '../../../helpers/model-endpoint';

test.each<[string, Refusable, Refusable[]?]>([
  ["Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", 'max_tokens'],
  ["Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", 'temperature'],
  ['`temperature` and `top_p` cannot both be specified for this model. Please use only one.', 'top_p'],
  ["Unsupported parameter: 'top_p' is not supported with this model.", 'top_p'],
  ['Unrecognized request argument supplied: seed', 'seed'],
  ["Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", 'json_schema'],
  ['response_format.type Invalid value', 'json_schema'],
  ['invalid format: expected "json" or a JSON schema', 'json_schema'],
  ["'response_format' of type 'json_object' is not supported", 'json_object', ['json_schema']],
])('%s: gives up %s', (message, part, refused = []) => {
  expect(namedIn(message, new Set(refused))).toBe(part);
}); // prettier-ignore

test.each<[string, Refusable[]?]>([
  ["This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."],
  ["'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens."],
  ['max_tokens is too large: 16384. This model supports at most 4096 completion tokens'],
  ['Invalid value for messages'],
  ["'response_format' of type 'json_object' is not supported", ['json_schema', 'json_object']],
])('nothing is given up for: %s', (message, refused = []) => {
  expect(namedIn(message, new Set(refused))).toBeNull();
});

const request: ModelRequest = {
  role: 'plan',
  model: 'm',
  messages: [
    { role: 'system', content: 'Be exact.' },
    { role: 'user', content: 'Q' },
  ],
  temperature: 0.2,
  topP: 0.95,
  maxOutputTokens: 100,
  seed: 7,
  schema: { name: 'plan', schema: { type: 'object' } },
};

test('a whole request sends every setting and a strict schema', () => {
  expect(requestBody(request, new Set())).toEqual({
    model: 'm',
    messages: request.messages,
    temperature: 0.2,
    top_p: 0.95,
    seed: 7,
    max_tokens: 100,
    response_format: { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema: { type: 'object' } } },
  });
});

test('messages are the same whatever is refused, and plain text asks for no format', () => {
  const object = requestBody(request, new Set<Refusable>(['json_schema']));
  expect(object).toMatchObject({ messages: request.messages, response_format: { type: 'json_object' } });
  const all: Refusable[] = ['max_tokens', 'top_p', 'temperature', 'seed', 'json_schema', 'json_object'];
  const plain = requestBody(request, new Set(all));
  expect(plain).toEqual({ model: 'm', messages: request.messages, max_completion_tokens: 100 });
});

test('half a character, which endpoints refuse, is sent as the sign for an unknown one', () => {
  const content = '\ud83d a😀b \ude00 \ud83d';
  const { messages } = requestBody({ ...request, messages: [{ role: 'user', content }] }, new Set());
  expect(messages).toEqual([{ role: 'user', content: '\ufffd a😀b \ufffd \ufffd' }]);
});

/** The bodies are what the providers document; `prompt_tokens` is the whole prompt for all but the last. */

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

const TABLE = {
  'gpt-5': { inputPerMillion: 1, outputPerMillion: 10 },
  'gpt-5-mini': { inputPerMillion: 2, outputPerMillion: 20 },
  'acme/gpt-5': { inputPerMillion: 3, outputPerMillion: 30 },
};

test('a cost is tokens times the price per million', () => {
  expect(costUsd('gpt-5', { promptTokens: 1_000_000, completionTokens: 100_000 }, TABLE)).toBeCloseTo(2, 12);
});

test('tokens from a cache have a price of their own where one is configured, else the input price', () => {
  const tokens = { promptTokens: 1_000_000, cachedTokens: 800_000, completionTokens: 0 };
  expect(costUsd('gpt-5', tokens, TABLE)).toBeCloseTo(1, 12);
  const cached = { 'gpt-5': { ...TABLE['gpt-5'], cachedInputPerMillion: 0.1 } };
  expect(costUsd('gpt-5', tokens, cached)).toBeCloseTo(0.2 + 0.08, 12);
  const free = { 'gpt-5': { ...TABLE['gpt-5'], cachedInputPerMillion: 0 } };
  expect(costUsd('gpt-5', tokens, free)).toBeCloseTo(0.2, 12);
});

test.each([
  ['gpt-5', 1],
  ['gpt-5-2026-01-01', 1],
  ['gpt-5-mini', 2],
  ['gpt-5-mini-2026-01-01', 2],
  ['gpt-5:free', 1],
  ['openai/gpt-5-mini', 2],
  ['acme/gpt-5', 3],
])('%s gets the entry with the longest name it starts with', (model, inputPerMillion) => {
  expect(priceOf(model, TABLE)?.inputPerMillion).toBe(inputPerMillion);
});

test.each(['gpt-5.4-mini', 'gpt-50', 'llama3', ''])('%p is another model and has no price', (model) => {
  expect(priceOf(model, TABLE)).toBeNull();
  expect(costUsd(model, { promptTokens: 1000, completionTokens: 1000 }, TABLE)).toBe(0);
});

test('the default table names its date and holds positive prices only', () => {
  expect(DEFAULT_PRICES_DATE).toMatch(/^\d{4}-\d\d-\d\d$/);
  for (const price of Object.values(DEFAULT_PRICES))
    expect(Math.min(price.inputPerMillion, price.outputPerMillion)).toBeGreaterThan(0);
});

let endpoint: ModelEndpoint;
beforeAll(async () => {
  endpoint = await startModelEndpoint({ reply: () => 'x', models: ['qwen3:8b', 'llama3.2'] });
});
afterAll(() => endpoint.close());

test('an Ollama that answers gives its address and its models', async () => {
  const url = `http://${endpoint.host}`;
  // Its limit is short, and the first request of a process takes longest.
  const found = await eventually(
    () => detectOllama(url),
    (each) => each !== null,
  );
  expect(found).toEqual({ baseUrl: `${url}/v1`, models: ['llama3.2', 'qwen3:8b'] });
});

test('nothing there is null, not an error', async () => {
  expect(await detectOllama('http://127.0.0.1:9')).toBeNull();
});

test('something else there is null', async () => {
  expect(await detectOllama(`http://${endpoint.host}/v1/models`)).toBeNull();
});
