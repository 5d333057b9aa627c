/** Taking over the steps of a killed process, over a server of one running search whose answers take their time. */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { releaseAbandonedSteps } from '../../../src/workers/abandoned-steps';
import { processIdentity } from '../../../src/workers/process-identity';

type Connection = Parameters<typeof releaseAbandonedSteps>[0];

const [SCHEDULED, STARTED] = [1, 2];
const dead = processIdentity(spawnSync(process.execPath, ['--version']).pid);
const alive = processIdentity();

/** As Temporal does it: a failed step is taken by a living worker after the delay, and only a step under way can fail. */
function server(activities: readonly string[], heldBy: string) {
  const steps = activities.map((activityId) => ({
    activityId,
    state: STARTED,
    lastWorkerIdentity: heldBy,
    attempt: 1,
  }));
  const failed: string[] = [];
  const stickyReset: string[] = [];
  const connection = (answersAfterMs: number): Connection => {
    const service = {
      listWorkflowExecutions: ({ query }: { query: string }) => {
        const found = !query.includes('TaskQueue') || query.includes("'gate-db-x'");
        const executions = found ? [{ execution: { workflowId: 'w', runId: 'r' } }] : [];
        return Promise.resolve({ executions, nextPageToken: new Uint8Array() });
      },
      describeWorkflowExecution: async () => {
        const pendingActivities = steps.map((step) => ({ ...step }));
        await sleep(answersAfterMs);
        return { pendingActivities };
      },
      resetStickyTaskQueue: async ({ execution }: { execution: { workflowId: string } }) => {
        await sleep(answersAfterMs);
        stickyReset.push(execution.workflowId);
      },
      respondActivityTaskFailedById: async (asked: {
        activityId: string;
        failure: { applicationFailureInfo: { nextRetryDelay: { nanos: number } } };
      }) => {
        await sleep(answersAfterMs);
        const step = steps.find(({ activityId }) => activityId === asked.activityId);
        if (step?.state !== STARTED) throw Object.assign(new Error('not found'), { code: 5 });
        failed.push(step.lastWorkerIdentity);
        step.state = SCHEDULED;
        setTimeout(
          () => Object.assign(step, { state: STARTED, lastWorkerIdentity: alive, attempt: step.attempt + 1 }),
          asked.failure.applicationFailureInfo.nextRetryDelay.nanos / 1_000_000,
        );
      },
    };
    return { workflowService: service } as unknown as Connection;
  };
  return { connection, failed, stickyReset };
}

test('the steps of a dead process are given back, those of a living one are not', async () => {
  const abandoned = server(['1', '2'], dead);
  expect(await releaseAbandonedSteps(abandoned.connection(0), 'default', ['gate-db-x'])).toBe(2);
  expect([abandoned.failed, abandoned.stickyReset]).toEqual([[dead, dead], ['w']]);
  const held = server(['1'], alive);
  expect(await releaseAbandonedSteps(held.connection(0), 'default', ['gate-db-x'])).toBe(0);
  expect([held.failed, held.stickyReset]).toEqual([[], []]);
});

test('a worker that serves nothing but a model takes over its calls, whatever the queues of their searches', async () => {
  const abandoned = server(['1'], dead);
  for (const queues of [[], ['gate-db-y']])
    expect(await releaseAbandonedSteps(abandoned.connection(0), 'default', queues)).toBe(0);
  expect(await releaseAbandonedSteps(abandoned.connection(0), 'default', ['gate-model-small-1f'])).toBe(1);
  expect(abandoned.failed).toEqual([dead]);
});

test('two workers that start together do not take a step away from the one that has just begun it', async () => {
  const { connection, failed } = server(['1', '2', '3', '4'], dead);
  await Promise.all([5, 40].map((ms) => releaseAbandonedSteps(connection(ms), 'default', ['gate-db-x'])));
  expect(failed).toEqual([dead, dead, dead, dead]);
});
