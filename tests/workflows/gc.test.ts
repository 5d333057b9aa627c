/** What `gate ops gc` asks a real server, and a search at work beside it. */
import { createMemoryStore } from '../helpers/scripted';
import { askTemporal, collectGarbage } from '../../src/app/gc';
import { createRunStore } from '../../src/record/run-store';
import { writeIndex } from '../../src/record/search-index';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { record, state, trace } from '../unit/report/fixture';
import { unique, withClient, withWorkers } from '../helpers/temporal';
import { scriptedSettings, scriptedSteps } from './scripted-steps';

const YEAR_MS = 365 * 86_400_000;

test('a search that waits for a worker is running, a finished one closed, and what Temporal never knew gone', async () => {
  const [searchId, database, store] = [unique('q'), unique('db'), createMemoryStore()];
  await writeIndex(store, { ...trace.input!, searchId });
  const run = createRunStore(store, searchId);
  await run.put('checkpoint', 'i3', state);
  // A record of an earlier ending does not make it finished.
  await run.put('result', searchId, { ...record, id: searchId });
  const old = { nowMs: Date.now() + YEAR_MS, olderThanMs: 0, dryRun: true };
  await withClient(async (gate) => {
    const ask = askTemporal(gate);
    expect(await ask(questionWorkflowId(searchId))).toBe('gone');
    await startQuestion(gate, {
      ...{
        searchId,
        modelTimeoutMs: 5_000,
        queues: questionQueues(database),
        label: 'x',
        settings: scriptedSettings(),
      },
    });
    expect(await ask(questionWorkflowId(searchId))).toBe('running');
    expect(await collectGarbage(store, ask, old)).toMatchObject({
      searches: [],
      kept: [{ id: searchId, why: 'it is running' }],
    });
    const batch = { store, readAnswer: async () => null };
    await withWorkers({ steps: scriptedSteps({}), batch, databases: [database] }, () => awaitQuestion(gate, searchId));
    expect(await ask(questionWorkflowId(searchId))).toBe('closed');
    expect((await collectGarbage(store, ask, old)).searches).toEqual([searchId]);
  });
});
