/**
 * Worker versioning on the real server (docs/deploying.md): two builds of one deployment, and a search that began on the
 * first. What the server offers beyond pinning is asked of it, not assumed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { temporal } from '@temporalio/proto';
import { awaitQuestion, startQuestion, type GateClient } from '../../src/workers/client';
import { createGateWorkers } from '../../src/workers/run-worker';
import { questionQueues } from '../../src/workers/task-queues';
import { workerVersion, type WorkerVersion } from '../../src/workers/workflow-bundle';
import { questionWorkflowId } from '../../src/workflows/ids';
import { quietLogger, testTemporal, unique, withClient } from '../helpers/temporal';
import { holdAt } from './hold';
import { scriptedSettings, scriptedSteps, type StepCall, noBatch as batch } from './scripted-steps';

interface Build<Version> {
  readonly version: Version;
  stop(): Promise<void>;
}

async function startBuild<Version extends WorkerVersion | null>(
  version: Version,
  database: string,
  onStep: (call: StepCall) => Promise<void>,
): Promise<Build<Version>> {
  const steps = scriptedSteps({
    operators: 4,
    onStep,
  });
  const workers = await createGateWorkers({
    ...{ ...testTemporal(), graceMs: 200, steps, batch, databases: [database], version },
  });
  const running = workers.run();
  return {
    version,
    stop: async () => {
      workers.stop();
      await running;
    },
  };
}

/** As `temporal worker deployment set-current-version` does; a version exists once its worker has polled. */
async function makeCurrent({ client }: GateClient, { deploymentName, buildId }: WorkerVersion): Promise<void> {
  const request = { namespace: 'default', deploymentName, version: `${deploymentName}.${buildId}`, identity: 'test' };
  for (let tries = 0; ; tries += 1) {
    try {
      await client.workflowService.setWorkerDeploymentCurrentVersion(request);
      return;
    } catch (error) {
      if (tries > 1_000) throw error;
      await sleep(100);
    }
  }
}

interface Run {
  /** Builds that ran its workflow tasks. */
  readonly builds: readonly string[];
  /** The server said that the run is pinned to another build than the current one. */
  readonly offered: boolean;
}

/** The runs of a search, oldest first. */
async function runsOf({ client }: GateClient, searchId: string): Promise<Run[]> {
  const workflowId = questionWorkflowId(searchId);
  const runs: Run[] = [];
  let runId = (await client.workflow.getHandle(workflowId).describe()).raw.workflowExecutionInfo?.firstRunId;
  while (runId) {
    const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
    const builds = events.flatMap(
      ({ workflowTaskCompletedEventAttributes: done }) => done?.deploymentVersion?.buildId ?? [],
    );
    const offered = events.some(
      ({ workflowTaskStartedEventAttributes: task }) => task?.targetWorkerDeploymentVersionChanged === true,
    );
    runs.push({ builds: [...new Set(builds)], offered });
    runId = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return runs;
}

/** As `temporal workflow update-options --versioning-override-mode pinned` does. */
async function moveTo({ client }: GateClient, searchId: string, version: WorkerVersion): Promise<void> {
  await client.workflowService.updateWorkflowExecutionOptions({
    namespace: 'default',
    workflowExecution: { workflowId: questionWorkflowId(searchId) },
    workflowExecutionOptions: {
      versioningOverride: { pinned: { behavior: PINNED_OVERRIDE, version } },
    },
    updateMask: { paths: ['versioning_override'] },
  });
}

const PINNED_OVERRIDE =
  temporal.api.workflow.v1.VersioningOverride.PinnedOverrideBehavior.PINNED_OVERRIDE_BEHAVIOR_PINNED;

beforeAll(quietLogger);

test('a search stays on the build it began on; it moves where the server offers it, or by hand; new ones begin on the current', async () => {
  const deploymentName = unique('gate');
  const database = unique('db');
  const [pinned, moved, later] = [unique('q'), unique('q'), unique('q')];
  const settings = scriptedSettings({ maxPlans: 1, cMin: 1, iterations: 6 });
  const queues = questionQueues(database);
  const start = { settings, modelTimeoutMs: 30_000, queues, label: 'x', iterationsPerRun: 2 };
  await withClient(async (client) => {
    const held = holdAt('plan');
    const a = await startBuild({ deploymentName, buildId: 'a' }, database, held.onStep);
    await makeCurrent(client, a.version);
    await startQuestion(client, { ...start, searchId: pinned });
    await startQuestion(client, { ...start, searchId: moved });
    await held.reached;
    const b = await startBuild({ deploymentName, buildId: 'b' }, database, async () => undefined);
    await makeCurrent(client, b.version);
    await startQuestion(client, { ...start, searchId: later });
    await moveTo(client, moved, b.version);
    held.release();
    const ended = await Promise.all([pinned, moved, later].map((searchId) => awaitQuestion(client, searchId)));
    for (const end of ended) expect(end).toMatchObject({ kind: 'completed', value: { status: 'answered' } });

    const runs = await runsOf(client, pinned);
    expect(runs.length).toBeGreaterThan(1);
    for (const [index, { builds }] of runs.entries()) {
      const before = runs[index - 1];
      const upgraded = before !== undefined && (before.offered || before.builds.includes('b'));
      expect(builds).toEqual([upgraded ? 'b' : 'a']);
    }
    // The server offers it from 1.32 on (docs/deploying.md).
    const { serverVersion } = await client.client.workflowService.getSystemInfo({});
    expect([serverVersion, runs.some(({ offered }) => offered)]).toEqual([
      serverVersion,
      Number(serverVersion.split('.')[1]) >= 32,
    ]);
    expect((await runsOf(client, moved)).at(-1)?.builds).toEqual(['b']);
    expect((await runsOf(client, later)).flatMap(({ builds }) => builds)).not.toContain('a');
    await a.stop();
    await b.stop();
  });
});

test('a worker without a version has the work while no build is current, and none beside a current one', async () => {
  const deploymentName = unique('gate');
  const database = unique('db');
  const ran: string[] = [];
  const note =
    (who: string) =>
    async ({ name }: StepCall): Promise<void> => {
      if (name === 'plan') ran.push(who);
    };
  const settings = scriptedSettings({ maxPlans: 1, cMin: 1 });
  const start = { settings, modelTimeoutMs: 30_000, queues: questionQueues(database), label: 'x' };
  await withClient(async (client) => {
    const plain = await startBuild(null, database, note('plain'));
    const b = await startBuild({ deploymentName, buildId: 'b' }, database, note('b'));
    const [first, second] = [unique('q'), unique('q')];
    await startQuestion(client, { ...start, searchId: first });
    expect(await awaitQuestion(client, first)).toMatchObject({ kind: 'completed' });
    await makeCurrent(client, b.version);
    await startQuestion(client, { ...start, searchId: second });
    expect(await awaitQuestion(client, second)).toMatchObject({ kind: 'completed' });
    expect(ran).toEqual(['plain', 'b']);
    await plain.stop();
    await b.stop();
  });
});

test('the version of a worker is its package and its workflow code, unless it is given', () => {
  expect(workerVersion({ deployment: 'gate', buildId: 'r7' })).toEqual({ deploymentName: 'gate', buildId: 'r7' });
  const { buildId } = workerVersion({ deployment: 'gate', buildId: null });
  expect(buildId).toMatch(/^\d+\.\d+\.\d+-[0-9a-f]{12}$/);
  expect(workerVersion({ deployment: 'gate', buildId: null }).buildId).toBe(buildId);
});
