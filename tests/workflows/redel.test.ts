/** The helpers of the method `redel` on a real server: workflows of their own, begun and ended by their agent's. */
import { awaitQuestion, cancelWorkflow, type GateClient } from '../../src/workers/client';
import { questionWorkflowId } from '../../src/workflows/ids';
import { ModelError } from '../../src/ports';
import { scriptedSettings, scriptedWorker, type OnStep, type StepCall } from './scripted-steps';

const worker = scriptedWorker({ settings: scriptedSettings({}, 'redel') });
const ask = <T>(onStep: OnStep, work: (gate: GateClient, searchId: string) => Promise<T>, iterationsPerRun?: number) =>
  worker.ask({ onStep }, ({ gate, searchId }) => work(gate, searchId), { iterationsPerRun });

const helper = (searchId: string, n: number) => `${searchId}.i1.helper${n}`;

test.each([
  ['in one run', undefined],
  ['in a run for each turn', 1],
])(
  'two helpers work at the same time, each in a workflow of its own; the root is charged for both: %s',
  async (_, perRun) => {
    const calls: string[] = [];
    let waiting = 0;
    let bothBegan: () => void;
    const both = new Promise<void>((resolve) => (bothBegan = resolve));
    const onStep = async ({ name, searchId, position }: StepCall): Promise<void> => {
      calls.push(`${searchId} ${position} ${name}`);
      if (name !== 'act' || !searchId.includes('.helper') || !position.startsWith('i1')) return;
      waiting += 1;
      if (waiting === 2) bothBegan();
      await both;
    };
    await ask(
      onStep,
      async (gate, searchId) => {
        expect(await awaitQuestion(gate, searchId)).toMatchObject({
          kind: 'completed',
          // Two calls of the root, two of each helper; the root's action, and one query of each.
          value: { status: 'answered', endedBy: 'finished', toolCalls: 2, usage: { llmCalls: 6 } },
        });
        for (const n of [1, 3]) {
          const handle = gate.client.workflow.getHandle(questionWorkflowId(helper(searchId, n)));
          expect((await handle.describe()).status.name).toBe('COMPLETED');
          expect(await handle.result()).toMatchObject({ status: 'answered', toolCalls: 1, usage: { llmCalls: 2 } });
        }
        expect(new Set(calls).size).toBe(calls.length);
      },
      perRun,
    );
  },
);

test('a helper whose workflow fails is a text to the root, which goes on', async () => {
  const seen: string[] = [];
  await ask(
    ({ name, searchId, position }) => {
      if (searchId.endsWith('.helper1') && name === 'act') throw new ModelError('bad-request', 'no');
      seen.push(`${searchId.slice(searchId.indexOf('.') + 1)} ${position}`);
    },
    async (gate, searchId) => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({
        kind: 'completed',
        value: { status: 'answered', toolCalls: 1, usage: { llmCalls: 4 } },
      });
      expect(seen).toContain('i1.helper3 i2.redel');
    },
  );
});

test('a cancelled root takes its helpers with it', async () => {
  let began: () => void;
  const reached = new Promise<void>((resolve) => (began = resolve));
  await ask(
    async ({ name, searchId, signal }) => {
      if (name !== 'act' || !searchId.endsWith('.helper3')) return;
      began();
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    },
    async (gate, searchId) => {
      await reached;
      await cancelWorkflow(gate, questionWorkflowId(searchId));
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'cancelled' } });
      const handle = gate.client.workflow.getHandle(questionWorkflowId(helper(searchId, 3)));
      expect(await handle.result()).toMatchObject({ status: 'cancelled' });
    },
  );
});
