/** The runs of `react` with repeats on a real server: what reaches them of a command to the question. */
import { Worker } from '@temporalio/worker';
import { awaitQuestion, cancelWorkflow, type GateClient } from '../../src/workers/client';
import { dataConverter } from '../../src/workers/payloads';
import { questionWorkflowId } from '../../src/workflows/ids';
import { testTemporal } from '../helpers/temporal';
import { scriptedSettings, scriptedWorker, type StepCall } from './scripted-steps';

const { ask } = scriptedWorker({ settings: scriptedSettings({ repeated: { runs: 2 } }, 'react') });

/** Two runs, held at their second action until `release`. */
async function held(
  work: (gate: GateClient, searchId: string, release: () => void, calls: readonly StepCall[]) => Promise<void>,
): Promise<void> {
  const calls: StepCall[] = [];
  let release = (): void => undefined;
  let bothHeld = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const both = new Promise<void>((resolve) => (bothHeld = resolve));
  const onStep = async (call: StepCall): Promise<void> => {
    calls.push(call);
    if (call.name !== 'act' || !call.position.startsWith('i2')) return;
    if (calls.filter(({ name, position }) => name === 'act' && position.startsWith('i2')).length === 2) bothHeld();
    const cancelled = new Promise((_, reject) => {
      call.signal?.addEventListener('abort', () => reject(call.signal?.reason as Error));
    });
    await Promise.race([released, cancelled]);
  };
  await ask({ onStep }, async ({ gate, searchId }) => {
    await both;
    await work(gate, searchId, release, calls);
  });
}

const runOf = (searchId: string, n: number) => questionWorkflowId(`${searchId}.run${n}`);

test('a hint and a pause reach the runs, new limits are refused; the history replays', async () => {
  await held(async (gate, searchId, release, calls) => {
    const handle = gate.client.workflow.getHandle(questionWorkflowId(searchId));
    const tell = (kind: string, more: object = {}) =>
      handle.executeUpdate(kind, { args: [{ author: 'ada', ...more }] });
    await tell('hint', { text: 'count adults only' });
    await tell('pause');
    await expect(tell('budget', { budgets: { llmCalls: 9 } })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('its runs have their shares already') as unknown },
    });
    release();
    // Paused, the runs make no third action.
    for (const n of [1, 2]) {
      const run = gate.client.workflow.getHandle(runOf(searchId, n));
      while ((await run.query<{ usage: { llmCalls: number } } | null>('progress'))?.usage.llmCalls !== 2);
    }
    expect(calls.filter(({ name, position }) => name === 'act' && position.startsWith('i3'))).toEqual([]);
    await tell('resume');
    expect(await awaitQuestion(gate, searchId)).toMatchObject({
      kind: 'completed',
      value: { status: 'answered', usage: { llmCalls: 9 } },
    });
    const remarks = calls.filter(({ name }) => name === 'remark').map((call) => call.searchId);
    expect(remarks.sort()).toEqual([searchId, `${searchId}.run1`, `${searchId}.run2`]);
    for (const id of [questionWorkflowId(searchId), runOf(searchId, 1)]) {
      const history = await gate.client.workflow.getHandle(id).fetchHistory();
      await Worker.runReplayHistory({ workflowBundle: testTemporal().bundle, dataConverter }, history);
    }
  });
});

test('cancelled, its runs end with their best so far, and so does it', async () => {
  await held(async (gate, searchId) => {
    await cancelWorkflow(gate, questionWorkflowId(searchId));
    expect(await awaitQuestion(gate, searchId)).toMatchObject({
      kind: 'completed',
      value: { status: 'cancelled', endedBy: 'cancel' },
    });
    for (const n of [1, 2])
      expect(await gate.client.workflow.getHandle(runOf(searchId, n)).result()).toMatchObject({ status: 'cancelled' });
  });
});
