/** Taking over the steps of a killed process, over a server of one running search whose answers take their time. */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { releaseAbandonedSteps } from '../../../src/workers/abandoned-steps';
import { processIdentity } from '../../../src/workers/process-identity';

type Connection = Parameters<typeof releaseAbandonedSteps>[0];

const STARTED = 2;
const dead = processIdentity(spawnSync(process.execPath, ['--version']).pid);
const alive = processIdentity();

/** Of `temporal.server.api.token.v1.Task`: the tests' numbers fit into a byte. */
function named(token: Uint8Array): { readonly event: number; readonly attempt: number } {
  return { event: token[token.indexOf(4 << 3) + 1] ?? 0, attempt: token.at(-1) ?? 0 };
}

/** As Temporal does it: a failed step is taken by a living worker at once, and only the try that is under way can fail. */
function server(activities: readonly number[], heldBy: string) {
  const steps = activities.map((event) => ({
    ...{ event, activityId: `step ${event}`, state: STARTED, lastWorkerIdentity: heldBy, attempt: 1 },
  }));
  const events = steps.map(({ event, activityId }) => ({
    eventId: event,
    activityTaskScheduledEventAttributes: { activityId },
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
      describeNamespace: () => Promise.resolve({ namespaceInfo: { id: 'n' } }),
      describeWorkflowExecution: async () => {
        const pendingActivities = steps.map((step) => ({ ...step }));
        await sleep(answersAfterMs);
        return { pendingActivities };
      },
      getWorkflowExecutionHistoryReverse: ({ nextPageToken }: { nextPageToken?: Uint8Array }) => {
        // One event a page, the newest first.
        const page = nextPageToken?.[0] ?? 0;
        const next = page + 1 < events.length ? Uint8Array.of(page + 1) : new Uint8Array();
        return Promise.resolve({ history: { events: events.toReversed().slice(page, page + 1) }, nextPageToken: next });
      },
      resetStickyTaskQueue: async ({ execution }: { execution: { workflowId: string } }) => {
        await sleep(answersAfterMs);
        stickyReset.push(execution.workflowId);
        return {};
      },
      respondActivityTaskFailed: async ({ taskToken }: { taskToken: Uint8Array }) => {
        await sleep(answersAfterMs);
        const { event, attempt } = named(taskToken);
        const step = steps.find((one) => one.event === event);
        if (step?.attempt !== attempt) throw Object.assign(new Error('not found'), { code: 5 });
        failed.push(step.lastWorkerIdentity);
        Object.assign(step, { lastWorkerIdentity: alive, attempt: step.attempt + 1 });
        return {};
      },
    };
    return { workflowService: service } as unknown as Connection;
  };
  return { connection, failed, stickyReset };
}

test('the steps of a dead process are given back, those of a living one are not', async () => {
  const abandoned = server([5, 9], dead);
  expect(await releaseAbandonedSteps(abandoned.connection(0), 'default', ['gate-db-x'])).toBe(2);
  expect([abandoned.failed, abandoned.stickyReset]).toEqual([[dead, dead], ['w']]);
  const held = server([5], alive);
  expect(await releaseAbandonedSteps(held.connection(0), 'default', ['gate-db-x'])).toBe(0);
  expect([held.failed, held.stickyReset]).toEqual([[], []]);
});

test('a worker that serves nothing but a model takes over its calls, whatever the queues of their searches', async () => {
  const abandoned = server([5], dead);
  for (const queues of [[], ['gate-db-y']])
    expect(await releaseAbandonedSteps(abandoned.connection(0), 'default', queues)).toBe(0);
  expect(await releaseAbandonedSteps(abandoned.connection(0), 'default', ['gate-model-small-1f'])).toBe(1);
  expect(abandoned.failed).toEqual([dead]);
});

test('two workers that start together do not take a step away from the one that has just begun it', async () => {
  const { connection, failed } = server([5, 9, 11, 15], dead);
  await Promise.all([5, 40].map((ms) => releaseAbandonedSteps(connection(ms), 'default', ['gate-db-x'])));
  expect(failed).toEqual([dead, dead, dead, dead]);
});
