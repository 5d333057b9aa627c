/** From `--db` to a database; which one it is: by where it lies and who reads it, never by its name, and without a secret. */
import Database from 'libsql';
import { copyFileSync, linkSync, mkdtempSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config';
import { namedDatabase, resolveDatabase, type ResolvedDatabase } from '../../../src/config/databases';

const folder = (): string => mkdtempSync(join(tmpdir(), 'gate-identity-'));

function shopAt(path: string, rows = 3): string {
  const database = new Database(path);
  database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)');
  database.exec(`INSERT INTO orders (note) VALUES ${Array(rows).fill("('an order')").join(', ')}`);
  database.close();
  return path;
}

function configured(entry: object, env: Record<string, string> = {}, cwd = folder()): ResolvedDatabase {
  writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify({ databases: { shop: entry } }));
  return resolveDatabase(loadConfig({ cwd, env: { HOME: cwd, ...env } }), 'shop', cwd);
}

const byUrl = (url: string, entry: object = {}): ResolvedDatabase =>
  configured({ urlEnv: 'SHOP_URL', ...entry }, { SHOP_URL: url });

const adHoc = (spec: string): ResolvedDatabase => {
  const cwd = folder();
  return resolveDatabase(loadConfig({ cwd, env: { HOME: cwd } }), spec, cwd);
};

describe('the identity of a file is its real path', () => {
  const identityOf = (path: string): string => adHoc(path).identity;

  test('a name, a link and a URL lead to one database; another folder, a second hard link and a move to another', () => {
    const cwd = folder();
    const path = shopAt(join(cwd, 'shop.sqlite'));
    const [link, hard, moved] = ['link.sqlite', 'hard.sqlite', 'moved.sqlite'].map((name) => join(cwd, name));
    symlinkSync(path, link!);
    const named = configured({ path: './shop.sqlite' }, {}, cwd);
    expect(named).toMatchObject({ identity: expect.stringMatching(/^d-[0-9a-f]{16}$/) as string, addressLabel: path });
    for (const same of [path, link!, `sqlite:${path}`]) expect(identityOf(same)).toBe(named.identity);
    linkSync(path, hard!);
    const others = [identityOf(hard!), identityOf(shopAt(join(folder(), 'shop.sqlite')))];
    renameSync(path, moved!);
    expect(new Set([named.identity, ...others, identityOf(moved!)]).size).toBe(4);
  });

  test('writes, a checkpoint of the write-ahead log and VACUUM leave it as it is', () => {
    const path = shopAt(join(folder(), 'shop.sqlite'), 200);
    const before = identityOf(path);
    const database = new Database(path);
    const writes = ["INSERT INTO orders (note) VALUES ('late')", 'DELETE FROM orders WHERE id > 10', 'VACUUM'];
    database.pragma('journal_mode = WAL');
    for (const sql of writes) {
      database.exec(sql);
      expect(identityOf(path)).toBe(before);
      database.pragma('wal_checkpoint(TRUNCATE)');
      expect(identityOf(path)).toBe(before);
    }
    database.close();
  });

  test('a file that takes its place is the same database, and is opened anew, also if it got the inode of the one before', () => {
    const path = shopAt(join(folder(), 'shop.sqlite'));
    const { identity, version } = adHoc(path);
    const seen = new Set([version]);
    copyFileSync(path, `${path}.new`);
    renameSync(`${path}.new`, path);
    seen.add(adHoc(path).version);
    for (let n = 3; n <= 7; n += 1) {
      unlinkSync(path);
      seen.add(adHoc(shopAt(path)).version);
      expect([seen.size, identityOf(path)]).toEqual([n, identity]);
    }
  });
});

