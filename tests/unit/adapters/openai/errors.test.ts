import { APIConnectionError, APIError } from 'openai';
import type { ModelErrorCode } from '../../../../src/domain/ports';
import { toModelError } from '../../../../src/adapters/openai/errors';

const KEY = 'sk-proj-abcdef1234567890';
const NOW = Date.parse('2026-01-01T00:00:00Z');
const context = { endpoint: 'api.example:443', model: 'm-1', apiKey: KEY, timeoutMs: 5000 };
beforeAll(() => void jest.useFakeTimers({ now: NOW }));
afterAll(() => void jest.useRealTimers());

interface Answer {
  readonly message?: string;
  readonly code?: string | null;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}
const http = (status: number, { message = 'no', code = null, type = 'error', headers = {} }: Answer = {}) =>
  toModelError(APIError.generate(status, { error: { message, code, type } }, undefined, new Headers(headers)), context);

const ROWS: readonly (readonly [string, number, Answer, ModelErrorCode, RegExp])[] = [
  ['401 names the setting and the endpoint', 401, {}, 'authentication', /^api\.example:443 .*OPENAI_API_KEY/],
  ['403 is an authentication failure', 403, { message: 'region not allowed' }, 'authentication', /OPENAI_API_KEY.*region not allowed/],
  ['402 means no credit', 402, {}, 'authentication', /no quota left/],
  ['429 for an exhausted quota is not retried', 429, { code: 'insufficient_quota' }, 'authentication', /no quota left at api\.example:443/],
  ['429 with the quota only in its type', 429, { type: 'insufficient_quota' }, 'authentication', /no quota left/],
  ['404 about a model names GATE_MODEL', 404, { message: 'The model `m-1` does not exist' }, 'unknown-model', /"m-1".*GATE_MODEL/],
  ['404 about the path names both settings', 404, { message: 'Not Found' }, 'unknown-model', /GATE_MODEL.*OPENAI_BASE_URL/],
  ['403 model_not_found is an unknown model', 403, { code: 'model_not_found' }, 'unknown-model', /GATE_MODEL/],
  ['400 for a model that a gateway does not know', 400, { message: 'Invalid model name passed in model=m-1' }, 'unknown-model', /GATE_MODEL/],
  ['429 is a rate limit', 429, {}, 'rate-limited', /answered 429/],
  ['408 is retried', 408, {}, 'server-error', /408/],
  ['409 is retried', 409, {}, 'server-error', /409/],
  ['500 is retried', 500, {}, 'server-error', /500/],
  ['529 is retried', 529, {}, 'server-error', /529/],
  ['400 is a bad request with what was said', 400, { message: 'logit_bias:\n 12 entries' }, 'bad-request', /^api\.example:443 answered 400: logit_bias: 12 entries$/],
  ['501 is an answer that no waiting mends', 501, {}, 'bad-answer', /501/],
  ['505 is an answer that no waiting mends', 505, {}, 'bad-answer', /505/],
  ['413 is a bad request', 413, {}, 'bad-request', /413/],
  ['x-should-retry: false ends a 500', 500, { headers: { 'x-should-retry': 'false' } }, 'bad-request', /not to try again/],
  ['x-should-retry: false ends a 429', 429, { headers: { 'x-should-retry': 'false' } }, 'bad-request', /not to try again/],
  ['x-should-retry: true repeats a 400', 400, { headers: { 'x-should-retry': 'true' } }, 'server-error', /asks for another try/],
  ['x-should-retry: true leaves a 429 a rate limit', 429, { headers: { 'x-should-retry': 'true' } }, 'rate-limited', /429/],
]; // prettier-ignore

test.each(ROWS)('%s', (_claim, status, answer, code, message) => {
  const error = http(status, answer);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(message);
});

