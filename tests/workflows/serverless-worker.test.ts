/** Invocations of a function on the real server: one search over several of them, on one connection. */
import { NativeConnection } from '@temporalio/worker';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { createGateWorkers } from '../../src/workers/run-worker';
import { createHandler, type Kept } from '../../src/workers/serverless/handler';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { quietLogger, testTemporal, unique, withClient } from '../helpers/temporal';
import { noBatch as batch, scriptedSettings, scriptedSteps } from './scripted-steps';

beforeAll(quietLogger);

type Timestamp = { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined;
const msOf = (at: Timestamp): number => Number(at?.seconds) * 1_000 + (at?.nanos ?? 0) / 1e6;

const invocation = (remainingMs: number) => {
  const endsAt = Date.now() + remainingMs;
  return { getRemainingTimeInMillis: () => endsAt - Date.now() };
};

test('a step that still runs at the end of an invocation is handed back, and the next one finishes the search', async () => {
  const [database, searchId, lines] = [unique('db'), unique('q'), [] as string[]];
  let plans = 0;
  const steps = scriptedSteps({
    onStep: async ({ name, signal }) => {
      if (name !== 'plan') return;
      plans += 1;
      // As a model call that takes longer than the invocation.
      if (plans === 1)
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('cut'))));
    },
  });
  const connection = await NativeConnection.connect({ address: testTemporal().address });
  const kept: Kept = {
    ...{ stepMs: 300_000, idleMs: 6_000, drainMs: 3_000 },
    workers: ({ graceMs, forceMs }) =>
      createGateWorkers({
        ...{ ...testTemporal(), steps, batch, databases: [database] },
        invocation: { connection, tuning: { shutdownGraceTime: graceMs, shutdownForceTime: forceMs } },
      }),
    rest: () => Promise.resolve(),
  };
  const handler = createHandler(
    () => Promise.resolve(kept),
    (line) => lines.push(line),
  );
  await withClient(async (gate) => {
    await startQuestion(gate, {
      ...{ searchId, settings: scriptedSettings({ maxPlans: 1, cMin: 1 }), modelTimeoutMs: 300_000, label: 'x' },
      queues: questionQueues(database),
    });
    await handler({}, invocation(11_000));
    expect(lines).toEqual([expect.stringMatching(/^cold start; takes work for \d\.\d s$/), 'ends: time is up']);
    expect(plans).toBe(1);
    const { raw } = await gate.client.workflow.getHandle(questionWorkflowId(searchId)).describe();
    const [step] = raw.pendingActivities ?? [];
    expect(step).toMatchObject({ attempt: 2, lastFailure: { applicationFailureInfo: { type: 'WorkerStopped' } } });
    // At once, and not after the retry policy's second.
    expect(msOf(step?.scheduledTime) - msOf(step?.lastAttemptCompleteTime)).toBeLessThan(500);
    await handler({}, invocation(60_000));
    expect(lines.slice(2)).toEqual([expect.stringMatching(/^warm start/), 'ends: nothing to do']);
    expect(plans).toBe(2);
    expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
    // Closing it fails as long as a worker of either invocation holds it.
  }).finally(() => connection.close());
});
