/**
 * What the SQL port costs over the bare driver, and how long a large result takes from the database to the store as CSV.
 * The bare driver does the same work: PostgreSQL in one read-only transaction that is rolled back, with and without the
 * settings of a session; SQLite in this process, and in a child process as the port has it (a runaway query of SQLite
 * can be ended in no other way).
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { Client } from 'pg';
import { createGuardedEngine } from '../src/adapters/guard';
import { createLocalStore } from '../src/adapters/local';
import { createPostgresEngine, createPostgresInspector } from '../src/adapters/postgres';
import { createSqliteEngine, createSqliteInspector } from '../src/adapters/sqlite';
import type { SqlEngine } from '../src/ports';
import { toCsv } from '../src/search/csv';
import { startPostgres } from '../tests/helpers/postgres';
import { median, printFigures, SHORT, type Figure } from './figure';

const ONE = 'SELECT 1 AS one';
const COLUMNS = Array.from({ length: 30 }, (_, index) =>
  index % 3 === 0
    ? `i * ${index + 1} AS c${index}`
    : index % 3 === 1
      ? `'text ' || i AS c${index}`
      : `i / 7.0 AS c${index}`,
);
const SERIES = 'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 10000)';
const NARROW = `${SERIES} SELECT i, 'name ' || i AS name, i * 2 AS twice FROM r`;
const WIDE = `${SERIES} SELECT ${COLUMNS.join(', ')} FROM r`;
const RATIO = 1.3;

type Ask = (sql: string) => Promise<unknown>;

/** Medians of each, asked by turns, so that what else the machine does falls on both. */
async function timed(asks: readonly Ask[], sql: string, times: number): Promise<number[]> {
  const taken = asks.map((): number[] => []);
  for (let turn = -Math.min(20, times); turn < times; turn += 1) {
    for (const [index, ask] of asks.entries()) {
      const started = performance.now();
      await ask(sql);
      if (turn >= 0) taken[index]?.push(performance.now() - started);
    }
  }
  return taken.map(median);
}

const portOf =
  (engine: SqlEngine): Ask =>
  (sql) =>
    engine.run([sql], { timeoutMs: 60_000, maxRows: 10_000, signal: new AbortController().signal, tag: 'bench' });

async function compare(name: string, port: Ask, bare: Ask, how: string, atMost: number | null): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [rows, sql, times] of [
    ['1 row', ONE, 300],
    ['10,000 rows', NARROW, 25],
  ] as const) {
    const [ours = 0, theirs = 1] = await timed([port, bare], sql, SHORT ? Math.min(times, 5) : times);
    figures.push({
      name: `${name}, ${rows}`,
      value: ours / theirs,
      unit: 'x',
      atMost,
      how: `${ours.toFixed(2)} ms against ${theirs.toFixed(2)} ms, ${how}`,
    });
  }
  return figures;
}

async function toStore(name: string, engine: SqlEngine, folder: string): Promise<Figure> {
  const store = createLocalStore(join(folder, `store-${name}`));
  let turn = 0;
  const save: Ask = async (sql) => {
    const { results } = await engine.run([sql], {
      timeoutMs: 60_000,
      maxRows: 10_000,
      signal: new AbortController().signal,
      tag: 'bench',
    });
    const [result] = results;
    if (result?.kind !== 'rows') throw new Error(`the wide query gave ${JSON.stringify(result).slice(0, 200)}`);
    turn += 1;
    await store.put(`bench/${turn}.csv`, toCsv(result));
  };
  return {
    name: `${name}: 10,000 x 30 to CSV and store`,
    value: (await timed([save], WIDE, SHORT ? 2 : 9))[0] ?? Number.NaN,
    unit: 'ms',
    atMost: 300,
    how: 'query, values, CSV, local store, median',
  };
}

async function measurePostgres(folder: string): Promise<Figure[]> {
  const server = await startPostgres();
  const client = new Client({ connectionString: server.url('postgres') });
  const inspector = await createPostgresInspector();
  const engine = createGuardedEngine(createPostgresEngine({ url: server.url('postgres') }), inspector);
  try {
    await client.connect();
    const inTransaction: Ask = async (sql) => {
      await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await client.query({ text: sql, rowMode: 'array' });
      await client.query('ROLLBACK');
    };
    const autocommit: Ask = (sql) => client.query({ text: sql, rowMode: 'array' });
    const port = portOf(engine);
    return [
      ...(await compare('PostgreSQL port', port, inTransaction, 'bare driver in one read-only transaction', RATIO)),
      ...(await compare(
        'PostgreSQL port, no transaction',
        port,
        autocommit,
        'bare driver without a transaction',
        null,
      )),
      await toStore('PostgreSQL', engine, folder),
    ];
  } finally {
    await engine.close();
    await client.end();
    await server.stop();
  }
}

const CHILD = `
  const [, , library, file] = process.argv;
  const database = new (require(library))(file);
  process.on('message', (sql) => process.send(database.prepare(sql).raw(true).all()));
`;

async function measureSqlite(folder: string): Promise<Figure[]> {
  const file = join(folder, 'bench.sqlite');
  const database = new Database(file);
  database.exec('CREATE TABLE t (a)');
  const script = join(folder, 'child.js');
  writeFileSync(script, CHILD);
  const child = fork(script, [require.resolve('libsql'), file]);
  const engine = createGuardedEngine(createSqliteEngine({ path: file, poolSize: 1 }), createSqliteInspector());
  try {
    const inChild: Ask = (sql) =>
      new Promise((resolve) => {
        child.once('message', resolve);
        child.send(sql);
      });
    const inProcess: Ask = (sql) => Promise.resolve(database.prepare(sql).raw(true).all());
    const port = portOf(engine);
    return [
      ...(await compare('SQLite port', port, inChild, 'bare driver in a child process', RATIO)),
      ...(await compare('SQLite port, one process', port, inProcess, 'bare driver in this process', null)),
      await toStore('SQLite', engine, folder),
    ];
  } finally {
    await engine.close();
    child.kill();
    database.close();
  }
}

export async function measureSql(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-sql-'));
  try {
    return [...(await measurePostgres(folder)), ...(await measureSqlite(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (require.main === module) printFigures(measureSql());
