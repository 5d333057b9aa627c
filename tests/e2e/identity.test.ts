/** A database is where it is, not what it is called: one store, and names that mean another database from one time to the next. */
import Database from 'libsql';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnswerRecord } from '../../src/domain';
import type { SimulatedModel } from '../../simulated-model';
import { gateHome, type Ended, type GateHome } from '../helpers/gate-process';
import { ASKED, recordedModel, STORES, wordsOf } from '../helpers/recorded-store';

const SPRINT = join(STORES, '2026-11-21', 'sprint.sqlite');
const DRIVERS = wordsOf(ASKED.adHoc.question);

async function withModel<T>(question: string, work: (home: GateHome, model: SimulatedModel) => Promise<T>): Promise<T> {
  const model = await recordedModel(SPRINT, question);
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

test('one name in two folders is two databases: each gives its own answer, and the change is said', async () => {
  await withModel(ASKED.adHoc.question, async (home, model) => {
    const [one, two] = [project(home, 'one'), project(home, 'two')];
    withoutOneDriver(two.file);
    const first = await asked(home, one.env);
    expect(first).toMatchObject({ status: 'answered', rows: [[8]] });
    expect(first.err).not.toContain('another database');
    const second = await asked(home, two.env);
    expect(second).toMatchObject({ status: 'answered', rows: [[7]] });
    expect(second.id).not.toBe(first.id);
    expect(second.err).toContain(`'sprint' was ${one.file} and is now ${two.file}; it counts as another database`);
    const paid = model.ledger().totals.asked;
    expect(await asked(home, one.env)).toMatchObject({ id: first.id, rows: [[8]] });
    expect(await asked(home, {}, DRIVERS, two.file)).toMatchObject({ id: second.id, rows: [[7]] });
    expect(model.ledger().totals.asked).toBe(paid);
  });
});

test('a file that was replaced is asked anew; one with an id is not', async () => {
  await withModel(ASKED.adHoc.question, async (home, model) => {
    const { file, env, configure } = project(home, 'one');
    const replace = (): void => {
      copyFileSync(file, `${file}.new`);
      withoutOneDriver(`${file}.new`);
      renameSync(`${file}.new`, file);
    };
    const first = await asked(home, env);
    replace();
    const second = await asked(home, env);
    expect(second.err).toMatch(
      /'sprint' \(.*sprint\.sqlite\) is another file now than on 2\d{3}-\d\d-\d\d; it counts as/,
    );
    expect([first.rows, second.rows]).toEqual([[[8]], [[7]]]);
    configure({ path: './sprint.sqlite', id: 'sprint-nightly' });
    expect((await home.here(['db', 'adopt', 'sprint'], env)).code).toBe(0);
    replace();
    const paid = model.ledger().totals.asked;
    const third = await asked(home, env);
    expect(third.id).toBe(second.id);
    expect(third.err).not.toContain('another database');
    expect(model.ledger().totals.asked).toBe(paid);
  });
});

test('a moved database that is adopted has its answers and forks again, and what was asked in between', async () => {
  await withModel(ASKED.answered.question, async (home, model) => {
    const { file, env, folder, configure } = project(home, 'one');
    const question = wordsOf(ASKED.answered.question);
    const before = await asked(home, env, question);
    renameSync(file, join(folder, 'moved.sqlite'));
    configure({ path: './moved.sqlite' });
    const refused = await home.here(['fork', before.id, '--at', '1', '--seed', '7', '--json'], env);
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain(`asked sprint at ${file}, and sprint at ${join(folder, 'moved.sqlite')} is another`);
    const between = await asked(home, env, DRIVERS);
    expect(between.err).toContain('if it only moved: gate db adopt sprint');
    const adopted = await home.here(['db', 'adopt', 'sprint'], env);
    expect(adopted).toMatchObject({ code: 0, err: '' });
    expect(adopted.out).toContain(`'sprint' was ${file} and is now`);
    const paid = model.ledger().totals.asked;
    expect(await asked(home, env, question)).toMatchObject({ id: before.id, rows: before.rows });
    expect(await asked(home, env, DRIVERS)).toMatchObject({ id: between.id });
    expect(model.ledger().totals.asked).toBe(paid);
    const fork = await home.here(['fork', before.id, '--at', '1', '--seed', '7', '--json'], env);
    expect({ code: fork.code, err: fork.code === 0 ? '' : fork.err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(fork.out)).toMatchObject({ status: 'answered' });
    // What a search keeps of a database is kept for the database.
    expect(readdirSync(join(home.folder, 'store', 'profiles'))).toHaveLength(2);
  });
});

test('a batch in another folder asks its own database, and says that the name means another one', async () => {
  await withModel(ASKED.adHoc.question, async (home, model) => {
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
    expect(second.err).toContain(`'sprint' was ${one.file} and is now ${two.file}`);
    const fresh = await run(two.env, 'out-2', '--fresh');
    expect(fresh.searchId).not.toBe(second.searchId);
    const paid = model.ledger().totals.asked;
    expect((await run(one.env, 'out-1')).searchId).toBe(first.searchId);
    expect((await run(two.env, 'out-2')).searchId).toBe(fresh.searchId);
    expect(model.ledger().totals.asked).toBe(paid);
  });
});
