import { scriptedModel } from '../../../../src/adapters/scripted';
import { ModelError, type ModelRequest } from '../../../../src/ports';

const request = (over: Partial<ModelRequest> = {}): ModelRequest => ({
  role: 'plan',
  model: 'm',
  messages: [{ role: 'user', content: 'eight ch' }],
  temperature: 0,
  topP: 1,
  maxOutputTokens: 1,
  seed: 1,
  schema: { name: 's', schema: {} },
  ...over,
});
const signal = new AbortController().signal;

test('each role has its own queue, and the ledger keeps what was asked', async () => {
  const model = scriptedModel({ replies: { plan: ['p1', 'p2'], ground: ['g1'] } });
  const texts = [];
  for (const role of ['plan', 'ground', 'plan'] as const)
    texts.push((await model.complete(request({ role }), { signal })).text);
  expect(texts).toEqual(['p1', 'g1', 'p2']);
  expect(model.requests.map((one) => one.role)).toEqual(['plan', 'ground', 'plan']);
  expect([model.replied, model.callsTo('plan'), model.callsTo('select')]).toEqual([3, 2, 0]);
  expect(model.remaining()).toEqual({});
});

test('a script that has run out says which role asked for what', async () => {
  const model = scriptedModel({ replies: { plan: ['p1'] } });
  await model.complete(request(), { signal });
  await expect(model.complete(request(), { signal })).rejects.toThrow('only 1 for role "plan"; call 2');
  await expect(model.complete(request({ role: 'ground' }), { signal })).rejects.toThrow(
    'no reply at all for role "ground"; call 1',
  );
});

test('a function sees the request and the number of the call', async () => {
  const model = scriptedModel({ replies: (asked, call) => Promise.resolve(`${asked.role}${call}`) });
  await model.complete(request(), { signal });
  expect((await model.complete(request({ role: 'select' }), { signal })).text).toBe('select1');
});

test('an error on demand is thrown and not counted as a reply', async () => {
  const error = new ModelError('rate-limited', 'slow', { retryAfterMs: 5 });
  const model = scriptedModel({ replies: { plan: [error, 'ok'] } });
  await expect(model.complete(request(), { signal })).rejects.toBe(error);
  expect((await model.complete(request(), { signal })).text).toBe('ok');
  expect([model.requests.length, model.replied]).toEqual([2, 1]);
});

test('tokens are estimated at four characters each, and figures of the script win', async () => {
  const model = scriptedModel({ replies: { plan: ['12345', { text: 'x', completionTokens: 900, costUsd: 0.5 }] } });
  expect(await model.complete(request(), { signal })).toMatchObject({
    promptTokens: 2,
    completionTokens: 2,
    costUsd: 0,
  });
  expect(await model.complete(request(), { signal })).toMatchObject({ completionTokens: 900, costUsd: 0.5 });
});

test("an abort ends the wait with the signal's own reason, and nothing was replied", async () => {
  const model = scriptedModel({ replies: () => 'late', latencyMs: 60_000 });
  const controller = new AbortController();
  const running = model.complete(request(), { signal: controller.signal });
  const reason = new Error('stop');
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  expect(model.replied).toBe(0);
});
