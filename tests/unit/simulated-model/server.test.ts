import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { renderPlan } from '../../../src/prompts';
import {
  startSimulatedModel,
  type GoldQuestion,
  type SimulatedModel,
  type SimulatedModelOptions,
} from '../../../simulated-model';

const QUESTION: GoldQuestion = {
  id: 'q',
  engine: 'sqlite',
  database: 'none',
  question: 'What do clouds weigh?',
  gold_sql: [],
  answerable: false,
};

const messages = renderPlan({
  question: {
    ...{ schemaVersion: 1, text: QUESTION.question, database: 'none', outputMode: 'sql', tools: ['execute_sql'] },
    ...{ context: null, instructions: null, documents: [] },
  },
  ...{ dialect: 'sqlite', schema: '', profiles: null, memory: [], facts: [], knownIntents: [], otherPlans: [] },
  ...{ revise: null, carryTests: false, breadth: 1, strict: 'execution' },
});

let model: SimulatedModel;
afterEach(() => model.close());

async function start(more: Partial<SimulatedModelOptions> = {}): Promise<void> {
  model = await startSimulatedModel({ questions: [QUESTION], databases: [], ...more });
}

const ask = (headers: Record<string, string> = {}, changed: object = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(`${model.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'simulated', messages, ...changed }),
    ...(signal === undefined ? {} : { signal }),
  });

it('a hold lets no more through than it says, though all ask at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-simulated-'));
  const database = new Database(join(folder, 'sky.sqlite'));
  database.exec('CREATE TABLE cloud (weight integer); INSERT INTO cloud VALUES (1), (2)');
  database.close();
  // A reply that takes a look at the database.
  const answerable = { ...QUESTION, answerable: true, gold_sql: ['SELECT sum(weight) FROM cloud'] };
  await start({ questions: [answerable], databases: [`none=${join(folder, 'sky.sqlite')}`] });
  const release = model.holdAfter(2);
  const asked = Promise.all([1, 2, 3, 4].map((seed) => ask({}, { seed })));
  await model.billed(2);
  for (let looked = 0; looked < 5; looked += 1) expect((await fetch(`${model.baseUrl}/models`)).status).toBe(200);
  expect(model.ledger().totals).toMatchObject({ billed: 2, inFlight: 2 });
  release();
  expect((await asked).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  rmSync(folder, { recursive: true });
});

it('the ledger counts what was asked and what was billed, per role and content', async () => {
  await start();
  for (let time = 0; time < 2; time += 1) expect((await ask()).status).toBe(200);
  await ask({}, { seed: 5 });
  const ledger = model.ledger();
  expect(ledger.totals).toMatchObject({ asked: 3, billed: 3, distinct: 2, billedAgain: 1, inFlight: 0 });
  expect(ledger.roles).toEqual({ plan: { asked: 3, billed: 3, faults: 0, abandoned: 0 } });
  expect(
    Object.values(ledger.contents)
      .map(({ asked }) => asked)
      .sort(),
  ).toEqual([1, 2]);
  const served = (await (await fetch(model.baseUrl.replace('/v1', '/ledger'))).json()) as typeof ledger;
  expect(served).toEqual(ledger);
  model.reset();
  expect(model.ledger().totals.asked).toBe(0);
});

it.each([
  ['rate-limit', 429],
  ['server-error', 500],
] as const)('%s on demand is a %i, and is not billed', async (fault, status) => {
  await start({ retryAfterSeconds: 7 });
  model.failNext(fault);
  const response = await ask();
  expect(response.status).toBe(status);
  if (status === 429) expect(response.headers.get('retry-after')).toBe('7');
  expect(model.ledger().totals).toMatchObject({ asked: 1, billed: 0, faults: 1 });
  expect((await ask()).status).toBe(200);
});

it('a dropped connection and a malformed body fail at the client', async () => {
  await start();
  model.failNext('drop', 'malformed');
  await expect(ask()).rejects.toThrow();
  await expect((await ask()).json()).rejects.toThrow();
});

it('a request that hangs until its client leaves is a fault, and one left during the wait is abandoned', async () => {
  await start({ latencyMs: 5_000 });
  model.failNext('hang');
  for (let time = 0; time < 2; time += 1) await expect(ask({}, {}, AbortSignal.timeout(100))).rejects.toThrow();
  while (model.ledger().totals.inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(model.ledger().totals).toMatchObject({ asked: 2, billed: 0, faults: 1, abandoned: 1 });
});

it('faults by rate do not doom a request: asked again, it meets another fate', async () => {
  await start({ faults: { 'server-error': 0.5 }, seed: 3 });
  const statuses: number[] = [];
  for (let time = 0; time < 12; time += 1) statuses.push((await ask()).status);
  expect(new Set(statuses)).toEqual(new Set([200, 500]));
  model.reset();
  const again: number[] = [];
  for (let time = 0; time < 12; time += 1) again.push((await ask()).status);
  expect(again).toEqual(statuses);
});

it('a wrong key is 401, an unknown model 404, and neither is in the ledger', async () => {
  await start({ apiKey: 'right' });
  expect((await ask({ authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await ask({ authorization: 'Bearer right' }, { model: 'other' })).status).toBe(404);
  expect(model.ledger().totals.asked).toBe(0);
});

describe('embeddings', () => {
  const embed = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${model.baseUrl}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'simulated-embedding', ...body }),
    });
  const vectors = async (body: object): Promise<number[][]> => {
    const { data } = (await (await embed(body)).json()) as { data: { embedding: number[] }[] };
    return data.map(({ embedding }) => embedding);
  };
  const dot = (a: readonly number[] = [], b: readonly number[] = []): number =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

  it('the same text has the same vector of length 1, and what says the same in other words is near', async () => {
    await start();
    const [question, same, other, again] = await vectors({
      input: ['employees resigned', 'worker_terminations', 'ledger_branch', 'employees resigned'],
    });
    expect(again).toEqual(question);
    expect(dot(question, question)).toBeCloseTo(1);
    expect(dot(question, same)).toBeCloseTo(1);
    expect(dot(question, other)).toBeLessThan(0.5);
  });

  it('another seed gives other vectors, and dimensions as many numbers as asked for', async () => {
    await start();
    const [first] = await vectors({ input: 'cloud', dimensions: 64 });
    expect(first).toHaveLength(64);
    await model.close();
    await start({ seed: 1 });
    expect((await vectors({ input: 'cloud', dimensions: 64 }))[0]).not.toEqual(first);
  });

  it('is counted in the ledger, and meets limits and faults like any other request', async () => {
    await start();
    model.failNext('rate-limit');
    expect((await embed({ input: ['a', 'b'] })).status).toBe(429);
    expect((await embed({ input: ['a', 'b'] })).status).toBe(200);
    expect(model.ledger()).toMatchObject({
      totals: { asked: 2, billed: 1, promptTokens: 1, completionTokens: 0 },
      roles: { embedding: { asked: 2, billed: 1, faults: 1 } },
    });
  });

  it.each<[string, object, number]>([
    ['an unknown model', { model: 'nosuch', input: 'x' }, 404],
    ['a model for chat', { model: 'simulated', input: 'x' }, 404],
    ['no input', {}, 400],
    ['an empty list', { input: [] }, 400],
  ])('%s is refused', async (_, body, status) => {
    await start();
    expect((await embed(body)).status).toBe(status);
    expect(model.ledger().totals.asked).toBe(0);
  });
});
