import { awaitQuestion, cancelWorkflow } from '../../src/workers/client';
import { steerQuestion } from '../../src/workers/steer-question';
import { questionWorkflowId } from '../../src/workflows/ids';
import { holdAt } from './hold';
import { scriptedSettings, scriptedWorker, type Script } from './scripted-steps';

const author = 'ada';

const { ask: steered } = scriptedWorker({ modelTimeoutMs: 30_000 });

test('a hint becomes a remark of its author, and later prompts refer to it', async () => {
  const hold = holdAt('ground');
  const kept: string[] = [];
  const script: Script = {
    onStep: async (call) => {
      if (call.name === 'remark') kept.push(call.position);
      await hold.onStep(call);
    },
  };
  await steered(script, async ({ gate, searchId }) => {
    await hold.reached;
    const told = await steerQuestion(gate, searchId, { kind: 'hint', author, text: 'gaps are seconds' });
    expect(told).toEqual({ kind: 'applied', remarkId: 'h1', heard: 'call-after' });
    hold.release();
    expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' });
    expect(kept).toEqual(['h1']);
    const events = (await gate.client.workflow.getHandle(questionWorkflowId(searchId)).fetchHistory()).events ?? [];
    const inputs = events.flatMap((event) => event.activityTaskScheduledEventAttributes?.input?.payloads ?? []);
    const told1 = inputs.filter(({ data }) =>
      Buffer.from(data ?? [])
        .toString()
        .includes('"remarks":["h1"]'),
    );
    expect(told1.length).toBeGreaterThan(0);
  });
});

test('stop gives up the step under way and answers with what is there', async () => {
  const hold = holdAt('propose');
  await steered({ operators: 3, onStep: hold.onStep }, async ({ gate, searchId }) => {
    await hold.reached;
    expect(await steerQuestion(gate, searchId, { kind: 'stop', author })).toMatchObject({ kind: 'applied' });
    const ended = await awaitQuestion(gate, searchId);
    expect(ended).toMatchObject({ kind: 'completed', value: { endedBy: 'stop', status: 'abstained' } });
    expect(hold.calls.at(-1)?.name).toBe('finish');
    const late = await steerQuestion(gate, searchId, { kind: 'hint', author, text: 'too late' });
    expect(late).toEqual({ kind: 'not-running' });
  });
});

test('a paused search makes no model call until it is resumed, and cannot be paused twice', async () => {
  const hold = holdAt('prepare');
  await steered({ onStep: hold.onStep }, async ({ gate, searchId }) => {
    await hold.reached;
    expect(await steerQuestion(gate, searchId, { kind: 'resume', author })).toEqual({
      kind: 'refused',
      reason: 'it is not paused',
    });
    expect(await steerQuestion(gate, searchId, { kind: 'pause', author })).toMatchObject({ kind: 'applied' });
    expect(await steerQuestion(gate, searchId, { kind: 'pause', author })).toEqual({
      kind: 'refused',
      reason: 'it is paused already',
    });
    hold.release();
    // Its answer comes after the step of the same workflow task, so the search has reached its first model call.
    await gate.client.workflow.getHandle(questionWorkflowId(searchId)).query('plan');
    expect([...new Set(hold.calls.map(({ name }) => name))]).toEqual(['prepare']);
    expect(await steerQuestion(gate, searchId, { kind: 'resume', author })).toMatchObject({ kind: 'applied' });
    expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' });
  });
});

test('a budget may be raised while the search runs; one that is used up or senseless is refused', async () => {
  const hold = holdAt('propose');
  const budgets = { ...scriptedSettings().budgets, llmCalls: 2 };
  await steered(
    { onStep: hold.onStep },
    async ({ gate, searchId }) => {
      await hold.reached;
      const limit = (change: object) => steerQuestion(gate, searchId, { kind: 'budget', author, budgets: change });
      expect(await limit({ llmCalls: -1 })).toEqual({
        kind: 'refused',
        reason: 'llmCalls must be above 0, or null for no limit',
      });
      expect(await limit({ calls: 3 })).toMatchObject({ kind: 'refused' });
      expect(await limit({})).toEqual({ kind: 'refused', reason: 'no budget given' });
      expect(await limit({ llmCalls: null })).toMatchObject({ kind: 'applied' });
      hold.release();
      const ended = await awaitQuestion(gate, searchId);
      if (ended.kind !== 'completed') throw new Error(ended.message);
      expect(ended.value.endedBy).not.toContain('budget');
      expect(ended.value.usage.llmCalls).toBeGreaterThan(2);
    },
    { settings: scriptedSettings({ budgets }) },
  );
});

test('a veto withdraws an update; one that is unknown is refused with the ones that are there', async () => {
  const hold = holdAt('candidate');
  await steered({ operators: 1, onStep: hold.onStep }, async ({ gate, searchId }) => {
    await hold.reached;
    const handle = gate.client.workflow.getHandle(questionWorkflowId(searchId));
    const memory = await handle.query<{ updates: { id: string; status: string }[] }>('memory');
    const [update] = memory.updates;
    if (update === undefined) throw new Error('nothing was proved');
    const veto = (id: string) => steerQuestion(gate, searchId, { kind: 'veto', author, update: id, reason: 'wrong' });
    expect(await veto('nothing')).toEqual({ kind: 'refused', reason: `no update nothing; known: ${update.id}` });
    expect(await veto(update.id)).toEqual({ kind: 'applied', remarkId: 'h1' });
    const after = await handle.query<{ updates: { status: string }[] }>('memory');
    expect(after.updates[0]?.status).toBe('withdrawn');
    expect(await veto(update.id)).toMatchObject({ kind: 'refused' });
    hold.release();
    await cancelWorkflow(gate, questionWorkflowId(searchId));
    expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'cancelled' } });
  });
});
