/**
 * The proof of the serverless worker: the real Temporal server starts our packaged function on a Lambda service of our own, and
 * no worker runs. Searches outlive invocations, kills and deployments, and no confirmed call is paid again.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import type { AnswerRecord } from '../../src/domain';
import { connectClient } from '../../src/workers/client';
import { freePort } from '../helpers/free-port';
import { startS3Server, type S3Server } from '../helpers/s3-server';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { gateHome } from '../helpers/gate-process';
import { EXTERNAL_ID } from './lambda-service';
import { ROLE, startLambdaStage, type LambdaStage } from './lambda-stage';
import { nothingRuns } from './processes';

const COUNT = 'How many drivers are there?';
const SPRINTS = 'How many points did each team score in sprints in total, best team first?';
/** Long enough to outlive several invocations. */
const LONG = ['--method', 'thorough'];
const LONGEST = ['--method', 'paper'];

let data: TestData;
let s3: S3Server;
let model: SimulatedModel;
let modelPort: number;
let stage: LambdaStage;

beforeAll(async () => {
  data = await loadTestData(null, { sample: true });
  s3 = await startS3Server();
  modelPort = await freePort();
  model = await startModel(0);
  const database = data.databases[0]?.split('=')[1] ?? '';
  stage = await startLambdaStage({ s3, baseUrl: model.baseUrl, database });
  expect(await stage.deploy(1, 'one')).toMatchObject({ code: 0 });
  await allRest();
});
afterAll(async () => {
  await stage.close();
  await model.close();
  await s3.stop();
  data.close();
});

function startModel(latencyMs: number): Promise<SimulatedModel> {
  return startSimulatedModel({
    ...{ questions: data.questionFiles, databases: data.databases, latencyMs, port: modelPort },
    rates: { doubt: 1, wrong: 1, inconclusive: 0.5, immaterial: 0 },
  });
}

/** The model answers after this time from now on, with an empty ledger. */
async function slowModel(latencyMs: number): Promise<void> {
  await model.close();
  model = await startModel(latencyMs);
}

async function ask(question: string, ...flags: readonly string[]): Promise<string> {
  const { out, err } = await stage.home.here(['ask', question, '--db', 'sprint', '--detach', '--json', ...flags]);
  expect(err).toContain('The server starts a worker for it');
  return (JSON.parse(out) as { id: string }).id;
}

async function answer(id: string): Promise<Pick<AnswerRecord, 'status' | 'rows' | 'sql'>> {
  const { out, err, code } = await stage.home.here(['show', id, '--wait', '--json']);
  expect({ code, err }).toMatchObject({ code: 0 });
  const { status, rows, sql } = JSON.parse(out) as AnswerRecord;
  return { status, rows, sql };
}

/** The same question to a worker that is there all the time, on a server and a store of its own. */
async function calm(
  question: string,
  ...flags: readonly string[]
): Promise<Pick<AnswerRecord, 'status' | 'rows' | 'sql'>> {
  const home = gateHome({ baseUrl: model.baseUrl });
  copyFileSync(join(stage.home.folder, 'gate.config.json'), join(home.folder, 'gate.config.json'));
  const { status, rows, sql } = await home.ask([question, '--db', 'sprint', ...flags]);
  return { status, rows, sql };
}

const invocations = (from: number) => stage.lambda.invocations.slice(from);

/** Every environment is frozen and takes no computing. */
async function allRest(): Promise<void> {
  while (stage.lambda.running() > 0) await sleep(50);
  stage.lambda.reap();
  await nothingRuns(stage.home);
}

test('what the server may not do is told by its name, and nothing is registered', async () => {
  const env = { GATE_BUILD_ID: 'none' };
  const arn = 'arn:aws:lambda:eu-west-1:1:function:gate:9';
  const base = [
    'ops',
    'deploy',
    'register',
    '--provider',
    'aws-lambda',
    '--set',
    `arn=${arn}`,
    '--set',
    `role=${ROLE}`,
  ];
  const refused = await stage.home.here([...base, '--set', 'role_external_id=another'], env);
  expect(refused.err).toMatch(
    /^gate: the server refuses these settings: .*not authorized to perform: sts:AssumeRole.*\n$/m,
  );
  expect((await stage.home.here(base, env)).err).toMatch(
    /^gate: the server refuses .*requires "role_external_id".*\n$/m,
  );
  const missing = await stage.home.here([...base, '--set', `role_external_id=${EXTERNAL_ID}`], env);
  expect(missing.err).toMatch(/^gate: the server refuses these settings: .*Function not found.*\n$/m);
});

test('a registered function answers a question with no worker running, and rests then', async () => {
  expect(await answer(await ask(COUNT))).toMatchObject({ status: 'answered' });
  await allRest();
});

/** Writes the questions of a batch and returns the command that asks them. */
function batchOf(size: number, context: string): readonly string[] {
  const line = (n: number): string =>
    JSON.stringify({
      id: `q${n}`,
      database: 'sprint',
      question: n % 2 === 0 ? COUNT : SPRINTS,
      context: `${context}${n}`,
    });
  writeFileSync(join(stage.home.folder, 'q.jsonl'), Array.from({ length: size }, (_, n) => line(n)).join('\n'));
  return ['batch', 'run', 'q.jsonl', '--concurrency', '50'];
}