const DELAYS: readonly (readonly [string, Record<string, string>, number | undefined])[] = [
  ['retry-after-ms is taken as milliseconds', { 'retry-after-ms': '1500' }, 1500],
  ['retry-after-ms wins over retry-after', { 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  ['retry-after counts seconds', { 'retry-after': '2.5' }, 2500],
  ['retry-after may be a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  ['a date in the past is no delay', { 'retry-after': 'Wed, 31 Dec 2025 00:00:30 GMT' }, undefined],
  ['zero is no delay', { 'retry-after': '0' }, undefined],
  ['a negative delay is no delay', { 'retry-after': '-5' }, undefined],
  ['an unreadable delay is no delay', { 'retry-after': 'soon' }, undefined],
  ['a delay over a minute is capped there', { 'retry-after': '86400' }, 60_000],
  ['no header is no delay', {}, undefined],
];

test.each(DELAYS)('%s', (_claim, headers, expected) => {
  expect(http(429, { headers }).options.retryAfterMs).toBe(expected);
  expect(http(503, { headers }).options.retryAfterMs).toBe(expected);
});

const failed = (code: string) =>
  new APIConnectionError({
    message: 'Connection error.',
    cause: new TypeError('fetch failed', { cause: Object.assign(new Error(`x ${code}`), { code }) }),
  });

test.each(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE', 'CERT_HAS_EXPIRED'])(
  '%s is a connection error that names OPENAI_BASE_URL',
  (code) => {
    const error = toModelError(failed(code), context);
    expect(error.code).toBe('connection');
    expect(error.message).toContain(code);
    expect(error.message).toContain('OPENAI_BASE_URL');
  },
);

test.each([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].map((code) => [code, true] as const),
  ...['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE', 'ETIMEDOUT'].map((code) => [code, undefined] as const),
])('whether %s says that nobody was asked: %p', (code, unsent) => {
  expect(toModelError(failed(code), context).options.unsent).toBe(unsent);
});

test.each([
  ['ENOTFOUND', 'cannot be resolved'],
  ['ETIMEDOUT', 'the network gave up'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection within 10 s'],
])('%s is told as what it is, not as the configured time limit', (code, words) => {
  const error = toModelError(failed(code), context);
  expect(error).toMatchObject({ code: 'connection', message: expect.stringContaining(words) as string });
  expect(error.message).not.toContain('5000');
});

test.each([400, 401, 403, 404, 429, 500])('a %i that quotes the key does not repeat it, whole or in part', (status) => {
  const error = http(status, { message: `Incorrect API key provided: ${KEY}, also sk-proj-****7890` });
  expect(JSON.stringify([error.message, String(error.options.cause)])).not.toMatch(/abcdef|7890/);
});

test.each([
  [
    'x',
    'Incorrect API key provided: x. Fix the next request',
    'Incorrect API key provided: [key]. Fix the next request',
  ],
  ['a', 'a request was made at last', '[key] request was made at last'],
  ['no', 'no model is known; key "no" is not valid', '[key] model is known; key "[key]" is not valid'],
  ['a.b', 'key=a.b and axb', 'key=[key] and axb'],
  ['test', 'the latest key is test', 'the latest key is [key]'],
])('the key %j is taken out where it is a word, and no letter of other words goes', (apiKey, said, shown) => {
  const error = toModelError(APIError.generate(400, { error: { message: said } }, undefined, new Headers()), {
    ...context,
    apiKey,
  });
  expect(error.message).toBe(`api.example:443 answered 400: ${shown}`);
});

const TOO_LONG: readonly (readonly [string, number, Answer])[] = [
  ['OpenAI', 400, { code: 'context_length_exceeded', message: "This model's maximum context length is 8192 tokens. Please reduce the length of the messages." }],
  ['OpenAI, newer models', 400, { message: 'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300001 tokens.' }],
  ['vLLM', 400, { type: 'BadRequestError', message: "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens. Please reduce the length of the messages or completion." }],
  ['vLLM, prompt alone', 400, { message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.' }],
  ['llama.cpp with a status of 500', 500, { type: 'exceed_context_size_error', message: 'the request exceeds the available context size. try increasing it' }],
  ['Ollama', 500, { message: 'the input length exceeds the context length' }],
  ['Ollama, maximum', 400, { message: 'input length exceeds maximum context length' }],
  ['LiteLLM', 400, { message: 'litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - prompt too large' }],
  ['a gateway to Anthropic', 400, { message: 'prompt is too long: 210000 tokens > 200000 maximum' }],
  ['a gateway to Gemini', 400, { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' }],
]; // prettier-ignore

test.each(TOO_LONG)(
  'a prompt that is too long is not retried, and the message says what to change: %s',
  (_who, status, answer) => {
    const error = http(status, answer);
    expect(error).toMatchObject({ code: 'context-too-long' });
    expect(error.message).toMatch(
      /^The prompt is longer than the context of model "m-1": set GATE_MODEL .*models\.maxOutputTokens.*--docs/,
    );
  },
);

test.each([
  [429, 'Rate limit reached: 30000 tokens per minute'],
  [400, 'context: unknown field'],
  [400, 'max_tokens is too large: 999999. This model supports at most 16384 completion tokens'],
])('a %i that speaks of other limits is none of the context: %s', (status, message) => {
  expect(http(status, { message }).code).not.toBe('context-too-long');
});
