/** Every method there is, all of them on one worker that is killed in the middle, at a moment that a seed chooses. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { drawer } from '../../simulated-model/draw';
import { SIMULATED_MODEL, startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { METHODS, parseMethodSpec } from '../../src/config/method-specs';
import { settingsFor } from '../../src/config/presets';
import type { AnswerRecord, SearchInput } from '../../src/domain';
import { runInProcess } from '../helpers/in-process';
import { searchIdOf } from '../../src/record/search-id';
import { createRunStore, storeInput } from '../../src/record/run-store';
import { createSteps } from '../../src/methods/steps';
import type { StepDeps } from '../../src/roles/shared/context';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { questionQueues } from '../../src/workers/task-queues';
import { SAMPLE_QUESTIONS, sprintSqlite } from '../helpers/shared-data';
import { testFolder, testTemporal, unique, withClient } from '../helpers/temporal';
import { depsOf, type World } from './method-world';
import type { MethodWorkerArguments } from './method-worker';

const SEED = 20_261_123;
const QUESTION = "How many drivers does each team have? Give the team's name and the number.";
/** The methods, and those that some of their settings make. */
const SPECS = [...Object.keys(METHODS), 'react:repeats=6', 'redel:seed', 'reforce:seed'];

const running: ChildProcess[] = [];
let model: SimulatedModel;
let sqlite: string;
beforeAll(async () => {
  sqlite = sprintSqlite(testFolder());
  const databases = [`sprint=${sqlite}`];
  model = await startSimulatedModel({ questions: [SAMPLE_QUESTIONS], databases, latencyMs: 30 });
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(() => model.close());

function inputOf(spec: string, at: number): SearchInput {
  const { method, overrides } = parseMethodSpec(spec);
  const models = { default: SIMULATED_MODEL };
  const settings = settingsFor({
    ...{ method, spec, models },
    overrides: { seed: 100 * at, ...overrides },
  });
  const question = {
    ...{ text: QUESTION, database: 'sprint', outputMode: 'answer' as const },
    ...{ tools: ['execute_sql' as const], context: null, instructions: null, documents: [] },
  };
  const asked = { question, identity: 'sprint', settings, namespace: 'test' };
  return { searchId: searchIdOf(asked), ...asked };
}

async function outcomeOf({ store }: StepDeps, { searchId }: SearchInput) {
  const record: AnswerRecord = await createRunStore(store, searchId).get('result', searchId);
  const { status, endedBy, sql, rows, answer, candidates, children = [], usage } = record;
  return { status, endedBy, sql, rows, answer, candidates, children, llmCalls: usage.llmCalls };
}

function startWorker(world: MethodWorkerArguments): ChildProcess {
  const tsx = pathToFileURL(require.resolve('tsx')).href;
  const args = ['--import', tsx, join(__dirname, 'method-worker.ts'), JSON.stringify(world)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  running.push(child);
  return child;
}

/** Every model call whose reply is in the journal: nobody may pay for it again. */
async function confirmed({ store }: StepDeps): Promise<number> {
  return (await store.list('runs/')).filter((key) => key.split('/')[2] === 'reply').length;
}

test(`killed once in the middle, ${SPECS.join(', ')} come to what they come to undisturbed; no confirmed call is paid again`, async () => {
  model.reset();
  const inputs = SPECS.map(inputOf);
  const { address, bundle } = testTemporal();
  const world = (): World => ({ store: testFolder(), sqlite, baseUrl: model.baseUrl });

  const calm = depsOf(world());
  const hooks = { now: () => Date.now(), stopRequested: () => null, onProgress: () => undefined };
  for (const input of inputs) await storeInput(calm.store, input);
  await Promise.all(
    inputs.map(({ searchId, settings }) => runInProcess({ searchId, settings, state: null }, createSteps(calm), hooks)),
  );
  const calls = model.ledger().totals.billed;
  expect(await confirmed(calm)).toBe(calls);

  model.reset();
  const struck = world();
  const deps = depsOf(struck);
  const database = unique('db');
  const options = { ...struck, address, codePath: bundle.codePath, database };
  const moment = Math.floor(calls * (0.2 + 0.5 * drawer(SEED)('moment', calls)));
  await withClient(async (gate) => {
    for (const input of inputs) {
      await storeInput(deps.store, input);
      const { searchId, settings } = input;
      const queues = questionQueues(database);
      await startQuestion(gate, { searchId, settings, modelTimeoutMs: 30_000, queues, label: settings.method });
    }
    const first = startWorker(options);
    while (model.ledger().totals.billed < moment) await sleep(5);
    const exited = once(first, 'exit');
    first.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    while (model.ledger().totals.inFlight > 0) await sleep(5);
    const [paid, before] = [await confirmed(deps), model.ledger().totals.asked];
    expect(paid).toBeLessThan(calls);

    startWorker(options);
    for (const { searchId } of inputs) expect((await awaitQuestion(gate, searchId)).kind).toBe('completed');
    expect(model.ledger().totals.asked - before).toBe(calls - paid);
  });
  for (const [at, input] of inputs.entries())
    expect([SPECS[at], await outcomeOf(deps, input)]).toEqual([SPECS[at], await outcomeOf(calm, input)]);
});
