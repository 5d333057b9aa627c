import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitQuestion, startQuestion, type GateClient } from '../../src/workers/client';
import { processIdentity } from '../../src/workers/process-identity';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { testFolder, testTemporal, unique, withClient } from '../helpers/temporal';
import { scriptedSettings } from './scripted-steps';
import type { WorkerProcessArguments } from './worker-process';

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

function startWorker(options: WorkerProcessArguments): ChildProcess {
  const file = join(__dirname, 'worker-process.ts');
  // Not the tsx command: that runs the script in a child of its own, which would survive a SIGKILL.
  const args = ['--require', require.resolve('tsx/cjs'), file, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  running.push(child);
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
}

const lines = (log: string): string[] => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []);

/** Starts a search whose worker is still to be started. */
async function withSearch(
  method: 'fast' | 'reforce',
  work: (search: { gate: GateClient; searchId: string; options: WorkerProcessArguments; log: string }) => Promise<void>,
): Promise<void> {
  const database = unique('db');
  const searchId = unique('q');
  const { address, bundle } = testTemporal();
  const log = join(testFolder(), 'steps.log');
  const settings = scriptedSettings({ maxPlans: 1, cMin: 1 }, method);
  await withClient(async (gate) => {
    await startQuestion(gate, {
      ...{ searchId, settings, modelTimeoutMs: 5_000, label: 'x' },
      queues: questionQueues(database),
    });
    await work({ gate, searchId, log, options: { address, codePath: bundle.codePath, database, log, stepMs: 20 } });
  });
}

test.each([
  ['fast', 1],
  // Its votes run side by side.
  ['reforce', 8],
] as const)(
  'a worker killed in the middle of %s loses at most the %i steps in flight; another one goes on and repeats nothing done',
  (method, inFlight) =>
    withSearch(method, async ({ gate, searchId, log, ...search }) => {
      const options = { ...search.options, stepMs: 40 };
      const first = startWorker(options);
      while (lines(log).length < 15) await sleep(10);
      await killed(first);
      // Nothing else writes: this is all that was done. What ended last may not have reached the server.
      const done = lines(log).slice(0, -inFlight);
      startWorker(options);
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
      const begun = lines(log).filter((line) => line.startsWith('begin'));
      const repeated = begun.filter((line, index) => begun.indexOf(line) !== index);
      expect(repeated.length).toBeLessThanOrEqual(inFlight);
      for (const line of repeated) expect(done).not.toContain(line.replace('begin', 'end'));
    }),
);

test('a step of a killed worker is taken over by the next one on this machine without waiting for its heartbeat', () =>
  withSearch('fast', async ({ gate, searchId, log, options }) => {
    // Long enough to be killed in the middle of a step.
    const first = startWorker({ ...options, stepMs: 500 });
    const planning = `begin ${searchId} i1.t0.plan`;
    while (!lines(log).includes(planning)) await sleep(10);
    await killed(first);
    startWorker(options);
    expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
    const { events } = await gate.client.workflow.getHandle(questionWorkflowId(searchId)).fetchHistory();
    const again = (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) => started ?? []);
    expect(again.filter(({ attempt }) => attempt !== 1)).toEqual([
      expect.objectContaining({
        attempt: 2,
        lastFailure: expect.objectContaining({
          message: `its process (${processIdentity(first.pid)}) is gone`,
        }) as unknown,
      }),
    ]);
    // The next workflow task is not left to the dead process either.
    expect((events ?? []).filter((event) => event.workflowTaskTimedOutEventAttributes)).toEqual([]);
  }));
