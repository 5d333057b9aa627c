/**
 * Analytical SQL is never refused: published gold queries (on a database without their tables, where nothing but a refusal
 * would be wrong) and hand-written ones on data, which yield rows but for a few that are named with the engine's error.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { createDuckdbEngine, createDuckdbInspector } from '../../src/adapters/duckdb';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import gold from '../fixtures/gold-statements.json';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';
import { common, duckdb, erring, postgresql, since, sqlite, TABLES } from './legitimate';

const folder = mkdtempSync(join(tmpdir(), 'gate-legitimate-'));
const MAKE = 'const [, library, file, sql] = process.argv; new (require(library))(file).exec(sql);';
const engines: Record<string, SqlEngine> = {};
let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await sharedPostgres();
  await postgres.createDatabase('legitimate', TABLES);
  const file = join(folder, 'legitimate.sqlite');
  execFileSync(process.execPath, ['-e', MAKE, require.resolve('libsql'), file, TABLES]);
  engines['postgresql'] = createGuardedEngine(
    createPostgresEngine({ url: postgres.url('legitimate'), options: postgres.laidDown }),
    await createPostgresInspector(),
  );
  const duck = join(folder, 'legitimate.duckdb');
  const instance = await DuckDBInstance.create(duck);
  const connection = await instance.connect();
  await connection.run(TABLES);
  connection.closeSync();
  instance.closeSync();
  engines['duckdb'] = createGuardedEngine(createDuckdbEngine({ path: duck }), createDuckdbInspector());
  engines['sqlite'] = createGuardedEngine(createSqliteEngine({ path: file }), createSqliteInspector());
});
afterAll(async () => {
  for (const engine of Object.values(engines)) await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly sql: string;
  readonly kind: string;
  readonly message: string;
}

async function outcomes(dialect: string, statements: readonly string[]): Promise<Outcome[]> {
  const { results } = await engines[dialect]!.run(statements, {
    timeoutMs: 240_000,
    maxRows: 100,
    signal: new AbortController().signal,
    tag: 'legitimate',
  });
  return results.map((result, index) => ({
    sql: statements[index] ?? '',
    kind: result.kind,
    message: 'message' in result ? result.message : '',
  }));
}

const own = { postgresql: [...common, ...postgresql], sqlite: [...common, ...sqlite] };
const published = (dialect: string): string[] =>
  gold.statements.filter(({ engine }) => engine === dialect).map(({ sql }) => sql);
const dialects = ['postgresql', 'sqlite'] as const;

test('there are more than 300 of them', () => {
  expect(gold.statements.length + own.postgresql.length + own.sqlite.length).toBeGreaterThan(300);
});

test.each(dialects)('%s: hand-written statements run', async (dialect) => {
  const known = (sql: string): boolean =>
    dialect === 'sqlite' || since.every(([version, words]) => postgres.version >= version || !words.test(sql));
  const found = await outcomes(dialect, own[dialect].filter(known));
  expect(found.filter(({ kind }) => kind !== 'rows' && kind !== 'sql-error')).toEqual([]);
  const errors = found.filter(({ kind }) => kind === 'sql-error').map(({ sql, message }) => [sql, message]);
  const matching = Object.entries(erring[dialect]).map(([sql, error]) => [sql, expect.stringMatching(error) as string]);
  expect(errors).toEqual(matching);
});

test('duckdb: hand-written statements run', async () => {
  const found = await outcomes('duckdb', [...common, ...duckdb]);
  const others = found.filter(({ kind }) => kind !== 'rows').map(({ sql, message }) => [sql, message]);
  const matching = Object.entries(erring.duckdb).map(([sql, error]) => [sql, expect.stringMatching(error) as string]);
  expect(others).toEqual(matching);
});

test.each(dialects)('%s: gold statements are not refused', async (dialect) => {
  const found = await outcomes(dialect, published(dialect));
  expect(found.filter(({ kind }) => kind === 'refused')).toEqual([]);
});
