/** The schema context of 1,000 tables with 10,000 columns, and the check on the spot, on real databases. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { Client } from 'pg';
import { COLUMNS_PER_TABLE, TABLES, tableStatements, wideTableName } from '../../bench/world/wide-schema';
import { checkPostgres, createPostgresEngine } from '../../src/adapters/postgres';
import { createSqliteEngine } from '../../src/adapters/sqlite';
import type { SqlEngine } from '../../src/domain/ports';
import { SCHEMA_CHARS, schemaContext } from '../../src/database/context';
import { withDescriptionCache } from '../../src/workers/description-cache';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';

const folder = mkdtempSync(join(tmpdir(), 'gate-wide-'));
const file = join(folder, 'wide.sqlite');
const QUESTION = 'What is the average settlement delay of claims by region and adjuster?';
const signal = (): AbortSignal => AbortSignal.timeout(60_000);
let postgres: TestPostgres;

beforeAll(async () => {
  const database = new Database(file);
  database.exec(`BEGIN; ${tableStatements('sqlite').join('; ')}; COMMIT`);
  database.close();
  postgres = await sharedPostgres();
  await postgres.createDatabase('wide');
  await change('wide', ...tableStatements('postgresql'));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

/** In parts: one transaction would need a lock for each table. */
async function change(name: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: postgres.url(name) });
  await client.connect();
  for (let at = 0; at < statements.length; at += 400) await client.query(statements.slice(at, at + 400).join('; '));
  await client.end();
}

const ENGINES: readonly [string, () => SqlEngine, (sql: string) => Promise<void>][] = [
  [
    'SQLite',
    () => createSqliteEngine({ path: file }),
    (sql) => {
      const database = new Database(file);
      database.exec(sql);
      database.close();
      return Promise.resolve();
    },
  ],
  [
    'PostgreSQL',
    () => createPostgresEngine({ url: postgres.url('wide'), options: postgres.laidDown }),
    (sql) => change('wide', sql),
  ],
];

describe.each(ENGINES)('%s', (name, open, alter) => {
  test('the text stays within its budget, names every table and shows those that the question is about', async () => {
    const engine = open();
    const description = await engine.describe({ signal: signal() });
    await engine.close();
    expect(description.tables).toHaveLength(TABLES);
    expect(description.tables.flatMap(({ columns }) => columns)).toHaveLength(TABLES * COLUMNS_PER_TABLE);
    const referring = description.tables.find((table) => table.name === wideTableName(500));
    expect(referring).toMatchObject({
      rowEstimate: 20,
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['parent_id'], table: wideTableName(400), references: ['id'] }],
    });
    expect(referring?.columns.find((column) => column.name === 'state')?.samples).toEqual(['open', 'closed', 'held']);
    const { text, shown } = schemaContext(description, { maxChars: SCHEMA_CHARS, question: QUESTION });
    expect(text.length).toBeLessThanOrEqual(SCHEMA_CHARS);
    expect(description.tables.filter((table) => !text.includes(table.name))).toEqual([]);
    expect(shown).toEqual(
      expect.arrayContaining(['claim_settlement_0', 'adjuster_settlement_0', 'region_settlement_0']),
    );
  });

  test('a kept description serves until the database changes', async () => {
    let described = 0;
    const engine = open();
    const describe = (options: { signal: AbortSignal }) => ((described += 1), engine.describe(options));
    let nowMs = 0;
    const cached = withDescriptionCache({ ...engine, describe }, () => (nowMs += 5_000));
    const asked = async (): Promise<readonly string[]> => {
      const { tables } = await cached.describe({ signal: signal() });
      return tables.find((table) => table.name === wideTableName(7))?.columns.map((column) => column.name) ?? [];
    };
    expect(await asked()).not.toContain('added');
    await asked();
    expect(described).toBe(1);
    await alter(`ALTER TABLE ${wideTableName(7)} ADD COLUMN added text`);
    try {
      expect(await asked()).toContain('added');
      await asked();
      expect(described).toBe(2);
      await engine.close();
    } finally {
      await alter(`ALTER TABLE ${wideTableName(7)} DROP COLUMN added`);
    }
  });
});

test('PostgreSQL: a comment, a key, a name and a grown table change the revision; a query does not', async () => {
  await postgres.createDatabase('small', 'CREATE TABLE a (x integer, y integer); CREATE TABLE b (x integer)');
  const engine = createPostgresEngine({ url: postgres.url('small'), options: postgres.laidDown });
  const revision = async (): Promise<string> => (await engine.revision?.({ signal: signal() })) ?? '';
  const seen = [await revision()];
  await engine.run(['SELECT 1'], { timeoutMs: 5_000, maxRows: 1, signal: signal(), tag: 'test' });
  expect(await revision()).toBe(seen[0]);
  const changes = [
    "COMMENT ON COLUMN a.x IS 'in seconds'",
    'ALTER TABLE a ADD PRIMARY KEY (x)',
    'CREATE UNIQUE INDEX ON b (x)',
    'INSERT INTO a SELECT i, i FROM generate_series(1, 10000) AS i',
    'ALTER TABLE b RENAME TO c',
  ];
  for (const sql of changes) {
    await change('small', sql);
    seen.push(await revision());
  }
  expect(new Set(seen).size).toBe(changes.length + 1);
  await engine.close();
});

