import { createMemoryStore, scriptedModel, type ScriptedReply } from '../../helpers/scripted';
import {
  ModelError,
  StoreError,
  type ModelRequest,
  type ObjectStore,
  type StoreErrorCode,
} from '../../../src/domain/ports';
import { createRunStore } from '../../../src/record/run-store';
import { callOnce, journalled } from '../../../src/record/journal';
import { containing } from '../roles/fixtures';

const request: ModelRequest = {
  role: 'plan',
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  temperature: 0.2,
  topP: 0.95,
  maxOutputTokens: 10,
  seed: 7,
  schema: { name: 's', schema: {} },
};

function caller(replies: ScriptedReply[], store: ObjectStore = createMemoryStore()) {
  const model = scriptedModel({ replies: { plan: replies } });
  const run = createRunStore(store, 's1');
  const hits: ModelRequest[] = [];
  const call = async (
    change: Partial<ModelRequest> = {},
    tryNumber = 0,
    signal: AbortSignal = new AbortController().signal,
  ) => {
    const { called } = await callOnce({
      store,
      run,
      position: 'i1.plan',
      tryNumber,
      request: { ...request, ...change },
      model,
      clock: { now: () => 5 },
      ...{ signal, storeAgainAfterMs: [1, 1], onHit: (hit: ModelRequest) => void hits.push(hit) },
    });
    return called;
  };
  return { call, model, run, store, hits };
}

/** Refuses the next puts of replies, in order. */
function refusing(...codes: StoreErrorCode[]): ObjectStore {
  const store = createMemoryStore();
  return {
    ...store,
    put(key, text, options) {
      const code = key.includes('/reply/') ? codes.shift() : undefined;
      return code === undefined ? store.put(key, text, options) : Promise.reject(new StoreError(code, `it is ${code}`));
    },
  };
}

describe('D2: a model call is paid once', () => {
  test('a stored reply is returned with its usage, and nothing is asked again', async () => {
    const { call, model, hits } = caller([{ text: 'a', costUsd: 0.5 }]);
    const first = await call();
    expect(first).toMatchObject({ text: 'a', usage: { llmCalls: 1, possiblyBilledCalls: 0, costUsd: 0.5 } });
    expect(hits).toEqual([]);
    expect(await call()).toEqual(first);
    expect(model.replied).toBe(1);
    expect(hits).toEqual([request]);
  });

  test('tokens from a cache are kept with the reply, and left out where there were none', async () => {
    const { call, run } = caller([
      { text: 'a', promptTokens: 90, cachedTokens: 64 },
      { text: 'b', cachedTokens: 0 },
    ]);
    const first = await call();
    expect(first.usage).toMatchObject({ promptTokens: 90, cachedTokens: 64 });
    expect(await call()).toEqual(first);
    expect((await run.get('reply', 'i1.plan.try0.seed7')).reply.cachedTokens).toBe(64);
    expect((await call({}, 1)).usage).not.toHaveProperty('cachedTokens');
  });

  test('another try or another seed is another call, and an earlier one gives back its conversation and its reply', async () => {
    const { call, model, run } = caller(['a', 'b', 'c']);
    await call();
    await call({}, 1);
    await call({ seed: 8 });
    expect(model.replied).toBe(3);
    const first = { text: 'a', intent: { messages: [{ content: 'hi' }] } };
    expect(await journalled(run, 'i1.plan', 0, 7)).toMatchObject(first);
  });

  test('a call in flight when the process died is repeated once and counted as possibly billed', async () => {
    const dying = caller([new ModelError('connection', 'gone')]);
    await expect(dying.call()).rejects.toThrow('gone');
    const next = caller(['a'], dying.store);
    expect(await next.call()).toMatchObject({ text: 'a', usage: { llmCalls: 1, possiblyBilledCalls: 1 } });
    expect((await next.call()).usage.possiblyBilledCalls).toBe(1);
  });

  test('a call that was begun and never answered is asked anew, even when a deploy changed its words', async () => {
    const before = caller([new ModelError('rate-limited', 'later')]);
    await expect(before.call()).rejects.toThrow('later');
    const after = caller(['a'], before.store);
    const reworded = { messages: [{ role: 'user' as const, content: 'hi, in other words' }] };
    expect(await after.call(reworded)).toMatchObject({ text: 'a' });
    expect(await journalled(after.run, 'i1.plan', 0, 7)).toMatchObject({ intent: reworded });
  });

  test('a call that the server turned away is not counted as possibly billed', async () => {
    const { call } = caller([new ModelError('rate-limited', 'later'), 'a']);
    await expect(call()).rejects.toThrow('later');
    expect((await call()).usage.possiblyBilledCalls).toBe(0);
  });

  test('a try for which no connection was made is not counted as possibly billed; a lost one before it still is', async () => {
    const unsent = new ModelError('connection', 'refused', { unsent: true });
    const { call } = caller([new ModelError('connection', 'gone'), unsent, unsent, 'a']);
    for (const said of ['gone', 'refused', 'refused']) await expect(call()).rejects.toThrow(said);
    expect((await call()).usage.possiblyBilledCalls).toBe(1);
  });

  test.each<[string, Partial<ModelRequest>]>([
    ['the request', { messages: [{ role: 'user', content: 'other' }] }],
    ['the model (m, now n)', { model: 'n' }],
  ])('a journalled call that differs in %s is an error that says so', async (what, change) => {
    const { call } = caller(['a']);
    await call();
    await expect(call(change)).rejects.toMatchObject({
      name: 'StoreError',
      code: 'conflict',
      message: containing(`differs in ${what}`),
    });
  });
});

