/**
 * A hidden column does not show: statements run on two databases that differ in it alone, and what comes back (rows, errors) is the
 * same. `GATE_TEST_HIDDEN=9000` draws as many of each dialect; `GATE_TEST_SEED` draws others.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import Database from 'libsql';
import { createDuckdbEngine, createDuckdbInspector } from '../../src/adapters/duckdb';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createMysqlEngine, createMysqlInspector } from '../../src/adapters/mysql';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import type { SqlResult } from '../../src/domain';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import type { SqlInspector } from '../../src/domain/ports/sql-inspector';
import { random } from '../../src/random';
import { options } from '../helpers/engine';
import { sharedMariaDb } from '../helpers/mariadb';
import { sharedPostgres } from '../helpers/postgres';
import { draw, SHOWING, type Hiding } from './hidden';

const SEED = Number(process.env['GATE_TEST_SEED'] ?? 20_261_130);
const DRAWN = Number(process.env['GATE_TEST_HIDDEN'] ?? 500);

const folder = mkdtempSync(join(tmpdir(), 'gate-hidden-'));
const opened: SqlEngine[] = [];
afterAll(async () => {
  for (const engine of opened) await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const prey = (secret: string, more = ''): string => `
  CREATE TABLE people (id INTEGER, name VARCHAR(20), ssn VARCHAR(20)) ${more};
  CREATE TABLE orders (id INTEGER, person INTEGER, total INTEGER);
  CREATE TABLE leads (id INTEGER, name VARCHAR(20), x INTEGER);
  INSERT INTO people VALUES (1, 'ann', '${secret}1'), (2, 'bob', '${secret}2');
  INSERT INTO orders VALUES (1, 1, 5), (2, 2, 7);
  INSERT INTO leads VALUES (1, 'ann', 3), (3, 'q1', 4);
`;

const OPEN: Readonly<Record<Hiding, (name: string, secret: string) => Promise<[SqlEngine, SqlInspector]>>> = {
  async sqlite(name, secret) {
    const path = join(folder, `${name}.sqlite`);
    const database = new Database(path);
    database.exec(prey(secret));
    database.close();
    return [createSqliteEngine({ path }), createSqliteInspector()];
  },
  async duckdb(name, secret) {
    const path = join(folder, `${name}.duckdb`);
    const instance = await DuckDBInstance.create(path);
    const connection = await instance.connect();
    await connection.run(prey(secret));
    connection.closeSync();
    instance.closeSync();
    return [createDuckdbEngine({ path }), createDuckdbInspector()];
  },
  async postgresql(name, secret) {
    const server = await sharedPostgres();
    await server.createDatabase(name, prey(secret));
    return [createPostgresEngine({ url: server.url(name), options: server.laidDown }), await createPostgresInspector()];
  },
  async mysql(name, secret) {
    const server = await sharedMariaDb();
    await server.createDatabase(name, prey(secret, 'PARTITION BY HASH (id) PARTITIONS 2'));
    return [createMysqlEngine({ url: server.url(name), options: { anyLogin: true } }), createMysqlInspector()];
  },
};

/** By the names of its columns a result is judged once more, and that would hide what the statement's text let through. */
function nameless(result: SqlResult): SqlResult {
  return result.kind === 'rows' ? { ...result, columns: result.columns.map((one) => ({ ...one, name: '' })) } : result;
}

/** In any order; without the name of the database. */
function told(result: SqlResult): string {
  const rows = result.kind === 'rows' ? result.rows.map((row) => JSON.stringify(row)).sort() : [];
  return JSON.stringify({ ...result, elapsedMs: 0, columns: [], rows }).replaceAll('hidden_b', 'hidden_a');
}

describe.each(Object.keys(OPEN) as Hiding[])('%s', (dialect) => {
  let bare: SqlEngine[];
  let guarded: SqlEngine[];
  beforeAll(async () => {
    const made = [await OPEN[dialect]('hidden_a', 'q'), await OPEN[dialect]('hidden_b', 'z')];
    bare = made.map(([engine]) => engine);
    opened.push(...bare);
    guarded = made.map(([engine, inspector]) => {
      const run: SqlEngine['run'] = async (statements, how) => {
        const { takenAt, results } = await engine.run(statements, how);
        return { takenAt, results: results.map(nameless) };
      };
      return createGuardedEngine({ ...engine, run }, inspector, { allow: [], deny: ['people.ssn'] });
    });
  });

  /** Of each statement what each database says. */
  async function said([first, second]: readonly SqlEngine[], statements: readonly string[]): Promise<SqlResult[][]> {
    const one = (await first!.run(statements, options())).results;
    const renamed = statements.map((sql) => sql.replaceAll('hidden_a', 'hidden_b'));
    const other = (await second!.run(renamed, options())).results;
    return one.map((result, at) => [result, other[at]!]);
  }

  const differing = (results: readonly SqlResult[][], statements: readonly string[]): string[] =>
    statements.filter((_, at) => new Set(results[at]?.map(told)).size > 1);

  test('what shows it is refused', async () => {
    const statements = SHOWING[dialect];
    expect(differing(await said(bare, statements), statements)).toEqual(statements);
    const passing = (await said(guarded, statements)).map((each, at) =>
      each[0]?.kind === 'rows' ? statements[at] : [],
    );
    expect(passing.flat()).toEqual([]);
  });

  test('drawn statements show nothing of it', async () => {
    const next = random(SEED);
    const statements = Array.from({ length: DRAWN }, () => draw(dialect, next)).filter((sql) => /people/i.test(sql));
    const results = await said(guarded, statements);
    expect(differing(results, statements)).toEqual([]);
    expect(results.filter(([first]) => first?.kind === 'rows').length).toBeGreaterThan(DRAWN / 100);
  });
});
