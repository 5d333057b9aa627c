import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { gateHome } from '../helpers/gate-process';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { withClient } from '../helpers/temporal';

let data: TestData;
let model: SimulatedModel;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({
    questions: data.questionFiles,
    databases: data.databases,
    latencyMs: 500,
    // Long enough to be killed in the middle.
    rates: { doubt: 1, wrong: 1, inconclusive: 0.5, immaterial: 0 },
  });
});
afterEach(async () => {
  await model.close();
  data.close();
});

const QUESTION = 'How many points did each team score in sprints in total, best team first?';

it('a worker killed in the middle is replaced by the next, which finishes with the same answer and pays no journalled call again', async () => {
  const args = ['--db', data.address({ engine: 'sqlite', database: 'sprint' }), '--method', 'thorough'];
  const calm = await gateHome({ baseUrl: model.baseUrl }).ask([QUESTION, ...args]);
  const calls = model.ledger().totals.billed;
  expect(calls).toBeGreaterThan(2);

  // The same question of another user, asked anew.
  const home = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL_SELECT: 'simulated' } });
  model.reset();
  const first = home.start(['ask', QUESTION, ...args]);
  await model.billed(2);
  first.child.kill('SIGKILL');
  expect((await first.ended).code).toBeNull();
  const resumed = await home.ask([QUESTION, ...args]);

  expect(resumed).toMatchObject({ code: 0, status: calm.status, rows: calm.rows, sql: calm.sql });
  expect(resumed.usage.llmCalls).toBe(calm.usage.llmCalls);
  const { totals } = model.ledger();
  // Only the call that was in flight in the killed process may have been paid twice.
  expect(totals.billedAgain).toBeLessThanOrEqual(1);
  expect(totals.billed - totals.billedAgain).toBe(calls);
  await withClient(async ({ client }) => {
    const { status } = await client.workflow.getHandle(`question-${resumed.id}`).describe();
    expect(status.name).toBe('COMPLETED');
  });
});