describe('the identity of a database on a server', () => {
  const { identity, addressLabel } = byUrl('postgresql://reader:one@Host.example/sales');

  test.each([
    ['another password', 'postgresql://reader:two@host.example/sales'],
    ['the default port and other letters', 'postgres://reader:one@HOST.EXAMPLE:5432/sales'],
    ['TLS with a key and its passphrase', 'postgresql://reader@host.example/sales?sslmode=require&sslpassword=two'],
    ['host and login as parameters', 'postgresql:///sales?host=host.example&user=reader'],
    ['an escaped name', 'postgresql://reader@host.example/%73ales'],
  ])('%s is the same one', (_what, url) => {
    expect(byUrl(url).identity).toBe(identity);
    expect(adHoc(url).identity).toBe(identity);
  });

  test.each([
    ['another host', 'postgresql://reader@other.example/sales', {}],
    ['another port', 'postgresql://reader@host.example:5433/sales', {}],
    ['another database', 'postgresql://reader@host.example/Sales', {}],
    ['another login, whose policies and grants may show other rows', 'postgresql://admin@host.example/sales', {}],
    ['another role', 'postgresql://reader@host.example/sales', { role: 'auditor' }],
    ['another search path', 'postgresql://reader@host.example/sales', { schemas: ['tenant_a'] }],
    ['a search path in the URL', 'postgresql://reader@host.example/sales?options=-csearch_path%3Dtenant_a', {}],
  ])('%s is another one', (_what, url, entry) => {
    expect(byUrl(url, entry).identity).not.toBe(identity);
  });

  test('under a role the login does not matter, and without one `none` is the login', () => {
    const role = { role: 'reader' };
    expect(byUrl('postgresql://v-token-1@host.example/sales', role).identity).toBe(identity);
    expect(byUrl('postgresql://reader@host.example/sales', { role: 'none' }).identity).toBe(identity);
  });

  test('the label names host, port, database, reader and search path, and no secret', () => {
    expect(addressLabel).toBe('postgresql://reader@host.example:5432/sales');
    const secret = byUrl('postgresql://u:hunter2@h/d?sslpassword=hunter2&password=hunter2', { schemas: ['a', 'b'] });
    expect(secret.addressLabel).toBe('postgresql://u@h:5432/d (a, b)');
    expect(secret.identity).toBe(byUrl('postgresql://u@h/d', { schemas: ['a', 'b'] }).identity);
    expect(byUrl('postgresql:///d?host=/var/run/PG&user=u').addressLabel).toBe('postgresql://u@/var/run/PG:5432/d');
  });

  test('Snowflake: account, database, schema and role; not the way there, the warehouse or the login under a role', () => {
    const one = byUrl('snowflake://ann:hunter2@org-acc/SALES/PUBLIC?warehouse=W&role=READER');
    expect(one.addressLabel).toBe('snowflake://READER@org-acc/SALES/PUBLIC');
    const same = byUrl(
      'snowflake://bob:pw@ORG-ACC.snowflakecomputing.com/SALES/PUBLIC?warehouse=X&accessUrl=https%3A%2F%2Fp.example',
      { role: 'READER' },
    );
    expect(same.identity).toBe(one.identity);
    for (const other of ['acc2/SALES/PUBLIC?role=READER', 'org-acc/SALES?role=READER', 'org-acc/SALES/PUBLIC?role=B'])
      expect(byUrl(`snowflake://ann:pw@${other}`).identity).not.toBe(one.identity);
    expect(byUrl('snowflake://ann:pw@org-acc/SALES/READER').identity).not.toBe(
      byUrl('snowflake://READER:pw@org-acc/SALES').identity,
    );
  });
});

describe('`id` of the configuration', () => {
  test('is the identity, wherever the database is and whichever file it is', () => {
    const path = shopAt(join(folder(), 'shop.sqlite'));
    expect(configured({ path, id: 'shop-prod' }).identity).toBe('shop-prod');
    const server = { identity: 'shop-prod', addressLabel: 'postgresql://u@h:5432/d' };
    expect(byUrl('postgresql://u@h/d', { id: 'shop-prod' })).toMatchObject(server);
  });

  test.each(['', 'a b', '../x', '-a', 'x'.repeat(61), 'ä'])('%j is refused with what is allowed', (id) => {
    expect(() => configured({ path: 'x.sqlite', id })).toThrow(
      'databases.shop.id: use letters, digits, ., - and _, at most 60, a letter or digit first',
    );
  });
});

const cwd = mkdtempSync(join(tmpdir(), 'gate-databases-'));
writeFileSync(join(cwd, 'shop.sqlite'), 'SQLite format 3\0');
writeFileSync(join(cwd, 'empty.db'), '');
writeFileSync(join(cwd, 'notes.txt'), 'these are only notes');
writeFileSync(
  join(cwd, 'gate.config.json'),
  JSON.stringify({
    databases: {
      shop: { path: 'shop.sqlite', access: { deny: ['users.email'] } },
      main: { urlEnv: 'MAIN_URL', role: 'reader' },
      other: { urlEnv: 'OTHER_URL' },
      unescaped: { urlEnv: 'UNESCAPED_URL' },
    },
  }),
);
const config = loadConfig({
  cwd,
  env: { HOME: cwd, MAIN_URL: 'postgresql://u:pw@h/main', UNESCAPED_URL: 'postgresql://u:1/hunter2@h/d' },
});

