/** `gate ops worker` in a container: it says when it is ready, ends when there is nothing to do, and drains in a stated time. */
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { eventually } from '../helpers/engine';
import { freePort } from '../helpers/free-port';
import { startModelEndpoint } from '../helpers/model-endpoint';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { sampleUser } from './sample-user';

const QUESTION = 'How many drivers are there?';
const OTHER = 'How many points did each team score in sprints in total, best team first?';

let data: TestData;
let model: SimulatedModel;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases });
});
afterEach(async () => {
  await model.close();
  data.close();
});

/** Status and text of a path; null when nothing listens. */
async function probe(port: number, path: string): Promise<{ status: number; text: string } | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`);
    return { status: response.status, text: (await response.text()).trim() };
  } catch {
    return null;
  }
}

test('a worker is ready once it polls, answers what arrives, and ends with 0 when it has had nothing to do', async () => {
  const { home, db } = sampleUser(data, model.baseUrl);
  // Loads the code of the command here, so that the question below comes well before the worker is idle.
  await home.ask([OTHER, '--db', db]);
  const port = await freePort();
  const worker = home.start(['ops', 'worker', '--exit-when-idle', '15', '--health-port', String(port)]);
  const first = await eventually(
    () => probe(port, '/readyz'),
    (seen) => seen !== null,
  );
  expect(first).toEqual({ status: 503, text: 'starting' });
  expect(await probe(port, '/livez')).toEqual({ status: 200, text: 'ok' });
  await eventually(
    () => probe(port, '/readyz'),
    (seen) => seen?.text === 'ok',
  );
  expect((await probe(port, '/metrics'))?.status).toBe(404);

  const { out } = await home.here(['ask', QUESTION, '--db', db, '--detach', '--json']);
  const { id } = JSON.parse(out) as { id: string };
  expect(await home.here(['show', id, '--wait'])).toMatchObject({ code: 0 });
  const { code, err } = await worker.ended;
  expect(code).toBe(0);
  expect(err).toMatch(/stopping: nothing to do for 15 s\n$/);
  expect(await probe(port, '/livez')).toBeNull();
});

test('after SIGTERM a worker is not ready; a step that does not end in the grace time is begun again by the next', async () => {
  const endpoint = await startModelEndpoint({ models: ['simulated'], reply: () => ({ fault: 'hang' }) });
  const { home, db } = sampleUser(data, endpoint.baseUrl);
  const port = await freePort();
  const arguments_ = ['ops', 'worker', '--grace', '5', '--health-port', String(port)];
  const first = home.start(arguments_);
  await first.said(/Ctrl-C stops/);
  await home.here(['ask', QUESTION, '--db', db, '--detach', '--json']);
  await endpoint.arrived(1);
  await eventually(
    () => probe(port, '/readyz'),
    (seen) => seen?.status === 200,
  );
  const begun = performance.now();
  first.child.kill('SIGTERM');
  await first.said(/running steps may finish \(up to 5 s\)/);
  expect(await probe(port, '/readyz')).toEqual({ status: 503, text: 'not polling' });
  expect((await first.ended).code).toBe(0);
  const seconds = (performance.now() - begun) / 1000;
  expect(seconds).toBeGreaterThan(4.9);
  // Without an end the step would hang for ever.
  expect(seconds).toBeLessThan(60);

  const second = home.start(['ops', 'worker', '--grace', '1']);
  await endpoint.arrived(2);
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
  await endpoint.close();
});

test('a port that is taken and a number that is none are one line each', async () => {
  const { home } = sampleUser(data, model.baseUrl);
  const taken = new URL(model.baseUrl).port;
  const refused = await home.here(['ops', 'worker', '--health-port', taken]);
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^gate: .*the port is in use; choose another/) as string,
  });
  const wrong = await home.here(['ops', 'worker', '--exit-when-idle', 'soon']);
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('give a number above 0');
});
