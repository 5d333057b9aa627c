/** `gate ops deploy register` on a real server that starts workers, and on one that cannot. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { freePort } from '../helpers/free-port';
import { gateHome, type Ended, type GateHome } from '../helpers/gate-process';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { testTemporal } from '../helpers/temporal';
import { nothingRuns } from './processes';
import { startServerlessServer, type ServerlessServer } from './server';

const GATE = resolve(__dirname, '..', '..', 'dist', 'program', 'gate.js');
const QUESTION = 'How many drivers are there?';

let data: TestData;
let model: SimulatedModel;
let home: GateHome;
let server: ServerlessServer;

beforeAll(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases });
  const port = await freePort();
  home = gateHome({ baseUrl: model.baseUrl, env: { TEMPORAL_ADDRESS: `127.0.0.1:${String(port)}` } });
  const databases = { sprint: { path: data.databases[0]?.split('=')[1] } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases }));
  server = await startServerlessServer(port, home.env);
});
afterAll(async () => {
  await server.stop();
  await model.close();
  data.close();
});

/** A command that runs a worker of this build. */
function commandOf(buildId: string): string {
  const path = join(home.folder, `${buildId}.sh`);
  const worker = `exec '${process.execPath}' '${GATE}' ops worker --exit-when-idle 3`;
  writeFileSync(path, `#!/bin/sh\ncd '${home.folder}'\nexport GATE_BUILD_ID=${buildId}\n${worker}\n`);
  chmodSync(path, 0o755);
  return path;
}

function register(buildId: string, ...flags: readonly string[]): Promise<Ended> {
  const provider = ['--provider', 'subprocess', '--set', `command=${commandOf(buildId)}`];
  return home.here(['ops', 'deploy', 'register', ...provider, ...flags], { GATE_BUILD_ID: buildId });
}

function told({ out, code, err }: Ended): string {
  expect({ code, err }).toMatchObject({ code: 0 });
  return out;
}

test('a registered version is current, and its workers, which the server starts, answer questions', async () => {
  expect(told(await register('one'))).toContain('gate.one is current');
  await nothingRuns(home);
  const asked = await home.here(['ask', QUESTION, '--db', 'sprint', '--detach', '--json']);
  expect(asked.err).toContain('The server starts a worker for it');
  const { id } = JSON.parse(asked.out) as { id: string };
  expect(await home.here(['show', id, '--wait'])).toMatchObject({ code: 0 });
  const doctor = await home.here(['doctor']);
  expect(doctor.out).toMatch(/^ok +workers started by Temporal +gate\.one by subprocess$/m);
});

test('another build takes over; registered again, it is started in the new way', async () => {
  expect(told(await register('two'))).toMatch(/^gate\.two is current, by subprocess: it serves gate-db-sprint-/);
  expect(told(await register('one'))).toContain('gate.one is current');
});

test('what cannot be registered is one line that says what to change', async () => {
  const line = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const { code, err } = await home.here(['ops', 'deploy', 'register', ...args], env);
    expect(code).toBeGreaterThan(0);
    return err;
  };
  expect(await line(['--provider', 'lambda'])).toMatch(/^gate: .*Allowed choices are aws-lambda, .*\n$/);
  expect(await line(['--provider', 'subprocess', '--set', 'command=x', '--set', 'arn=y'])).toBe(
    'gate: --set arn is no setting of subprocess, which has command, args, timeout\n',
  );
  const lambda = ['--provider', 'aws-lambda', '--set', 'arn=arn:aws:lambda:eu-west-1:1:function:gate:1'];
  expect(await line(lambda, { GATE_BUILD_ID: 'three' })).toMatch(
    /^gate: the server allows no provider aws-lambda: .*workercontroller\.compute_providers\.enabled\n$/m,
  );
  const nowhere = ['--provider', 'subprocess', '--set', 'command=/nowhere/worker'];
  expect(await line(nowhere, { GATE_BUILD_ID: 'three' })).toMatch(
    /^gate: the server refuses these settings: command "\/nowhere\/worker" not found locally.*\n$/m,
  );
  const silent = ['--provider', 'subprocess', '--set', 'command=/bin/true', '--wait', '1'];
  expect(await line(silent, { GATE_BUILD_ID: 'four' })).toMatch(
    /no worker of gate\.four reached Temporal in 1 s: read its log/,
  );
});

test('a server that is too old says which version is needed', async () => {
  const old = { TEMPORAL_ADDRESS: testTemporal().address };
  const provider = ['--provider', 'subprocess', '--set', 'command=/bin/true'];
  expect(await home.here(['ops', 'deploy', 'register', ...provider], old)).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /^gate: \S+ is Temporal 1\.29\.\d+, which starts no workers: upgrade it to 1\.31 or newer\n$/m,
    ) as string,
  });
});
