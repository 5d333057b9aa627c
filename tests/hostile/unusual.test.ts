/**
 * Honest statements of every unusual kind: what the database itself runs is neither refused nor changed, and has as many
 * rows. Which ones run is the server's own answer, since versions differ.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { createSnowflakeInspector } from '../../src/adapters/snowflake';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import { sharedPostgres } from '../helpers/postgres';

const read = (name: string): string => readFileSync(join(__dirname, 'unusual', name), 'utf8');

/** What no file of lines can hold. */
const SHAPES = [
  'SELECT 1 -- trailing; DROP TABLE x\n;',
  'SELECT 1; -- done; really\n',
  'SELECT 1;;\n;',
  '\n\n  SELECT\n1\nLIMIT 1\n;\n\n',
  "SELECT 'multi\nline', 1 /* block\n; ' */ AS a\r\n",
  'SELECT /* 🎉 */ 1;\u0020\t\n',
];

const statementsOf = (dialect: string): string[] => [
  ...read(`${dialect}.sql`)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('-- ')),
  ...SHAPES,
];

interface Outcome {
  readonly sql: string;
  readonly rows: number | 'fails';
  readonly message?: string;
}

async function ours(engine: SqlEngine, statements: readonly string[]): Promise<Outcome[]> {
  const signal = new AbortController().signal;
  const { results } = await engine.run(statements, { timeoutMs: 240_000, maxRows: 10_000, signal, tag: 'unusual' });
  return results.map((result, index) => ({
    sql: statements[index] ?? '',
    ...(result.kind === 'rows'
      ? { rows: result.rows.length }
      : { rows: 'fails' as const, message: 'message' in result ? result.message : result.kind }),
  }));
}

function compare(bare: readonly Outcome[], answered: readonly Outcome[]): void {
  expect(bare.filter(({ rows }) => rows !== 'fails').length).toBeGreaterThan(bare.length * 0.8);
  expect(answered.filter(({ rows }, index) => rows !== bare[index]?.rows)).toEqual([]);
}

test('PostgreSQL: what the server runs is run', async () => {
  const postgres = await sharedPostgres();
  try {
    await postgres.createDatabase('unusual', read('postgresql.tables.sql'));
    const statements = statementsOf('postgresql');
    const client = new Client({ connectionString: postgres.url('unusual') });
    await client.connect();
    const bare: Outcome[] = [];
    for (const sql of statements) {
      const query = { text: sql, rowMode: 'array' as const, queryMode: 'extended' };
      const result = await client.query<unknown[]>(query).catch(() => null);
      bare.push({ sql, rows: result?.rows.length ?? 'fails' });
    }
    await client.end();
    const engine = createGuardedEngine(
      createPostgresEngine({ url: postgres.url('unusual') }),
      await createPostgresInspector(),
    );
    compare(bare, await ours(engine, statements));
    await engine.close();
  } finally {
  }
});

const MAKE = 'const [, library, file, sql] = process.argv; new (require(library))(file).exec(sql);';
const ASK = `const [, library, file, statements] = process.argv; const database = new (require(library))(file);
  const rows = (sql) => { try { return database.prepare(sql).raw(true).all().length } catch { return 'fails' } };
  console.log(JSON.stringify(JSON.parse(statements).map((sql) => ({ sql, rows: rows(sql) }))));`;

test('SQLite: what the library runs is run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-unusual-'));
  try {
    const file = join(folder, 'unusual.sqlite');
    const statements = statementsOf('sqlite');
    const library = require.resolve('libsql');
    execFileSync(process.execPath, ['-e', MAKE, library, file, read('sqlite.tables.sql')]);
    const printed = execFileSync(process.execPath, ['-e', ASK, library, file, JSON.stringify(statements)]);
    const engine = createGuardedEngine(createSqliteEngine({ path: file }), createSqliteInspector());
    compare(JSON.parse(printed.toString()) as Outcome[], await ours(engine, statements));
    await engine.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('Snowflake: the fence lets them through', () => {
  const { inspect } = createSnowflakeInspector();
  const kept = statementsOf('snowflake').map((sql) => ({ sql, ...inspect(sql) }));
  expect(kept.filter(({ kind }) => kind !== 'select')).toEqual([]);
});
