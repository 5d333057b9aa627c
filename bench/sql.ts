/**
 * What the SQL port costs over the bare driver, and how long a large result takes from the database to the store as CSV.
 * The bare driver does the same work: PostgreSQL and MariaDB in one read-only transaction that is rolled back (PostgreSQL also
 * without one); SQLite and DuckDB in this process, and in a child process as the port has it (a runaway query can be ended in no
 * other way).
 *
 * `SELECT 1` costs the database nothing, so that what the port guarantees is all there is to see; an aggregate over 100,000
 * rows is what a search asks. Its text is another one each time, and has been read by the parser in front before it is
 * asked, as in a search, which reads it with the reply; what that takes is a figure of its own. Each side asks in blocks, one
 * question after the other, so that what one leaves to be done behind its answer (the port does not wait for its ROLLBACK)
 * falls on its own next question.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import Database from 'libsql';
import { Client } from 'pg';
import { createDuckdbEngine, createDuckdbInspector } from '../src/adapters/duckdb';
import { createGuardedEngine } from '../src/adapters/kit/guard';
import { createLocalStore } from '../src/adapters/local/store';
import { createMysqlEngine, createMysqlInspector } from '../src/adapters/mysql';
import { createPostgresEngine, createPostgresInspector } from '../src/adapters/postgres';
import { createSqliteEngine, createSqliteInspector } from '../src/adapters/sqlite';
import type { SqlEngine, SqlInspector } from '../src/domain/ports';
import { toCsv } from '../src/text/result-text';
import { startMariaDb } from '../tests/helpers/mariadb';
import { startPostgres } from '../tests/helpers/postgres';
import { bench, median, part, SHORT, type Figure } from './figure';

const ORDERS = 100_000;
/** A text for each turn. */
type Text = (turn: number) => string;
const ONE: Text = () => 'SELECT 1 AS one';
const BY_KEY: Text = (turn) => `SELECT id, shop, amount FROM orders WHERE id = ${turn + 1}`;
const AGGREGATE: Text = (turn) => `SELECT count(*) AS orders, avg(amount) AS mean FROM orders WHERE id > ${turn}`;
const COLUMNS = Array.from({ length: 30 }, (_, index) =>
  index % 3 === 0
    ? `i * ${index + 1} AS c${index}`
    : index % 3 === 1
      ? `'text ' || i AS c${index}`
      : `i / 7.0 AS c${index}`,
);
const SERIES = 'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 10000)';
const NARROW: Text = () => `${SERIES} SELECT i, 'name ' || i AS name, i * 2 AS twice FROM r`;
const WIDE: Text = () => `${SERIES} SELECT ${COLUMNS.join(', ')} FROM r`;
const RATIO = 1.3;

type Ask = (sql: string) => Promise<unknown>;

/** Medians by side, after as many questions to warm up. The sides take turns, so that what else the machine does falls on both. */
async function timed(
  asks: readonly Ask[],
  text: Text,
  { blocks, inBlock, inspector }: { blocks: number; inBlock: number; inspector: SqlInspector | null },
): Promise<number[]> {
  const taken = asks.map((): number[] => []);
  let turn = 0;
  for (let block = -blocks; block < blocks; block += 1) {
    for (const [index, ask] of asks.entries()) {
      const texts = Array.from({ length: inBlock }, () => text((turn += 1)));
      for (const sql of texts) inspector?.inspect(sql);
      for (const sql of texts) {
        const started = performance.now();
        await ask(sql);
        if (block >= 0) taken[index]?.push(performance.now() - started);
      }
      await new Promise((resolve) => setTimeout(resolve, 2)); // the other side begins when this one has finished
    }
  }
  return taken.map(median);
}

const portOf =
  (engine: SqlEngine): Ask =>
  (sql) =>
    engine.run([sql], { timeoutMs: 60_000, maxRows: 10_000, signal: new AbortController().signal, tag: 'bench' });

interface Sides {
  readonly port: Ask;
  readonly bare: Ask;
  readonly inspector: SqlInspector;
  /** 10,000 rows of three columns, where a recursive CTE is not how an engine is asked for many rows. */
  readonly narrow?: Text;
  /** Rows of the table that the aggregate reads, where 100,000 take no time. Then what costs the engine nothing has no target. */
  readonly rows?: number;
}