describe('resolveDatabase', () => {
  test('a configured name brings its access list and role', () => {
    expect(resolveDatabase(config, 'shop', cwd)).toMatchObject({
      name: 'shop',
      dialect: 'sqlite',
      adHoc: false,
      access: { allow: [], deny: ['users.email'] },
    });
    expect(resolveDatabase(config, 'main', cwd)).toMatchObject({ dialect: 'postgresql', role: 'reader', adHoc: false });
  });

  test('a path, a file URL and an sqlite URL of one file get one generated name', () => {
    const names = [
      'shop.sqlite',
      './shop.sqlite',
      `sqlite:${join(cwd, 'shop.sqlite')}`,
      `file://${join(cwd, 'shop.sqlite')}`,
    ].map((spec) => resolveDatabase(config, spec, cwd).name);
    expect(new Set(names).size).toBe(1);
    expect(names[0]).toMatch(/^shop-[0-9a-f]{8}$/);
  });

  test('the generated name of a URL does not depend on its password and holds none', () => {
    const one = resolveDatabase(config, 'postgres://u:hunter2@h:5432/sales', cwd);
    const two = resolveDatabase(config, 'postgres://u:other@h:5432/sales', cwd);
    expect(one.name).toBe(two.name);
    expect(one.name).toMatch(/^sales-[0-9a-f]{8}$/);
    expect(JSON.stringify(one)).not.toContain('hunter2');
  });

  test('an empty file is a database without tables', () => {
    expect(resolveDatabase(config, 'empty.db', cwd).dialect).toBe('sqlite');
  });

  test.each([
    ['nothing', "'nothing' is neither a configured database (configured: shop, main, other, unescaped) nor a file"],
    ['missing.sqlite', `no file ${join(cwd, 'missing.sqlite')}`],
    ['notes.txt', 'is neither an SQLite nor a DuckDB database'],
    ['.', 'is a folder'],
    ['oracle://h/d', 'oracle:// is not supported'],
    ['postgres://h', 'names no database'],
    ['other', 'set the variable OTHER_URL'],
    ['', '--db is empty'],
    ['constructor', "'constructor' is neither a configured database"],
    ['__proto__', "'__proto__' is neither a configured database"],
    ['shop.sqlite/x', 'no file'],
    ['/dev/null', 'is not a regular file'],
    ['sqlite:%zz', 'write % as %25'],
    ['file:///%2fx', 'cannot be read; give the plain path'],
    ['file://host/x', 'cannot be read; give the plain path'],
    ['postgres://h/%zz', 'a % that does not encode a character'],
    ['postgres://%zz@h/d', 'a % that does not encode a character'],
  ])('%s is refused with what to change', (spec, line) => {
    expect(() => resolveDatabase(config, spec, cwd)).toThrow(line);
  });

  test.each([
    'postgresql://u:p@hunter2/x@h/d',
    'postgresql://u:1234/hunter2@h/d',
    'postgresql://u:hun#ter2@h/d',
    'postgresql://u:p@h/d#hunter2',
    'postgresql:/u:hunter2@h/d',
    'postgres:u:hunter2@h/d',
    'u:hunter2@h/d',
    'u:hunter2@h',
    'snowflake:u:hunter2@h',
  ])('%s is refused without a part of the password', (spec) => {
    expect(() => resolveDatabase(config, spec, cwd)).toThrow(/^database: (?!.*(hun|ter2))/);
  });

  test('the URL of a configured database is looked at, too, and not shown', () => {
    const line = /^(?!.*hunter2)database: database 'unescaped': its URL cannot be read; .*%2F for \//;
    expect(() => resolveDatabase(config, 'unescaped', cwd)).toThrow(line);
  });

  test('a worker that lacks a database names the ones it has', () => {
    expect(() => namedDatabase(config, 'hr')).toThrow(
      "database 'hr' is not configured here; configured: shop, main, other, unescaped",
    );
  });
});

describe('a setting that the engine does not have', () => {
  test.each([
    [{ path: 'x.sqlite', maxPlanCost: 1 }, 'databases.shop.maxPlanCost: only PostgreSQL has it; leave it out'],
    [{ url: 'snowflake://a/b', maxPlanCost: 1 }, 'shop.maxPlanCost: only PostgreSQL has it; set maxScanBytes'],
    [
      { url: 'postgresql://h/d', maxScanBytes: 1 },
      'shop.maxScanBytes: only Snowflake and BigQuery have it; set maxPlanCost',
    ],
    [{ path: 'x.sqlite', role: 'reader' }, 'shop.role: only PostgreSQL and Snowflake have it; leave it out'],
    [{ url: 'mysql://u@h/d', role: 'reader' }, 'shop.role: only PostgreSQL and Snowflake have it; leave it out'],
    [{ path: './orders/', schemas: ['main'] }, 'shop.schemas: only a database of a server has it; leave it out'],
  ])('%j is said', (entry, line) => expect(() => configured(entry)).toThrow(line));

  test('is not said where the engine keeps it, or is not known yet', () => {
    expect(configured({ url: 'postgres://h/d', maxPlanCost: 1 }).maxPlanCost).toBe(1);
    expect(() => configured({ urlEnv: 'LATER', maxScanBytes: 1 })).toThrow('set the variable LATER');
  });
});
