/** For how long a worker has had nothing to do, and whether it polls: what `gate ops worker --exit-when-idle` goes by. */
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { createGateWorkers } from '../../src/workers/run-worker';
import { questionQueues } from '../../src/workers/task-queues';
import { quietLogger, testTemporal, unique, withClient } from '../helpers/temporal';
import { holdAt } from './hold';
import { noBatch as batch, scriptedSettings, scriptedSteps } from './scripted-steps';

beforeAll(quietLogger);

test('a worker is busy as long as a step runs, idle when none does, and polls until it is stopped', async () => {
  const [database, searchId] = [unique('db'), unique('q')];
  const hold = holdAt('plan');
  const steps = scriptedSteps({ onStep: hold.onStep });
  // A model's queue beside it has no workflows, and polls all the same.
  const modelQueues = [{ model: 'other', taskQueue: unique('other'), requestsPerSecond: null, concurrency: null }];
  const workers = await createGateWorkers({
    ...testTemporal(),
    graceMs: 200,
    steps,
    batch,
    databases: [database],
    modelQueues,
  });
  expect(workers.polling()).toBe(false);
  const running = workers.run();
  while (!workers.polling()) await sleep(10);
  await withClient(async (gate) => {
    await startQuestion(gate, {
      ...{ searchId, settings: scriptedSettings({ maxPlans: 1, cMin: 1 }), modelTimeoutMs: 30_000, label: 'x' },
      queues: questionQueues(database),
    });
    await hold.reached;
    await sleep(300);
    expect(workers.idleMs()).toBe(0);
    hold.release();
    expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
    while (workers.idleMs() < 200) await sleep(20);
    const before = workers.idleMs();
    await sleep(100);
    expect(workers.idleMs()).toBeGreaterThan(before);
  }).finally(() => workers.stop());
  expect(workers.polling()).toBe(false);
  await running;
});
