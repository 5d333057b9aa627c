/** What is particular to MySQL and MariaDB: values, modes, logins, TLS, cancelling, lost connections, errors in one line. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from 'mysql2/promise';
import { checkMysql, createMysqlEngine } from '../../../../src/adapters/mysql';
import { readAddress } from '../../../../src/adapters/mysql/address';
import { toEngineError } from '../../../../src/adapters/mysql/errors';
import { MysqlSession, type Server } from '../../../../src/adapters/mysql/session';
import type { SqlResult } from '../../../../src/domain';
import type { SqlEngine } from '../../../../src/domain/ports/sql-engine';
import { createAuthority } from '../../../helpers/certificates';
import { eventually, rowsOf } from '../../../helpers/engine';
import { freePort } from '../../../helpers/free-port';
import { sharedMariaDb, startMariaDb, type TestMariaDb } from '../../../helpers/mariadb';
import { startTcpProxy } from '../../../helpers/tcp-proxy';

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

let server: TestMariaDb;
let engine: SqlEngine;
const READER = { user: 'mysql_unit_reader', password: "s3cret's/@" };

beforeAll(async () => {
  server = await sharedMariaDb();
  await server.createDatabase('mysql_unit_more', 'CREATE TABLE far (id int PRIMARY KEY)');
  await server.createDatabase(
    'mysql_unit',
    `SET sql_mode = '';
    CREATE TABLE kinds (id int PRIMARY KEY AUTO_INCREMENT, u bigint unsigned, b bigint, d decimal(30,10), e decimal(5,2), f float, g double,
      t tinyint(1), bit1 bit(1), bit40 bit(40), y year, day date, at datetime(6), never datetime, stamp timestamp NULL, span time(3), doc json,
      bin binary(3), bytes varbinary(20), txt text, latin varchar(10) CHARACTER SET latin1, pick enum('x','y') COMMENT 'kind', picks set('p','q'),
      place geometry, nothing int, heeding char(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) DEFAULT CHARACTER SET utf8mb4 COMMENT 'all kinds';
    INSERT INTO kinds VALUES (1, 18446744073709551615, -9223372036854775808, 12345678901234567890.1234567890, 1.50, 0.1, 0.1, 1, 1, 1099511627775, 2024,
      '0000-00-00', '2024-01-02 03:04:05.120000', '0000-00-00 00:00:00', '2024-01-01 00:00:00', '-25:01:02.500', '{"b": [1,  2]}', 'abc', x'00ff', '😀 é', 'é',
      'y', 'p,q', ST_GeomFromText('POINT(1 2)'), NULL, 'a');
    CREATE TABLE pairs (x int, y int, kind int, UNIQUE (kind), PRIMARY KEY (x, y), FOREIGN KEY (kind) REFERENCES kinds (id));
    INSERT INTO pairs VALUES (1, 2, 1);
    CREATE VIEW shown AS SELECT id, u FROM kinds`,
  );
  const read = 'SELECT, SHOW VIEW ON';
  await server.createUser(
    READER.user,
    READER.password.replace("'", "''"),
    `${read} mysql_unit.*`,
    `${read} mysql_unit_more.*`,
  );
  engine = createMysqlEngine({ url: server.url('mysql_unit', READER) });
});

afterAll(() => engine.close());

const options = (timeoutMs = 5_000, maxRows = 100) => ({
  timeoutMs,
  maxRows,
  tag: 'unit',
  signal: AbortSignal.timeout(240_000),
});

async function one(sql: string, ...limits: Parameters<typeof options>): Promise<SqlResult> {
  return (await engine.run([sql], options(...limits))).results[0] as SqlResult;
}

const failing = (url: string): Promise<unknown> => {
  const other = createMysqlEngine({ url });
  const failed = other.run(['SELECT 1'], options()).then(
    () => 'it ran',
    (error: unknown) => error,
  );
  return failed.finally(() => other.close());
};

it('values arrive without loss', async () => {
  const result = await one('SELECT * FROM kinds');
  expect(result).toMatchObject({ kind: 'rows', truncated: false });
  if (result.kind !== 'rows') return;
  expect(result.rows[0]).toEqual([
    ...[
      1,
      '18446744073709551615',
      '-9223372036854775808',
      '12345678901234567890.1234567890',
      1.5,
      0.1,
      0.1,
      1,
      1,
      1099511627775,
      2024,
    ],
    ...[
      '0000-00-00',
      '2024-01-02 03:04:05.12',
      '0000-00-00 00:00:00',
      '2024-01-01 00:00:00',
      '-25:01:02.5',
      '{"b":[1,2]}',
    ],
    ...[
      '\\x616263',
      '\\x00ff',
      '😀 é',
      'é',
      'y',
      'p,q',
      '\\x000000000101000000000000000000f03f0000000000000040',
      null,
      'a',
    ],
  ]);
  const kinds = Object.fromEntries(result.columns.map(({ name, kind }) => [name, kind]));
  expect(kinds).toMatchObject({
    u: 'number',
    e: 'number',
    t: 'number',
    bit1: 'number',
    day: 'time',
    span: 'time',
    doc: 'json',
    bin: 'other',
    pick: 'text',
  });
});

it('sessions read standard SQL', async () => {
  expect(
    await one(
      `SELECT "x" || 'a\\b', 1/3, CAST(1 AS UNSIGNED) - 2, COUNT (*), NULL <=> NULL FROM (SELECT 1 AS x) AS t GROUP BY x`,
    ),
  ).toMatchObject({
    rows: [['1a\\b', 0.3333333333, -1, 1, 1]],
  });
  expect(await one('SELECT x, y FROM pairs GROUP BY x')).toMatchObject({ kind: 'sql-error', code: '1055' });
  expect(await one("SELECT 'A' = 'a', TIMESTAMP '2024-01-01 00:00:00' AS at")).toMatchObject({
    rows: [[1, '2024-01-01 00:00:00']],
  });
});

it('MariaDB merges subqueries again when the database has grown large, also in a session that is open', async () => {
  const [known, switches]: [Server, string[]] = [{}, []];
  const session = await MysqlSession.open(readAddress(server.url('mysql_unit', READER)), known);
  for (const isSmall of [true, false]) {
    known.size = { isSmall, at: Date.now() };
    await session.limit(1_000);
    const [[flags] = []] = await session.query("SELECT REGEXP_SUBSTR(@@optimizer_switch, 'derived_merge=[a-z]+')");
    switches.push(String(flags));
  }
  await session.close();
  expect(switches).toEqual([`derived_merge=${session.isMariaDb ? 'off' : 'on'}`, 'derived_merge=on']);
});

it('a recursion goes on for more than 1,000 rounds', async () => {
  const sql = 'WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 5000) SELECT count(*) FROM n';
  expect(await one(sql)).toMatchObject({ rows: [[5000]] });
});

it('a result is cut at the cap, and the run keeps its snapshot', async () => {
  const many =
    'WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 900) SELECT a.x FROM n a, n b';
  const { results } = await engine.run([many, 'SELECT 5', many], options());
  expect(results).toMatchObject([
    { kind: 'rows', truncated: true },
    { rows: [[5]] },
    { kind: 'rows', truncated: true },
  ]);
  expect(results[0]?.kind === 'rows' && results[0].rows.length).toBe(100);
});

it('statements of a run share one snapshot', async () => {
  await server.query('CREATE TABLE IF NOT EXISTS moving (id int) ENGINE=InnoDB; DELETE FROM moving', 'mysql_unit');
  const watching = createMysqlEngine({ url: server.url('mysql_unit', READER) });
  const [first] = await Promise.all([
    watching.run(
      [
        'SELECT count(*) FROM moving',
        'SELECT count(*) FROM kinds a, kinds b WHERE sleep(1) = 0',
        'SELECT count(*) FROM moving',
      ],
      options(),
    ),
    new Promise((resolve) => setTimeout(resolve, 400)).then(() =>
      server.query('INSERT INTO moving VALUES (1)', 'mysql_unit'),
    ),
  ]);
  const [before, slow, after] = first.results;
  expect(slow).toMatchObject({ kind: 'rows' });
  // What a machine under load begins later than the write sees it, in every statement.
  expect(rowsOf(after)).toEqual(rowsOf(before));
  await watching.close();
});

it('a statement over its time limit is a timeout, and the next one runs', async () => {
  const slow =
    'SELECT count(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c';
  const { results } = await engine.run([slow, 'SELECT 1'], options(1_000));
  expect(results).toMatchObject([{ kind: 'timeout', afterMs: 1_000 }, { kind: 'rows' }]);
});

it('an abort ends the statement on the server', async () => {
  const aborting = new AbortController();
  const marked = 'SELECT sleep(280) AS aborted';
  const running = async (): Promise<number> =>
    (
      await server.query(
        "SELECT 1 FROM information_schema.processlist WHERE info LIKE '%AS aborted%' AND id <> CONNECTION_ID()",
      )
    ).length;
  const run = engine.run([marked], { ...options(280_000), signal: aborting.signal });
  const failed = expect(run).rejects.toThrow();
  await eventually(running, (count) => count > 0);
  aborting.abort();
  await failed;
  await eventually(running, (count) => count === 0);
});

it('digests are equal for equal rows in any order, and differ by case, type of text and value', async () => {
  const digest = (sql: string) => engine.digest(sql, options());
  const base = await digest("SELECT 5 AS a, 'x' AS b UNION ALL SELECT 2.50, 'y'");
  expect(base).toMatchObject({ count: 2 });
  expect(
    await digest("WITH z AS (SELECT 25e-1 AS q, 'y' AS q2 UNION ALL SELECT 5e0, 'x') SELECT * FROM z -- done"),
  ).toEqual(base);
  expect(await digest("SELECT 5 AS a, 'X' AS b UNION ALL SELECT 2.50, 'y'")).not.toEqual(base);
  expect(await digest('SELECT * FROM kinds')).toMatchObject({ count: 1 });
  expect(await digest('SELECT 1 AS a, 2 AS a')).toMatchObject({ count: 1 });
  expect(await digest('SELECT nope FROM kinds')).toMatchObject({ kind: 'sql-error', code: '1054' });
});

it('describes tables, keys, comments, estimates and samples', async () => {
  const far = createMysqlEngine({ url: server.url('mysql_unit', READER), options: { schemas: ['mysql_unit_more'] } });
  const { signal } = options();
  const { tables, version } = await far.describe({ signal });
  const before = await far.revision?.({ signal });
  expect(version).toMatch(server.isMariaDb ? /^MariaDB \d/ : /^MySQL \d/);
  const named = Object.fromEntries(tables.map((table) => [table.name, table]));
  expect(Object.keys(named)).toEqual(expect.arrayContaining(['kinds', 'pairs', 'shown', 'mysql_unit_more.far']));
  expect(named['kinds']).toMatchObject({ comment: 'all kinds', kind: 'table', rowEstimate: 1, primaryKey: ['id'] });
  const columns = Object.fromEntries((named['kinds']?.columns ?? []).map((column) => [column.name, column]));
  expect(columns['doc']).toMatchObject({ type: 'json', comment: null });
  expect(columns['pick']).toMatchObject({ type: "enum('x','y')", comment: 'kind', samples: ['y'] });
  expect(columns['heeding']).toMatchObject({ comment: 'heeds case' });
  expect(columns['bit40']).toMatchObject({ samples: ['1099511627775'] });
  expect(named['pairs']).toMatchObject({
    primaryKey: ['x', 'y'],
    uniqueKeys: [['kind']],
    foreignKeys: [{ columns: ['kind'], table: 'kinds', references: ['id'] }],
  });
  expect(named['shown']).toMatchObject({ kind: 'view', rowEstimate: null });
  await server.query('CREATE OR REPLACE VIEW shown AS SELECT id, u, b FROM kinds', 'mysql_unit');
  expect(await far.revision?.({ signal })).not.toBe(before);
  await far.close();
  const unknown = createMysqlEngine({ url: server.url('mysql_unit', READER), options: { schemas: ['nowhere'] } });
  await expect(unknown.describe({ signal })).rejects.toMatchObject({
    message: matching(/no database nowhere/),
  });
  await unknown.close();
});

describe('logins', () => {
  const writers: [what: string, grants: string[], says: RegExp][] = [
    ['all rights', ['ALL PRIVILEGES ON *.*'], /may do more than read .* on \*\.\*.*CREATE USER 'gate_reader'@'%'/],
    ['a right on one column', ['SELECT, UPDATE (x) ON mysql_unit.pairs'], /has UPDATE on `mysql_unit`\.`pairs`/],
    ['calls', ['SELECT, EXECUTE ON mysql_unit.*'], /has EXECUTE on `mysql_unit`\.\*/],
    ['files', ['SELECT ON mysql_unit.*', 'FILE ON *.*'], /has FILE on \*\.\*/],
    [
      'a role that is not active',
      ['SELECT ON mysql_unit.*', 'mysql_unit_role'],
      /\(the role `mysql_unit_role`\S* has INSERT on `mysql_unit`/,
    ],
  ];

  beforeAll(() =>
    server.query(
      'DROP ROLE IF EXISTS mysql_unit_role; CREATE ROLE mysql_unit_role; GRANT SELECT, INSERT ON mysql_unit.* TO mysql_unit_role',
    ),
  );

  it.each(writers)('one with %s is refused', async (_, grants, says) => {
    await server.createUser('mysql_unit_writer', 'secret', ...grants);
    const error = await failing(server.url('mysql_unit', { user: 'mysql_unit_writer', password: 'secret' }));
    expect(error).toMatchObject({ code: 'not-read-only', message: matching(says) });
    expect((error as Error).message).not.toMatch(/\n|PASSWORD '\*/);
  });

  it('the statements that make a reader grant the other databases to describe, too', async () => {
    await server.createUser('mysql_unit_writer', 'secret', 'ALL PRIVILEGES ON mysql_unit.*');
    const url = server.url('mysql_unit', { user: 'mysql_unit_writer', password: 'secret' });
    const both =
      /GRANT SELECT, SHOW VIEW ON `mysql\\_unit`\.\* TO 'gate_reader'@'%'; GRANT SELECT, SHOW VIEW ON `mysql\\_unit\\_more`\.\* TO 'gate_reader'@'%'; then log in as gate_reader/;
    const engine = createMysqlEngine({ url, options: { schemas: ['mysql_unit_more'] } });
    await expect(engine.run(['SELECT 1'], options())).rejects.toMatchObject({ message: matching(both) });
    await engine.close();
    expect((await checkMysql(url, ['mysql_unit_more'])).rights).toMatchObject([{ fix: matching(both) }]);
  });

  it('one whose rights come from a role that only reads is taken', async () => {
    await server.query(
      'DROP ROLE IF EXISTS mysql_unit_reading; CREATE ROLE mysql_unit_reading; GRANT SELECT ON mysql_unit.* TO mysql_unit_reading',
    );
    await server.createUser('mysql_unit_member', 'secret', 'mysql_unit_reading');
    const url = server.url('mysql_unit', { user: 'mysql_unit_member', password: 'secret' });
    expect(await failing(url)).toMatchObject({ code: 'authentication', message: matching(/SET DEFAULT ROLE/) });
    const to = server.isMariaDb ? 'FOR' : 'TO';
    await server.query(`SET DEFAULT ROLE mysql_unit_reading ${to} 'mysql_unit_member'@'%'`);
    const member = createMysqlEngine({ url });
    expect((await member.run(['SELECT id FROM kinds'], options())).results).toMatchObject([{ rows: [[1]] }]);
    await member.close();
  });

  it('gate db check tries to write and tells the rights with what removes them', async () => {
    await server.createUser(
      'mysql_unit_writer',
      'secret',
      'SELECT ON mysql_unit.*',
      'INSERT, DELETE ON mysql_unit.pairs',
      'mysql_unit_role',
    );
    const to = server.isMariaDb ? 'FOR' : 'TO';
    await server.query(`SET DEFAULT ROLE mysql_unit_role ${to} 'mysql_unit_writer'@'%'`);
    const url = server.url('mysql_unit', { user: 'mysql_unit_writer', password: 'secret' });
    const check = await checkMysql(url);
    expect(check.attempts.map(({ outcome }) => outcome)).toEqual(Array(8).fill('refused'));
    expect(check.rights).toEqual([
      {
        what: '`mysql_unit_writer`@`%` has INSERT, DELETE on `mysql_unit`.`pairs`',
        fix: 'REVOKE INSERT, DELETE ON `mysql_unit`.`pairs` FROM `mysql_unit_writer`@`%`;',
      },
      {
        what: matching(/^the role `mysql_unit_role`\S* has INSERT on `mysql_unit`\.\*$/),
        fix: matching(/^REVOKE `mysql_unit_role`\S* FROM `mysql_unit_writer`@`%`;$/),
      },
    ]);
    for (const { fix } of check.rights) await server.query(fix);
    expect((await checkMysql(url)).rights).toEqual([]);
    expect(await checkMysql(server.url('mysql_unit', READER))).toMatchObject({
      rights: [],
      user: 'mysql_unit_reader@%',
    });
  });
});

