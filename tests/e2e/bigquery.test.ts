/** The command on a server that speaks BigQuery's protocol, with the real library: rows, what is refused, what it would cost. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { AnswerRecord } from '../../src/domain';
import { startBigQuery, type Answering, type BigQueryServer } from '../helpers/bigquery-server';
import { readAsBigQuery } from '../helpers/bigquery-sql';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { ROOT } from '../helpers/shared-data';

const TEAM = {
  fields: [
    { name: 'id', type: 'INTEGER' },
    { name: 'city', type: 'STRING' },
  ],
  rows: [
    ['1', 'Rome'],
    ['2', 'Bern'],
  ],
};

let bigquery: BigQueryServer;
let home: GateHome;

beforeAll(async () => {
  bigquery = await startBigQuery({
    datasets: { 'own-project.club': { team: TEAM } },
    onQuery: (sql) => ({ ...TEAM, bytes: sql.includes('huge') ? 1e15 : 5e9, reads: ['own-project.club.team'] }),
  });
  home = gateHome({ baseUrl: 'http://127.0.0.1:9/v1' });
  writeFileSync(join(home.folder, 'key.json'), bigquery.key);
  const club = { url: bigquery.url('club'), bigquery: { keyFile: './key.json', usdPerTiB: 10 } };
  const keyless = { url: bigquery.url('club'), bigquery: { keyEnv: 'CLUB_KEY' } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases: { club, keyless } }));
});
afterAll(() => bigquery.close());

test('gate db sql tells what a statement scans and costs, then prints its rows', async () => {
  expect(await home.run(['db', 'sql', 'SELECT id, city FROM team', '--db', 'club'])).toEqual({
    code: 0,
    out: 'id,city\n1,Rome\n2,Bern\n',
    err: 'scans at most 5 GB, about $0.045\n',
  });
});

test('what would change something, or cost too much, is not run', async () => {
  const before = bigquery.ran().length;
  const changed = await home.run(['db', 'sql', 'DELETE FROM team WHERE TRUE', '--db', 'club']);
  expect(changed).toMatchObject({ code: 1, err: expect.stringContaining('DELETE is not allowed') as string });
  const dear = await home.run(['db', 'sql', "SELECT 'huge' FROM team", '--db', 'club']);
  expect(dear).toMatchObject({ code: 1, err: expect.stringContaining('would scan too much here: 1 PB') as string });
  expect(bigquery.ran()).toHaveLength(before);
});

test('the check and the description come from the login and the dataset', async () => {
  expect(await home.run(['db', 'check', 'club'])).toMatchObject({ code: 0, out: expect.stringContaining('can only read') as string }); // prettier-ignore
  expect((await home.run(['db', 'describe', 'club'])).out).toContain('city STRING');
});

test('a login that is not there is one line with the variable to set', async () => {
  const ended = await home.run(['db', 'sql', 'SELECT 1', '--db', 'keyless']);
  expect(ended.code).not.toBe(0);
  expect(ended.err).toMatch(/database 'keyless' cannot log in: set the variable CLUB_KEY/);
});

/** The columns and rows as DuckDB finds them, which takes a plain statement of BigQuery but for the quotes of names. */
async function answer(duckdb: DuckDBConnection, sql: string): Promise<Answering> {
  const result = await duckdb.runAndReadAll(sql.replaceAll('`', '"'));
  const types = result.columnTypes().map(String);
  return {
    fields: result.columnNames().map((name, at) => ({
      name,
      type: types[at] === 'BOOLEAN' ? 'BOOLEAN' : types[at] === 'VARCHAR' ? 'STRING' : 'INTEGER',
    })),
    rows: result.getRows().map((row) => row.map((value) => (value === null ? null : String(value)))),
    ...(/\bteam\b/.test(sql) && { reads: ['own-project.shop.team'], bytes: 1 }),
  };
}

describe('gate ask', () => {
  const QUESTION = 'How many teams are there per city?';
  const gold = {
    ...{ id: 'teams', engine: 'bigquery', database: 'shop', question: QUESTION, answerable: true },
    gold_sql: ['SELECT city, COUNT(*) AS teams FROM team GROUP BY city'],
  };
  let duckdb: DuckDBConnection;
  let shop: BigQueryServer;
  let url: string;
  let model: ChildProcessByStdio<null, Readable, null>;
  let baseUrl: string;

  beforeAll(async () => {
    duckdb = await (await DuckDBInstance.create()).connect();
    await duckdb.run("CREATE TABLE team AS FROM (VALUES (1, 'Rome'), (2, 'Bern'), (3, 'Bern')) AS t(id, city)");
    shop = await startBigQuery({
      datasets: { 'own-project.shop': { team: { ...TEAM, rows: [...TEAM.rows, ['3', 'Bern']] } } },
      onQuery: (sql) => answer(duckdb, sql),
    });
    const keyFile = join(home.folder, 'shop.json');
    writeFileSync(keyFile, shop.key);
    url = shop.url('shop', { keyFile });
    const settings = { questions: [gold], databases: [`shop=${url}`], rates: { doubt: 1 } };
    // A process, since Jest's modules cannot import the library's fetch.
    const program = [join(ROOT, 'dist', 'simulated-model', 'main.js'), JSON.stringify(settings)];
    model = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface({ input: model.stdout }), 'line')) as [string];
    ({ baseUrl } = JSON.parse(line) as { readonly baseUrl: string });
  });
  afterAll(async () => {
    model.kill();
    await shop.close();
    duckdb.closeSync();
  });

  test.each(['fast', 'thorough', 'paper', 'reforce'])(
    '%s: the gold rows, by statements that BigQuery can read',
    async (method) => {
      const own = gateHome({ baseUrl });
      const [before, begun] = [shop.ran().length, shop.queries.length];
      const asked = ['ask', QUESTION, '--db', url, '--method', method, '--json'];
      const { code, out } = await own.run(asked);
      expect(code).toBe(0);
      const record = JSON.parse(out) as AnswerRecord;
      expect(record).toMatchObject({ status: 'answered' });
      expect([...record.rows].sort()).toEqual([
        ['Bern', 2],
        ['Rome', 1],
      ]);
      const ran = shop.ran().slice(before);
      expect(ran.length).toBeGreaterThan(3);
      for (const sql of ran) expect(() => readAsBigQuery(sql)).not.toThrow();
      // The simulated model reads the gold rows by itself.
      const jobs = shop.queries.slice(begun).filter(({ dryRun, sql, configuration: { labels } }) => !dryRun && sql.includes('team') && !JSON.stringify(labels).includes('simulated')); // prettier-ignore
      const sqlBytes = jobs.length * 10 * 1024 ** 2;
      expect(record.usage).toMatchObject({
        sqlBytes,
        sqlUsd: expect.closeTo((sqlBytes / 1024 ** 4) * 6.25, 8) as number,
      });
    },
  );

  test('a question ends at its limit of bytes, and says so', async () => {
    const asked = ['ask', QUESTION, '--db', url, '--method', 'thorough', '--max', 'sql-gb=0.02'];
    const own = gateHome({ baseUrl });
    const { out, err } = await own.run(asked);
    expect(out).toMatch(/its limit on bytes billed by the database was reached/);
    expect(out).toMatch(/\d SQL statements \([\d.]+ MB billed, about \$0\.\d+\) in /);
    const id = /q-[0-9a-f]{16}/.exec(out + err)?.[0] ?? '';
    expect((await own.run(['show', id, '--trace'])).out).toMatch(/SQL statements \([\d.]+ MB billed, about \$0\.\d+\)/);
  });
});
