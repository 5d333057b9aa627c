/** The command on a stand-in for Snowflake: one statement, what is refused, and a whole search with the simulated model. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { startFakesnow, type TestSnowflake } from '../helpers/fakesnow';
import { gateHome, type GateHome } from '../helpers/gate-process';

const QUESTION = 'How many teams are there per city?';
const TABLES = `CREATE TABLE team (id integer PRIMARY KEY, code text NOT NULL, city text);
  INSERT INTO team VALUES (1, 'ABC', 'Rome'), (2, 'DEF', 'Bern'), (3, 'GHI', 'Bern');`;

let snowflake: TestSnowflake;
let model: SimulatedModel;
let home: GateHome;

beforeAll(async () => {
  snowflake = await startFakesnow();
  await snowflake.write('CLUB', TABLES);
  home = gateHome({ baseUrl: 'http://127.0.0.1:9/v1', env: { CLUB_PASSWORD: 'secret' } });
  const questions = join(home.folder, 'questions.jsonl');
  const gold = { id: 'teams', engine: 'snowflake', database: 'club', question: QUESTION, answerable: true };
  writeFileSync(
    questions,
    JSON.stringify({ ...gold, gold_sql: ['SELECT city, COUNT(*) AS teams FROM team GROUP BY city'] }),
  );
  const databases = [`club=${snowflake.url('CLUB')}`];
  model = await startSimulatedModel({ questions: [questions], databases, apiKey: 'test-key' });
  const club = {
    url: 'snowflake://reader@testaccount/CLUB/PUBLIC?warehouse=WH&role=READER',
    snowflake: { passwordEnv: 'CLUB_PASSWORD', accessUrl: snowflake.accessUrl },
  };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases: { club } }));
});
afterAll(async () => {
  await model.close();
  await snowflake.stop();
});

test('gate db sql prints rows of a configured Snowflake database', async () => {
  const sql = 'SELECT code, city FROM team ORDER BY id LIMIT 2';
  expect(await home.here(['db', 'sql', sql, '--db', 'club'])).toMatchObject({
    code: 0,
    out: 'CODE,CITY\nABC,Rome\nDEF,Bern\n',
  });
});

test('gate db sql refuses what would change something', async () => {
  const ended = await home.here(['db', 'sql', 'DELETE FROM team', '--db', 'club']);
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('DELETE is not allowed') as string });
});

test('a login that is not there is one line with the variable to set', async () => {
  const ended = await home.here(['db', 'sql', 'SELECT 1', '--db', 'club'], { CLUB_PASSWORD: '' });
  expect(ended.code).not.toBe(0);
  expect(ended.err).toMatch(/database 'club' cannot log in: set the variable CLUB_PASSWORD/);
});

test('gate ask answers with the gold rows', async () => {
  const record = await home.ask([QUESTION, '--db', 'club'], { OPENAI_BASE_URL: model.baseUrl });
  expect(record).toMatchObject({ code: 0, status: 'answered' });
  expect([...record.rows].sort()).toEqual([
    ['Bern', 2],
    ['Rome', 1],
  ]);
});
