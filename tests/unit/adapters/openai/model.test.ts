import fc from 'fast-check';
import { combined, fullShape, narrower, requestBody, type RequestShape } from '../../../../src/adapters/openai/model';
import type { ModelRequest } from '../../../../src/domain/ports';
import { PromptUsage, promptTokensOf } from '../../../../src/adapters/openai/reply';
import { costUsd, DEFAULT_PRICES, DEFAULT_PRICES_DATE, priceOf } from '../../../../src/adapters/openai/prices';
import { detectOllama } from '../../../../src/adapters/openai';
import { startModelEndpoint, type ModelEndpoint } from '../../../helpers/model-endpoint';

const full = fullShape('json_schema');
const refused = (message: string, param: string | null = null) => narrower(full, { message, param });

test.each([
  [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    { tokenLimit: 'max_completion_tokens' },
  ],
  [
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    { temperature: false },
  ],
  ['`temperature` and `top_p` cannot both be specified for this model. Please use only one.', { topP: false }],
  ["Unsupported parameter: 'top_p' is not supported with this model.", { topP: false }],
  ['Unrecognized request argument supplied: seed', { seed: false }],
  [
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    { format: 'json_object' },
  ],
  ['invalid format: expected "json" or a JSON schema', { format: 'json_object' }],
])('%s', (message, change) => {
  expect(refused(message)).toEqual({ ...full, ...change });
});

test('the parameter alone is enough', () => {
  expect(refused('Invalid value', 'response_format.type')).toEqual({ ...full, format: 'json_object' });
});

test.each([
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
  "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens.",
  'max_tokens is too large: 16384. This model supports at most 4096 completion tokens',
  'Invalid value for messages',
])('nothing is given up for: %s', (message) => {
  expect(refused(message)).toBeNull();
});

test('json_object that is refused too leaves plain text, and then there is nothing to give up', () => {
  const message = "'response_format' of type 'json_object' is not supported";
  const object: RequestShape = { ...full, format: 'json_object' };
  expect(narrower(object, { message, param: null })?.format).toBe('none');
  expect(narrower({ ...object, format: 'none' }, { message, param: null })).toBeNull();
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

test('the full shape sends every setting and a strict schema', () => {
  expect(requestBody(request, full)).toEqual({
    model: 'm',
    messages: request.messages,
    temperature: 0.2,
    top_p: 0.95,
    seed: 7,
    max_tokens: 100,
    response_format: { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema: { type: 'object' } } },
  });
});

test('messages are the same in every shape, and plain text asks for no format', () => {
  const object = requestBody(request, { ...full, format: 'json_object' });
  expect(object).toMatchObject({ messages: request.messages, response_format: { type: 'json_object' } });
  const plain = requestBody(request, { ...full, format: 'none' });
  expect(plain.messages).toEqual(request.messages);
  expect(plain).not.toHaveProperty('response_format');
});

test('half a character, which endpoints refuse, is sent as the sign for an unknown one', () => {
  const content = '\ud83d a😀b \ude00 \ud83d';
  const { messages } = requestBody({ ...request, messages: [{ role: 'user', content }] }, full);
  expect(messages).toEqual([{ role: 'user', content: '\ufffd a😀b \ufffd \ufffd' }]);
});

const shapes = fc.record({
  format: fc.constantFrom('json_schema' as const, 'json_object' as const, 'none' as const),
  temperature: fc.boolean(),
  topP: fc.boolean(),
  seed: fc.boolean(),
  tokenLimit: fc.constantFrom('max_tokens' as const, 'max_completion_tokens' as const),
});

test('what two calls learned combines in any order and is never forgotten', () => {
  fc.assert(
    fc.property(shapes, shapes, (a, b) => {
      const both = combined(a, b);
      expect(combined(b, a)).toEqual(both);
      expect(combined(both, a)).toEqual(both);
      expect(combined(a, full)).toEqual(a);
    }),
  );
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
  expect(await detectOllama({ url })).toEqual({ baseUrl: `${url}/v1`, models: ['llama3.2', 'qwen3:8b'] });
});

test('nothing there is null, not an error', async () => {
  expect(await detectOllama({ url: 'http://127.0.0.1:9', timeoutMs: 200 })).toBeNull();
});

test('something else there is null', async () => {
  expect(await detectOllama({ url: `http://${endpoint.host}/v1/models` })).toBeNull();
});