async function compare(
  name: string,
  { port, bare, inspector, narrow = NARROW, rows: many = ORDERS }: Sides,
  how: string,
  atMost?: number,
  /** Figures before this one have no limit. */
  from = 0,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const all = [
    ['1 row (SELECT 1)', ONE, 80, 20],
    ['1 row (by its key)', BY_KEY, 60, 20],
    [`1 row (aggregate of ${many.toLocaleString('en-US')})`, AGGREGATE, 30, 5],
    ['10,000 rows', narrow, 15, 3],
  ] as const;
  for (const [index, [rows, text, blocks, inBlock]] of all.entries()) {
    const repeats = { blocks: SHORT ? 2 : blocks, inBlock, inspector };
    const [ours = 0, theirs = 1] = await timed([port, bare], text, repeats);
    figures.push({
      name: `${name}, ${rows}`,
      value: ours / theirs,
      unit: 'x',
      atMost: index < from ? undefined : atMost,
      how: `${milliseconds(ours)} against ${milliseconds(theirs)}, ${how}`,
    });
  }
  return figures;
}

const milliseconds = (value: number): string => `${value.toFixed(value < 1 ? 3 : 1)} ms`;

/** Once for each text: what follows finds it read (`inspect-once.ts`). */
function reading(name: string, inspector: SqlInspector): Figure {
  const taken: number[] = [];
  for (let turn = 0; turn < (SHORT ? 50 : 1_000); turn += 1) {
    const started = performance.now();
    inspector.inspect(`${AGGREGATE(turn)} AND shop < 100`);
    taken.push(performance.now() - started);
  }
  return {
    name: `${name}: the parser in front, a new text`,
    value: median(taken),
    unit: 'ms',
    how: 'once for each text, when the reply with it is read; not in the figures above',
  };
}

async function toStore(name: string, engine: SqlEngine, folder: string, wide = WIDE): Promise<Figure> {
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
    value: (await timed([save], wide, { blocks: SHORT ? 2 : 9, inBlock: 1, inspector: null }))[0] ?? Number.NaN,
    unit: 'ms',
    atMost: 300,
    how: 'query, values, CSV, local store, median',
  };
}

async function measurePostgres(folder: string): Promise<Figure[]> {
  const server = await startPostgres();
  await server.createDatabase(
    'shop',
    `CREATE TABLE orders AS SELECT i AS id, i % 50 AS shop, (i * 7919::bigint) % 1000 / 10.0 AS amount
       FROM generate_series(1, ${ORDERS}) i; ALTER TABLE orders ADD PRIMARY KEY (id); ANALYZE orders`,
  );
  const client = new Client({ connectionString: server.url('shop') });
  const inspector = await createPostgresInspector();
  const engine = createGuardedEngine(createPostgresEngine({ url: server.url('shop') }), inspector);
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
      ...(await compare(
        'PostgreSQL port',
        { port, bare: inTransaction, inspector },
        'bare driver in one read-only transaction',
        RATIO,
      )),
      ...(await compare(
        'PostgreSQL port, no transaction',
        { port, bare: autocommit, inspector },
        'bare driver without a transaction',
      )),
      reading('PostgreSQL', inspector),
      await toStore('PostgreSQL', engine, folder),
    ];
  } finally {
    await engine.close();
    await client.end();
    await server.stop();
  }
}

