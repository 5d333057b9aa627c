import { createMemoryStore, scriptedModel, type ScriptedReply } from '../../../src/adapters/scripted';
import { ModelError, type ModelRequest } from '../../../src/ports';
import { createRunStore } from '../../../src/steps';
import { callOnce, journalled } from '../../../src/steps/journal';
import { containing, hash } from './fixtures';

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

function caller(replies: ScriptedReply[], store = createMemoryStore()) {
  const model = scriptedModel({ replies: { plan: replies } });
  const run = createRunStore(store, 's1', hash);
  const call = (change: Partial<ModelRequest> = {}, tryNumber = 0) =>
    callOnce({
      run,
      position: 'i1.plan',
      tryNumber,
      request: { ...request, ...change },
      model,
      clock: { now: () => 5 },
      hash,
      signal: new AbortController().signal,
    });
  return { call, model, run, store };
}

describe('D2: a model call is paid once', () => {
  test('a stored reply is returned with its usage, and nothing is asked again', async () => {
    const { call, model } = caller([{ text: 'a', costUsd: 0.5 }]);
    const first = await call();
    expect(first).toMatchObject({ text: 'a', usage: { llmCalls: 1, possiblyBilledCalls: 0, costUsd: 0.5 } });
    expect(await call()).toEqual(first);
    expect(model.replied).toBe(1);
  });

  test('another try or another seed is another call', async () => {
    const { call, model } = caller(['a', 'b', 'c']);
    await call();
    await call({}, 1);
    await call({ seed: 8 });
    expect(model.replied).toBe(3);
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

  test('an earlier try gives back its conversation and its reply', async () => {
    const { call, run } = caller(['a']);
    await call();
    expect(await journalled(run, 'i1.plan', 0, 7)).toMatchObject({
      text: 'a',
      intent: { messages: [{ content: 'hi' }] },
    });
  });
});
