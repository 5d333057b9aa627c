/** A search whose model lost its entry in the limits: its calls wait, somebody says where, and nothing is lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { MODEL_QUEUE_PREFIX } from '../../src/workers/model-queues';
import { questionQueues } from '../../src/workers/task-queues';
import { unservedLine, unservedModelQueues, type UnservedQueue } from '../../src/workers/unserved-queues';
import { unique, withWorkers } from '../helpers/temporal';
import { noBatch, scriptedSettings, scriptedSteps } from './scripted-steps';

const later = (): number => Date.now() + 120_000;

test('calls in a model’s queue that no worker polls are counted, and gone from there once one does', async () => {
  const [database, searchId] = [unique('db'), unique('q')];
  const taskQueue = unique(`${MODEL_QUEUE_PREFIX}scripted`);
  const steps = scriptedSteps({});
  const ours = (found: readonly UnservedQueue[]) => found.filter((queue) => queue.taskQueue === taskQueue);
  await withWorkers({ steps, batch: noBatch, databases: [database] }, async (gate) => {
    await startQuestion(gate, {
      ...{ searchId, settings: scriptedSettings(), modelTimeoutMs: 5_000, label: searchId },
      queues: questionQueues(database, { scripted: taskQueue }),
    });
    while (ours(await unservedModelQueues(gate, Date.now())).length === 0) await sleep(50);
    const [found] = ours(await unservedModelQueues(gate, Date.now()));
    expect(found).toEqual({ taskQueue, waiting: 1 });
    expect(unservedLine(found!)).toBe(`1 model call waits in the queue ${taskQueue}, which no worker serves`);
    // After a long stop a worker looks before its own polls have arrived.
    expect(ours(await unservedModelQueues(gate, later(), [taskQueue]))).toEqual([]);
    const modelQueues = [{ model: 'scripted', taskQueue, requestsPerSecond: null, concurrency: null }];
    await withWorkers({ steps, batch: noBatch, databases: [], modelQueues }, async () => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
    });
    // Also when nobody has polled for long.
    expect(ours(await unservedModelQueues(gate, later()))).toEqual([]);
  });
}, 60_000);
