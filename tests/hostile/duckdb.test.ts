/**
 * What a hostile statement can do to a DuckDB file through this engine, and to the machine that reads it: nothing that lasts.
 * The corpus runs as the file's owner on a file that may be written: behind the reader's fence, and without it, where only
 * DuckDB's own parser and configuration stand before it. Before and after each group the bytes of the file, the folders around it
 * and what the session holds are compared.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { createDuckdbEngine, createDuckdbInspector } from '../../src/adapters/duckdb';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import type { SqlResult } from '../../src/domain';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import { runOne } from '../helpers/engine';
import { fill } from './corpus';
import { bombsEnd, byTechnique, eachOnce, hostileRun, traces } from './file-engine';
import { acts, bombs } from './duckdb/statements';

const TIMEOUT_MS = 1_000;
const folder = mkdtempSync(join(tmpdir(), 'gate-hostile-duck-'));
const home = join(folder, 'home');
const out = join(folder, 'out');
const file = join(home, 'open.duckdb');

const PREY = `
  CREATE TABLE account (id INTEGER PRIMARY KEY, owner VARCHAR, balance DECIMAL(10, 2));
  CREATE TABLE ledger (id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account (id), amount DECIMAL(10, 2));
  INSERT INTO account VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'cai', 30);
  INSERT INTO ledger VALUES (1, 1, 5), (2, 1, 5), (3, 2, 20);
  CREATE SEQUENCE counter;
  CREATE VIEW rich AS SELECT * FROM account WHERE balance > 15;
  CREATE VIEW leaky AS SELECT * FROM read_csv('${join(out, 'x.csv')}', columns = {'a': 'VARCHAR'});
  CREATE MACRO evil_macro(path) AS (SELECT max(content) FROM read_text(path));
  CREATE MACRO evil_table(path) AS TABLE SELECT * FROM read_text(path);
`;

beforeAll(async () => {
  mkdirSync(home);
  mkdirSync(out);
  writeFileSync(join(out, 'x.csv'), 'a\n1\n');
  writeFileSync(join(out, 'x.json'), '{"a": 1}\n');
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await connection.run(PREY);
  connection.closeSync();
  instance.closeSync();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const look = (): string[] => traces([file], [home, out], /^(?!gate-).*(duckdb|evil)/);
const filled = (sql: string): string => fill(sql, { OUT: out, FILE: file, CONN: 'host=127.0.0.1' });
const run = (engine: SqlEngine, sql: string): Promise<SqlResult> => hostileRun(engine, filled(sql), TIMEOUT_MS);

eachOnce([...acts, ...bombs], 250);

/** What one fence alone lets through: a view of the file, which only opening the file without others stops; reading tables. */
const PASSED: Readonly<Record<'the reader' | 'DuckDB' | 'both', readonly string[]>> = {
  'the reader': ['SELECT * FROM leaky', 'SELECT a FROM (SELECT * FROM leaky)'],
  DuckDB: [
    'FROM account',
    'FROM account SELECT owner',
    'TABLE account',
    'VALUES (1)',
    'UNPIVOT account ON balance INTO NAME n VALUE v',
    'SELECT * FROM (FROM account)',
    'SELECT * FROM (TABLE account)',
    'WITH x AS (FROM account) FROM x',
    'SELECT (FROM account SELECT max(balance))',
    'SELECT 1 WHERE EXISTS (FROM account)',
    'SELECT 1 WHERE EXISTS (FROM (account CROSS JOIN ledger))',
    'SELECT * FROM x: account',
    'SELECT #1 FROM account',
  ],
  both: [],
};

describe('the reader alone', () => {
  test.each(byTechnique(acts))('%s: refused', (_, { statements }) => {
    const inspector = createDuckdbInspector();
    const passed = statements.filter((sql) => inspector.inspect(filled(sql)).kind === 'select');
    expect(passed.filter((sql) => !PASSED['the reader'].includes(sql))).toEqual([]);
  });
});

describe.each(['DuckDB', 'both'] as const)('%s', (fences) => {
  let engine: SqlEngine;
  beforeAll(() => {
    const own = createDuckdbEngine({ path: file, poolSize: 1 });
    engine = fences === 'both' ? createGuardedEngine(own, createDuckdbInspector()) : own;
  });
  afterAll(() => engine.close());

  test.each(byTechnique(acts))('%s: nothing gives rows or lasts', async (_, one) => {
    const before = look();
    const answered: string[] = [];
    for (const sql of one.statements) if ((await run(engine, sql)).kind === 'rows') answered.push(sql);
    expect(look()).toEqual(before);
    expect(answered.filter((sql) => !PASSED[fences].includes(sql))).toEqual([]);
    // What a statement left in its session would show here.
    const left = `SELECT (SELECT count(*) FROM account), (SELECT sum(amount) FROM ledger), (SELECT count(*) FROM duckdb_tables), lower('A')`;
    expect(await runOne(engine, left)).toMatchObject({ rows: [[3, 30, 2, 'a']] });
  });
});

bombsEnd(bombs, { open: () => createDuckdbEngine({ path: file, poolSize: 1 }), run, look, timeoutMs: TIMEOUT_MS });
