import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { planRole } from '../../../src/roles/plan/prompt';
import {
  startSimulatedModel,
  type GoldQuestion,
  type SimulatedModel,
  type SimulatedModelOptions,
} from '../../../simulated-model';
import { eventually } from '../../helpers/engine';

const QUESTION: GoldQuestion = {
  id: 'q',
  engine: 'sqlite',
  database: 'none',
  question: 'What do clouds weigh?',
  gold_sql: [],
  answerable: false,
};

const messages = planRole.render({
  question: {
    ...{ text: QUESTION.question, database: 'none', outputMode: 'sql', tools: ['execute_sql'] },
    ...{ context: null, instructions: null, documents: [] },
  },
  ...{ dialect: 'sqlite', schema: '', memory: [], facts: [], knownIntents: [], otherPlans: [] },
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
  await eventually(() => model.ledger().totals.inFlight === 2);
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

it('faults on demand are told as a provider tells them, and are not billed', async () => {
  await start({ retryAfterSeconds: 7 });
  model.failNext('rate-limit', 'server-error', 'drop', 'malformed');
  const limited = await ask();
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  expect((await ask()).status).toBe(500);
  expect(model.ledger().totals).toMatchObject({ asked: 2, billed: 0, faults: 2 });
  await expect(ask()).rejects.toThrow();
  await expect((await ask()).json()).rejects.toThrow();
});

it('a wrong key is 401, an unknown model 404, and neither is in the ledger', async () => {
  await start({ apiKey: 'right' });
  expect((await ask({ authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await ask({ authorization: 'Bearer right' }, { model: 'other' })).status).toBe(404);
  expect(model.ledger().totals.asked).toBe(0);
});
