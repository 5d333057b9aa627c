import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { unique, withWorkers } from '../helpers/temporal';
import { scriptedSettings, scriptedSteps, noBatch as batch } from './scripted-steps';

test('a search of 40 model calls keeps its history below 4 KB a call and 600 events', async () => {
  const database = unique('db');
  const searchId = unique('q');
  let calls = 0;
  // Three plans of six operators, one operator an iteration: the longest way there is.
  const steps = scriptedSteps({
    operators: 6,
    padding: 120,
    onFinish: ({ usage }) => {
      calls = usage.llmCalls;
    },
  });
  await withWorkers({ steps, batch, databases: [database] }, async (gate) => {
    await startQuestion(gate, {
      ...{ searchId, modelTimeoutMs: 5_000, queues: questionQueues(database), label: 'x' },
      settings: scriptedSettings({ iterations: 14, cMin: 3 }),
    });
    expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' });
    const description = await gate.client.workflow.getHandle(questionWorkflowId(searchId)).describe();
    const perCall = (description.historySize ?? 0) / calls;
    expect(calls).toBeGreaterThanOrEqual(35);
    expect(perCall).toBeLessThan(4096);
    expect(description.historyLength / calls).toBeLessThan(15);
  });
});
