import { executionMatch } from '../../src/questions';
import type { AnswerRecord, SqlResult } from '../../src/domain';
import { startSimulatedModel, type GoldQuestion, type SimulatedModel } from '../../simulated-model';
import { gateHome } from '../helpers/gate-process';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { openDatabase } from './in-process';

let postgres: TestPostgres;
let data: TestData;
let model: SimulatedModel;

beforeEach(async () => {
  postgres = await sharedPostgres();
  data = await loadTestData(postgres, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, apiKey: 'test-key' });
});
afterEach(async () => {
  await model.close();
  data.close();
});

const ofEngine = (engine: GoldQuestion['engine'], id: string): GoldQuestion => {
  const question = data.questions.find((each) => each.engine === engine && each.id.endsWith(id));
  if (question === undefined) throw new Error(`no question ${id} for ${engine}`);
  return question;
};

async function goldRows(question: GoldQuestion): Promise<SqlResult> {
  const { engine } = await openDatabase(data.address(question), question.engine);
  const options = { timeoutMs: 20_000, maxRows: 100, signal: new AbortController().signal, tag: 'test' };
  try {
    return (await engine.run([question.gold_sql[0] ?? ''], options)).results[0]!;
  } finally {
    await engine.close();
  }
}

it.each([
  ['fast', 'sqlite'],
  ['fast', 'postgresql'],
  ['thorough', 'postgresql'],
  ['paper', 'sqlite'],
  ['react', 'postgresql'],
  ['reforce:seed', 'sqlite'],
  ['reforce', 'postgresql'],
] as const)('method %s on %s answers with the gold rows', async (method, engine) => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const question = ofEngine(engine, 'dominant');
  const record = await home.ask([question.question, '--db', data.address(question), '--method', method]);
  expect(record).toMatchObject({ code: 0, status: 'answered', method, rows: [[4]] });
  expect(record.usage).toMatchObject({ llmCalls: model.ledger().totals.billed, possiblyBilledCalls: 0 });
  const rows = { kind: 'rows', columns: record.columns, rows: record.rows, truncated: false, elapsedMs: 0 } as const;
  expect(executionMatch(rows, [await goldRows(question)])).toMatchObject({ kind: 'match' });
});

it('a question that the database cannot answer ends as unanswerable, exit 0', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const question = ofEngine('sqlite', 'unanswerable-fuel');
  const record = await home.ask([question.question, '--db', data.address(question)]);
  expect(record).toMatchObject({ code: 0, status: 'unanswerable', sql: null });
  expect(record.reason).toMatch(/not stored/);
});

it('the same question twice is one search, and the second costs nothing', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const question = ofEngine('postgresql', 'wins-per-driver');
  const asked = [question.question, '--db', data.address(question)];
  const first = await home.ask(asked);
  model.reset();
  // Another process: what it knows is in the store.
  const { out } = await home.run(['ask', ...asked, '--json']);
  const second = JSON.parse(out) as AnswerRecord;
  expect(second.id).toBe(first.id);
  expect(second.rows).toEqual(first.rows);
  expect(model.ledger().totals.asked).toBe(0);
  const listed = await home.here(['list', '--json']);
  expect(JSON.parse(listed.out)).toMatchObject([{ id: first.id, status: 'answered' }]);
});

it('faults of the endpoint are retried, and the answer is the same as without them', async () => {
  const question = ofEngine('sqlite', 'points-per-team');
  const calm = await gateHome({ baseUrl: model.baseUrl }).ask([question.question, '--db', data.address(question)]);
  model.reset();
  model.failNext('rate-limit', 'server-error', 'drop', 'malformed');
  const home = gateHome({ baseUrl: model.baseUrl });
  const record = await home.ask([question.question, '--db', data.address(question)]);
  expect(record).toMatchObject({ code: 0, status: 'answered', rows: calm.rows, sql: calm.sql });
  expect(model.ledger().totals).toMatchObject({ faults: 4, billedAgain: 0 });
});
