/**
 * The packaged function on the Lambda service of the tests, started by the real Temporal server (`tests/serverless`): how long
 * it takes to its first step, cold and warm, and what a search pays that outlives invocations of 20 s while the model takes 4 s
 * for an answer, against one worker that is there all the time.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulatedModel } from '../simulated-model';
import { connectClient } from '../src/workers/client';
import { packageFolder } from '../src/workers/package-folder';
import { startServerProcess, stopServerProcess } from '../src/workers/temporal-process';
import { freePort } from '../tests/helpers/free-port';
import { gateHome, type GateHome } from '../tests/helpers/gate-process';
import { runFolder } from '../tests/helpers/run-folder';
import { startS3Server } from '../tests/helpers/s3-server';
import { loadTestData } from '../tests/helpers/shared-data';
import { startLambdaStage, TIMEOUT_MS, type LambdaStage } from '../tests/serverless/lambda-stage';
import { nothingRuns, runningOf } from '../tests/serverless/processes';
import { serverlessBinary } from '../tests/serverless/server';
import { bench, give, median, say, SHORT, type Figure } from './figure';

const STARTS = SHORT ? 3 : 7;
const COUNT = 'How many drivers are there?';
const LONG = ['How many points did each team score in sprints in total, best team first?', '--method', 'paper'];
const SLOW_MS = 4_000;

async function measureServerless(): Promise<readonly Figure[]> {
  const folder = runFolder();
  process.env['GATE_TEST_BUNDLE'] = join(packageFolder() ?? '.', 'dist', 'workflow-bundle.js');
  const resident = await startServerProcess({
    ...{ binary: await serverlessBinary(), databaseFile: null, uiPort: null, detached: false },
    logFile: join(folder, 'resident.log'),
  });
  process.env['GATE_TEST_TEMPORAL'] = `127.0.0.1:${String(resident.port)}`;
  const data = await loadTestData(null, { sample: true });
  const s3 = await startS3Server();
  const port = await freePort();
  const model = (latencyMs: number) =>
    startSimulatedModel({
      ...{ questions: data.questionFiles, databases: data.databases, latencyMs, port },
      rates: { doubt: 1, wrong: 1, inconclusive: 0.5, immaterial: 0 },
    });
  let endpoint = await model(0);
  const database = data.databases[0]?.split('=')[1] ?? '';
  const stage = await startLambdaStage({ s3, baseUrl: endpoint.baseUrl, database });
  try {
    const { code, err } = await stage.deploy(1, 'one');
    if (code !== 0) throw new Error(err);
    const [cold, warm]: [number[], number[]] = [[], []];
    for (let at = 0; at < STARTS; at += 1) {
      await rest(stage);
      stage.lambda.reap();
      cold.push(await startToStep(stage, `${String(at)}1`));
      await rest(stage);
      warm.push(await startToStep(stage, `${String(at)}2`));
    }
    const toTask = `to the first workflow task done, median of ${String(STARTS)}`;
    give(
      { name: 'function, cold start', value: median(cold), unit: 's', atMost: 1, how: `process start ${toTask}` },
      { name: 'function, warm start', value: median(warm), unit: 's', atMost: 0.6, how: `thawed ${toTask}` },
      { name: 'function, package', value: stage.packageBytes() / 2 ** 20, unit: 'MB', atMost: 250, how: 'unzipped' },
    );
    await endpoint.close();
    endpoint = await model(SLOW_MS);
    await rest(stage);
    stage.lambda.reap();
    const idle = await leftRunning(stage.home);
    give({ name: 'idle processes', value: idle, unit: '', atMost: 0, how: 'of ours between questions' });
    const before = stage.lambda.invocations.length;
    const serverless = await searchSeconds(stage.home);
    const invocations = stage.lambda.invocations.length - before;
    const one = await withWorker(stage.home, searchSeconds);
    const how = `${String(invocations)} of ${String(TIMEOUT_MS / 1000)} s, model ${String(SLOW_MS / 1000)} s: ${serverless.toFixed(1)} s, with one worker ${one.toFixed(1)} s`;
    return [{ name: 'search over invocations', value: serverless / one, unit: '×', atMost: 1.15, how }];
  } finally {
    await stage.close();
    await endpoint.close();
    await stopServerProcess(resident.pid);
    await s3.stop();
    data.close();
  }
}

async function rest({ lambda }: LambdaStage): Promise<void> {
  while (lambda.running() > 0) await sleep(50);
}

/** A process that was killed is gone a moment later. */
async function leftRunning(home: GateHome): Promise<number> {
  await nothingRuns(home, 5_000).catch((error: unknown) => say(String(error)));
  return runningOf(home).length;
}

/** From the begin of the invocation to the end of the first workflow task, by the clock of this machine. */
async function startToStep({ home, lambda }: LambdaStage, seed: string): Promise<number> {
  const before = lambda.invocations.length;
  const { events } = await finished(home, [COUNT, '--seed', seed]);
  const step = events.find((event) => event.workflowTaskCompletedEventAttributes);
  const at = millis(step?.eventTime);
  return (at - (lambda.invocations[before]?.startedAtMs ?? Number.NaN)) / 1000;
}

async function searchSeconds(home: GateHome): Promise<number> {
  const { events } = await finished(home, LONG);
  return (millis(events.at(-1)?.eventTime) - millis(events[0]?.eventTime)) / 1000;
}

async function finished(home: GateHome, question: readonly string[]) {
  const asked = await home.here(['ask', ...question, '--db', 'sprint', '--detach', '--json']);
  if (asked.code !== 0) throw new Error(asked.err);
  const { id } = JSON.parse(asked.out) as { readonly id: string };
  const ended = await home.here(['show', id, '--wait', '--json']);
  if (ended.code !== 0) throw new Error(`${ended.out}${ended.err}`);
  const gate = await connectClient({ address: home.env['TEMPORAL_ADDRESS'] ?? '', namespace: 'default' });
  try {
    const { events } = await gate.client.workflow.getHandle(`question-${id}`).fetchHistory();
    return { events: events ?? [] };
  } finally {
    await gate.close();
  }
}

function millis(time: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds) * 1000 + (time?.nanos ?? 0) / 1e6;
}

/** The same user with one long worker on a server of its own, and an empty store. */
async function withWorker<T>(like: GateHome, work: (home: GateHome) => Promise<T>): Promise<T> {
  const home = gateHome({ baseUrl: like.env['OPENAI_BASE_URL'] ?? '' });
  copyFileSync(join(like.folder, 'gate.config.json'), join(home.folder, 'gate.config.json'));
  const worker = home.start(['ops', 'worker']);
  await worker.said(/Ctrl-C stops/);
  try {
    return await work(home);
  } finally {
    worker.child.kill('SIGTERM');
    await worker.ended;
  }
}

bench(measureServerless);