describe('gate db check on PostgreSQL', () => {
  // One of the tests mends what it finds.
  beforeEach(() =>
    postgres.createDatabase(
      'rights',
      `CREATE TABLE a (x integer); INSERT INTO a VALUES (1); REVOKE CREATE ON SCHEMA public FROM PUBLIC;
       DROP ROLE IF EXISTS wide_reader; CREATE ROLE wide_reader LOGIN; GRANT SELECT ON a TO wide_reader;
       DROP ROLE IF EXISTS wide_clerk; CREATE ROLE wide_clerk LOGIN CREATEDB; GRANT SELECT, INSERT ON a TO wide_clerk; GRANT CREATE ON SCHEMA public TO wide_clerk`,
    ),
  );
  const check = (user: string, role: string | null = null) => {
    const url = Object.assign(new URL(postgres.url('rights')), { username: user }).href;
    return checkPostgres({ address: url, role, schemas: [] });
  };

  test.each(['postgres', 'wide_reader', 'wide_clerk'])('%s: every write is refused by the server', async (user) => {
    const { attempts, version, latencyMs } = await check(user);
    expect(attempts).toHaveLength(7);
    expect(attempts.filter(({ outcome }) => outcome !== 'refused')).toEqual([]);
    expect(version).toMatch(/^PostgreSQL \d+/);
    expect(latencyMs).toBeGreaterThan(0);
  });

  test('says what a login could do elsewhere, with the statement that takes it away', async () => {
    expect((await check('wide_reader')).rights).toEqual([]);
    expect((await check('wide_clerk')).rights).toEqual([
      { what: 'wide_clerk has CREATEDB', fix: 'ALTER ROLE wide_clerk NOCREATEDB;' },
      {
        what: 'wide_clerk may create tables in the schema public',
        fix: 'REVOKE CREATE ON SCHEMA public FROM wide_clerk;',
      },
      {
        what: 'wide_clerk may write to 1 table of the schema public',
        fix: 'REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA public FROM wide_clerk;',
      },
    ]);
    const [superuser] = (await check('postgres', 'wide_reader')).rights;
    expect(superuser?.what).toBe('postgres is a superuser: it may do everything');
    expect(superuser?.fix).toContain('GRANT SELECT ON ALL TABLES IN SCHEMA "public" TO gate_reader;');
  });

  test('the login that it makes for a superuser reads every schema, and nothing can be said against it', async () => {
    await postgres.createDatabase(
      'offices',
      `REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE TABLE a (x integer); CREATE SCHEMA "north wing"; CREATE TABLE "north wing".b (x integer); DROP ROLE IF EXISTS gate_reader`,
    );
    const url = (user: string): string => Object.assign(new URL(postgres.url('offices')), { username: user }).href;
    const [superuser] = (await checkPostgres({ address: url('postgres'), role: null, schemas: [] })).rights;
    await change('offices', superuser?.fix.replace(/ then log in as gate_reader$/, '') ?? '');
    expect((await checkPostgres({ address: url('gate_reader'), role: null, schemas: [] })).rights).toEqual([]);
    const engine = createPostgresEngine({ url: url('gate_reader') });
    const { tables } = await engine.describe({ signal: signal() });
    expect(tables.map(({ name }) => name)).toEqual(['a', 'north wing.b']);
    await engine.close();
    await change('offices', 'DROP OWNED BY gate_reader', 'DROP ROLE gate_reader');
  });

  test('its own statements mend what it says', async () => {
    const { rights } = await check('wide_clerk');
    await change('rights', ...rights.map(({ fix }) => fix.replace(/;$/, '')));
    expect((await check('wide_clerk')).rights).toEqual([]);
  });

  test.each([
    ['an unknown database', (url: URL) => Object.assign(url, { pathname: '/nowhere' }), /nowhere/],
    ['an unknown user', (url: URL) => Object.assign(url, { username: 'nobody_here' }), /nobody_here/],
    ['a closed port', (url: URL) => Object.assign(url, { port: '1' }), /nothing answers/],
  ])('%s is one line', async (_, spoil, line) => {
    const url = spoil(new URL(postgres.url('rights'))).href;
    const failed = await checkPostgres({ address: url, role: null, schemas: [] }).catch(
      (error: unknown) => error as Error,
    );
    expect(failed).toMatchObject({ name: 'SqlEngineError', message: expect.stringMatching(line) as string });
  });
});
