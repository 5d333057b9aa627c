import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitQuestion, startQuestion, type GateClient } from '../../src/workers/client';
import { processIdentity } from '../../src/workers/process-identity';
import { questionQueues } from '../../src/workers/task-queues';
import { fromParent } from '../../src/workflows/children';
import { questionWorkflowId } from '../../src/workflows/ids';
import { testFolder, testTemporal, unique, withClient, withWorkers } from '../helpers/temporal';
import { noBatch, scriptedSettings, scriptedSteps } from './scripted-steps';
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

/** The next worker is this process, which has everything loaded: what is taken over must not have timed out before. */
function takenOver({ searchId, options: { database } }: { searchId: string; options: WorkerProcessArguments }) {
  return withWorkers(
    { steps: scriptedSteps({ operators: 4 }), batch: noBatch, databases: [database] },
    async (gate) => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
      const { events } = await gate.client.workflow.getHandle(questionWorkflowId(searchId)).fetchHistory();
      const retried = (events ?? [])
        .flatMap(({ activityTaskStartedEventAttributes: started }) => started ?? [])
        .filter(({ attempt }) => attempt !== 1);
      return {
        retried: retried.map(({ attempt, lastFailure }) => [attempt, lastFailure?.message]),
        givenBack: (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: one }) => one?.failure?.message ?? []),
        timedOut: (events ?? []).filter((event) => event.workflowTaskTimedOutEventAttributes).length,
      };
    },
  );
}

/** Killed in the middle of the step. */
async function killedIn(
  step: string,
  { searchId, log, options }: { searchId: string; log: string; options: WorkerProcessArguments },
) {
  const first = startWorker({ ...options, hangsAt: step });
  const isBegun = () => lines(log).some((line) => line.startsWith(`begin ${searchId} `) && line.endsWith(step));
  while (!isBegun()) await sleep(10);
  await killed(first);
  return `its process (${processIdentity(first.pid)}) is gone`;
}

test('a step of a killed worker is taken over by the next one on this machine without waiting for its heartbeat', () =>
  withSearch('fast', async (search) => {
    const gone = await killedIn('.plan', search);
    // The next workflow task is not left to the dead process either.
    expect(await takenOver(search)).toEqual({ retried: [[2, gone]], givenBack: [], timedOut: 0 });
  }));

test.each(['prepare', '.probe'])(
  'a workflow task that a killed worker had begun (its local step %s) is taken over by the next one at once',
  (step) =>
    withSearch('fast', async (search) => {
      const gone = await killedIn(step, search);
      expect(await takenOver(search)).toEqual({ retried: [], givenBack: [gone], timedOut: 0 });
    }),
);

test('a workflow task that waits in the queue of a killed worker is taken over by the next one', () =>
  withSearch('fast', async (search) => {
    const gone = await killedIn('.plan', search);
    // The server takes the process for alive, because it asked for work a moment ago.
    const handle = search.gate.client.workflow.getHandle(questionWorkflowId(search.searchId));
    await handle.signal(fromParent, { kind: 'resume', author: 'test' });
    expect(await takenOver(search)).toEqual({ retried: [[2, gone]], givenBack: [gone], timedOut: 0 });
  }));
