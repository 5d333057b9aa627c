import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { gateHome } from '../helpers/gate-process';
import { startPostgres, type TestPostgres } from '../helpers/postgres';
import { loadTestData, type TestData } from '../helpers/shared-data';

jest.setTimeout(300_000);

let postgres: TestPostgres;
let data: TestData;
let model: SimulatedModel;

beforeAll(async () => {
  postgres = await startPostgres();
  data = await loadTestData(postgres, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, latencyMs: 200 });
});
afterAll(async () => {
  await model.close();
  data.close();
  await postgres.stop();
});

/** Both engines in one file. */
function batchFile(folder: string): string {
  const path = join(folder, 'questions.jsonl');
  const lines = data.questionFiles.flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

const resultsOf = (folder: string): Record<string, unknown>[] =>
  readFileSync(join(folder, 'out', 'results.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

it('a batch over both engines prints execution match, and run again it pays nothing', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const args = [
    'batch',
    'run',
    batchFile(home.folder),
    '--out',
    'out',
    ...data.databases.flatMap((db) => ['--db', db]),
  ];
  model.reset();
  const first = await home.here(args);
  expect({ code: first.code, err: first.code === 0 ? '' : first.err }).toEqual({ code: 0, err: '' });
  expect(resultsOf(home.folder)).toHaveLength(data.questions.length);
  expect(`${first.out}${first.err}`).toMatch(/execution match|\bEX\b/i);
  const paid = model.ledger().totals.asked;
  const again = await home.here([...args, '--json']);
  expect(again.code).toBe(0);
  expect(model.ledger().totals.asked).toBe(paid);
  expect(resultsOf(home.folder)).toHaveLength(data.questions.length);
});

it('a batch that is killed and run again goes on where it was and pays only what was in flight twice', async () => {
  const home = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL_SELECT: 'simulated' } });
  const databases = data.databases.flatMap((db) => ['--db', db]);
  const concurrency = 4;
  const args = [
    'batch',
    'run',
    batchFile(home.folder),
    '--out',
    'out',
    '--concurrency',
    String(concurrency),
    ...databases,
  ];
  model.reset();
  const first = home.start(args);
  await model.billed(20);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await home.here(args);
  expect({ code: second.code, err: second.code === 0 ? '' : second.err }).toEqual({ code: 0, err: '' });
  const results = resultsOf(home.folder);
  expect(new Set(results.map(({ id }) => id)).size).toBe(data.questions.length);
  expect(results).toHaveLength(data.questions.length);
  const { totals } = model.ledger();
  const calm = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL_GROUND: 'simulated' } });
  model.reset();
  await calm.here(['batch', 'run', batchFile(calm.folder), '--out', 'out', ...databases]);
  expect(totals.billed - model.ledger().totals.billed).toBeLessThanOrEqual(concurrency);
});
