/** A DuckDB file through the whole engine: values, hashes, errors, limits, what it does to the file and to other programs. */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { checkDuckdb, createDuckdbEngine, createDuckdbInspector } from '../../../../src/adapters/duckdb';
import { duckdb, oneLine } from '../../../../src/adapters/duckdb/errors';
import { createGuardedEngine } from '../../../../src/adapters/kit/guard';
import type { SqlEngine } from '../../../../src/domain/ports/sql-engine';
import { eventually, options, rowsOf, runOne } from '../../../helpers/engine';

const folder = mkdtempSync(join(tmpdir(), 'gate-duckdb-'));
const file = join(folder, 'shop.duckdb');
let engine: SqlEngine;

async function write(path: string, sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}

beforeAll(async () => {
  await write(
    file,
    `CREATE TABLE person (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL UNIQUE, ssn VARCHAR);
     CREATE TABLE visit (day DATE, person_id INTEGER REFERENCES person (id), cost DECIMAL(10, 2), tags VARCHAR[], note JSON);
     CREATE SCHEMA clinic;
     CREATE TABLE clinic."Ward" ("Label" VARCHAR, kind ENUM('open', 'closed'));
     CREATE TABLE "a.b" (x INTEGER);
     CREATE VIEW named AS SELECT name FROM person;
     CREATE TABLE gone (x INTEGER);
     CREATE VIEW broken AS SELECT * FROM gone;
     DROP TABLE gone;
     COMMENT ON TABLE person IS 'people';
     COMMENT ON COLUMN visit.cost IS 'in euros';
     INSERT INTO person SELECT i, 'person ' || i, 's' || i FROM range(300) r(i);
     INSERT INTO visit SELECT DATE '2020-01-01' + i::INTEGER, i % 300, i / 4, ['a', 'b'], '{"i": 1}' FROM range(2000) r(i);`,
  );
  engine = createDuckdbEngine({ path: file });
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each<[string, unknown, string]>([
  ['9007199254740991::BIGINT', 9007199254740991, 'number'],
  ['9007199254740993::BIGINT', '9007199254740993', 'number'],
  ['170141183460469231731687303715884105727::HUGEINT', '170141183460469231731687303715884105727', 'number'],
  ["(repeat('9', 50))::BIGNUM", '9'.repeat(50), 'number'],
  ['1.50::DECIMAL(10, 2)', 1.5, 'number'],
  ['0.1234567890123456789::DECIMAL(38, 19)', '0.1234567890123456789', 'number'],
  ['0.1::FLOAT', 0.1, 'number'],
  ['1e300', 1e300, 'number'],
  ["'nan'::DOUBLE", 'NaN', 'number'],
  ["'-inf'::FLOAT", '-Infinity', 'number'],
  ['true', true, 'boolean'],
  ['NULL', null, 'number'],
  ["DATE '2020-02-29'", '2020-02-29', 'time'],
  ["'infinity'::DATE", 'infinity', 'time'],
  ["'-infinity'::DATE", '-infinity', 'time'],
  ["DATE '0044-03-15 (BC)'", '0044-03-15 (BC)', 'time'],
  ["TIMESTAMP '2020-01-01 00:00:00.5'", '2020-01-01 00:00:00.5', 'time'],
  ["TIMESTAMPTZ '2020-07-01 10:00:00+02'", '2020-07-01 08:00:00+00', 'time'],
  ["TIMESTAMP_NS '2020-01-01 00:00:00.123456789'", '2020-01-01 00:00:00.123456789', 'time'],
  ["TIMESTAMP_S '2020-01-01 00:00:00'", '2020-01-01 00:00:00', 'time'],
  ["TIME '10:00:00.25'", '10:00:00.25', 'time'],
  ["TIMETZ '10:00:00+02'", '10:00:00+02', 'time'],
  ["INTERVAL '1 year 2 months 3 days 04:05:06'", '1 year 2 months 3 days 04:05:06', 'time'],
  ["'\\x00\\xFFa'::BLOB", '\\x00ff61', 'other'],
  ["'10101'::BIT", '10101', 'other'],
  ["'00000000-0000-0000-0000-0000000000ab'::UUID", '00000000-0000-0000-0000-0000000000ab', 'text'],
  ["'a'::ENUM('a', 'b')", 'a', 'text'],
  ["'🦆'", '🦆', 'text'],
  ['[1, NULL, 9007199254740993]', '[1,null,9007199254740993]', 'json'],
  ["{'a': 1.50, 'b': [DATE '2020-01-01'], 'c': 'x\"y'}", '{"a":1.5,"b":["2020-01-01"],"c":"x\\"y"}', 'json'],
  ["MAP {'k': 1, 'l': NULL}", '{"k":1,"l":null}', 'json'],
  ['MAP {1: true}', '{"1":true}', 'json'],
  ['[1, 2]::INTEGER[2]', '[1,2]', 'json'],
  ['union_value(n := 3)', '3', 'json'],
  ["[0.1::FLOAT, 'nan'::FLOAT]", '[0.1,"NaN"]', 'json'],
  ['\'{"a" : [1, "b c"]}\'::JSON', '{"a":[1,"b c"]}', 'json'],
  ['[\'{"a": 1}\'::JSON]', '[{"a":1}]', 'json'],
  ["{'a': 1}::VARIANT", '{"a":1}', 'json'],
  ['sum(1)', 1, 'number'],
  ['count(*)', 1, 'number'],
])('%s', async (sql, value, kind) => {
  expect(await runOne(engine, `SELECT ${sql} AS v`)).toMatchObject({
    kind: 'rows',
    columns: [{ name: 'v', kind }],
    rows: [[value]],
  });
}); // prettier-ignore

test('fields without names are said to be none, not mixed up', async () => {
  const result = await runOne(engine, 'SELECT row(1, 2)');
  expect(result).toMatchObject({ kind: 'sql-error', message: expect.stringContaining('have no names') as string });
});

describe('the hash of a whole result', () => {
  const hashOf = async (sql: string): Promise<string> => {
    const digest = await engine.digest(sql, options());
    if ('kind' in digest) throw new Error(JSON.stringify(digest));
    return `${digest.count} ${digest.hash}`;
  };

  test.each<[string, string]>([
    ['SELECT * FROM (VALUES (1, NULL), (2, NULL)) v(a, b)', 'SELECT * FROM (VALUES (2, NULL), (1, NULL)) v(a, b) -- end;'],
    ['SELECT 4', 'SELECT 4.0000000001'],
    ['SELECT 4::HUGEINT', 'SELECT 4.00::DECIMAL(10, 2)'],
    ['SELECT 0.1::DOUBLE + 0.2', 'SELECT 0.3'],
    ['SELECT 1.5::FLOAT, 1e20', 'SELECT 1.5::DECIMAL(4, 2), 100000000000000000000::DOUBLE'],
    ["SELECT TIMESTAMP '2020-01-01 00:00:00'", "SELECT DATE '2020-01-01'"],
    ["SELECT TIMESTAMPTZ '2020-01-01 10:00:00+00'", "SELECT TIMESTAMP '2020-01-01 10:00:00'"],
    ['SELECT true', 'SELECT 1'],
    ['SELECT \'{"a": 1}\'::JSON', 'SELECT \'{"a":1}\'::JSON'],
    ['SELECT 1 AS x, 2 AS x', 'SELECT 1, 2;'],
    ['SELECT id FROM person ORDER BY id', 'SELECT id FROM person ORDER BY id DESC'],
    ["SELECT 'nan'::DOUBLE", "SELECT 'nan'::FLOAT"],
  ])('%s equals %s', async (one, other) => {
    expect(await hashOf(one)).toBe(await hashOf(other));
  }); // prettier-ignore

  test.each<[string, string]>([
    ['SELECT 1', 'SELECT 2'],
    ['SELECT 9007199254740993', 'SELECT 9007199254740992'],
    ['SELECT 1.000001', 'SELECT 1.00001'],
    ["SELECT 'a', 'b'", "SELECT 'ab', ''"],
    ["SELECT 'a|b', 'c'", "SELECT 'a', 'b|c'"],
    ['SELECT NULL', "SELECT 'n'"],
    ['SELECT 1 UNION ALL SELECT 1', 'SELECT 1'],
    ['SELECT 1, 2 UNION ALL SELECT 3, 4', 'SELECT 1, 4 UNION ALL SELECT 3, 2'],
    ["SELECT '\\xAA'::BLOB", "SELECT '\\xAB'::BLOB"],
    ['SELECT 1 WHERE false', 'SELECT 0'],
  ])('%s does not equal %s', async (one, other) => {
    expect(await hashOf(one)).not.toBe(await hashOf(other));
  });
});

test('rows are capped, and the session goes on', async () => {
  const capped = await runOne(engine, 'SELECT * FROM range(1000000)', { maxRows: 3 });
  expect(capped).toMatchObject({ kind: 'rows', rows: [[0], [1], [2]], truncated: true });
  expect(await runOne(engine, 'SELECT 1', { maxRows: 1 })).toMatchObject({ rows: [[1]], truncated: false });
});

test('a result of too many bytes is cut', async () => {
  const cut = await runOne(engine, "SELECT repeat('x', 1000000) FROM range(200)");
  expect(cut).toMatchObject({ kind: 'rows', truncated: true });
  expect(rowsOf(cut).length).toBeLessThan(80);
});

test('after an error the other statements of a run go on', async () => {
  const { results } = await engine.run(
    ["SELECT CAST('x' AS INTEGER)", 'SELECT nope FROM person', 'SELECT 1', 'SELECT FROM', 'SELECT 2'],
    options(),
  );
  expect(results).toMatchObject([
    { kind: 'sql-error', message: /^Conversion Error: Could not convert string 'x' to INT32 \(line 1, at CAST\('x' AS INTEGER\)\)$/, code: 'Conversion' },
    { kind: 'sql-error', message: /^Binder Error: Referenced column "nope" not found in FROM clause! .*\(line 1, at nope FROM person\)$/, code: 'Binder' },
    { kind: 'rows', rows: [[1]] },
    { kind: 'sql-error', message: /^Parser Error: /, code: 'Parser' },
    { kind: 'rows', rows: [[2]] },
  ].map((each) => ('message' in each ? { ...each, message: expect.stringMatching(each.message as RegExp) as string } : each)));
}); // prettier-ignore

test('a statement ends in its time, also where DuckDB would not stop, and the engine goes on', async () => {
  const session = options({ timeoutMs: 1_000 });
  await runOne(engine, 'SELECT 1');
  const started = Date.now();
  const endless = 'SELECT count(*) FROM range(10000000000) a, range(1000000) b';
  expect((await engine.run([endless, 'SELECT 7'], session)).results).toMatchObject([
    { kind: 'timeout', afterMs: 1_000 },
    { kind: 'rows', rows: [[7]] },
  ]);
  // It was tried twice, in a process of its own each time.
  expect(Date.now() - started).toBeLessThan(60_000);
});

test('an abort ends the process of a statement at once', async () => {
  const controller = new AbortController();
  const running = engine.run(['SELECT count(*) FROM range(10000000000) a, range(1000000) b'], options({ signal: controller.signal, timeoutMs: 200_000 })); // prettier-ignore
  await new Promise((resolve) => setTimeout(resolve, 500));
  const aborted = Date.now();
  controller.abort();
  await expect(running).rejects.toThrow();
  // Far below its time limit.
  expect(Date.now() - aborted).toBeLessThan(60_000);
  expect(await runOne(engine, 'SELECT 1')).toMatchObject({ rows: [[1]] });
});

test('a statement that needs too much memory is told so, or its process ends; the engine goes on', async () => {
  const [sorted, value] = (
    await engine.run(
      ['SELECT range FROM range(400000000) ORDER BY hash(range)', "SELECT length(string_agg(repeat('x', 1000), '')) FROM range(3000000)"],
      options({ timeoutMs: 60_000 }),
    )
  ).results; // prettier-ignore
  for (const result of [sorted, value])
    expect(result).toMatchObject({ kind: 'sql-error', message: expect.stringMatching(/memory|too large|cannot return/i) as string }); // prettier-ignore
  expect(await runOne(engine, 'SELECT 1')).toMatchObject({ rows: [[1]] });
});

test('a process that ends in the middle of a statement is told, and the engine goes on', async () => {
  const slow = 'SELECT count(*) FROM range(10000000000) a, range(1000000) b';
  const own = createDuckdbEngine({ path: file, poolSize: 1 });
  // Those that have computed for a second: an idle one of another test may be among them, and is opened again.
  const killing = setInterval(() => {
    const { stdout } = spawnSync('ps', ['-o', 'pid=,cputimes=,args=', '--ppid', String(process.pid)]);
    for (const [, pid] of stdout.toString().matchAll(/^ *(\d+) +[1-9]\d* gate: reads/gm)) process.kill(Number(pid), 'SIGKILL');
  }, 200);
  // Tried twice.
  const result = await runOne(own, slow, { timeoutMs: 60_000 }).finally(() => clearInterval(killing));
  expect(result).toMatchObject({ kind: 'sql-error', message: expect.stringMatching(/^DuckDB cannot return this result: it ended by SIGKILL/) as string });
  expect(await runOne(own, 'SELECT 1')).toMatchObject({ rows: [[1]] });
  await own.close();
}); // prettier-ignore

test('many statements do not fill the memory of their process', async () => {
  const path = join(folder, 'many.duckdb');
  await write(path, 'CREATE TABLE t AS SELECT range AS a FROM range(10)');
  const own = createDuckdbEngine({ path, poolSize: 1 });
  const sums = Array.from({ length: 300 }, (_, number) => `sum(a + ${number})`).join(', ');
  // By its id: the name that it shows is cut at the length of its command line.
  const processes = (): Map<string, number> => {
    const { stdout } = spawnSync('ps', ['-o', 'pid=,rss=,args=', '--ppid', String(process.pid)]);
    const lines = stdout.toString().matchAll(/^ *(\d+) +(\d+) gate: reads/gm);
    return new Map(Array.from(lines, ([, id = '', kilobytes]) => [id, Number(kilobytes) / 1024]));
  };
  const others = processes();
  const run = async (times: number): Promise<number> => {
    for (let time = 0; time < times; time += 1) await runOne(own, `SELECT ${time}, ${sums} FROM t`);
    const [megabytes, ...more] = [...processes()].filter(([id]) => !others.has(id)).map(([, each]) => each);
    expect(more).toEqual([]);
    return megabytes ?? NaN;
  };
  const first = await run(100);
  expect((await run(200)) - first).toBeLessThan(80);
  await own.close();
});

test('a folder of data files is a database: what was read how is described, and a changed file is read again', async () => {
  const data = join(folder, 'data');
  mkdirSync(data);
  writeFileSync(join(data, 'orders.csv'), 'id;amount\n1;1,50\n2;2,25\n');
  writeFileSync(join(data, 'empty.csv'), '');
  for (const cacheFolder of [join(folder, 'cache'), null]) {
    const own = createDuckdbEngine({ path: data, cacheFolder });
    const { tables, files } = await own.describe({ signal: options().signal });
    expect(tables).toMatchObject([{ name: 'orders', columns: [{ name: 'id' }, { name: 'amount' }] }]);
    expect(files?.tables).toMatchObject([
      { name: 'orders', text: expect.stringMatching(/^orders\.csv: \d rows; UTF-8, delimiter ;, header in line 1/) as string },
      { name: 'empty.csv', text: expect.stringMatching(/^not read: .*empty/) as string },
    ]);
    const before = await own.revision?.({ signal: options().signal });
    const [[count]] = rowsOf(await runOne(own, 'SELECT count(*) FROM orders')) as [[number]];
    appendFileSync(join(data, 'orders.csv'), '3;3\n');
    expect(rowsOf(await runOne(own, 'SELECT count(*) FROM orders'))).toEqual([[count + 1]]);
    expect(await own.revision?.({ signal: options().signal })).not.toBe(before);
    await own.close();
  }
  expect((await checkDuckdb(data, join(folder, 'cache'))).attempts.every(({ outcome }) => outcome === 'refused')).toBe(true);
}); // prettier-ignore

test('a description has tables, views, columns, types, keys, comments, counts and samples', async () => {
  const { version, tables } = await engine.describe({ signal: options().signal });
  expect(version).toMatch(/^DuckDB \d+\.\d+\.\d+$/);
  expect(tables.map(({ name, kind, rowEstimate }) => [name, kind, rowEstimate])).toEqual([
    ['clinic.Ward', 'table', 0],
    ['main.a.b', 'table', 0],
    ['broken', 'view', null],
    ['named', 'view', null],
    ['person', 'table', 300],
    ['visit', 'table', 2000],
  ]);
  expect(tables.find(({ name }) => name === 'visit')).toMatchObject({
    columns: [
      { name: 'day', type: 'date', nullable: true, comment: null, samples: expect.arrayContaining(['2020-01-01']) as string[] },
      { name: 'person_id', type: 'integer' },
      { name: 'cost', type: 'decimal(10,2)', comment: 'in euros' },
      { name: 'tags', type: 'varchar[]', samples: ['[a, b]'] },
      { name: 'note', type: 'json' },
    ],
    primaryKey: [],
    foreignKeys: [{ columns: ['person_id'], table: 'person', references: ['id'] }],
  });
  expect(tables.find(({ name }) => name === 'person')).toMatchObject({
    comment: 'people',
    primaryKey: ['id'],
    uniqueKeys: [['name']],
    columns: [{ nullable: false }, { nullable: false }, { nullable: true }],
  });
  expect(tables.find(({ name }) => name === 'clinic.Ward')?.columns[1]?.type).toBe("enum('open', 'closed')");
}); // prettier-ignore

test('a revision changes with the file', async () => {
  const path = join(folder, 'revised.duckdb');
  await write(path, 'CREATE TABLE t (a INTEGER)');
  const own = createDuckdbEngine({ path });
  const signal = options().signal;
  const before = await own.revision?.({ signal });
  expect(await own.revision?.({ signal })).toBe(before);
  await write(path, 'INSERT INTO t VALUES (1)');
  expect(await own.revision?.({ signal })).not.toBe(before);
  await own.close();
});

test.each([
  ['SELECT COLUMNS(*) FROM person', /COLUMNS\(…\) may read hidden columns/],
  ["SELECT COLUMNS('s.n') FROM person", /COLUMNS\(…\) may read hidden columns/],
  ['SELECT * EXCLUDE (id) FROM person', /^\* would read hidden columns/],
  ['SELECT person FROM person', /without a column would read hidden columns/],
  ["SELECT p['ssn'] FROM person p", /without a column would read hidden columns/],
  ['SELECT id FROM person UNPIVOT (v FOR n IN (ssn))', /^UNPIVOT would read hidden columns/],
  ['SELECT id FROM person QUALIFY max(ssn) OVER () > 1', /^the column person\.ssn may not be read here/],
  ['SELECT id FROM x: person', /an alias in front/],
  ['SELECT table_name FROM duckdb_tables', /may not be read here/],
])('with a hidden column, %s is refused', async (sql, message) => {
  const guarded = createGuardedEngine(engine, createDuckdbInspector(), { allow: [], deny: ['person.ssn'] });
  expect(await runOne(guarded, sql)).toEqual({ kind: 'refused', message: expect.stringMatching(message) as string });
  expect(await runOne(guarded, 'SELECT id, name FROM person WHERE id = 1')).toMatchObject({ rows: [[1, 'person 1']] });
});

test('a statement whose relations the two readings see otherwise is refused', async () => {
  // The reader takes the second part of the text for a name, DuckDB for the rest of the text.
  const sql = "SELECT 1 FROM person WHERE name = E'a'\n'b\\' -- ' OR EXISTS (SELECT 1 FROM visit)";
  expect(await runOne(engine, sql)).toMatchObject({ kind: expect.stringMatching(/refused|sql-error/) as string });
});

test('the check attempts writes, and each is refused', async () => {
  const before = readFileSync(file);
  const { version, attempts, connectMs } = await checkDuckdb(file);
  expect(version).toMatch(/^DuckDB 1\./);
  expect(connectMs).toBeGreaterThan(0);
  expect(attempts.length).toBeGreaterThanOrEqual(8);
  expect(attempts.filter(({ outcome }) => outcome !== 'refused')).toEqual([]);
  expect(readFileSync(file).equals(before)).toBe(true);
});

describe('files that cannot be read', () => {
  const lineOf = async (path: string): Promise<string> => {
    const own = createDuckdbEngine({ path });
    try {
      return await runOne(own, 'SELECT 1').then(
        (result) => JSON.stringify(result),
        (error: unknown) => (error as Error).message.replaceAll(folder, 'FOLDER'),
      );
    } finally {
      await own.close();
    }
  };

  test('a file that another program writes is locked, and the line names the program', async () => {
    const path = join(folder, 'locked.duckdb');
    const script = `const { DuckDBInstance } = require(process.argv[1]);
      DuckDBInstance.create(process.argv[2]).then(async (instance) => {
        const connection = await instance.connect();
        await connection.run('CREATE TABLE t AS SELECT 1 AS a');
        console.log('ready');
        setInterval(() => connection, 1000);
      });`;
    const api = require.resolve('@duckdb/node-api');
    const writer = spawn(process.execPath, ['-e', script, api, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => writer.stdout.once('data', resolve));
    expect(await lineOf(path)).toMatch(
      new RegExp(`^FOLDER/locked.duckdb is open for writing in another program \\(.+, process ${writer.pid}\\): close it there, or copy`),
    ); // prettier-ignore
    writer.kill('SIGKILL');
    await new Promise((resolve) => writer.once('exit', resolve));
    // What it had not written into the file itself is read all the same.
    expect(await lineOf(path)).toContain('"rows"');
  });

  test('another file, a damaged one, none, and a folder each get one line', async () => {
    writeFileSync(join(folder, 'text.duckdb'), 'this is a text and no database');
    expect(await lineOf(join(folder, 'text.duckdb'))).toMatch(/^FOLDER\/text.duckdb is not a DuckDB database: name/);
    for (const text of ['', 'short', 'SQLite format 3\0', 'x'.repeat(20_000)]) {
      writeFileSync(join(folder, 'other.duckdb'), text);
      expect(await lineOf(join(folder, 'other.duckdb'))).toMatch(
        /^FOLDER\/other.duckdb is not a DuckDB database: name/,
      );
    }
    const damaged = join(folder, 'damaged.duckdb');
    copyFileSync(file, damaged);
    const bytes = readFileSync(damaged);
    writeFileSync(damaged, bytes.fill(7, 4500, 30_000));
    expect(await lineOf(damaged)).toMatch(/^FOLDER\/damaged.duckdb is damaged: IO Error: Corrupt/);
    expect(await lineOf(join(folder, 'none.duckdb'))).toBe(
      'there is no file FOLDER/none.duckdb: check the path of the database',
    );
  });

  test.each([
    ['Trying to read a database file with version number 99, but we can only read versions between 64 and 67.', /^db was made by another version of DuckDB/],
    ['Cannot open encrypted database "x" without a key', /^db is encrypted/],
  ])('%s', (message, line) => {
    expect(() => duckdb.throwIfBroken({ code: 'IO', message: `IO Error: ${message}` }, 'db')).toThrow(line);
  }); // prettier-ignore

  test('a missing driver is one line', () => {
    expect(() => duckdb.throwIfBroken({ code: 'MODULE_NOT_FOUND', message: "Cannot find module '@duckdb/node-api'" }, 'db')).toThrow('install @duckdb/node-api: npm install @duckdb/node-api'); // prettier-ignore
  });
});

test('the file is free for writers soon after its last use', async () => {
  const path = join(folder, 'free.duckdb');
  await write(path, 'CREATE TABLE t AS SELECT 1 AS a');
  const own = createDuckdbEngine({ path });
  expect(await runOne(own, 'SELECT count(*) FROM t')).toMatchObject({ rows: [[1]] });
  // A result that is cut, and one that fails in the middle.
  const { results } = await own.run(
    ['SELECT row(1, 2) FROM t, range(1000000)', 'SELECT repeat($$x$$, 100) FROM t, range(1000000)'],
    options({ maxRows: 5 }),
  );
  expect(results).toMatchObject([{ kind: 'sql-error' }, { kind: 'rows', truncated: true }]);
  const script = `require(process.argv[1]).DuckDBInstance.create(process.argv[2]).then(async (instance) => {
    const connection = await instance.connect();
    await connection.run('INSERT INTO t VALUES (2)');
    connection.closeSync();
    instance.closeSync();
  });`;
  // The session gives the file up when it has had nothing to do for a moment.
  const insert = () =>
    spawnSync(process.execPath, ['-e', script, require.resolve('@duckdb/node-api'), path], { encoding: 'utf8' });
  const written = await eventually(insert, ({ stderr }) => !/lock/i.test(stderr));
  expect(written).toMatchObject({ status: 0, stderr: '' });
  expect(await runOne(own, 'SELECT count(*) FROM t')).toMatchObject({ rows: [[2]] });
  await own.close();
});

test('an error of several lines becomes one, with the place', () => {
  expect(oneLine('Binder Error: no column "b"\nCandidates: "a"\n\nLINE 2: , b FROM t\n          ^')).toBe(
    'Binder Error: no column "b" Candidates: "a" (line 2, at b FROM t)',
  );
  expect(oneLine('Plain Error: nothing')).toBe('Plain Error: nothing');
});

test('a macro with the name of a function that is allowed is not called', async () => {
  const path = join(folder, 'macros.duckdb');
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run("CREATE TABLE hidden (ssn VARCHAR); INSERT INTO hidden VALUES ('1-2'); CREATE MACRO ucase(x) AS (SELECT max(ssn) FROM hidden)");
  connection.closeSync();
  instance.closeSync();
  const own = createDuckdbEngine({ path });
  expect(await runOne(own, "SELECT ucase('x')")).toMatchObject({ kind: 'refused', message: expect.stringMatching(/is a macro of this database/) as string });
  expect(await runOne(own, "SELECT upper('x')")).toMatchObject({ rows: [['X']] });
  await own.close();
}); // prettier-ignore