it.each([
  ['mysql://h/db', /must name user and database/],
  [
    'mysql://u:pw-secret@h/db?sslmode=x',
    /has sslmode, which is unknown: allowed are ssl-mode, ssl-ca, ssl-cert, ssl-key, socket$/,
  ],
  ['mysql://u:pw-secret@h/db?ssl-mode=ON', /ssl-mode=ON is not known: write one of DISABLED/],
  ['mysql://u:pw-secret@h/db?ssl-ca=/nowhere.pem', /cannot read ssl-ca \/nowhere\.pem \(ENOENT\): correct the path/],
  ['mysql://u@10.0.0.1/db?ssl-mode=VERIFY_IDENTITY', /needs the name of the host/],
  ['postgres://u@h/db', /not valid: write mysql:\/\//],
])('the URL %s is refused in one line', (url, says) => {
  expect(() => createMysqlEngine({ url })).toThrow(says);
  expect(() => createMysqlEngine({ url })).not.toThrow(/pw-secret|\n/);
});

it('what goes wrong with a connection is one line, without the password', async () => {
  const wrong = await failing(server.url('mysql_unit', { ...READER, password: 'pw-secret' }));
  expect(wrong).toMatchObject({
    code: 'authentication',
    message: matching(/refused user mysql_unit_reader: Access denied/),
  });
  expect(await failing(server.url('mysql_nowhere'))).toMatchObject({
    code: 'not-found',
    message: matching(/no database mysql_nowhere/),
  });
  expect(await failing(server.url('mysql_nowhere', READER))).toMatchObject({ code: 'authentication' });
  expect(await failing(`mysql://u:pw-secret@127.0.0.1:${await freePort()}/db`)).toMatchObject({
    message: matching(/^nothing answers at 127\.0\.0\.1:/),
  });
  expect(await failing('mysql://u:pw-secret@localhost/db?socket=/nowhere/s')).toMatchObject({
    message: matching(/no socket \/nowhere\/s/),
  });
  expect(JSON.stringify(wrong)).not.toMatch(/pw-secret/);
});

it.each([
  [
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: "altnames: Host: h. is not in the cert's" },
    'not-configured',
    /is for another host/,
  ],
  [{ code: 'CERT_HAS_EXPIRED', message: 'certificate has expired' }, 'not-configured', /has expired: renew it/],
  [
    { code: 'HANDSHAKE_NO_SSL_SUPPORT', message: 'Server does not support secure connection' },
    'not-configured',
    /offers no TLS/,
  ],
  [
    { errno: 1053, sqlState: '08S01', message: 'Server shutdown in progress' },
    'connection',
    /closed the connection: Server shutdown/,
  ],
  [{ code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND h' }, 'not-found', /there is no host h:1/],
])('the error %j has its line', (error, code, message) => {
  const told = toEngineError(error, { host: 'h:1', database: 'd', user: 'u' });
  expect(told).toMatchObject({ code, message: matching(message) });
});

it.each([
  ['the rights of the login', {}],
  ['the first settings of a session', { anyLogin: true }],
])('a connection that is dropped on its way when %s are asked is given up after a minute', async (_, more) => {
  const address = new URL(server.url('mysql_unit', READER));
  const proxy = await startTcpProxy({ host: address.hostname, port: Number(address.port) });
  address.port = String(proxy.port);
  const dropped = createMysqlEngine({ url: address.href, options: more });
  jest.useFakeTimers({ advanceTimers: true, doNotFake: ['Date', 'nextTick', 'performance', 'setImmediate'] });
  try {
    let isLost = false;
    // The login is the first piece.
    proxy.at(2, () => {
      proxy.forget();
      isLost = true;
    });
    const asked = expect(dropped.run(['SELECT 1'], options())).rejects.toMatchObject({
      code: 'connection',
      message: `lost MySQL at ${address.host}: no answer within 60 s`,
    });
    await eventually(() => isLost);
    jest.advanceTimersByTime(60_000);
    await asked;
    expect((await dropped.run(['SELECT 1'], options())).results).toMatchObject([{ rows: [[1]] }]);
  } finally {
    jest.useRealTimers();
    await dropped.close();
    await proxy.close();
  }
});

it('who leaves does not wait for the rights of the login', async () => {
  const address = new URL(server.url('mysql_unit', READER));
  const proxy = await startTcpProxy({ host: address.hostname, port: Number(address.port) });
  address.port = String(proxy.port);
  const dropped = createMysqlEngine({ url: address.href });
  const left = new AbortController();
  proxy.at(2, () => {
    proxy.forget();
    left.abort(new Error('left'));
  });
  await expect(dropped.run(['SELECT 1'], { ...options(), signal: left.signal })).rejects.toThrow('left');
  await dropped.close();
  await proxy.close();
});

describe('a server of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-mysql-tls-'));
  const [trusted, stranger] = [createAuthority(folder, 'trusted'), createAuthority(folder, 'stranger')];
  const { cert, key } = trusted.issue('server', 'localhost');
  let own: TestMariaDb;

  beforeAll(async () => {
    // The server reads them as another user.
    chmodSync(folder, 0o755);
    chmodSync(key, 0o644);
    own = await startMariaDb([`--ssl-cert=${cert}`, `--ssl-key=${key}`, '--max-connections=12']);
    await own.createDatabase('shop', 'CREATE TABLE t (id int)');
    await own.createUser('reader', 'secret', 'SELECT ON shop.*');
  });
  afterAll(async () => {
    await own.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const url = (parameters: string, host = '127.0.0.1'): string =>
    own.url('shop', { user: 'reader', password: 'secret' }, parameters).replace('127.0.0.1', host);

  it.each([
    ['REQUIRED encrypts', 'ssl-mode=REQUIRED', '127.0.0.1', true],
    ['PREFERRED encrypts where it can', '', '127.0.0.1', true],
    ['DISABLED does not', 'ssl-mode=DISABLED', '127.0.0.1', false],
    ['VERIFY_CA checks the chain', `ssl-mode=VERIFY_CA&ssl-ca=${trusted.cert}`, '127.0.0.1', true],
    ['VERIFY_IDENTITY checks the host', `ssl-mode=VERIFY_IDENTITY&ssl-ca=${trusted.cert}`, 'localhost', true],
  ])('TLS: %s', async (_, parameters, host, tls) => {
    expect(await checkMysql(url(parameters, host))).toMatchObject({ tls });
  });

  it.each([
    [
      'an authority that is not named',
      'ssl-mode=VERIFY_CA',
      '127.0.0.1',
      /is not trusted .*name its authority with ssl-ca/,
    ],
    ['another authority', `ssl-ca=${stranger.cert}`, '127.0.0.1', /is not trusted/],
  ])('TLS: a certificate of %s is refused', async (_, parameters, host, says) => {
    expect(await failing(url(parameters, host))).toMatchObject({
      code: 'not-configured',
      message: matching(says),
    });
  });

  it('what everybody may write is refused, with the line that takes it away', async () => {
    const rights = 'SELECT, INSERT, CREATE ROUTINE ON `test\\_%`.*';
    const granted = own.query(`GRANT ${rights} TO PUBLIC`);
    // MySQL knows no PUBLIC.
    if (!own.isMariaDb) return expect(granted).rejects.toMatchObject({ errno: 1410 });
    await granted;
    expect(await failing(url(''))).toMatchObject({
      code: 'not-read-only',
      message: expect.stringMatching(
        /PUBLIC has INSERT, CREATE ROUTINE on `test\\_%`\.\*\): run as an administrator REVOKE [^;]+ FROM PUBLIC;$/,
      ) as string,
    });
    const [right] = (await checkMysql(url(''))).rights;
    await own.query(right?.fix ?? '');
    const engine = createMysqlEngine({ url: url('') });
    expect((await engine.run(['SELECT 1'], options())).results).toMatchObject([{ rows: [[1]] }]);
    await engine.close();
  });

  it('once a pool has begun, a session opens with three statements', async () => {
    const opening = createMysqlEngine({ url: url('') });
    await opening.run(['SELECT 1'], options());
    await own.query("SET GLOBAL log_output = 'TABLE'; TRUNCATE mysql.general_log; SET GLOBAL general_log = 1");
    const slow = 'SELECT count(*) FROM information_schema.columns a WHERE sleep(0.001) = 0';
    await Promise.all([1, 2].map(() => opening.run([slow], options())));
    await own.query('SET GLOBAL general_log = 0');
    const logged = await own.query(
      "SELECT thread_id, argument FROM mysql.general_log WHERE command_type = 'Query' ORDER BY event_time, thread_id",
    );
    const of = new Map(
      logged.map(([thread]) => [thread, logged.filter(([id]) => id === thread).map(([, sql]) => String(sql))]),
    );
    const opened = [...of.values()].find((all) => all.some((sql) => sql.startsWith('SET NAMES')));
    expect(
      opened?.slice(
        0,
        opened.findIndex((sql) => sql.startsWith('START TRANSACTION')),
      ),
    ).toEqual([
      matching(/^SET NAMES utf8mb4, SESSION sql_mode = 'ANSI_QUOTES,.* time_zone = '\+00:00'/),
      'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY',
      matching(/^SET SESSION max_(statement|execution)_time = /),
    ]);
    await opening.close();
  });

  it('too many connections is one line', async () => {
    const held: Connection[] = [];
    // A connection of an earlier test may end meanwhile and leave its place.
    const told = await eventually(
      async () => {
        await Promise.all(
          Array.from({ length: 12 }, () =>
            own.connect().then(
              (one) => held.push(one),
              () => 0,
            ),
          ),
        );
        return failing(url(''));
      },
      (error) => error !== 'it ran',
    );
    expect(told).toMatchObject({
      code: 'connection',
      message: matching(/no free connection: Too many connections/),
    });
    for (const each of held) await each.end();
  });

  it('a server that crashes is told, and asked again when it is back', async () => {
    const crashing = createMysqlEngine({ url: url('') });
    const slow =
      'SELECT count(*) AS crashing FROM information_schema.columns a, information_schema.columns b, information_schema.columns c';
    const failed = expect(crashing.run([slow], options(240_000))).rejects.toMatchObject({ code: 'lost' });
    const runs =
      "SELECT 1 FROM information_schema.processlist WHERE info LIKE '%AS crashing%' AND command = 'Execute' AND id <> CONNECTION_ID()";
    await eventually(async () => (await own.query(runs)).length > 0);
    await own.crash();
    await failed;
    await own.restart();
    expect((await crashing.run(['SELECT 1'], options())).results).toMatchObject([{ rows: [[1]] }]);
    await crashing.close();
  });
});
