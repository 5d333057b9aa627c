import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config';
import { namedDatabase, resolveDatabase } from '../../../src/config/databases';

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

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}

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
    ['notes.txt', 'is not an SQLite database'],
    ['.', 'is a folder'],
    ['mysql://h/d', 'mysql:// is not supported'],
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
    const text = messageOf(() => resolveDatabase(config, spec, cwd));
    expect(text).toMatch(/^database: /);
    expect(text).not.toMatch(/hun|ter2/);
  });

  test('the URL of a configured database is looked at, too, and not shown', () => {
    const text = messageOf(() => resolveDatabase(config, 'unescaped', cwd));
    expect(text).toMatch(/^database: database 'unescaped': its URL cannot be read; .*%2F for \//);
    expect(text).not.toMatch(/hunter2/);
  });

  test('a worker that lacks a database names the ones it has', () => {
    expect(() => namedDatabase(config, 'hr')).toThrow(
      "database 'hr' is not configured here; configured: shop, main, other, unescaped",
    );
  });
});

describe('a ceiling that the engine cannot keep is said', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-ceilings-'));
  const load = (entry: object) => {
    writeFileSync(join(folder, 'gate.config.json'), JSON.stringify({ databases: { d: entry } }));
    return () => loadConfig({ cwd: folder, env: { HOME: folder } });
  };

  test.each([
    [{ path: 'x.sqlite', maxPlanCost: 1 }, 'databases.d.maxPlanCost: only PostgreSQL has it; leave it out'],
    [{ url: 'snowflake://a/b', maxPlanCost: 1 }, 'databases.d.maxPlanCost: only PostgreSQL has it; set maxScanBytes'],
    [{ url: 'postgresql://h/d', maxScanBytes: 1 }, 'databases.d.maxScanBytes: only Snowflake has it; set maxPlanCost'],
  ])('%j', (entry, line) => expect(load(entry)).toThrow(line));

  test.each([
    { url: 'postgres://h/d', maxPlanCost: 1 },
    { urlEnv: 'LATER', maxScanBytes: 1 },
  ])('not of %j', (entry) => {
    expect(load(entry)).not.toThrow();
  });
});
