/** A process that has a database open, and the file that takes its place. */
import Database from 'libsql';
import { mkdtempSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type Config } from '../../../src/config';
import { resolveDatabase } from '../../../src/config/databases';
import { openEngines, type Engines } from '../../../src/workers/engines';
import { options, rowsOf, runOne } from '../../helpers/engine';

const cwd = mkdtempSync(join(tmpdir(), 'gate-replaced-'));
const file = join(cwd, 'shop.sqlite');
const make = (path: string, rows: number): void => {
  const database = new Database(path);
  database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY)');
  for (let row = 1; row <= rows; row += 1) database.exec(`INSERT INTO orders VALUES (${row})`);
  database.close();
};
const configOf = (entry: object): Config => {
  writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify({ databases: { shop: { path: file, ...entry } } }));
  return loadConfig({ cwd, env: { HOME: cwd } });
};
const replace = (rows: number): void => {
  make(`${file}.new`, rows);
  renameSync(`${file}.new`, file);
};

async function count(engines: Engines, identity?: string, name = 'shop'): Promise<unknown> {
  const { engine } = await engines.engine(name, identity);
  return rowsOf(await runOne(engine, 'SELECT count(*) FROM orders'))[0]?.[0];
}

make(file, 1);

test.each([
  ['a configured one', {}],
  ['one with an id', { id: 'shop' }],
])('whoever asks next reads the file that is there now: %s', async (_what, entry) => {
  replace(1);
  const engines = openEngines(configOf(entry));
  expect(await count(engines)).toBe(1);
  const [{ engine: first }, { engine: again }] = [await engines.engine('shop'), await engines.engine('shop')];
  expect(again).toBe(first);
  replace(2);
  expect(await count(engines)).toBe(2);
  await engines.close();
});

test('an ad-hoc one, too; and one that is gone is said by its engine', async () => {
  replace(3);
  const config = configOf({});
  const database = resolveDatabase(config, file, cwd);
  const engines = openEngines(config, [database]);
  expect(await count(engines, database.identity, database.name)).toBe(3);
  replace(4);
  expect(await count(engines, database.identity, database.name)).toBe(4);
  unlinkSync(file);
  const { engine } = await engines.engine(database.name);
  await expect(engine.describe({ signal: options().signal })).rejects.toThrow(/there is no file/);
  await engines.close();
  make(file, 1);
});

test('a search goes on with the database that it was asked of, or fails at once', async () => {
  const config = configOf({});
  const engines = openEngines(config);
  const { identity } = resolveDatabase(config, 'shop', cwd);
  expect(await count(engines, identity)).toBe(1);
  const refused = engines.engine('shop', 'd-0000000000000000');
  await expect(refused).rejects.toMatchObject({
    code: 'not-configured',
    message: `'shop' is another database here (${file}) than the one that was asked: check its address, or its "id" in the configuration`,
  });
  await engines.close();
});
