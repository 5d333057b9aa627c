/** The command on a server that speaks BigQuery's protocol, with the real library: rows, what is refused, what it would cost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBigQuery, type BigQueryServer } from '../helpers/bigquery-server';
import { gateHome, type GateHome } from '../helpers/gate-process';

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