describe('D2: a paid reply is not lost', () => {
  test('a store that is away for a while is offered the reply again', async () => {
    const { call, model } = caller(['a'], refusing('unavailable', 'unavailable'));
    expect(await call()).toMatchObject({ text: 'a', usage: { possiblyBilledCalls: 0 } });
    expect(model.replied).toBe(1);
  });

  test('a store that stays away ends the step, and the next try stores the reply without asking anybody', async () => {
    const { call, model } = caller(['a', 'b'], refusing('unavailable', 'unavailable', 'unavailable'));
    await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await call()).toMatchObject({ text: 'a', usage: { llmCalls: 1, possiblyBilledCalls: 0 } });
    expect(model.replied).toBe(1);
  });

  test('an error of the store that time does not mend is not waited for', async () => {
    const { call } = caller(['a'], refusing('misconfigured'));
    await expect(call()).rejects.toMatchObject({ code: 'misconfigured' });
  });
});

describe('D2: two that make the same call', () => {
  test('a second try of a step in this process joins the call of the first', async () => {
    const { call, model } = caller(['a', 'b']);
    const both = await Promise.all([call(), call()]);
    expect(both.map(({ text }) => text)).toEqual(['a', 'a']);
    expect(model.replied).toBe(1);
  });

  test('the call goes on for the second when the first is cancelled', async () => {
    const { call, model } = caller(['a', 'b']);
    const cancelled = new AbortController();
    const first = call({}, 0, cancelled.signal);
    const second = call();
    cancelled.abort(new Error('its heartbeat was lost'));
    await expect(first).rejects.toThrow('its heartbeat was lost');
    expect(await second).toMatchObject({ text: 'a', usage: { possiblyBilledCalls: 0 } });
    expect(model.replied).toBe(1);
  });

  test('the first stored reply stays, and the other call is counted as possibly billed', async () => {
    const store = createMemoryStore();
    // A worker that was thought dead, and the one that took its step over, each with a store object of its own process.
    const sleeper = caller(['from the sleeper'], { ...store });
    const successor = caller(['from the successor'], { ...store });
    await sleeper.run.put('intent', 'i1.plan.try0.seed7', await intentOfOneCall());
    const [one, other] = await Promise.all([sleeper.call(), successor.call()]);
    expect(one.text).toBe(other.text);
    const third = caller([], store);
    expect(await third.call()).toMatchObject({ text: one.text, usage: { llmCalls: 1 } });
    expect(sleeper.model.replied + successor.model.replied).toBe(2);
    expect((await third.call()).usage.possiblyBilledCalls).toBeGreaterThanOrEqual(1);
  });
});

describe('D2: a worker that was thought dead and returns before it has asked does not ask', () => {
  const ID = 'i1.plan.try0.seed7';

  /** Runs `meanwhile` between the look for an intent and its write. */
  function sleeping(meanwhile: () => Promise<unknown>) {
    const store = createMemoryStore();
    const put: ObjectStore['put'] = async (key, text, options) => {
      if (key.includes('/intent/')) await meanwhile();
      return store.put(key, text, options);
    };
    return { store, sleeper: caller(['from the sleeper'], { ...store, put }) };
  }

  test('its step was given away before its first intent', async () => {
    const { store, sleeper } = sleeping(async () => {
      await successor.run.put('intent', ID, { ...(await intentOfOneCall()), startedAtMs: 6 });
      await successor.call();
    });
    const successor = caller(['from the successor'], store);
    await expect(sleeper.call()).rejects.toMatchObject({ code: 'unavailable', message: containing('another worker') });
    expect(sleeper.model.replied).toBe(0);
    expect(await sleeper.call()).toMatchObject({ text: 'from the successor' });
  });

  test('its step was given away at a later try', async () => {
    const { store, sleeper } = sleeping(() => successor.call());
    const successor = caller(['from the successor'], store);
    await successor.run.put('intent', ID, await intentOfOneCall());
    await expect(sleeper.call()).rejects.toMatchObject({ code: 'unavailable' });
    expect(sleeper.model.replied).toBe(0);
    expect(await sleeper.call()).toMatchObject({ text: 'from the successor', usage: { possiblyBilledCalls: 1 } });
  });
});

async function intentOfOneCall() {
  const { call, run } = caller(['a']);
  await call();
  return run.get('intent', 'i1.plan.try0.seed7');
}