async function measureMysql(folder: string): Promise<Figure[]> {
  const server = await startMariaDb();
  await server.createDatabase(
    'shop',
    `CREATE TABLE orders AS SELECT seq AS id, seq % 50 AS shop, (seq * 7919) % 1000 / 10.0 AS amount FROM seq_1_to_${ORDERS};
     ALTER TABLE orders ADD PRIMARY KEY (id); ANALYZE TABLE orders`,
  );
  await server.createUser('reader', 'secret', 'SELECT, SHOW VIEW ON shop.*');
  const url = server.url('shop', { user: 'reader', password: 'secret' });
  const client = await server.connect('shop');
  await client.query("SET SESSION sql_mode = 'PIPES_AS_CONCAT', max_recursive_iterations = 10000");
  const inspector = createMysqlInspector();
  const engine = createGuardedEngine(createMysqlEngine({ url }), inspector);
  try {
    const inTransaction: Ask = async (sql) => {
      await client.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
      await client.execute(sql);
      client.unprepare(sql);
      await client.query('ROLLBACK');
    };
    const sides = { port: portOf(engine), bare: inTransaction, inspector };
    return [
      ...(await compare('MariaDB port', sides, 'bare driver, prepared, in one read-only transaction', RATIO, 2)),
      reading('MariaDB', inspector),
      await toStore('MariaDB', engine, folder),
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
  database.exec(
    `CREATE TABLE orders (id INTEGER PRIMARY KEY, shop INTEGER, amount REAL);
     WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${ORDERS})
     INSERT INTO orders SELECT i, i % 50, (i * 7919) % 1000 / 10.0 FROM r`,
  );
  const script = join(folder, 'child.js');
  writeFileSync(script, CHILD);
  const child = fork(script, [require.resolve('libsql'), file]);
  const inspector = createSqliteInspector();
  const engine = createGuardedEngine(createSqliteEngine({ path: file, poolSize: 1 }), inspector);
  try {
    const inChild: Ask = (sql) =>
      new Promise((resolve) => {
        child.once('message', resolve);
        child.send(sql);
      });
    const inProcess: Ask = (sql) => Promise.resolve(database.prepare(sql).raw(true).all());
    const port = portOf(engine);
    return [
      ...(await compare('SQLite port', { port, bare: inChild, inspector }, 'bare driver in a child process', RATIO)),
      ...(await compare(
        'SQLite port, one process',
        { port, bare: inProcess, inspector },
        'bare driver in this process',
      )),
      reading('SQLite', inspector),
      await toStore('SQLite', engine, folder),
    ];
  } finally {
    await engine.close();
    child.kill();
    database.close();
  }
}

const DUCKDB_CHILD = `
  const [, , library, file] = process.argv;
  const connected = require(library).DuckDBInstance.create(file, { access_mode: 'READ_ONLY' }).then((instance) => instance.connect());
  process.on('message', async (sql) => process.send((await (await connected).runAndReadAll(sql)).getRowsJson()));
`;

const MANY_ORDERS = 5_000_000;
const SCANNED: Text = (turn) =>
  `SELECT id, 'name ' || id AS name, id * 2 AS twice FROM orders WHERE id > ${turn} LIMIT 10000`;

async function measureDuckdb(folder: string): Promise<Figure[]> {
  const file = join(folder, 'bench.duckdb');
  const library = require.resolve('@duckdb/node-api');
  const writer = await DuckDBInstance.create(file);
  const writing = await writer.connect();
  await writing.run(
    `CREATE TABLE orders (id INTEGER PRIMARY KEY, shop INTEGER, amount DOUBLE);
     INSERT INTO orders SELECT i, i % 50, (i * 7919) % 1000 / 10.0 FROM range(1, ${MANY_ORDERS + 1}) r(i)`,
  );
  writing.closeSync();
  writer.closeSync();
  const script = join(folder, 'duckdb-child.js');
  writeFileSync(script, DUCKDB_CHILD);
  const child = fork(script, [library, file]);
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const inspector = createDuckdbInspector();
  const engine = createGuardedEngine(createDuckdbEngine({ path: file, poolSize: 1 }), inspector);
  try {
    const inChild: Ask = (sql) =>
      new Promise((resolve) => {
        child.once('message', resolve);
        child.send(sql);
      });
    const inProcess: Ask = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
    const port = portOf(engine);
    const [narrow, rows] = [SCANNED, MANY_ORDERS];
    return [
      ...(await compare(
        'DuckDB port',
        { port, bare: inChild, inspector, narrow, rows },
        'bare driver in a child process',
        RATIO,
        2,
      )),
      ...(await compare(
        'DuckDB port, one process',
        { port, bare: inProcess, inspector, narrow, rows },
        'bare driver in this process',
      )),
      reading('DuckDB', inspector),
      await toStore('DuckDB', engine, folder, () => `SELECT ${COLUMNS.join(', ')} FROM range(10000) r(i)`),
    ];
  } finally {
    await engine.close();
    child.kill();
    connection.closeSync();
    instance.closeSync();
  }
}

async function measureSql(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-sql-'));
  try {
    await part('PostgreSQL', () => measurePostgres(folder));
    await part('MariaDB', () => measureMysql(folder));
    await part('SQLite', () => measureSqlite(folder));
    await part('DuckDB', () => measureDuckdb(folder));
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

bench(measureSql);
