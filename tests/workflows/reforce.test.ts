/** The votes of `reforce` on a real server: side by side in one workflow, each step once, whatever happens to its worker. */
import { awaitQuestion, cancelWorkflow, type GateClient } from '../../src/workers/client';
import { questionWorkflowId } from '../../src/workflows/ids';
import { scriptedSettings, scriptedWorker, type OnStep, type StepCall } from './scripted-steps';

const worker = scriptedWorker({ settings: scriptedSettings({}, 'reforce') });
const ask = <T>(onStep: OnStep, work: (gate: GateClient, searchId: string) => Promise<T>, iterationsPerRun?: number) =>
  worker.ask({ onStep }, ({ gate, searchId }) => work(gate, searchId), { iterationsPerRun });

test.each([
  ['in one run', undefined],
  ['in a run for each stage', 1],
])('eight votes are under way at the same time, and each step runs once: %s', async (_, perRun) => {
  const calls: string[] = [];
  let waiting = 0;
  let allBegan: () => void;
  const all = new Promise<void>((resolve) => (allBegan = resolve));
  const onStep = async ({ name, position }: StepCall): Promise<void> => {
    calls.push(`${position} ${name}`);
    if (name !== 'generate') return;
    waiting += 1;
    if (waiting === 8) allBegan();
    await all;
  };
  await ask(
    onStep,
    async (gate, searchId) => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({
        kind: 'completed',
        value: { status: 'answered', endedBy: 'agreement', usage: { llmCalls: 8, sqlExecutions: 9 } },
      });
      expect(new Set(calls).size).toBe(calls.length);
      expect(calls.filter((call) => call.endsWith(' generate')).sort()).toEqual(
        Array.from({ length: 8 }, (_, at) => `i2.v${at + 1}.a1 generate`),
      );
    },
    perRun,
  );
});

test('cancelled while a vote is under way, it keeps what the others have and pays for nothing more', async () => {
  let began: () => void;
  const reached = new Promise<void>((resolve) => (began = resolve));
  let refined = 0;
  const after: string[] = [];
  await ask(
    async ({ name, position, signal }) => {
      if (signal?.aborted) after.push(name);
      if (name === 'refine') refined += 1;
      if (refined === 7) began();
      if (name !== 'generate' || !position.includes('.v3.')) return;
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    },
    async (gate, searchId) => {
      await reached;
      await cancelWorkflow(gate, questionWorkflowId(searchId));
      expect(await awaitQuestion(gate, searchId)).toMatchObject({
        kind: 'completed',
        value: { status: 'cancelled', endedBy: 'cancel', sql: 'SELECT 1' },
      });
      expect(after).toEqual([]);
    },
  );
});