const allAnswered = (questions: number) => ({
  complete: true,
  sets: [{ comparison: { questions }, figures: [{ statuses: { answered: questions } }] }],
});

test('a batch of fifty questions at once is answered, and collected by the command that follows it', async () => {
  const batch = batchOf(50, 'Case ');
  const started = await stage.home.here([...batch, '--detach']);
  expect(started.err).toContain('50 questions to ask');
  expect(started.err).toContain('The server starts a worker for it');
  const { out, err, code } = await stage.home.here([...batch, '--out', 'out', '--json']);
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('runs detached') as string });
  expect(JSON.parse(out)).toMatchObject(allAnswered(50));
  await allRest();
});

test('a batch that is not detached is answered by the command itself, and the server starts nothing for it', async () => {
  const before = stage.lambda.invocations.length;
  const { out, err, code } = await stage.home.run([...batchOf(4, 'Followed '), '--out', 'followed', '--json']);
  expect({ code, err }).toMatchObject({ code: 0, err: expect.not.stringMatching(/detached|worker/) as string });
  expect(JSON.parse(out)).toMatchObject(allAnswered(4));
  expect(invocations(before)).toEqual([]);
});

test('a search over at least five invocations ends as one long worker ends it; no call is paid again', async () => {
  const wanted = await calm(SPRINTS, ...LONGEST);
  await slowModel(4_000);
  const before = stage.lambda.invocations.length;
  expect(await answer(await ask(SPRINTS, ...LONGEST))).toEqual(wanted);
  expect(invocations(before).length).toBeGreaterThanOrEqual(5);
  expect(invocations(before).filter(({ outcome }) => outcome === 'timed-out' || outcome === 'failed')).toEqual([]);
  expect(model.ledger().totals.billedAgain).toBe(0);
  await allRest();
});

test('killed at twenty seeded moments, searches end with the same answers; only calls in flight may be paid again', async () => {
  await slowModel(300);
  const seeds = Array.from({ length: 10 }, (_, at) => String(100 + at));
  const wanted = [];
  for (const seed of seeds) wanted.push(await calm(SPRINTS, ...LONG, '--seed', seed));
  await slowModel(300);
  const ids: string[] = [];
  for (const seed of seeds) ids.push(await ask(SPRINTS, ...LONG, '--seed', seed));
  let kills = 0;
  // Calls in flight, and for each kill one whose reply was not stored yet.
  let mayBePaidAgain = 0;
  let draw = 7;
  const killing = (async () => {
    while (kills < 20) {
      draw = (draw * 48_271) % 2_147_483_647;
      await sleep(200 + (draw % 1_500));
      const { inFlight } = model.ledger().totals;
      if (!stage.lambda.killOne()) continue;
      kills += 1;
      mayBePaidAgain += inFlight + 1;
    }
  })();
  const answers = [];
  for (const id of ids) answers.push(await answer(id));
  expect(answers).toEqual(wanted);
  // Those that the searches left time for.
  for (let seed = 200; kills < 20; seed += 1) await answer(await ask(SPRINTS, ...LONG, '--seed', String(seed)));
  await killing;
  expect(model.ledger().totals.billedAgain).toBeLessThanOrEqual(mayBePaidAgain);
  await allRest();
});

test('a new version takes new searches; one that runs ends on its own', async () => {
  await slowModel(300);
  const release = model.holdAfter(1);
  const old = await ask(SPRINTS, ...LONG, '--seed', '300');
  await model.billed(1);
  expect(await stage.deploy(2, 'two')).toMatchObject({ code: 0 });
  const releasedAtMs = Date.now();
  release();
  const fresh = await ask(COUNT, '--seed', '301');
  expect(await answer(fresh)).toMatchObject({ status: 'answered' });
  expect(await answer(old)).toMatchObject({ status: 'answered' });
  const active = stage.lambda.invocations.filter(({ endedAtMs }) => endedAtMs === null || endedAtMs >= releasedAtMs);
  expect(new Set(active.map(({ arn }) => arn.split(':').at(-1)))).toEqual(new Set(['1', '2']));
  expect(await versionsOf(old)).toEqual({ first: 'one', last: 'one' });
  expect(await versionsOf(fresh)).toEqual({ first: 'two', last: 'two' });
  await allRest();
});

/** Of the first and the last run of a search. */
async function versionsOf(searchId: string): Promise<{ readonly first: string; readonly last: string }> {
  const gate = await connectClient({ address: stage.home.env['TEMPORAL_ADDRESS'] ?? '', namespace: 'default' });
  const info = async (runId?: string) =>
    (await gate.client.workflow.getHandle(`question-${searchId}`, runId).describe()).raw.workflowExecutionInfo;
  try {
    const last = await info();
    const first = await info(last?.firstRunId ?? '');
    const buildOf = (run: typeof last): string => run?.versioningInfo?.deploymentVersion?.buildId ?? '';
    return { first: buildOf(first), last: buildOf(last) };
  } finally {
    await gate.close();
  }
}
