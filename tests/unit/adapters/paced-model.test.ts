import { createPacedModel, Pace, type PacedCall, type PaceLimits } from '../../../src/adapters/paced-model';
import { scriptedModel, type ScriptedReply } from '../../helpers/scripted';
import { ModelError, type ModelRequest } from '../../../src/domain/ports';

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const signal = new AbortController().signal;
const request = (model = 'm', chars = 400): ModelRequest => ({
  ...{ role: 'plan', model, messages: [{ role: 'user', content: 'x'.repeat(chars) }], temperature: 0, topP: 1 },
  ...{ maxOutputTokens: 1_000, seed: 0, schema: { name: 's', schema: {} } },
});
const limited = (limits: Partial<PaceLimits>): PaceLimits => ({
  ...{ requestsPerMinute: null, tokensPerMinute: null, concurrency: null },
  ...limits,
});
const pace = (limits: Partial<PaceLimits> = {}, longestWaitMs = 3_600_000): Pace => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  return new Pace(limited(limits), longestWaitMs);
};

function paced(limits: PaceLimits | null, replies: (request: ModelRequest, call: number) => ScriptedReply) {
  const inner = scriptedModel({ replies });
  return { inner, model: createPacedModel(inner, () => limits) };
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

/** The most that began within any minute. */
function mostInAMinute(times: readonly number[]): number {
  return Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + 60_000).length));
}

/** Begins this many calls at once; each lasts `callMs`. */
function beginAll(of: Pace, count: number, callMs: number, tokens = 0, used = tokens) {
  const begun: number[] = [];
  for (let n = 0; n < count; n += 1) {
    void of.begin(tokens, signal).then((call) => {
      begun.push(Date.now());
      setTimeout(() => call.ended(used), callMs);
    });
  }
  return begun;
}

test.each([1, 3, 10, 60, 500])('no minute holds more than %i requests, and few go unused', async (limit) => {
  const begun = beginAll(pace({ requestsPerMinute: limit }), limit * 4, 300);
  await jest.advanceTimersByTimeAsync(5 * 60_000);
  expect(begun.length).toBe(limit * 4);
  expect(mostInAMinute(begun)).toBeLessThanOrEqual(limit);
  expect((begun.at(-1)! - begun[0]!) / 60_000).toBeLessThan(4.5);
});

test('no minute holds more tokens than allowed, whatever was estimated', async () => {
  const begun = beginAll(pace({ tokensPerMinute: 60_000 }), 100, 2_000, 3_000, 1_500);
  await jest.advanceTimersByTimeAsync(10 * 60_000);
  expect(begun.length).toBe(100);
  expect(mostInAMinute(begun) * 1_500).toBeLessThanOrEqual(60_000);
});

test('a call larger than the token limit begins once the bucket is full, and is owed', async () => {
  const begun = beginAll(pace({ tokensPerMinute: 1_000 }), 2, 10, 1_800);
  await jest.advanceTimersByTimeAsync(1);
  expect(begun.length).toBe(1);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(begun.length).toBe(1);
  await jest.advanceTimersByTimeAsync(90_000);
  expect(begun.length).toBe(2);
});

test('no more calls are under way than allowed, and they begin in the order they came', async () => {
  const limited = pace({ concurrency: 2 });
  const order: number[] = [];
  const under: PacedCall[] = [];
  for (let n = 0; n < 5; n += 1) {
    void limited.begin(0, signal).then((call) => {
      order.push(n);
      under.push(call);
    });
  }
  await jest.advanceTimersByTimeAsync(1);
  expect(order).toEqual([0, 1]);
  under.shift()?.ended(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(order).toEqual([0, 1, 2]);
  under.forEach((call) => call.ended(1));
  await jest.advanceTimersByTimeAsync(1);
  expect(order).toEqual([0, 1, 2, 3, 4]);
});

test('of those that wait the lowest rank begins first', async () => {
  const limited = pace({ concurrency: 1 });
  const order: string[] = [];
  for (const [name, rank] of Object.entries({ first: 4, batch: 4, person: 3, later: 4 }))
    void limited.begin(0, signal, rank).then((call) => {
      order.push(name);
      setTimeout(() => call.ended(1), 10);
    });
  await jest.advanceTimersByTimeAsync(100);
  expect(order).toEqual(['first', 'person', 'batch', 'later']);
});

test('a refusal stops all calls for the time it names, then few begin and more with every success', async () => {
  const unlimited = pace();
  const first = await Promise.all(Array.from({ length: 8 }, () => unlimited.begin(0, signal)));
  const waits = first.map((call) => call.refused(20_000));
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(20_000);
  let underWay = 0;
  let most = 0;
  let done = 0;
  for (let n = 0; n < 60; n += 1) {
    void unlimited.begin(0, signal).then((call) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setTimeout(() => {
        underWay -= 1;
        done += 1;
        call.ended(1);
      }, 1_000);
    });
  }
  await jest.advanceTimersByTimeAsync(19_900);
  expect(done + underWay).toBe(0);
  await jest.advanceTimersByTimeAsync(2_500);
  expect(underWay).toBe(4);
  await jest.advanceTimersByTimeAsync(30_000);
  expect(done).toBe(60);
  expect(most).toBeGreaterThan(6);
  expect(most).toBeLessThan(16);
});

test('without a time of its own a refusal waits 1 s, then longer, up to a minute', async () => {
  const unlimited = pace();
  const waits: number[] = [];
  for (let n = 0; n < 9; n += 1) {
    const call = await unlimited.begin(0, signal);
    const wait = call.refused(null);
    waits.push(Math.floor((wait - 1_000) / 1_000));
    await jest.advanceTimersByTimeAsync(wait + 1);
  }
  expect(waits[0]).toBeLessThan(2);
  expect(waits[4]).toBeGreaterThanOrEqual(16);
  expect(waits[8]).toBeGreaterThanOrEqual(60);
  expect(waits[8]).toBeLessThan(64);
});

test('a call that would wait too long is told when to come back', async () => {
  const limited = pace({ requestsPerMinute: 1 }, 10_000);
  await limited.begin(0, signal);
  const refused = expect(limited.begin(0, signal)).rejects.toMatchObject({ retryAfterMs: 1_000 });
  await jest.advanceTimersByTimeAsync(10_000);
  await refused;
});

test('a call cancelled while it waits leaves, and the next one begins in its place', async () => {
  const limited = pace({ concurrency: 1 });
  const first = await limited.begin(0, signal);
  const stop = new AbortController();
  const second = expect(limited.begin(0, stop.signal)).rejects.toThrow('stopped');
  const third = limited.begin(0, signal);
  stop.abort(new Error('stopped'));
  await second;
  first.ended(1);
  await expect(third).resolves.toBeDefined();
});

test('what was given back is there again, up to what may begin at once', async () => {
  const limited = pace({ tokensPerMinute: 600 });
  (await limited.begin(60, signal)).ended(0);
  (await limited.begin(60, signal)).refused(1);
  const begun = beginAll(limited, 2, 1_000, 60);
  await jest.advanceTimersByTimeAsync(100);
  expect(begun).toHaveLength(1);
});

test('a call that has left takes no place, whoever makes room in the same moment', async () => {
  const [limits, left] = [pace({ concurrency: 1 }), new AbortController()];
  const first = await limits.begin(1, signal);
  const second = limits.begin(1, left.signal);
  left.abort(new Error('left'));
  first.ended(null);
  await expect(second).rejects.toThrow('left');
  (await limits.begin(1, signal)).ended(null);
});
