/** The OpenAI adapter over real HTTP: what it sends, what it gives up, what it bills, how it ends. */
import { createOpenAiModel, type OpenAiConfig } from '../../src/adapters/openai';
import type { ModelRequest } from '../../src/domain/ports';
import { startModelEndpoint, type ChatBody, type Fault, type ModelEndpoint } from '../helpers/model-endpoint';
import { transportLimitsOf } from '../helpers/transport-limits';

const REQUEST: ModelRequest = {
  role: 'plan',
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'four eyes' }],
  temperature: 0.2,
  topP: 0.95,
  maxOutputTokens: 64,
  seed: 1,
  schema: { name: 'plan', schema: { type: 'object', properties: {}, required: [], additionalProperties: false } },
};
const never = new AbortController().signal;

let endpoint: ModelEndpoint;
let reply: Parameters<typeof startModelEndpoint>[0]['reply'];
beforeEach(async () => {
  reply = () => '{"ok":true}';
  endpoint = await startModelEndpoint({ reply: (body, index) => reply(body, index) });
});
afterEach(() => endpoint.close());

const model = (config: Partial<OpenAiConfig> = {}) =>
  createOpenAiModel({ apiKey: 'sk-secret-123456', baseUrl: endpoint.baseUrl, timeoutMs: 5000, ...config });
const ask = (request: Partial<ModelRequest> = {}, config: Partial<OpenAiConfig> = {}) =>
  model(config).complete({ ...REQUEST, ...request }, { signal: never });
const refusal = (message: string, param: string | null = null): Fault => ({
  fault: 'status',
  status: 400,
  error: { message, param, code: 'unsupported_parameter' },
});

test('a reply carries text, tokens, cost by the price table and the finish reason', async () => {
  reply = () => ({
    text: 'hi',
    finishReason: 'length',
    model: 'gpt-4o-mini-x',
    usage: { prompt_tokens: 1000, completion_tokens: 500 },
  });
  expect(await ask()).toEqual({
    text: 'hi',
    model: 'gpt-4o-mini-x',
    promptTokens: 1000,
    completionTokens: 500,
    costUsd: (1000 * 0.15 + 500 * 0.6) / 1e6,
    finishReason: 'length',
  });
});

test('tokens that the endpoint read from its cache are told and priced apart', async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 500, prompt_tokens_details: { cached_tokens: 600 } };
  reply = () => ({ text: 'hi', usage });
  const prices = { 'gpt-4o-mini': { inputPerMillion: 10, outputPerMillion: 20, cachedInputPerMillion: 1 } };
  expect(await ask({}, { prices })).toMatchObject({
    ...{ promptTokens: 1000, cachedTokens: 600, completionTokens: 500 },
    costUsd: (400 * 10 + 600 * 1 + 500 * 20) / 1e6,
  });
});

test('the request carries the key, the schema and every setting', async () => {
  await ask();
  const [sent] = endpoint.requests;
  expect(sent?.headers.authorization).toBe('Bearer sk-secret-123456');
  expect(sent?.body).toMatchObject({ model: 'gpt-4o-mini', temperature: 0.2, top_p: 0.95, seed: 1, max_tokens: 64 });
  expect(sent?.body.response_format?.json_schema).toMatchObject({ name: 'plan', strict: true });
});

test('an endpoint without a key gets no Authorization header', async () => {
  await ask({}, { apiKey: null });
  expect(endpoint.requests[0]?.headers.authorization).toBeUndefined();
});

test('a missing usage is estimated at four characters a token', async () => {
  reply = () => ({ text: 'x'.repeat(41), usage: null });
  expect(await ask()).toMatchObject({ promptTokens: 3, completionTokens: 11 });
});

test.each([
  ['null content', { choices: [{ message: { role: 'assistant', content: null }, finish_reason: 'stop' }] }],
  ['no choices', { choices: [] }],
  ['a choice without a message', { choices: [{ finish_reason: 'stop' }] }],
])('%s is a reply with empty text', async (_what, body) => {
  reply = () => ({ fault: 'body', text: JSON.stringify(body) });
  expect((await ask()).text).toBe('');
});

