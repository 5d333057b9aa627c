/** The configurations of examples/paper, each at a small limit with the simulated model, on folders in the official layouts. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { makeRealEhrStandIn } from '../../examples/paper/make-realehr-stand-in';
import { loadQuestions, startSimulatedModel, type GoldQuestion, type SimulatedModel } from '../../simulated-model';
import type { Run } from '../../src/report/run';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';
import { ROOT } from '../helpers/shared-data';

jest.setTimeout(600_000);

const EHRSQL = "SELECT COUNT(*) FROM patients WHERE gender = 'f'";
const ALIEN = 'SELECT COUNT(*) FROM signals WHERE strength > 3';
const gold = (database: string, engine: GoldQuestion['engine'], question: string, sql: string): GoldQuestion => ({
  ...{ id: `${database}-1`, engine, database, question, gold_sql: [sql], answerable: true },
});
const ASKED = [
  gold('mimic_iv', 'sqlite', 'How many patients are female?', EHRSQL),
  gold('alien', 'postgresql', 'How many signals are strong?', ALIEN),
];

let home: GateHome;
let model: SimulatedModel;
let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await sharedPostgres();
  await postgres.createDatabase(
    'alien',
    'CREATE TABLE signals (strength int); INSERT INTO signals VALUES (2), (4), (9);',
  );
  const folder = gateHome({ baseUrl: 'http://127.0.0.1:9/v1' }).folder;
  const standIn = join(folder, 'realehr-stand-in');
  makeRealEhrStandIn(standIn);
  const mimic = ehrsql(folder);
  livesqlbench(folder);
  model = await startSimulatedModel({
    questions: [...loadQuestions(join(standIn, 'questions.jsonl')), ...ASKED],
    databases: [`realehr=${join(standIn, 'realehr.sqlite')}`, `mimic_iv=${mimic}`, `alien=${postgres.url('alien')}`],
  });
  home = { ...gateHome({ baseUrl: model.baseUrl }), folder };
  // LS-Hard may look things up; the simulated model never does.
  const web = { provider: 'searxng', baseUrl: 'http://127.0.0.1:9' };
  writeFileSync(join(folder, 'gate.config.json'), JSON.stringify({ web }));
});
afterAll(async () => {
  await model.close();
});

/** As the publisher's repository has it, with its database. */
function ehrsql(data: string): string {
  const folder = join(data, 'ehrsql-2024', 'data', 'mimic_iv');
  mkdirSync(join(folder, 'valid'), { recursive: true });
  const [one] = ASKED;
  const questions = [
    { id: 'a1', question: one?.question },
    { id: 'b2', question: 'What is the weather like?' },
  ];
  writeFileSync(join(folder, 'valid', 'data.json'), JSON.stringify({ version: 'v1', data: questions }));
  writeFileSync(join(folder, 'valid', 'label.json'), JSON.stringify({ a1: EHRSQL, b2: 'null' }));
  const path = join(folder, 'mimic_iv.sqlite');
  const database = new Database(path);
  database.exec("CREATE TABLE patients (subject_id int, gender text); INSERT INTO patients VALUES (1, 'f'), (2, 'm');");
  database.close();
  return path;
}

function livesqlbench(data: string): void {
  const folder = join(data, 'livesqlbench');
  mkdirSync(join(folder, 'alien'), { recursive: true });
  writeFileSync(join(folder, 'alien', 'alien_column_meaning_base.json'), '{"alien|signals|strength": "from 0 to 9"}');
  const line = {
    ...{ instance_id: 'alien_1', selected_database: 'alien', query: ASKED[1]?.question, sol_sql: [ALIEN] },
    ...{ preprocess_sql: [], clean_up_sql: [], test_cases: [], category: 'Query', conditions: { order: false } },
    ...{ difficulty_tier: 'Simple', external_knowledge: [] },
  };
  const without = { ...line, instance_id: 'alien_2', sol_sql: [] };
  writeFileSync(join(folder, 'livesqlbench_data.jsonl'), `${JSON.stringify(line)}\n${JSON.stringify(without)}\n`);
}

it.each([
  ['main-results', 4, ['RealEHR stand-in', 'EHRSQL', 'LS-Hard']],
  ['run-variance', 4, ['RealEHR stand-in', 'EHRSQL', 'LS-Hard']],
  ['ablation', 5, ['RealEHR stand-in']],
  ['cost', 3, ['RealEHR stand-in']],
  ['update-audit', 1, ['RealEHR stand-in']],
])('%s runs, and says what is synthetic', async (name, methods, sets) => {
  const args = ['compare', join(ROOT, 'examples', 'paper', `${name}.yaml`), '--data', home.folder];
  const own = [
    '--db',
    `alien=${postgres.url('alien')}`,
    '--limit',
    '1',
    '--seed',
    '0',
    '--out',
    join(home.folder, name),
  ];
  const before = model.ledger().totals.asked;
  const { code, out, err } = await inFolder([...args, ...own]);
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  if (name === 'run-variance') expect(model.ledger().totals.asked).toBe(before);
  expect(out).toContain('SYNTHETIC STAND-IN');
  for (const file of ['report.md', 'report.html'])
    expect(readFileSync(join(home.folder, name, file), 'utf8')).toContain('SYNTHETIC STAND-IN');
  const run = JSON.parse(readFileSync(join(home.folder, name, 'summary.json'), 'utf8')) as Run;
  expect(run.sets.map((set) => set.name)).toEqual(sets);
  expect(run.complete).toBe(true);
  for (const { figures } of run.sets) {
    expect(figures).toHaveLength(methods);
    for (const { verdicts } of figures) expect(verdicts['infrastructure']).toBeUndefined();
  }
  for (const set of run.sets.filter(({ comparison }) => comparison.judge !== undefined))
    expect(set.figures.every(({ judged }) => judged !== null)).toBe(true);
  const lacks = /no sol_sql for \S{0,6}alien_2\S{0,6}: the publisher sends gold by e-mail/;
  for (const { remarks } of run.sets.filter((set) => set.name === 'LS-Hard')) {
    expect([err, remarks.join()]).toEqual([expect.stringMatching(lacks), expect.stringMatching(lacks)]);
    expect(readFileSync(join(home.folder, name, 'report.html'), 'utf8')).toMatch(lacks);
  }
});

const inFolder = (args: readonly string[]) => home.bench(args, { GATE_CONFIG: join(home.folder, 'gate.config.json') });
