import type { SearchState } from '../../src/domain';
import type { WorkflowHandle } from '@temporalio/client';
import { awaitQuestion, startQuestion, type GateClient } from '../../src/workers/client';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { unique, withWorkers } from '../helpers/temporal';
import { scriptedSettings, scriptedSteps, noBatch as batch } from '../workflows/scripted-steps';

/** One run of the workflow takes 20 of them. */
const ITERATIONS = 300;

async function runsOf(gate: GateClient, searchId: string, firstRunId: string) {
  const runs: { readonly events: number; readonly bytes: number }[] = [];
  for (let runId = firstRunId; runId !== '';) {
    const run: WorkflowHandle = gate.client.workflow.getHandle(questionWorkflowId(searchId), runId);
    const { historyLength, historySize = 0 } = await run.describe();
    runs.push({ events: historyLength, bytes: historySize });
    const last = (await run.fetchHistory()).events?.at(-1);
    runId = last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
  }
  return runs;
}

test(`a search of ${ITERATIONS} iterations finishes with bounded histories and a bounded state`, async () => {
  const database = unique('db');
  const searchId = unique('q');
  let last: SearchState | null = null;
  const steps = scriptedSteps({ operators: 3, onFinish: (_summary, state) => void (last = state) });
  await withWorkers({ steps, batch, databases: [database] }, async (gate) => {
    const settings = scriptedSettings({
      iterations: ITERATIONS,
      cMin: 10_000,
      cMax: 10_000,
      maxPlans: 10_000,
      attempts: 1,
    });
    const handle = await startQuestion(gate, {
      ...{ searchId, settings, modelTimeoutMs: 5_000, queues: questionQueues(database), label: 'long' },
    });
    const ended = await awaitQuestion(gate, searchId);
    expect(ended).toMatchObject({ kind: 'completed', value: { endedBy: 'iterations' } });
    const runs = await runsOf(gate, searchId, handle.firstExecutionRunId);
    // Temporal suggests a new run at 4,096 events or 4 MiB, and ends one at 51,200 events or 50 MB.
    for (const { events, bytes } of runs) {
      expect(events).toBeLessThan(4_096);
      expect(bytes).toBeLessThan(2 * 2 ** 20);
    }
    expect(runs).toHaveLength(ITERATIONS / 20);
  });
  const state = last as SearchState | null;
  expect(state?.iteration).toBe(ITERATIONS + 1);
  expect(JSON.stringify(state).length).toBeLessThan(400_000);
});