test('a refusal is a reply whose finish reason says so', async () => {
  const message = { role: 'assistant', content: null, refusal: 'I will not.' };
  reply = () => ({ fault: 'body', text: JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }) });
  expect(await ask()).toMatchObject({ text: 'I will not.', finishReason: 'refusal' });
});

/** Answers only what the given rules accept, as a picky endpoint does. */
const picky =
  (...rules: readonly ((body: ChatBody) => Fault | null)[]) =>
  (body: ChatBody) =>
    rules.map((rule) => rule(body)).find((fault) => fault !== null) ?? '{"ok":true}';
const noSchema = (body: ChatBody) =>
  body.response_format?.type === 'json_schema'
    ? refusal("'response_format' of type 'json_schema' is not supported with this model")
    : null;
const noObject = (body: ChatBody) =>
  body.response_format?.type === 'json_object'
    ? refusal("'response_format' of type 'json_object' is not supported")
    : null;
const reasoning = (body: ChatBody) =>
  body.max_tokens !== undefined
    ? refusal(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
      )
    : body.temperature !== undefined
      ? refusal("Unsupported value: 'temperature' does not support 0.2 with this model.", 'temperature')
      : body.top_p !== undefined
        ? refusal("Unsupported parameter: 'top_p' is not supported with this model.", 'top_p')
        : null;

test('an endpoint without schemas is asked for a JSON object, remembers it, and bills each call once', async () => {
  reply = picky(noSchema);
  const one = model();
  await one.complete(REQUEST, { signal: never });
  expect(endpoint.requests.map((entry) => entry.body.response_format?.type)).toEqual(['json_schema', 'json_object']);
  await one.complete(REQUEST, { signal: never });
  expect(endpoint.requests.map((entry) => entry.body.response_format?.type)).toEqual([
    'json_schema',
    'json_object',
    'json_object',
  ]);
  expect(endpoint.billed()).toBe(2);
});

test('an endpoint without any JSON mode is asked for plain text, with the same messages', async () => {
  reply = picky(noSchema, noObject);
  await ask();
  const last = endpoint.requests.at(-1)?.body;
  expect(last?.response_format).toBeUndefined();
  expect(last?.messages).toEqual(REQUEST.messages);
});

test('a reasoning model gets its own parameters after one round of refusals, and another model keeps the full set', async () => {
  reply = (body) => (body.model === 'o-think' ? picky(reasoning)(body) : '{}');
  const one = model();
  await one.complete({ ...REQUEST, model: 'o-think' }, { signal: never });
  expect(endpoint.requests).toHaveLength(4);
  await one.complete({ ...REQUEST, model: 'o-think' }, { signal: never });
  expect(endpoint.requests).toHaveLength(5);
  expect(endpoint.requests.at(-1)?.body).toMatchObject({
    max_completion_tokens: 64,
    seed: 1,
    response_format: { type: 'json_schema' },
  });
  await one.complete(REQUEST, { signal: never });
  expect(endpoint.requests.at(-1)?.body).toMatchObject({ max_tokens: 64, temperature: 0.2, top_p: 0.95 });
});

test('a schema that the endpoint cannot compile costs only its own role the native mode', async () => {
  reply = (body) =>
    body.response_format?.json_schema?.name === 'plan'
      ? refusal("Invalid schema for response_format 'plan': bad keyword")
      : '{}';
  const one = model();
  const other = { ...REQUEST, schema: { ...REQUEST.schema, name: 'ground' } };
  for (const request of [REQUEST, other, REQUEST]) await one.complete(request, { signal: never });
  expect(endpoint.requests.map((entry) => entry.body.response_format?.type)).toEqual([
    'json_schema',
    'json_object',
    'json_schema',
    'json_object',
  ]);
});

test('an error that only mentions a field does not degrade later calls', async () => {
  reply = (_body, index) =>
    index < 3 ? refusal('the prompt mentions response_format and is refused for its content') : '{}';
  const one = model();
  await expect(one.complete(REQUEST, { signal: never })).rejects.toMatchObject({ code: 'bad-request' });
  await one.complete(REQUEST, { signal: never });
  expect(endpoint.requests.at(-1)?.body.response_format?.type).toBe('json_schema');
});

