import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { readDocumentation } from '../../../src/app/documentation';
import { sharedMariaDb } from '../../helpers/mariadb';
import { testProcess } from './test-io';

function shop(env: Record<string, string> = {}) {
  const here = testProcess(env);
  const database = new Database(join(here.home, 'shop.sqlite'));
  database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL); INSERT INTO orders VALUES (1, 9.5), (2, 3)');
  database.close();
  const file = join(here.home, 'gate.config.json');
  const config = () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  return { ...here, file, config };
}

describe('gate db add', () => {
  test('begins a configuration file, with a path relative to it', async () => {
    const { gate, config } = shop();
    expect(await gate('db', 'add', 'shop', '--path', './shop.sqlite', '--deny', 'orders.total, audit_*')).toMatchObject(
      {
        code: 0,
        out: expect.stringMatching(/^added shop in .*gate\.config\.json\n$/) as string,
      },
    );
    expect(config()).toEqual({
      databases: { shop: { path: './shop.sqlite', access: { deny: ['orders.total', 'audit_*'] } } },
    });
  });

  test('keeps everything else in the file, its indentation and its mode, and leaves no other file behind', async () => {
    const { gate, file, config, home } = shop();
    const before = { method: 'paper', databases: { other: { urlEnv: 'X', role: 'r' } }, prices: {} };
    writeFileSync(file, JSON.stringify(before, null, 4));
    chmodSync(file, 0o600);
    await gate(
      'db',
      'add',
      'sales',
      '--url-env',
      'SALES_URL',
      '--role',
      'reader',
      '--schemas',
      'a,b',
      '--max-plan-cost',
      '1e6',
      '--max-scan-bytes',
      '1e11',
    );
    expect(config()).toEqual({
      ...before,
      databases: {
        ...before.databases,
        sales: { urlEnv: 'SALES_URL', role: 'reader', schemas: ['a', 'b'], maxPlanCost: 1e6, maxScanBytes: 1e11 },
      },
    });
    expect(readFileSync(file, 'utf8')).toContain('\n    "databases"');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(home).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  test.each<[string, string[], RegExp]>([
    ['a password', ['--url', 'postgres://u:hunter2@h/d'], /^gate: databases\.x\.url: holds a password/],
    ['a password parameter', ['--url', 'postgres://u@h/d?password=hunter2'], /url: holds a password/],
    ['a URL in place of a variable', ['--url-env', 'postgres://u:hunter2@h/d'], /do not give the URL/],
    ['a URL in place of a file', ['--url-file', 'postgres://u:hunter2@h/d'], /do not give the URL/],
    ['no address', [], /exactly one of url, urlEnv, urlFile, path \(set: none\)/],
    ['two addresses', ['--path', 'shop.sqlite', '--url-env', 'X'], /exactly one of .* \(set: urlEnv, path\)/],
    ['a missing file', ['--path', 'no.sqlite'], /no such file/],
  ])('%s is refused in one line, and nothing is written', async (_, flags, line) => {
    const { gate, file } = shop();
    const { code, err } = await gate('db', 'add', 'x', ...flags);
    expect(code).toBe(2);
    expect(err).toMatch(line);
    expect(err).not.toContain('hunter2');
    expect(err.trimEnd()).not.toContain('\n');
    expect(existsSync(file)).toBe(false);
  });

  test('a name that is taken needs --replace, and a broken file is left alone', async () => {
    const { gate, file, config } = shop();
    await gate('db', 'add', 'shop', '--path', 'shop.sqlite');
    expect((await gate('db', 'add', 'shop', '--url-env', 'X')).err).toMatch(/configured already .* --replace/);
    expect((await gate('db', 'add', 'shop', '--url-env', 'X', '--replace')).out).toMatch(/^replaced shop/);
    expect(config()).toEqual({ databases: { shop: { urlEnv: 'X' } } });
    writeFileSync(file, '{ "databases": ');
    expect(await gate('db', 'add', 'y', '--path', 'shop.sqlite')).toMatchObject({ code: 2 });
    expect(readFileSync(file, 'utf8')).toBe('{ "databases": ');
  });
});

test('gate db list shows engine, address and access, and no secret', async () => {
  const { gate, file } = shop({ SALES_URL: 'postgres://reader:hunter2@db.example:5433/sales?sslpassword=hunter2' });
  const databases = {
    sales: { urlEnv: 'SALES_URL', role: 'reader', access: { deny: ['staff.pay'] } },
    later: { urlEnv: 'LATER_URL' },
  };
  writeFileSync(file, JSON.stringify({ databases }));
  const { code, out } = await gate('db', 'list');
  expect(code).toBe(0);
  expect(out).toMatch(
    /sales {2}postgresql {2}postgresql:\/\/reader@db\.example:5433\/sales {2,}role reader; not staff\.pay/,
  );
  const json = (await gate('db', 'list', '--json')).out;
  expect(json).toMatch(
    /"later",\s+"engine": "\?",\s+"address": "database: database 'later' has no address: set the variable LATER_URL"/,
  );
  expect(out + json).not.toContain('hunter2');
});

describe('gate db check', () => {
  test('a file is proved read-only by writes that SQLite refuses', async () => {
    const { gate, home } = shop();
    const before = readFileSync(join(home, 'shop.sqlite'));
    const { code, out } = await gate('db', 'check', './shop.sqlite', '--json');
    expect(code).toBe(0);
    const report = JSON.parse(out) as { readOnly: boolean; tables: number; rowEstimate: number; check: { attempts: { outcome: string }[] } }; // prettier-ignore
    expect(report).toMatchObject({ readOnly: true, tables: 1, rowEstimate: 2, problems: [] });
    expect(report.check.attempts).toHaveLength(6);
    expect(new Set(report.check.attempts.map(({ outcome }) => outcome))).toEqual(new Set(['refused']));
    expect(readFileSync(join(home, 'shop.sqlite')).equals(before)).toBe(true);
    expect((await gate('db', 'check', './shop.sqlite')).out).toMatch(/6 writes attempted, all refused by the database/);
  });

  test('an access pattern that matches nothing is told, here and by gate doctor, and fails nothing', async () => {
    const { gate } = shop();
    await gate(
      'db',
      'add',
      'shop',
      '--path',
      './shop.sqlite',
      '--deny',
      'orders.totl,*.ID',
      '--allow',
      'main.order*,t',
    );
    const notes = ['t', 'orders.totl'].map(
      (text) => `the access pattern "${text}" matches no table and no column: correct it, unless one is to come`,
    );
    const { code, out } = await gate('db', 'check', 'shop', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ readOnly: true, tables: 1, problems: [], notes });
    expect((await gate('db', 'check', 'shop')).out.match(/^note .*$/gm)).toEqual(
      notes.map((text) => `note     ${text}`),
    );
    const findings = JSON.parse((await gate('doctor', '--json')).out) as { what: string }[];
    expect(findings.filter(({ what }) => what === 'database shop')).toMatchObject([
      { state: 'ok' },
      ...notes.map((detail) => ({ state: 'note', detail })),
    ]);
  });

  test('what cannot be opened, or shows nothing, ends with 1 and the fix', async () => {
    const { gate, home } = shop();
    writeFileSync(join(home, 'empty.sqlite'), '');
    expect(await gate('db', 'check', './empty.sqlite')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/missing {2}no table is visible: check the path/) as string,
    });
    const nobody = await gate('db', 'check', 'postgres://u:hunter2@127.0.0.1:1/d');
    expect(nobody).toMatchObject({ code: 1 });
    expect(nobody.out).toMatch(/missing {2}nothing answers at 127\.0\.0\.1:1/);
    expect(nobody.out + nobody.err).not.toContain('hunter2');
    expect((await gate('db', 'check', './no.sqlite')).code).toBe(2);
  });

  test('on MySQL a login that is refused runs nothing, and one that sees no table is told the grant', async () => {
    const server = await sharedMariaDb();
    await server.createDatabase('cli_check');
    await server.createUser('cli_check', 'hunter2', 'SELECT, INSERT ON cli_check.*');
    const { gate } = testProcess({ SHOP: server.url('cli_check', { user: 'cli_check', password: 'hunter2' }) });
    await gate('db', 'add', 'shop', '--url-env', 'SHOP');
    const refused = await gate('db', 'check', 'shop');
    expect(refused).toMatchObject({ code: 1, out: expect.stringMatching(/note .* has INSERT on `cli_check`\.\*\n/) as string }); // prettier-ignore
    await server.query("REVOKE INSERT ON cli_check.* FROM 'cli_check'@'%'");
    const empty = await gate('db', 'check', 'shop');
    expect(empty).toMatchObject({ code: 1, out: expect.stringContaining('GRANT SELECT, SHOW VIEW ON') as string });
  });
});

