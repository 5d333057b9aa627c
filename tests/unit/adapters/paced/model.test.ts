import { createPacedModel, type PaceLimits } from '../../../../src/adapters/paced';
import { scriptedModel, type ScriptedReply } from '../../../helpers/scripted';
import { ModelError, type ModelRequest } from '../../../../src/domain/ports';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const signal = new AbortController().signal;
const request = (model = 'm', chars = 400): ModelRequest => ({
  ...{ role: 'plan', model, messages: [{ role: 'user', content: 'x'.repeat(chars) }], temperature: 0, topP: 1 },
  ...{ maxOutputTokens: 1_000, seed: 0, schema: { name: 's', schema: {} } },
});
const limited = (limits: Partial<PaceLimits>): PaceLimits => ({
  ...{ requestsPerMinute: null, tokensPerMinute: null, concurrency: null },
  ...limits,
});

function paced(limits: PaceLimits | null, replies: (request: ModelRequest, call: number) => ScriptedReply) {
  const inner = scriptedModel({ replies });
  return { inner, model: createPacedModel(inner, { limitsOf: () => limits, random: () => 0 }) };
}

test('every model has a pace of its own', async () => {
  const { inner, model } = paced(limited({ requestsPerMinute: 1 }), () => 'ok');
  void model.complete(request('a'), { signal });
  void model.complete(request('b'), { signal });
  void model.complete(request('a'), { signal });
  await jest.advanceTimersByTimeAsync(10);
  expect(inner.requests.map(({ model: name }) => name)).toEqual(['a', 'b']);
  await jest.advanceTimersByTimeAsync(62_000);
  expect(inner.requests.length).toBe(3);
});

test('replies shorter than the output cap make room for more calls', async () => {
  const { inner, model } = paced(limited({ tokensPerMinute: 12_000 }), () => ({
    ...{ text: 'ok', promptTokens: 100, completionTokens: 50 },
  }));
  await model.complete(request(), { signal });
  for (let n = 0; n < 7; n += 1) void model.complete(request(), { signal });
  await jest.advanceTimersByTimeAsync(10);
  expect(inner.requests.length).toBeGreaterThan(4);
});

test('a 429 is thrown as it came, with the time at which the pause of this process is over', async () => {
  const { inner, model } = paced(null, () => new ModelError('rate-limited', 'slow down', { retryAfterMs: 5_000 }));
  await expect(model.complete(request(), { signal })).rejects.toMatchObject({
    ...{ name: 'ModelError', code: 'rate-limited', message: 'slow down', options: { retryAfterMs: 5_000 } },
  });
  expect(inner.requests.length).toBe(1);
});

test('a pause longer than a call may wait sends it back without a request', async () => {
  const { inner, model } = paced(null, () => new ModelError('rate-limited', 'slow down', { retryAfterMs: 60_000 }));
  await expect(model.complete(request(), { signal })).rejects.toThrow('slow down');
  await expect(model.complete(request(), { signal })).rejects.toMatchObject({
    ...{ code: 'rate-limited', options: { retryAfterMs: 60_000 } },
    message: "m is at its limit (models.limits, or the endpoint's own): waiting for a place",
  });
  expect(inner.requests.length).toBe(1);
});

test('any other failure leaves the pace as it is', async () => {
  const { inner, model } = paced(limited({ concurrency: 1 }), (_request, call) =>
    call === 0 ? new ModelError('connection', 'gone') : 'ok',
  );
  await expect(model.complete(request(), { signal })).rejects.toThrow('gone');
  await model.complete(request(), { signal });
  expect(inner.requests.length).toBe(2);
});
