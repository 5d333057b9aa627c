import Database from 'libsql';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config';
import { noteSeen } from '../../../src/cli/seen-databases';
import { openServices } from '../../../src/cli/services';
import { resolveDatabase } from '../../../src/config/databases';
import { openEngines } from '../../../src/workers/engines';
import { testProcess } from './test-io';

function shop() {
  const at = testProcess();
  const file = join(at.home, 'shop.sqlite');
  const make = (path: string, columns = 'id INTEGER PRIMARY KEY, total REAL'): void => {
    const database = new Database(path);
    database.exec(`CREATE TABLE orders (${columns})`);
    database.close();
  };
  const configure = (path: string, entry: object = {}): void =>
    writeFileSync(join(at.home, 'gate.config.json'), JSON.stringify({ databases: { shop: { path, ...entry } } }));
  make(file);
  configure(file);
  const resolved = () => resolveDatabase(loadConfig(at.io), 'shop', at.home);
  /** As `gate ask` does. */
  const asked = async (): Promise<string> => {
    const engines = openEngines(loadConfig(at.io));
    const { engine } = await engines.engine('shop');
    const { fingerprint } = await engine.describe({ signal: AbortSignal.timeout(20_000) });
    await engines.close();
    await noteSeen(openServices(at.io).store, resolved(), fingerprint, at.io.now());
    return resolved().identity;
  };
  const move = (to = join(at.home, 'moved.sqlite'), entry: object = {}): string => {
    renameSync(resolved().addressLabel, to);
    configure(to, entry);
    return to;
  };
  return { ...at, file, make, configure, asked, move, resolved };
}

test('a moved database stands for the one that was asked before', async () => {
  const { gate, file, asked, move, resolved } = shop();
  const before = await asked();
  const to = move();
  expect(await gate('db', 'adopt', 'shop', '--json')).toMatchObject({ code: 0, err: '' });
  const again = await gate('db', 'adopt', 'shop');
  expect(again).toMatchObject({ code: 1, out: '' });
  expect(again.err).toContain(`nothing to adopt: 'shop' (${to}) was adopted already`);
  const onward = move(`${to}.2`);
  const { code, out } = await gate('db', 'adopt', 'shop', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    database: 'shop',
    identity: resolved().identity,
    address: onward,
    sameTables: true,
  });
  const third = move(`${file}.3`);
  expect((await gate('db', 'adopt', 'shop')).out).toBe(
    `adopted: 'shop' was ${onward} and is now ${third}; its earlier questions and answers are found again\n`,
  );
  expect(before).not.toBe(resolved().identity);
});

test('what cannot be adopted is one line that says why', async () => {
  const { gate, asked, home, make, move } = shop();
  expect((await gate('db', 'adopt', 'shop')).err).toMatch(/nothing to adopt: 'shop' was never asked in \//);
  await asked();
  expect((await gate('db', 'adopt', 'shop')).err).toMatch(/nothing to adopt: 'shop' \(.*\) is the database that was/);
  const unknown = await gate('db', 'adopt', 'stock');
  expect(unknown.code).toBe(2);
  expect(unknown.err).toContain("'stock' is neither a configured database (configured: shop)");
  rmSync(move());
  make(join(home, 'moved.sqlite'), 'id INTEGER PRIMARY KEY, sum REAL');
  const refused = await gate('db', 'adopt', 'shop');
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toMatch(
    /'shop' was .*shop\.sqlite and is now .*moved\.sqlite, and its tables are not those of 2026/,
  );
  expect(refused.err).toContain('give --force');
  const forced = await gate('db', 'adopt', 'shop', '--force', '--json');
  expect(JSON.parse(forced.out)).toMatchObject({ sameTables: false });
});

test('a database that stands for one cannot stand for another', async () => {
  const { gate, asked, move, configure, make, home } = shop();
  await asked();
  const moved = move();
  expect((await gate('db', 'adopt', 'shop')).code).toBe(0);
  make(join(home, 'other.sqlite'));
  configure(join(home, 'other.sqlite'));
  await asked();
  configure(moved);
  expect((await gate('db', 'adopt', 'shop')).err).toMatch(/adopted already as another database \(d-.*only/);
});

test('an id is given by db add, takes over from the address by db adopt, and is shown by list and check', async () => {
  const { gate, asked, home, file } = shop();
  await asked();
  expect((await gate('db', 'add', 'shop', '--path', 'shop.sqlite', '--id', 'a b', '--replace')).code).toBe(2);
  expect((await gate('db', 'add', 'shop', '--path', 'shop.sqlite', '--id', 'shop-prod', '--replace')).code).toBe(0);
  expect(readFileSync(join(home, 'gate.config.json'), 'utf8')).toContain('"id": "shop-prod"');
  const adopted = await gate('db', 'adopt', 'shop');
  expect(adopted.out).toContain(`'shop' (${file}) has the id shop-prod now`);
  expect((await gate('db', 'list')).out).toMatch(/shop\s+sqlite\s+\S+\s+shop-prod\s+everyth/);
  expect(JSON.parse((await gate('db', 'check', 'shop', '--json')).out)).toMatchObject({
    id: 'shop-prod',
    identity: 'shop-prod',
  });
  expect(JSON.parse((await gate('db', 'describe', 'shop', '--json')).out)).toMatchObject({
    identity: 'shop-prod',
    address: file,
  });
});

test('the store keeps one small file for a name and one for what was adopted', async () => {
  const { gate, asked, move, resolved, io } = shop();
  await asked();
  move();
  await gate('db', 'adopt', 'shop');
  const { store } = openServices(io);
  expect(await store.list('databases/')).toEqual([
    `databases/aliases/${resolved().identity}.json`,
    'databases/names/shop.json',
  ]);
  expect(existsSync(resolved().addressLabel)).toBe(true);
});
