/** The engines that the conformance suite runs against. A new one is one more entry: docs/adding-an-engine.md. */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { Client } from 'pg';
import { ENDLESS, eventually } from '../../helpers/engine';
import { startFakesnow, type TestSnowflake } from '../../helpers/fakesnow';
import { sharedMariaDb } from '../../helpers/mariadb';
import { sharedPostgres } from '../../helpers/postgres';
import { onRecorder } from '../../helpers/snowflake-claims';
import { FAILS, recursiveSeries, type Subject, type Words } from './subject';

const count = (query: string): string => `SELECT count(*) FROM (${query}) AS s`;

/** What most engines have in common. */
const USUAL: Words = {
  types: {
    ...{ integer: 'integer', bigint: 'bigint', double: 'double precision', decimal: 'decimal(12,2)', text: 'text' },
    ...{ boolean: 'boolean', date: 'date', timestamp: 'timestamp', bytes: 'bytea', json: 'json' },
  },
  shown: {},
  series: recursiveSeries,
  endless: ENDLESS,
  slow: count(recursiveSeries(3_000_000)),
  fails: 'SELECT 1 / (id - 2) FROM team',
  long: (bytes) => `repeat('x', ${bytes})`,
  bytes: (hex) => `x'${hex}'`,
  json: (text) => `'${text}'`,
  timestamp: (text) => `TIMESTAMP '${text}'`,
  truth: [true, false],
  comment: (table, column, text) => [
    `COMMENT ON TABLE ${table} IS '${text}'`,
    `COMMENT ON COLUMN ${table}.${column} IS '${text}'`,
  ],
  same: [
    ['1.50', '1.5', true],
    ['12345678', '12345678.0', true],
    ['12345678', '12345679', false],
    ['0.1', '0.10000000001', true],
    ['0.1', '0.1001', false],
    ["'a'", "'a '", false],
    ["'a'", "'A'", false],
    ["''", 'NULL', false],
    ['9007199254740993', '9007199254740992', false],
    ['NULL', 'NULL', true],
  ],
  values: [
    ['1.50', 1.5],
    ['-0.05', -0.05],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', '9007199254740993'],
    ['NULL', null],
    ["''", ''],
    ["'NULL'", 'NULL'],
    ["'é 漢 😀'", 'é 漢 😀'],
  ],
  notes: [],
};

let server = 0;
/** A name for a database that no other file uses. */
const fresh = (): string => `conformance_${process.pid}_${(server += 1)}`;

