/** Which database it is: by where it lies and who reads it, never by its name, and without a secret. */
import Database from 'libsql';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config';
import { resolveDatabase, type ResolvedDatabase } from '../../../src/config/databases';

const folder = (): string => mkdtempSync(join(tmpdir(), 'gate-identity-'));

function shopAt(path: string, rows = 3): string {
  const database = new Database(path);
  database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)');
  for (let row = 0; row < rows; row += 1) database.exec(`INSERT INTO orders (note) VALUES ('order ${row}')`);
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

describe('the identity of a file', () => {
  test('one name in two folders is two databases', () => {
    const [one, two] = [folder(), folder()].map((cwd) => {
      shopAt(join(cwd, 'shop.sqlite'));
      return configured({ path: './shop.sqlite' }, {}, cwd);
    });
    expect(one?.name).toBe(two?.name);
    expect(one?.identity).not.toBe(two?.identity);
    expect(one?.addressLabel).toMatch(/shop\.sqlite$/);
  });

  test('two names of one file, and a link to it, are one database', () => {
    const path = shopAt(join(folder(), 'shop.sqlite'));
    const link = join(folder(), 'link.sqlite');
    symlinkSync(path, link);
    const { identity } = configured({ path });
    expect(identity).toMatch(/^d-[0-9a-f]{16}$/);
    expect([adHoc(path), adHoc(link), adHoc(`sqlite:${path}`)].map((one) => one.identity)).toEqual(
      Array(3).fill(identity),
    );
  });

  test('writes, a checkpoint of the write-ahead log and VACUUM leave it as it is', () => {
    const path = shopAt(join(folder(), 'shop.sqlite'), 2000);
    const before = adHoc(path).identity;
    const database = new Database(path);
    database.pragma('journal_mode = WAL');
    database.exec("INSERT INTO orders (note) VALUES ('late')");
    expect(adHoc(path).identity).toBe(before);
    database.pragma('wal_checkpoint(TRUNCATE)');
    expect(adHoc(path).identity).toBe(before);
    database.exec('DELETE FROM orders WHERE id > 10');
    database.exec('VACUUM');
    database.close();
    expect(adHoc(path).identity).toBe(before);
  });

  test('a file that was moved is another database', () => {
    const cwd = folder();
    const path = shopAt(join(cwd, 'shop.sqlite'));
    const before = adHoc(path).identity;
    mkdirSync(join(cwd, 'moved'));
    renameSync(path, join(cwd, 'moved', 'shop.sqlite'));
    expect(adHoc(join(cwd, 'moved', 'shop.sqlite')).identity).not.toBe(before);
  });

  test('a file that was put in place of it is the same database, and is opened anew', () => {
    const cwd = folder();
    const path = shopAt(join(cwd, 'shop.sqlite'));
    const before = adHoc(path);
    copyFileSync(path, join(cwd, 'new.sqlite'));
    renameSync(join(cwd, 'new.sqlite'), path);
    const after = adHoc(path);
    expect(after.identity).toBe(before.identity);
    expect(after.version).not.toBe(before.version);
  });

  test('a file that got the inode of the one before is told apart by its birth', () => {
    const path = shopAt(join(folder(), 'shop.sqlite'));
    const seen = new Set([adHoc(path).version]);
    for (let n = 2; n <= 6; n += 1) {
      unlinkSync(path);
      seen.add(adHoc(shopAt(path)).version);
      expect(seen.size).toBe(n);
    }
  });

  test('a second name of the same file is another database, since one of them can be replaced alone', () => {
    const path = shopAt(join(folder(), 'shop.sqlite'));
    const other = join(folder(), 'other.sqlite');
    linkSync(path, other);
    expect(adHoc(other).identity).not.toBe(adHoc(path).identity);
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
    expect(configured({ path: shopAt(join(folder(), 'x.sqlite')), id: 'shop-prod' }).identity).toBe('shop-prod');
    expect(byUrl('postgresql://u@h/d', { id: 'shop-prod' })).toMatchObject({
      identity: 'shop-prod',
      addressLabel: 'postgresql://u@h:5432/d',
    });
  });

  test.each(['', 'a b', '../x', '-a', 'x'.repeat(61), 'ä'])('%j is refused with what is allowed', (id) => {
    expect(() => configured({ path: 'x.sqlite', id })).toThrow(
      'databases.shop.id: use letters, digits, ., - and _, at most 60, a letter or digit first',
    );
  });
});
