/** A database is where it is, not what it is called: one store, and names that mean another database from one time to the next. */
import Database from 'libsql';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AnswerRecord } from '../../src/domain';
import { loadQuestions, startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { buildSprintDatabase } from '../../src/app/demo';
import { gateHome, type Ended, type GateHome } from '../helpers/gate-process';
import { ROOT, SAMPLE_QUESTIONS } from '../helpers/shared-data';

const SPRINT = join(mkdtempSync(join(tmpdir(), 'gate-identity-')), 'sprint.sqlite');
beforeAll(() => buildSprintDatabase(join(ROOT, 'examples', 'sprint', 'sprint.sql'), SPRINT));
afterAll(() => rmSync(dirname(SPRINT), { recursive: true }));

const wordsOf = (id: string): string =>
  loadQuestions(SAMPLE_QUESTIONS).find((each) => each.id === id)?.question ?? `no question ${id}`;
const DRIVERS = wordsOf('sprint-drivers-count');
const POINTS = wordsOf('sprint-points-per-team');

/** `doubt` 1: a question takes several iterations, so that there is something to fork. */
async function withModel<T>(doubt: 0 | 1, work: (home: GateHome, model: SimulatedModel) => Promise<T>): Promise<T> {
  const model = await startSimulatedModel({
    questions: [SAMPLE_QUESTIONS],
    databases: [`sprint=${SPRINT}`],
    latencyMs: 0,
    rates: { doubt, wrong: doubt, inconclusive: doubt / 2, immaterial: 0 },
  });
  try {
    return await work(gateHome({ baseUrl: model.baseUrl }), model);
  } finally {
    await model.close();
  }
}

/** A folder with a configuration that calls the file beside it `sprint`; `env` asks from there. */
function project(home: GateHome, name: string, entry: object = { path: './sprint.sqlite' }) {
  const folder = join(home.folder, name);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'sprint.sqlite');
  const config = join(folder, 'gate.config.json');
  const configure = (to: object): void => writeFileSync(config, JSON.stringify({ databases: { sprint: to } }));
  configure(entry);
  copyFileSync(SPRINT, file);
  return { folder, file, configure, env: { GATE_CONFIG: config } };
}

function withoutOneDriver(file: string): void {
  const database = new Database(file);
  database.exec('PRAGMA foreign_keys = OFF');
  database.exec('DELETE FROM drivers WHERE driver_id = (SELECT max(driver_id) FROM drivers)');
  database.close();
}

async function asked(home: GateHome, env: NodeJS.ProcessEnv, question = DRIVERS, db = 'sprint') {
  const ended: Ended = await home.here(['ask', question, '--db', db, '--json'], env);
  if (ended.code !== 0) throw new Error(ended.err);
  return { ...(JSON.parse(ended.out) as AnswerRecord), err: ended.err };
}

test('one name in two folders is two databases: each gives its own answer', async () => {
  await withModel(0, async (home, model) => {
    const [one, two] = [project(home, 'one'), project(home, 'two')];
    withoutOneDriver(two.file);
    const first = await asked(home, one.env);
    expect(first).toMatchObject({ status: 'answered', rows: [[8]] });
    const second = await asked(home, two.env);
    expect(second).toMatchObject({ status: 'answered', rows: [[7]] });
    expect(second.id).not.toBe(first.id);
    const paid = model.ledger().totals.asked;
    expect(await asked(home, one.env)).toMatchObject({ id: first.id, rows: [[8]] });
    expect(await asked(home, {}, DRIVERS, two.file)).toMatchObject({ id: second.id, rows: [[7]] });
    expect(model.ledger().totals.asked).toBe(paid);
  });
});

test('a file that was replaced at its path is the same database: a stored answer runs again on the rows of now', async () => {
  await withModel(0, async (home, model) => {
    const { file, env } = project(home, 'one');
    const first = await asked(home, env);
    copyFileSync(file, `${file}.new`);
    withoutOneDriver(`${file}.new`);
    renameSync(`${file}.new`, file);
    const paid = model.ledger().totals.asked;
    const second = await asked(home, env);
    expect(second).toMatchObject({ id: first.id, rows: [[7]] });
    expect(model.ledger().totals.asked).toBe(paid);
  });
});

test('a file that was moved is another database, unless the configuration gives it an id', async () => {
  await withModel(1, async (home) => {
    const { file, env, folder, configure } = project(home, 'one');
    const before = await asked(home, env, POINTS);
    const moved = join(folder, 'moved.sqlite');
    renameSync(file, moved);
    configure({ path: './moved.sqlite' });
    const refused = await home.here(['fork', before.id, '--at', '1', '--seed', '7', '--json'], env);
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain(`asked sprint, and sprint at ${moved} is another database`);
    configure({ path: './moved.sqlite', id: 'sprint' });
    const named = await asked(home, env, POINTS);
    renameSync(moved, file);
    configure({ path: './sprint.sqlite', id: 'sprint' });
    expect(await asked(home, env, POINTS)).toMatchObject({ id: named.id });
  });
});

test('a batch in another folder asks its own database', async () => {
  await withModel(0, async (home, model) => {
    const [one, two] = [project(home, 'one'), project(home, 'two')];
    withoutOneDriver(two.file);
    const questions = join(home.folder, 'questions.jsonl');
    writeFileSync(questions, JSON.stringify({ id: 'drivers', database: 'sprint', question: DRIVERS, gold_sql: [] }));
    const run = async (env: NodeJS.ProcessEnv, out: string, ...more: string[]) => {
      const ended = await home.here(['batch', 'run', questions, '--out', out, ...more], env);
      if (ended.code !== 0) throw new Error(ended.err);
      const line = JSON.parse(readFileSync(join(home.folder, out, 'results.jsonl'), 'utf8')) as { searchId: string };
      return { ...line, err: ended.err };
    };
    const first = await run(one.env, 'out-1');
    const second = await run(two.env, 'out-2');
    expect(second.searchId).not.toBe(first.searchId);
    const fresh = await run(two.env, 'out-2', '--fresh');
    expect(fresh.searchId).not.toBe(second.searchId);
    const paid = model.ledger().totals.asked;
    expect((await run(one.env, 'out-1')).searchId).toBe(first.searchId);
    expect((await run(two.env, 'out-2')).searchId).toBe(fresh.searchId);
    expect(model.ledger().totals.asked).toBe(paid);
  });
});