test('calls side by side learn the same shape without undoing each other', async () => {
  reply = picky(noSchema, reasoning);
  const one = model();
  await Promise.all([1, 2, 3, 4].map(() => one.complete(REQUEST, { signal: never })));
  expect(endpoint.billed()).toBe(4);
  const before = endpoint.requests.length;
  await one.complete(REQUEST, { signal: never });
  expect(endpoint.requests.length).toBe(before + 1);
});

test.each([
  ['429', { fault: 'status', status: 429 }, 'rate-limited'],
  ['500', { fault: 'status', status: 500 }, 'server-error'],
  ['a dropped connection', { fault: 'close' }, 'connection'],
  ['malformed JSON', { fault: 'body', text: '{"choices": [' }, 'server-error'],
  ['an empty object', { fault: 'body', text: '{}' }, 'bad-answer'],
  ['an empty body', { fault: 'body', text: '' }, 'server-error'],
  ['a web page', { fault: 'body', text: '<html>login</html>', contentType: 'text/html' }, 'bad-answer'],
  ['a web page that says it is JSON', { fault: 'body', text: '<html>login</html>' }, 'bad-answer'],
  ['501', { fault: 'status', status: 501 }, 'bad-answer'],
  ['an error inside a 200', { fault: 'body', text: '{"error":{"code":429,"message":"slow down"}}' }, 'rate-limited'],
] as const)('%s is one failed request, never retried by the client', async (_what, fault, code) => {
  endpoint.failNext(fault);
  await expect(ask()).rejects.toMatchObject({ name: 'ModelError', code });
  expect(endpoint.requests).toHaveLength(1);
});

test.each(['hang', 'stall'] as const)('a server that %ss is a timeout', async (fault) => {
  endpoint.failNext({ fault });
  await expect(ask({}, { timeoutMs: 150 })).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('150 ms') as string,
  });
});

test('a configured time limit above five minutes is not cut by the limits of the HTTP client', async () => {
  const timeoutMs = 20 * 60_000;
  const [limits] = await transportLimitsOf(() => ask({}, { timeoutMs }));
  expect(limits?.headersTimeout).toBeGreaterThan(timeoutMs);
  expect(limits?.bodyTimeout).toBeGreaterThan(timeoutMs);
});

test.each(['hang', 'stall'] as const)("an abort while a server %ss throws the signal's own reason", async (fault) => {
  endpoint.failNext({ fault });
  const controller = new AbortController();
  const reason = new Error('cancelled by the user');
  const running = model().complete(REQUEST, { signal: controller.signal });
  await endpoint.arrived(1);
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
});

test('an aborted signal sends nothing', async () => {
  await expect(model().complete(REQUEST, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
  expect(endpoint.requests).toHaveLength(0);
});

test('a connection that is dropped after the request may have been billed', async () => {
  reply = () => ({ fault: 'close' });
  await expect(ask()).rejects.toMatchObject({
    code: 'connection',
    options: expect.not.objectContaining({ unsent: true }) as unknown,
  });
});

test('an endpoint that is down is a connection error that names it', async () => {
  const { host } = endpoint;
  await endpoint.close();
  await expect(ask()).rejects.toMatchObject({
    ...{ code: 'connection', message: expect.stringContaining(host) as string },
    options: { unsent: true },
  });
});

test('the endpoint is the host and port, for the notice of the first run', () => {
  expect(model().endpoint).toBe(endpoint.host);
  expect(createOpenAiModel({ apiKey: 'k', baseUrl: null, timeoutMs: 1 }).endpoint).toBe('api.openai.com');
});

test('without an address and a key nothing can be asked', () => {
  const settings = { apiKey: null, baseUrl: null, timeoutMs: 1 };
  expect(() => createOpenAiModel(settings)).toThrow(/OPENAI_API_KEY/);
});

test('settings of the environment that the configuration does not name are not sent', async () => {
  const saved = { ...process.env };
  Object.assign(process.env, {
    OPENAI_ORG_ID: 'org-1',
    OPENAI_PROJECT_ID: 'p-1',
    OPENAI_BASE_URL: 'http://127.0.0.1:9',
  });
  try {
    await ask();
  } finally {
    process.env = saved;
  }
  expect(Object.keys(endpoint.requests[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(['openai-organization']));
});
