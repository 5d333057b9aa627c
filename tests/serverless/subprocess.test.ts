/** `gate dev --serverless`: the server starts a worker for a question, and between questions only the server runs. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { userFolders } from '../../src/config/folders';
import { findTemporalBinary, SERVERLESS_SERVER } from '../../src/workers/temporal-binary';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { nothingRuns, runningOf } from './processes';

const QUESTIONS = [
  'How many drivers are there?',
  'How many points did each team score in sprints in total, best team first?',
];

let data: TestData;
let model: SimulatedModel;
let home: GateHome;

beforeAll(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases });
  const cacheFolder = userFolders(process.env).cache;
  const server = await findTemporalBinary({ env: process.env, cacheFolder, server: SERVERLESS_SERVER });
  home = gateHome({ baseUrl: model.baseUrl, env: { TEMPORAL_ADDRESS: '', TEMPORAL_CLI_PATH: server } });
  const databases = { sprint: { path: data.databases[0]?.split('=')[1] } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases }));
});
afterAll(async () => {
  await home.here(['dev', '--stop']);
  await model.close();
  data.close();
});

/** Starts questions and returns their ids; no process of this user may run. */
async function askDetached(questions: readonly string[], flags: readonly string[] = []): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const question of questions) {
    const { out, err, code } = await home.here([
      ...['ask', question, '--db', 'sprint', '--detach', '--json'],
      ...flags,
    ]);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('starts a worker for it') as string });
    ids.push((JSON.parse(out) as { id: string }).id);
  }
  return ids;
}

test('it starts the server, registers a worker, makes it current, and leaves only the server', async () => {
  expect(await home.run(['dev', '--serverless'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('serving  sprint: a worker starts when a question arrives') as string,
  });
  await nothingRuns(home);
});

test('with no worker running a question is answered, and then nothing runs again', async () => {
  const [id = ''] = await askDetached([QUESTIONS[0] ?? '']);
  const { code, out } = await home.here(['show', id, '--wait', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ status: 'answered' });
  expect(runningOf(home).length).toBeGreaterThan(0);
  await nothingRuns(home);
});

test('fifty questions at once are all answered by what the server starts', async () => {
  const ids: string[] = [];
  for (let seed = 1; seed <= 25; seed += 1) ids.push(...(await askDetached(QUESTIONS, ['--seed', String(seed)])));
  expect(new Set(ids).size).toBe(50);
  for (const id of ids) {
    const { code, out } = await home.here(['show', id, '--wait', '--json']);
    expect({ id, code, status: (JSON.parse(out) as { status: string }).status }).toEqual({
      id,
      code: 0,
      status: 'answered',
    });
  }
  await nothingRuns(home);
});

test('a long search ends as with a worker that is there all the time', async () => {
  const flags = ['--method', 'paper', '--seed', '77'];
  const other = gateHome({ baseUrl: model.baseUrl });
  copyFileSync(join(home.folder, 'gate.config.json'), join(other.folder, 'gate.config.json'));
  const { status, rows, sql } = await other.ask([QUESTIONS[1] ?? '', '--db', 'sprint', ...flags]);
  const [id = ''] = await askDetached([QUESTIONS[1] ?? ''], flags);
  const { out } = await home.here(['show', id, '--wait', '--json']);
  expect(JSON.parse(out)).toMatchObject({ status, rows, sql });
  await nothingRuns(home);
});

test('a database that the current version does not serve gets a worker in the background, as on any server', async () => {
  const path = data.databases[0]?.split('=')[1] ?? '';
  const { code, out, err } = await home.run([
    'ask',
    QUESTIONS[0] ?? '',
    '--db',
    path,
    '--seed',
    '99',
    '--detach',
    '--json',
  ]);
  expect(err).toContain('the worker keep running');
  expect(code).toBe(0);
  expect((await home.here(['show', (JSON.parse(out) as { id: string }).id, '--wait'])).code).toBe(0);
});

test('what it cannot do is one line that says what to change', async () => {
  const own = await home.here(['dev', '--serverless'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect(own).toMatchObject({
    code: 2,
    err: 'gate: --serverless is for the embedded server; for your own one: gate ops deploy register\n',
  });
  const empty = join(home.folder, 'empty.json');
  writeFileSync(empty, '{}');
  const none = await home.here(['dev', '--serverless'], { GATE_CONFIG: empty });
  expect(none).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^gate: --serverless .* add "databases".*\n$/) as string,
  });
});
