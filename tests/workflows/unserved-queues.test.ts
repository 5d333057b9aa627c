/** Work that waits where nobody fetches it: of a model that lost its limits, or asked with another configuration. */
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { MODEL_QUEUE_PREFIX, questionQueues } from '../../src/workers/task-queues';
import { servedName } from '../../src/workers/serving';
import {
  unservedLine,
  unservedModelQueues,
  type UnservedQueue,
  unservedSearches,
  unservedSearchesLine,
} from '../../src/workers/running-elsewhere';
import { unique, withClient, withWorkers } from '../helpers/temporal';
import { noBatch, scriptedSettings, scriptedSteps, scriptedWorker, type Run } from './scripted-steps';

const later = (): number => Date.now() + 120_000;

const worker = scriptedWorker();

test('calls in a model’s queue that no worker polls are counted, and gone from there once one does', async () => {
  const taskQueue = unique(`${MODEL_QUEUE_PREFIX}scripted`);
  const ours = (found: readonly UnservedQueue[]) => found.filter((queue) => queue.taskQueue === taskQueue);
  const work = async ({ gate, searchId }: Run): Promise<void> => {
    while (ours(await unservedModelQueues(gate, Date.now())).length === 0) await sleep(50);
    const [found] = ours(await unservedModelQueues(gate, Date.now()));
    expect(found).toEqual({ taskQueue, waiting: 1 });
    expect(unservedLine(found!)).toBe(`1 model call waits in the queue ${taskQueue}, which no worker serves`);
    // After a long stop a worker looks before its own polls have arrived.
    expect(ours(await unservedModelQueues(gate, later(), [taskQueue]))).toEqual([]);
    const modelQueues = [{ model: 'scripted', taskQueue, requestsPerSecond: null, concurrency: null }];
    await withWorkers({ steps: scriptedSteps(), batch: noBatch, databases: [], modelQueues }, async () => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
    });
    // Also when nobody has polled for long.
    expect(ours(await unservedModelQueues(gate, later()))).toEqual([]);
  };
  await worker.ask({}, work, { queues: questionQueues(worker.database, { scripted: taskQueue }) });
});

test('a search that no worker of its configuration serves is named with what it was asked with, until one is up', async () => {
  const [database, searchId] = [unique('db'), unique('q')];
  const serving = {
    fingerprint: '0123456789ab',
    parts: { 'model endpoint': 'http://a/v1', 'key of the model endpoint': '#1' },
  };
  const here = { fingerprint: 'ba9876543210', parts: { ...serving.parts, 'model endpoint': 'http://b/v1' } };
  const served = servedName(database, serving);
  await withClient(async (gate) => {
    await startQuestion(gate, {
      ...{ searchId, settings: scriptedSettings(), modelTimeoutMs: 5_000, label: searchId, serving },
      queues: questionQueues(served),
    });
    const found = async () =>
      (await unservedSearches(gate, Date.now())).find(({ taskQueue }) => taskQueue === `gate-db-${served}`);
    while ((await found()) === undefined) await sleep(50);
    const line = `1 search waits in the queue gate-db-${served}, which no process serves; asked with model endpoint http://a/v1`;
    expect(unservedSearchesLine((await found())!)).toBe(line);
    const other = unservedSearchesLine((await found())!, new Map([[database, here]]));
    expect(other).toBe(`${line}; this configuration names http://b/v1`);
    expect(await unservedSearches(gate, Date.now(), [`gate-db-${served}`])).not.toContainEqual(await found());
    await withWorkers({ steps: scriptedSteps({}), batch: noBatch, databases: [served] }, () =>
      awaitQuestion(gate, searchId),
    );
    expect(await found()).toBeUndefined();
  });
});