const postgresql: Subject = {
  name: 'PostgreSQL',
  dialect: 'postgresql',
  ceiling: { maxPlanCost: 10_000 },
  words: {
    ...USUAL,
    shown: { decimal: 'numeric(12,2)', timestamp: 'timestamp without time zone' },
    slow: count(recursiveSeries(1_500_000)),
    bytes: (hex) => `'\\x${hex}'::bytea`,
    same: [
      ...USUAL.same,
      ['true', '1', true],
      ["date '2020-01-01'", "timestamp '2020-01-01 00:00:00'", true],
      [`'{"a": 1}'::jsonb`, `'{"a":1}'::jsonb`, true],
    ],
    values: [
      ...USUAL.values,
      ['12345678901234567890.5', '12345678901234567890.5'],
      ["'NaN'::float8", 'NaN'],
      ["'-Infinity'::float8", '-Infinity'],
      ["date '0044-03-15 BC'", '0044-03-15 BC'],
      ["timestamp '2024-02-29 12:00:00.5'", '2024-02-29 12:00:00.5'],
      ["timetz '10:00:00+02'", '10:00:00+02'],
      ["interval '1 month 2 days'", '1 mon 2 days'],
      [`'{"b" : 1.50, "a": [1, 2]}'::json`, '{"b":1.50,"a":[1,2]}'],
      ["'\\x00ff'::bytea", '\\x00ff'],
      ['ARRAY[1, 2]', '{1,2}'],
      ['int4range(1, 3)', '[1,3)'],
    ],
    notes: [
      ['integer / integer truncates', '7 / 2', 3],
      ['round(x, n) needs numeric', 'round(2.5::float8, 1)', FAILS],
      ['One bad value fails the whole query', "'x'::numeric", FAILS],
      [
        "CASE WHEN t ~ '^-?[0-9]+([.][0-9]+)?$' THEN t::numeric END",
        `(SELECT sum(CASE WHEN t ~ '^-?[0-9]+([.][0-9]+)?$' THEN t::numeric END) FROM (VALUES ('1.5'), ('x'), ('-2')) AS v(t))`,
        -0.5,
      ],
      ['= and LIKE heed case', "'a' = 'A' OR 'a' LIKE 'A'", false],
      ['ILIKE does not', "'a' ILIKE 'A'", true],
      ['-> and ->>', `'{"a":"b"}'::json ->> 'a'`, 'b'],
      ['date_trunc, interval', "date_trunc('month', timestamp '2024-02-29') + interval '1 day'", '2024-02-02 00:00:00'],
    ],
  },
  async start() {
    const server = await sharedPostgres();
    const name = fresh();
    await server.createDatabase(name);
    const connected = async <T>(use: (client: Client) => Promise<T>): Promise<T> => {
      const client = new Client({ connectionString: server.url(name) });
      await client.connect();
      return use(client).finally(() => client.end());
    };
    return {
      opening: { address: server.url(name), role: server.laidDown.role ?? null },
      write: (...statements) => connected((client) => client.query(statements.join(';\n'))).then(() => undefined),
      cutOff: () =>
        connected(async (client) => {
          const { rowCount } = await client.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
             AND application_name LIKE 'gate s1%' AND state = 'active' AND query LIKE '%RECURSIVE%'`,
          );
          return rowCount ?? 0;
        }),
      stop: () => Promise.resolve(),
    };
  },
};

const WRITE = 'const [, library, file, sql] = process.argv; new (require(library))(file).exec(sql);';

const sqlite: Subject = {
  name: 'SQLite',
  dialect: 'sqlite',
  instead: {
    statements: {
      'a statement that is expected to cost more than the ceiling is refused, a small one is not':
        'SQLite tells no costs of a plan',
      'a connection that is lost in the middle is no fault of the statement, and the next run works':
        'a file has no connection',
      'a connection that is dropped on its way costs a statement, or a reading, its time limit':
        'a file has no connection',
    },
  },
  words: {
    ...USUAL,
    types: { ...USUAL.types, bytes: 'blob' },
    fails: 'SELECT abs(-9223372036854775807 - (id / 3)) FROM team',
    long: (bytes) => `hex(zeroblob(${bytes / 2}))`,
    timestamp: (text) => `'${text}'`,
    truth: [1, 0],
    comment: null,
    same: [...USUAL.same, ['true', '1', true]],
    values: [
      ...USUAL.values,
      ['1e400', 'Infinity'],
      ["x'00ff'", '\\x00ff'],
      ["date('2024-02-29')", '2024-02-29'],
      [`'{"b" : 1.50}'`, '{"b" : 1.50}'],
    ],
    notes: [
      ['integer / integer truncates', '7 / 2', 3],
      ['multiply by 1.0', '7 * 1.0 / 2', 3.5],
      ['No :: casts', "'1'::integer", FAILS],
      ["CAST('abc' AS REAL) is 0 without an error", "CAST('abc' AS REAL)", 0],
      ["'10' = 10 may be false", "'10' = 10", 0],
      ['= heeds case', "'a' = 'A'", 0],
      ['LIKE does not', "'a' LIKE 'A'", 1],
      ['json_extract or ->>', `'{"a":"b"}' ->> '$.a'`, 'b'],
      ["datetime(x, '-1 month', 'start of year')", "datetime('2024-01-15', '-1 month', 'start of year')", '2023-01-01 00:00:00'],
      ['julianday for differences', "julianday('2024-03-01') - julianday('2024-02-01')", 29],
    ],
  }, // prettier-ignore
  start() {
    const folder = mkdtempSync(join(tmpdir(), 'gate-conformance-'));
    const file = join(folder, 'club.sqlite');
    const run = promisify(execFile);
    // In a process of its own: libsql keeps the lock of a statement that failed until its process ends.
    const write = async (...statements: readonly string[]): Promise<void> => {
      await run(process.execPath, ['-e', WRITE, require.resolve('libsql'), file, statements.join(';\n')]);
    };
    return write('PRAGMA user_version = 1').then(() => ({
      opening: { address: file },
      write,
      stop: () => rm(folder, { recursive: true, force: true }),
    }));
  },
};

const snowflake: Subject = {
  name: 'Snowflake',
  dialect: 'snowflake',
  instead: {
    statements: {
      ...onRecorder,
      'a statement that is expected to cost more than the ceiling is refused, a small one is not':
        'the stand-in explains nothing: snowflake-protocol.test.ts, with plans that a server wrote',
      'a connection that is lost in the middle is no fault of the statement, and the next run works':
        'the stand-in ends no statement: snowflake-protocol.test.ts',
      'a connection that is dropped on its way costs a statement, or a reading, its time limit':
        'each request may have a connection of its own: snowflake-protocol.test.ts',
    },
    schema: {
      'comments of tables and columns are told, as far as the engine keeps any': 'the stand-in keeps none of columns',
    },
  },
  words: {
    ...USUAL,
    types: { ...USUAL.types, bytes: 'binary', json: 'variant', timestamp: 'timestamp_ntz' },
    shown: { integer: 'number(38,0)', bigint: 'number(38,0)', decimal: 'number(12,2)', double: 'float' },
    fails: 'SELECT code::INTEGER FROM team',
    json: (text) => `PARSE_JSON('${text}')`,
    notes: [
      ['integer / integer keeps the fraction', '7 / 2', 3.5],
      ['TRY_TO_NUMBER(t, 38, 6)', "TRY_TO_NUMBER('x', 38, 6)", null],
      ['TRY_TO_DATE', "TRY_TO_DATE('x')", null],
      ['= and LIKE heed case', "'a' = 'A' OR 'a' LIKE 'A'", false],
      ['ILIKE does not', "'a' ILIKE 'A'", true],
    ],
  },
  async start() {
    const server: TestSnowflake = await startFakesnow();
    const name = fresh().toUpperCase();
    await server.write(name, 'SELECT 1');
    return {
      opening: { address: server.url(name) },
      write: (...statements) => server.write(name, statements.join(';\n')),
      stop: () => server.stop(),
    };
  },
};

const duckdb: Subject = {
  name: 'DuckDB',
  dialect: 'duckdb',
  locks: true,
  instead: {
    statements: {
      'a statement that is expected to cost more than the ceiling is refused, a small one is not':
        'DuckDB tells no costs of a plan',
      'a connection that is lost in the middle is no fault of the statement, and the next run works':
        'a file has no connection',
      'a connection that is dropped on its way costs a statement, or a reading, its time limit':
        'a file has no connection',
    },
  },
  words: {
    ...USUAL,
    types: { ...USUAL.types, bytes: 'blob', double: 'double', text: 'varchar' },
    // A recursive query takes a step for each of its numbers, which is slow here.
    series: (to) => `SELECT unnest(range(1, ${to + 1})) AS i`,
    slow: 'SELECT count(*) FROM range(60000) a, range(20000) b WHERE hash(a.range * b.range) % 7 = 1',
    fails: 'SELECT code::INTEGER FROM team',
    bytes: (hex) => `'${hex.replace(/../g, '\\x$&')}'::BLOB`,
    same: [
      ...USUAL.same,
      ['true', '1', true],
      ["DATE '2020-01-01'", "TIMESTAMP '2020-01-01 00:00:00'", true],
      ["'NaN'::DOUBLE", "'NaN'::FLOAT", true],
    ],
    values: [
      ...USUAL.values,
      ['12345678901234567890.5', '12345678901234567890.5'],
      ['170141183460469231731687303715884105727', '170141183460469231731687303715884105727'],
      ["'NaN'::DOUBLE", 'NaN'],
      ["'-Infinity'::DOUBLE", '-Infinity'],
      ["TIMESTAMP '2024-02-29 12:00:00.5'", '2024-02-29 12:00:00.5'],
      ["TIMESTAMPTZ '2024-02-29 12:00:00+02'", '2024-02-29 10:00:00+00'],
      ["INTERVAL '1 month 2 days'", '1 month 2 days'],
      [`'{"b" : 1.50, "a": [1, 2]}'::JSON`, '{"b":1.50,"a":[1,2]}'],
      ["'\\x00\\xff'::BLOB", '\\x00ff'],
    ],
    notes: [
      ['integer / integer keeps the fraction', '7 / 2', 3.5],
      ['// truncates', '7 // 2', 3],
      ['x / 0 is Infinity', '1 / 0', 'Infinity'],
      ['x // 0 and x % 0 are NULL', 'coalesce(1 // 0, 1 % 0)', null],
      ['divide by NULLIF(y, 0)', '1 / NULLIF(0, 0)', null],
      ['One bad value fails the whole query', "'x'::DOUBLE", FAILS],
      ['TRY_CAST(t AS DOUBLE) gives NULL', "TRY_CAST('x' AS DOUBLE)", null],
      ['= and LIKE heed case', "'a' = 'A' OR 'a' LIKE 'A'", false],
      ['ILIKE does not', "'a' ILIKE 'A'", true],
      ["->> '$.a'", `'{"a":"b"}'::JSON ->> '$.a'`, 'b'],
      ['json_extract_string', `json_extract_string('{"a":"b"}', '$.a')`, 'b'],
      ['UNNEST for lists', '(SELECT sum(u) FROM (SELECT UNNEST([1, 2]) AS u) AS t)', 3],
      ['structs as s.a, lists as l[1]', `(SELECT s.a + l[1] FROM (SELECT {'a': 1} AS s, [2] AS l) AS t)`, 3],
      ["date_diff('day', a, b)", "date_diff('day', DATE '2024-02-01', DATE '2024-03-01')", 29],
      ["strptime(t, '%d.%m.%Y') reads texts", "strptime('29.02.2024', '%d.%m.%Y') = TIMESTAMP '2024-02-29'", true],
    ],
  }, // prettier-ignore
  async start() {
    const folder = mkdtempSync(join(tmpdir(), 'gate-conformance-'));
    const file = join(folder, 'club.duckdb');
    const write = async (...statements: readonly string[]): Promise<void> => {
      // A reader that was closed takes a moment to end.
      const instance = await eventually(
        () => DuckDBInstance.create(file).catch((error: unknown) => error as Error),
        (opened) => !(opened instanceof Error && /lock/i.test(opened.message)),
      );
      if (instance instanceof Error) throw instance;
      const connection = await instance.connect();
      try {
        for (const statement of statements) await connection.run(statement);
      } finally {
        connection.closeSync();
        instance.closeSync();
      }
    };
    await write('SELECT 1');
    return { opening: { address: file }, write, stop: () => rm(folder, { recursive: true, force: true }) };
  },
};

/** Numbers from 0, as many as these digits can write, in the column n: a recursive query ends after 1,000 steps in MariaDB. */
const numbers = (digits: number): string => {
  const ten =
    '(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)';
  const places = Array.from({ length: digits }, (_, place) => place);
  return `SELECT ${places.map((place) => `d${place}.d * ${10 ** place}`).join(' + ')} AS n FROM ${places.map((place) => `${ten} AS d${place}`).join(' CROSS JOIN ')}`;
};

const mysql: Subject = {
  name: 'MariaDB',
  dialect: 'mysql',
  instead: {
    statements: {
      'a statement that is expected to cost more than the ceiling is refused, a small one is not':
        'MySQL has a ceiling of time only',
    },
  },
  words: {
    ...USUAL,
    types: {
      ...{ integer: 'int', bigint: 'bigint', double: 'double', decimal: 'decimal(12,2)', text: 'varchar(100)' },
      ...{ boolean: 'boolean', date: 'date', timestamp: 'datetime', bytes: 'blob', json: 'json' },
    },
    series: (to) => `SELECT n + 1 AS i FROM (${numbers(String(to).length)}) AS numbers WHERE n < ${to}`,
    endless: `SELECT count(*) FROM (${numbers(14)}) AS numbers WHERE n % 3 = 5`,
    slow: `SELECT count(*) FROM (${numbers(7)}) AS numbers WHERE n % 3 = 1`,
    fails: 'SELECT (SELECT id FROM team) FROM team',
    truth: [1, 0],
    comment: (table, column, text) => [
      `ALTER TABLE ${table} COMMENT = '${text}'`,
      `ALTER TABLE ${table} MODIFY ${column} int COMMENT '${text}'`,
    ],
    same: [
      ...USUAL.same,
      ['true', '1', true],
      ["DATE '2020-01-01'", "TIMESTAMP '2020-01-01 00:00:00'", true],
      ['CAST(18446744073709551615 AS UNSIGNED)', 'CAST(18446744073709551614 AS UNSIGNED)', false],
    ],
    values: [
      ...USUAL.values,
      ['12345678901234567890.5', '12345678901234567890.5'],
      ['18446744073709551615', '18446744073709551615'],
      ["TIMESTAMP '2024-02-29 12:00:00.5'", '2024-02-29 12:00:00.5'],
      ["x'00ff'", '\\x00ff'],
      ["'a\\b'", 'a\\b'],
      ["'1 ' || 2", '1 2'],
    ],
    notes: [
      ["a backslash in '…' is a plain character", "length('\\n')", 2],
      ['|| joins texts', "'a' || 'b'", 'ab'],
      ['integer / integer keeps the fraction', '7 / 2', 3.5],
      ['DIV truncates', '7 DIV 2', 3],
      ['x / 0 is NULL', '1 / 0', null],
      ['A text compared or added as a number silently becomes its leading digits, else 0', "'12abc' + 0", 12],
      ['A text compared or added as a number silently becomes its leading digits, else 0', "'abc' = 0", 1],
      ["REGEXP '^-?[0-9]+([.][0-9]+)?$'", "'1.5' REGEXP '^-?[0-9]+([.][0-9]+)?$'", 1],
      ['CAST(t AS DECIMAL(20,6))', "CAST('1.5' AS DECIMAL(20,6))", 1.5],
      ['= and LIKE mostly ignore case', "'a' = 'A' AND 'a' LIKE 'A'", 1],
      ['= may ignore blanks at the end', "_latin1'a' = _latin1'a '", 1],
      ['CAST(x AS BINARY) = y heeds both', "CAST('a' AS BINARY) = 'A' OR CAST('a' AS BINARY) = 'a '", 0],
      ['There are no truth values: TRUE is 1', 'TRUE', 1],
      ['CAST(x AS SIGNED), not AS INTEGER', "CAST('7' AS SIGNED)", 7],
      ["JSON_VALUE(col, '$.a')", `JSON_VALUE('{"a":"b"}', '$.a')`, 'b'],
      ["GROUP_CONCAT(x ORDER BY y SEPARATOR ', ')", "(SELECT GROUP_CONCAT(x ORDER BY x SEPARATOR ', ') FROM (SELECT 'b' AS x UNION SELECT 'a') AS t)", 'a, b'],
      ['JSON_EXTRACT', `JSON_EXTRACT('{"a":1}', '$.a')`, '1'],
      ['TIMESTAMPDIFF(DAY, a, b)', "TIMESTAMPDIFF(DAY, DATE '2024-02-01', DATE '2024-03-01')", 29],
      ['DATE_ADD(d, INTERVAL 1 DAY)', "DATE_ADD(DATE '2024-02-28', INTERVAL 1 DAY)", '2024-02-29'],
      ['No FULL JOIN, ILIKE, ::', "'1'::int", FAILS],
    ],
  }, // prettier-ignore
  async start() {
    const server = await sharedMariaDb();
    const name = fresh();
    await server.createDatabase(name, `ALTER DATABASE \`${name}\` CHARACTER SET utf8mb4`);
    await server.createUser(name, 'secret', `SELECT, SHOW VIEW ON \`${name}\`.*`);
    const mode = "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'";
    return {
      opening: { address: server.url(name, { user: name, password: 'secret' }) },
      write: (...statements) => server.query([mode, ...statements].join(';\n'), name).then(() => undefined),
      async cutOff() {
        const running = await server.query(
          `SELECT id FROM information_schema.processlist WHERE user = '${name}' AND command <> 'Sleep'`,
        );
        // One that ended since it was listed needs no end.
        const unlessGone = (error: Error & { errno?: number }): void => {
          if (error.errno !== 1094) throw error;
        };
        for (const [id] of running) await server.query(`KILL ${Number(id)}`).catch(unlessGone);
        return running.length;
      },
      stop: () => Promise.resolve(),
    };
  },
};

export const SUBJECTS: readonly Subject[] = [postgresql, sqlite, snowflake, duckdb, mysql];
