/**
 * Work that runs side by side on a real server: the helpers of `redel` and the runs of `react` with repeats, which are workflows of
 * their own, begun and ended by their agent's, and the votes of `reforce` in one workflow.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { OwnThreadWorker } from '../../src/workers/own-thread-worker';
import { ModelError } from '../../src/domain/ports';
import { awaitQuestion, cancelWorkflow } from '../../src/workers/client';
import { dataConverter } from '../../src/workers/payloads';
import type { WorkerSteps } from '../../src/workers/run-worker';
import { questionWorkflowId } from '../../src/workflows/ids';
import { testTemporal } from '../helpers/temporal';
import { holdAt } from './hold';
import {
  scriptedSettings,
  scriptedSteps,
  scriptedWorker,
  type OnStep,
  type Run,
  type StepCall,
} from './scripted-steps';

const worker = scriptedWorker();
const asking =
  (method: 'react' | 'redel' | 'reforce', overrides = {}) =>
  <T>(onStep: OnStep, work: (run: Run) => Promise<T>, iterationsPerRun?: number) =>
    worker.ask({ onStep }, work, { settings: scriptedSettings(overrides, method), iterationsPerRun });

const workflowOf = ({ gate, searchId }: Run, part: string) =>
  gate.client.workflow.getHandle(questionWorkflowId(`${searchId}.${part}`));
const stepsOf = (calls: readonly StepCall[]) =>
  calls.map(({ name, searchId, position }) => `${searchId} ${position} ${name}`);

const RUNS = [
  ['in one run', undefined],
  ['in a run for each turn', 1],
] as const;

describe('the helpers of redel', () => {
  const ask = asking('redel');

  test.each(RUNS)(
    'work at the same time, each in a workflow of its own; the root is charged for both: %s',
    async (_, perRun) => {
      const isHelper = ({ name, searchId, position }: StepCall) =>
        name === 'redel' && searchId.includes('.helper') && position.startsWith('i1');
      const hold = holdAt(isHelper, 2);
      const work = async (run: Run): Promise<void> => {
        await hold.reached;
        hold.release();
        expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({
          kind: 'completed',
          // Two calls of the root, two of each helper; the root's action, and one query of each.
          value: { status: 'answered', endedBy: 'finished', toolCalls: 2, usage: { llmCalls: 6 } },
        });
        for (const n of [1, 3]) {
          const helper = workflowOf(run, `i1.helper${n}`);
          expect((await helper.describe()).status.name).toBe('COMPLETED');
          expect(await helper.result()).toMatchObject({ status: 'answered', toolCalls: 1, usage: { llmCalls: 2 } });
        }
        expect(new Set(stepsOf(hold.calls)).size).toBe(hold.calls.length);
      };
      await ask(hold.onStep, work, perRun);
    },
  );

  test('one whose workflow fails is a text to the root, which goes on', async () => {
    const seen: string[] = [];
    const onStep: OnStep = ({ name, searchId, position }) => {
      if (searchId.endsWith('.helper1') && name === 'redel') throw new ModelError('bad-request', 'no');
      seen.push(`${searchId.slice(searchId.indexOf('.') + 1)} ${position}`);
    };
    await ask(onStep, async ({ gate, searchId }) => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({
        kind: 'completed',
        value: { status: 'answered', toolCalls: 1, usage: { llmCalls: 4 } },
      });
      expect(seen).toContain('i1.helper3 i2.redel');
    });
  });

  test('end with a cancelled root', async () => {
    const hold = holdAt(({ name, searchId }) => name === 'redel' && searchId.endsWith('.helper3'));
    await ask(hold.onStep, async (run) => {
      await hold.reached;
      await cancelWorkflow(run.gate, questionWorkflowId(run.searchId));
      expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({ value: { status: 'cancelled' } });
      expect(await workflowOf(run, 'i1.helper3').result()).toMatchObject({ status: 'cancelled' });
    });
  });
});

describe('the votes of reforce', () => {
  const ask = asking('reforce');

  test.each(RUNS)('are under way at the same time, and each step runs once: %s', async (_, perRun) => {
    const hold = holdAt('reforce-generate', 8);
    const work = async ({ gate, searchId }: Run): Promise<void> => {
      await hold.reached;
      hold.release();
      expect(await awaitQuestion(gate, searchId)).toMatchObject({
        kind: 'completed',
        value: { status: 'answered', endedBy: 'agreement', usage: { llmCalls: 8, sqlExecutions: 9 } },
      });
      expect(new Set(stepsOf(hold.calls)).size).toBe(hold.calls.length);
      const generated = hold.calls.filter(({ name }) => name === 'reforce-generate').map(({ position }) => position);
      expect(generated.sort()).toEqual(Array.from({ length: 8 }, (_, at) => `i2.v${at + 1}.a1`));
    };
    await ask(hold.onStep, work, perRun);
  });

  test('replayed, decide the same where the time is up between two results of one task', async () => {
    const hold = holdAt('reforce-generate', 8);
    const wallMs = 2_500;
    const beganMs = Date.now();
    let refined = 0;
    const onStep: OnStep = async (call) => {
      await hold.onStep(call);
      if (call.name === 'refine') await sleep(200 * refined++);
    };
    const steps = scriptedSteps({ onStep });
    // Each vote goes on with another call.
    const refine: WorkerSteps['refine'] = async (...given) => ({
      ...(await steps.refine(...given)),
      outcome: 'sql-error',
    });
    const settings = scriptedSettings({}, 'reforce');
    const work = async ({ gate, searchId }: Run): Promise<void> => {
      const ending = awaitQuestion(gate, searchId);
      // On a slow machine its time is up before all votes are under way.
      await Promise.race([hold.reached, ending]);
      await sleep(beganMs + 0.7 * wallMs - Date.now());
      hold.release();
      const value = { endedBy: 'budget:wallMs' };
      expect(await ending).toMatchObject({ kind: 'completed', value });
      const history = await gate.client.workflow.getHandle(questionWorkflowId(searchId)).fetchHistory();
      await OwnThreadWorker.runReplayHistory({ workflowBundle: testTemporal().bundle, dataConverter }, history);
    };
    const limited = { ...settings, budgets: { ...settings.budgets, wallMs } };
    await worker.ask({ ...steps, refine }, work, { settings: limited });
  });

  test('cancelled while one is under way, keep what the others have and pay for nothing more', async () => {
    const hold = holdAt(({ name, position }) => name === 'reforce-generate' && position.includes('.v3.'));
    let refined = 0;
    let began: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (began = resolve));
    const after: string[] = [];
    const onStep: OnStep = async (call) => {
      if (call.signal?.aborted) after.push(call.name);
      if (call.name === 'refine') refined += 1;
      if (refined === 7) began();
      await hold.onStep(call);
    };
    await ask(onStep, async ({ gate, searchId }) => {
      await reached;
      await cancelWorkflow(gate, questionWorkflowId(searchId));
      expect(await awaitQuestion(gate, searchId)).toMatchObject({
        kind: 'completed',
        value: { status: 'cancelled', endedBy: 'cancel', sql: 'SELECT 1' },
      });
      expect(after).toEqual([]);
    });
  });
});

describe('the runs of react with repeats', () => {
  const ask = asking('react', { repeated: { runs: 2 } });
  const acts = (calls: readonly StepCall[], turn: string) =>
    calls.filter(({ name, position }) => name === 'react' && position.startsWith(turn));
  const atSecond = () => holdAt((call) => acts([call], 'i2').length === 1, 2);

  test('are reached by a hint and a pause, new limits are refused; the history replays', async () => {
    const hold = atSecond();
    await ask(hold.onStep, async (run) => {
      await hold.reached;
      const { gate, searchId } = run;
      const handle = gate.client.workflow.getHandle(questionWorkflowId(searchId));
      const tell = (kind: string, more: object = {}) =>
        handle.executeUpdate(kind, { args: [{ author: 'ada', ...more }] });
      await tell('hint', { text: 'count adults only' });
      await tell('pause');
      await expect(tell('budget', { budgets: { llmCalls: 9 } })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('its runs have their shares already') as unknown },
      });
      hold.release();
      // Paused, the runs make no third action.
      for (const part of ['run1', 'run2']) {
        const calls = async () =>
          (await workflowOf(run, part).query<{ usage: { llmCalls: number } } | null>('progress'))?.usage.llmCalls;
        while ((await calls()) !== 2);
      }
      expect(acts(hold.calls, 'i3')).toEqual([]);
      await tell('resume');
      expect(await awaitQuestion(gate, searchId)).toMatchObject({
        kind: 'completed',
        value: { status: 'answered', usage: { llmCalls: 9 } },
      });
      const remarks = hold.calls.filter(({ name }) => name === 'remark').map((call) => call.searchId);
      expect(remarks.sort()).toEqual([searchId, `${searchId}.run1`, `${searchId}.run2`]);
      for (const each of [handle, workflowOf(run, 'run1')]) {
        const history = await each.fetchHistory();
        await OwnThreadWorker.runReplayHistory({ workflowBundle: testTemporal().bundle, dataConverter }, history);
      }
    });
  });

  test('cancelled, end with their best so far, and so does the question', async () => {
    const hold = atSecond();
    await ask(hold.onStep, async (run) => {
      await hold.reached;
      await cancelWorkflow(run.gate, questionWorkflowId(run.searchId));
      expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({
        kind: 'completed',
        value: { status: 'cancelled', endedBy: 'cancel' },
      });
      for (const part of ['run1', 'run2'])
        expect(await workflowOf(run, part).result()).toMatchObject({ status: 'cancelled' });
    });
  });
});