test('gate doctor attempts the same writes', async () => {
  const { gate } = shop();
  const { out } = await gate('doctor', '--db', './shop.sqlite', '--json');
  const findings = JSON.parse(out) as { what: string; state: string; detail: string }[];
  expect(findings.find(({ what }) => what === 'database given by --db')).toMatchObject({
    state: 'ok',
    detail: expect.stringMatching(/^SQLite .*, 1 table, writes are refused$/) as string,
  });
  await gate('db', 'add', 'shop', '--path', './shop.sqlite');
  const named = JSON.parse((await gate('doctor', '--db', 'shop', '--json')).out) as { what: string }[];
  expect(named.filter(({ what }) => what.startsWith('database'))).toMatchObject([{ what: 'database shop' }]);
});

describe('gate db describe', () => {
  test('prints the schema as a model sees it, with its size', async () => {
    const { gate } = shop();
    const { code, out, err } = await gate('db', 'describe', './shop.sqlite');
    expect(code).toBe(0);
    expect(out).toContain('TABLE orders ( -- 2 rows\n  id integer PRIMARY KEY\n  total real\n  row: 1 | 9.5');
    expect(err).toMatch(/^\/\S+shop\.sqlite {2}d-[0-9a-f]{16}\n\d+ characters, about \d+ tokens\n$/);
  });

  test('shows control characters of names and values, also where it is piped', async () => {
    const { gate, home } = testProcess();
    const database = new Database(join(home, 'odd.sqlite'));
    database.exec(
      `CREATE TABLE odd (id INTEGER, "na\u001b[2Jme" TEXT); INSERT INTO odd VALUES (1, 'x\u001b[31m\u0007')`,
    );
    database.close();
    const { out } = await gate('db', 'describe', './odd.sqlite');
    expect(out).toContain('"na\\u001b[2Jme" text');
    expect(out).toContain('x\\u001b[31m\\u0007');
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  test('one table alone, and a wrong name with those that are like it', async () => {
    const { gate } = shop();
    expect((await gate('db', 'describe', './shop.sqlite', '--table', 'ORDERS')).out).toMatch(
      /^TABLE orders .*\n.*\n.*\n {2}row: 1 \| 9\.5/,
    );
    expect((await gate('db', 'describe', './shop.sqlite', '--table', 'order')).err).toMatch(
      /^gate: --table order: no such table may be read; there is orders/,
    );
  });
});

describe('--docs', () => {
  test.each<[string, string, string, RegExp]>([
    ['broken YAML', 'docs/schema.yml', 'models:\n  - name: [', /^gate: --docs schema\.yml:\d+: not YAML/],
    [
      'a broken CSV',
      'docs/orders.csv',
      'original_column_name,column_description\n"id,x\n',
      /^gate: --docs orders\.csv:2: a quoted field/,
    ],
  ])('%s is one line with file and line', async (_, name, content, line) => {
    const { gate, home } = shop();
    mkdirSync(join(home, 'docs'));
    writeFileSync(join(home, name), content);
    const { code, err } = await gate('ask', 'x', '--db', './shop.sqlite', '--docs', 'docs');
    expect(code).toBe(2);
    expect(err).toMatch(line);
    expect(err.trimEnd()).not.toContain('\n');
  });

  test('documentation of the configuration is used by default, replaced by --docs and withheld by --no-docs', async () => {
    const { gate, home, file } = shop();
    writeFileSync(join(home, 'broken.yml'), 'models:\n  - name: [');
    writeFileSync(join(home, 'fine.md'), 'Totals are gross.');
    writeFileSync(file, JSON.stringify({ databases: { shop: { path: 'shop.sqlite', docs: ['broken.yml'] } } }));
    const asked = async (...flags: string[]): Promise<string> => (await gate('ask', 'x', ...flags)).err;
    const broken = /docs of the configuration: broken\.yml:2: not YAML/;
    expect(await asked()).toMatch(broken);
    // Without a model nothing is asked; what was to be read has been read by then.
    expect(await asked('--docs', 'fine.md')).not.toMatch(broken);
    expect(await asked('--no-docs')).not.toMatch(broken);
    expect(await asked('--no-docs', '--docs', 'broken.yml')).toMatch(/--docs broken\.yml:2/);
    writeFileSync(join(home, 'q.jsonl'), JSON.stringify({ id: 1, question: 'How many orders?', database: 'shop' }));
    const ran = async (...flags: string[]): Promise<string> =>
      (await gate('batch', 'run', 'q.jsonl', '--dry-run', '--model', 'm', ...flags)).err;
    expect(await ran()).toMatch(broken);
    expect(await ran('--no-docs')).not.toMatch(broken);
    expect(await ran('--docs', '{database}/broken.yml')).toMatch(/--docs shop\/broken\.yml: no such file or folder/);
  });

  test('a folder gives texts and notes, and leaves project files out', () => {
    const { home } = shop();
    mkdirSync(join(home, 'docs/models'), { recursive: true });
    writeFileSync(join(home, 'docs/dbt_project.yml'), 'name: shop\n');
    writeFileSync(
      join(home, 'docs/models/schema.yml'),
      'models:\n  - { name: orders, description: one row per order }\n',
    );
    writeFileSync(join(home, 'docs/orders.csv'), Buffer.from('column,description\ntotal,in \x80\n', 'latin1'));
    writeFileSync(join(home, 'docs/read me.md'), '# Shop\n\u0095 mis\u0092read');
    expect(readDocumentation(['docs'], home)).toEqual({
      documents: [{ name: 'read me.md', text: '# Shop\n• mis’read' }],
      notes: [
        { table: 'orders', column: null, text: 'one row per order', source: join('models', 'schema.yml') },
        { table: 'orders', column: 'total', text: 'in €', source: 'orders.csv' },
      ],
    });
  });
});
