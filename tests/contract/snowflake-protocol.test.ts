/**
 * What the Snowflake engine sends, and what it makes of the answers, on the wire of the real driver: logins, session and
 * statement settings, the role, cancellation, time limits, errors, values. The answers are scripted; that a real account
 * answers so is not shown here.
 */
import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSnowflakeEngine, type SnowflakeEngineSettings } from '../../src/adapters/snowflake';
import { loadConfig } from '../../src/config';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import { openEngines } from '../../src/workers/engines';
import { eventually, options, runOne } from '../helpers/engine';
import { freePort } from '../helpers/free-port';
import { grants, startRecorder, type Recorder, type Reply, type Script } from '../helpers/snowflake-recorder';

const engines: SqlEngine[] = [];
const recorders: Recorder[] = [];

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  for (const recorder of recorders.splice(0)) await recorder.close();
});

type Options = SnowflakeEngineSettings['options'];

async function open(script: Script = {}, options: Options = {}, user = 'ann:secret') {
  const recorder = await startRecorder(script);
  recorders.push(recorder);
  const url = `snowflake://${user}@my-account/club/public?warehouse=wh&role=reader`;
  const engine = createSnowflakeEngine({ url, options: { accessUrl: recorder.accessUrl, ...options } });
  engines.push(engine);
  return { recorder, engine };
}

const loginData = (recorder: Recorder): Record<string, unknown> =>
  recorder.logins[0]?.body['data'] as Record<string, unknown>;

/** Answers to the statements of the test; what opens a session is answered as usual. */
const answering =
  (reply: (sql: string) => Reply | undefined) =>
  ({ sql }: { readonly sql: string }): Reply | undefined =>
    /^(ALTER SESSION|USE SECONDARY|SHOW GRANTS|SELECT CURRENT_ROLE)/.test(sql) ? undefined : reply(sql);

describe('login', () => {
  test('a password goes with user, account, database, schema, warehouse and role', async () => {
    const { recorder, engine } = await open();
    await runOne(engine, 'SELECT 1');
    expect(loginData(recorder)).toMatchObject({
      ACCOUNT_NAME: 'my-account',
      LOGIN_NAME: 'ann',
      PASSWORD: 'secret',
      SESSION_PARAMETERS: { CLIENT_SESSION_KEEP_ALIVE: false },
    });
    const { query } = recorder.logins[0]!;
    expect(['databaseName', 'schemaName', 'warehouse', 'roleName'].map((key) => query.get(key))).toEqual([
      'club', 'public', 'wh', 'reader',
    ]); // prettier-ignore
  });

  test.each([null, 'a passphrase'])('a key pair (passphrase: %s) signs a token that its public half verifies', async (passphrase) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem', ...(passphrase === null ? {} : { cipher: 'aes-256-cbc', passphrase }) }); // prettier-ignore
    const login = { kind: 'key', privateKey: String(pem), passphrase } as const;
    const { recorder, engine } = await open({}, { login }, 'ann');
    await runOne(engine, 'SELECT 1');
    const data = loginData(recorder);
    expect(data).toMatchObject({ AUTHENTICATOR: 'SNOWFLAKE_JWT', LOGIN_NAME: 'ann' });
    expect(data['PASSWORD']).toBeUndefined();
    const [head = '', claims = '', signature = ''] = String(data['TOKEN']).split('.');
    const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    const key = createPublicKey(publicKey.export({ type: 'spki', format: 'pem' }));
    expect(verify.verify(key, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ sub: 'MY-ACCOUNT.ANN' });
  }); // prettier-ignore

  test.each([
    ['pat', 'PROGRAMMATIC_ACCESS_TOKEN'],
    ['oauth', 'OAUTH'],
  ] as const)('a token of the kind %s goes as %s', async (tokenKind, authenticator) => {
    const { recorder, engine } = await open({}, { login: { kind: 'token', token: 'tok', tokenKind } }, 'ann');
    await runOne(engine, 'SELECT 1');
    expect(loginData(recorder)).toMatchObject({ AUTHENTICATOR: authenticator, TOKEN: 'tok' });
  });

  test.each([
    ['390100', 'Incorrect username or password was specified.', 'authentication', /refused ann: Incorrect username/],
    ['390144', 'JWT token is invalid.', 'authentication', /key of ann.*RSA_PUBLIC_KEY/],
    ['390189', 'Role READER is not granted to this user.', 'authentication', /does not grant the role reader to ann/],
    ['390201', 'The requested database does not exist.', 'not-found', /one of club, public, wh/],
    ['390422', 'IP is not allowed to access Snowflake.', 'authentication', /IP is not allowed.*check the login/],
  ])('the login error %s is one line that says what to change', async (code, message, kind, line) => {
    const { engine } = await open({ onLogin: () => ({ code, message }) });
    const failure = await runOne(engine, 'SELECT 1').catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ name: 'SqlEngineError', code: kind });
    expect((failure as Error).message).toMatch(line);
    expect((failure as Error).message).not.toMatch(/secret|\n/);
  });

  test('an account that does not exist, and an address where nothing answers', async () => {
    const { engine } = await open({ onLogin: () => ({ status: 403 }) });
    await expect(runOne(engine, 'SELECT 1')).rejects.toMatchObject({
      code: 'not-found',
      message: 'there is no Snowflake account my-account: check the URL',
    });
    const refusing = await freePort();
    const other = await open({}, { accessUrl: `http://127.0.0.1:${refusing}` });
    await expect(runOne(other.engine, 'SELECT 1')).rejects.toMatchObject({
      code: 'connection',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  test('a key that is none is told at once', async () => {
    const { engine } = await open({}, { login: { kind: 'key', privateKey: 'nonsense', passphrase: null } }, 'ann');
    await expect(runOne(engine, 'SELECT 1')).rejects.toMatchObject({ code: 'not-configured' });
  });

  test('without the driver: install snowflake-sdk', async () => {
    const missing = Object.assign(new Error("Cannot find module 'snowflake-sdk'"), { code: 'MODULE_NOT_FOUND' });
    const { engine } = await open({}, { load: () => Promise.reject(missing) });
    await expect(runOne(engine, 'SELECT 1')).rejects.toMatchObject({
      code: 'not-configured',
      message: 'install snowflake-sdk: npm install snowflake-sdk',
    });
  });
});

describe('session and statement', () => {
  test('a session fixes zone and formats and gives up secondary roles', async () => {
    const { recorder, engine } = await open();
    await runOne(engine, 'SELECT 1');
    const [settings, roles] = recorder.queries.map(({ sql }) => sql);
    expect(settings).toMatch(/^ALTER SESSION SET TIMEZONE = 'UTC' .*ABORT_DETACHED_QUERY = TRUE$/);
    expect(roles).toBe('USE SECONDARY ROLES NONE');
  });

  test('a row with the null of JSON, which has no text, is in the hash', async () => {
    const { recorder, engine } = await open({
      onQuery: answering(() => ({ columns: [['V', 'variant']], rows: [[null]] })),
    });
    await engine.digest('SELECT v FROM t', options());
    expect(recorder.asked().at(-1)).toContain("CASE WHEN TO_VARCHAR(c0) IS NULL THEN 'n'");
  });

  test('a statement carries its tag, its time limit, its row cap and the limit of one statement', async () => {
    const { recorder, engine } = await open();
    await runOne(engine, 'SELECT 1', { timeoutMs: 2_500, maxRows: 7, tag: 'q7f i2.probe' });
    expect(recorder.queries.at(-1)).toMatchObject({
      sql: 'SELECT 1',
      describeOnly: false,
      parameters: {
        QUERY_TAG: 'gate q7f i2.probe',
        STATEMENT_TIMEOUT_IN_SECONDS: 3,
        ROWS_PER_RESULTSET: 8,
        MULTI_STATEMENT_COUNT: 1,
      },
    });
  });

  test('a trace stands in the tag, and the text of the statement is as it was', async () => {
    const { recorder, engine } = await open();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await runOne(engine, 'SELECT 1', { tag: 'q7f i2.probe', traceparent });
    const { sql, parameters } = recorder.queries.at(-1) ?? {};
    expect(sql).toBe('SELECT 1');
    expect(parameters).toMatchObject({ QUERY_TAG: `gate q7f i2.probe traceparent='${traceparent}'` });
  });

  test('twenty runs at once take no more sessions than allowed, and all are answered', async () => {
    const { recorder, engine } = await open({}, { poolSize: 3 });
    const results = await Promise.all(Array.from({ length: 20 }, () => runOne(engine, 'SELECT 1')));
    expect(results.map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => 'rows'));
    expect(recorder.logins).toHaveLength(3);
  });

  test('closing ends the sessions on the server', async () => {
    const { recorder, engine } = await open();
    await runOne(engine, 'SELECT 1');
    await engine.close();
    expect(recorder.ended).toEqual(['s1']);
  });

  test('rows of several chunks arrive whole, and the cap cuts them', async () => {
    const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => [String(from + index)]);
    const table = { columns: [['I', 'fixed']] as const, rows: rows(1, 10), chunks: [rows(11, 20), rows(31, 30)] };
    const { engine } = await open({ onQuery: answering(() => table) });
    expect(await runOne(engine, 'SELECT i FROM t')).toMatchObject({ rows: rows(1, 60).map(([i]) => [Number(i)]), truncated: false }); // prettier-ignore
    expect(await runOne(engine, 'SELECT i FROM t', { maxRows: 25 })).toMatchObject({ truncated: true, rows: rows(1, 25).map(([i]) => [Number(i)]) }); // prettier-ignore
  });

  test('values of every type arrive without loss', async () => {
    const cases: [string, string | null, unknown, string][] = [
      ['fixed', '42', 42, 'number'],
      ['fixed', '9007199254740993', '9007199254740993', 'number'],
      ['fixed', '12345678901234567890.123', '12345678901234567890.123', 'number'],
      ['fixed', '1.50', 1.5, 'number'],
      ['real', '1e+300', 1e300, 'number'],
      ['real', 'NaN', 'NaN', 'number'],
      ['real', '-inf', '-Infinity', 'number'],
      ['boolean', '1', true, 'boolean'],
      ['text', '', '', 'text'],
      ['date', '18321', '2020-02-29', 'time'],
      ['time', '36000.500000000', '10:00:00.5', 'time'],
      ['timestamp_ntz', '1582970400.123456789', '2020-02-29 10:00:00.123456789', 'time'],
      ['timestamp_ntz', '1582970400.000000000', '2020-02-29 10:00:00', 'time'],
      ['timestamp_tz', '1582970400.000000000 1560', '2020-02-29 12:00:00+02:00', 'time'],
      ['timestamp_ltz', '1582970400.000000000', '2020-02-29 10:00:00+00:00', 'time'],
      ['variant', '{\n  "b": 1,\n  "a": "x  y",\n  "n": 12345678901234567890\n}', '{"b":1,"a":"x  y","n":12345678901234567890}', 'json'],
      ['array', '[\n  1,\n  2\n]', '[1,2]', 'json'],
      ['binary', 'DEADBEEF', '\\xdeadbeef', 'other'],
      ['fixed', null, null, 'number'],
      ['text', null, null, 'text'],
      ['variant', null, null, 'json'],
    ]; // prettier-ignore
    const columns = cases.map(([type]) => ['A', type] as const);
    const { engine } = await open({ onQuery: answering(() => ({ columns, rows: [cases.map(([, raw]) => raw)] })) });
    const result = await runOne(engine, 'SELECT * FROM t');
    if (result.kind !== 'rows') throw new Error(JSON.stringify(result));
    expect(result.rows[0]).toEqual(cases.map(([, , value]) => value));
    expect(result.columns).toEqual(cases.map(([, , , kind]) => ({ name: 'A', kind })));
  });
});

describe('the role', () => {
  const asks = (of: Readonly<Record<string, Reply>>): Script => ({
    onQuery: ({ sql }) => {
      const role = /^SHOW GRANTS TO (?:DATABASE )?ROLE "?([\w.]+)"?$/.exec(sql)?.[1];
      return role === undefined ? undefined : (of[role] ?? grants());
    },
  });

  test('one with USAGE and SELECT only is taken, and asked once', async () => {
    const { recorder, engine } = await open();
    await Promise.all([runOne(engine, 'SELECT 1'), runOne(engine, 'SELECT 2')]);
    expect(recorder.queries.filter(({ sql }) => sql.startsWith('SHOW')).map(({ sql }) => sql)).toEqual([
      'SHOW GRANTS TO ROLE "READER"',
      'SHOW GRANTS TO ROLE "PUBLIC"',
    ]);
  });

  test('who leaves while it is asked leaves alone', async () => {
    const left = new AbortController();
    const { engine } = await open({
      onQuery: (query) => {
        if (query.sql.startsWith('SHOW GRANTS')) left.abort(new Error('left'));
        return asks({}).onQuery?.(query);
      },
    });
    const leaving = runOne(engine, 'SELECT 1', { signal: left.signal });
    const staying = runOne(engine, 'SELECT 2');
    await expect(leaving).rejects.toThrow('left');
    expect(await staying).toMatchObject({ kind: 'rows' });
  });

  test.each([
    ['INSERT', 'TABLE', 'CLUB.PUBLIC.TEAM'],
    ['OWNERSHIP', 'TABLE', 'CLUB.PUBLIC.TEAM'],
    ['CREATE TABLE', 'SCHEMA', 'CLUB.PUBLIC'],
    ['USAGE', 'PROCEDURE', 'CLUB.PUBLIC.WIPE()'],
    ['USAGE', 'SEQUENCE', 'CLUB.PUBLIC.SEQ'],
    ['USAGE', 'INTEGRATION', 'MAIL'],
    ['OPERATE', 'WAREHOUSE', 'WH'],
    ['WRITE', 'STAGE', 'CLUB.PUBLIC.FILES'],
    ['SOMETHING NEW', 'ACCOUNT', 'A'],
  ] as const)('one with %s on a %s is refused before any statement', async (...grant) => {
    const { recorder, engine } = await open(asks({ READER: grants(['SELECT', 'TABLE', 'X'], grant) }));
    await expect(runOne(engine, 'SELECT 1')).rejects.toMatchObject({
      code: 'not-read-only',
      message: expect.stringContaining(
        `READER can do more than read (${grant[0]} on ${grant[1]} ${grant[2]})`,
      ) as string,
    });
    expect(recorder.asked()).toEqual([]);
    expect(recorder.ended).toEqual(['s1']);
  });

  test('what it inherits counts, and what everybody may do', async () => {
    const inherited = asks({
      READER: grants(['USAGE', 'ROLE', 'ANALYST'], ['USAGE', 'DATABASE_ROLE', 'SNOWFLAKE.CORTEX_USER']),
      ANALYST: grants(['USAGE', 'DATABASE_ROLE', 'CLUB.EDITOR'], ['USAGE', 'ROLE', 'READER']),
      'CLUB.EDITOR': grants(['UPDATE', 'TABLE', 'CLUB.PUBLIC.TEAM']),
    });
    await expect(runOne((await open(inherited)).engine, 'SELECT 1')).rejects.toThrow('UPDATE on TABLE');
    const everybody = asks({ PUBLIC: grants(['CREATE SCHEMA', 'DATABASE', 'CLUB']) });
    await expect(runOne((await open(everybody)).engine, 'SELECT 1')).rejects.toThrow('CREATE SCHEMA on DATABASE CLUB');
  });

  test('a privileged one that is allowed has each statement compiled as a subquery first', async () => {
    const { recorder, engine } = await open({}, { allowPrivilegedRole: true });
    await runOne(engine, 'SELECT 1; -- the end');
    expect(recorder.queries.slice(2).map(({ sql, describeOnly }) => [sql, describeOnly])).toEqual([
      ['SELECT 1 FROM (\nSELECT 1\n) AS gate_check LIMIT 0', true],
      ['SELECT 1', false],
    ]);
  });

  test('what the server does not compile as a query is not executed', async () => {
    const syntaxError = { code: '001003', message: "unexpected 'INSERT'", sqlState: '42000' };
    const { recorder, engine } = await open(
      { onQuery: ({ describeOnly }) => (describeOnly ? syntaxError : undefined) },
      { allowPrivilegedRole: true },
    );
    expect(await runOne(engine, 'WITH a AS (SELECT 1) INSERT INTO t SELECT 1')).toMatchObject({ kind: 'sql-error' });
    expect(recorder.asked()).toHaveLength(1);
  });
});

describe('the ceiling on what a statement scans', () => {
  const EXPLAIN = 'EXPLAIN USING JSON ';
  const SCANS = 'SELECT SUM(o.total) FROM orders o JOIN team t ON t.id = o.team_id';
  const scan = (name: string, bytesAssigned: number, partitionsAssigned: number) => ({
    operation: 'TableScan',
    objects: [name],
    partitionsAssigned,
    partitionsTotal: 3_100,
    bytesAssigned,
  });
  /** As the documentation prints it. */
  const plan = (bytesAssigned: number, ...scans: object[]): Reply => ({
    columns: [['content', 'text']],
    rows: [
      [
        JSON.stringify({
          GlobalStats: { partitionsTotal: 3_104, partitionsAssigned: 3_004, bytesAssigned },
          Operations: [[{ id: 0, operation: 'Result', expressions: ['SUM(O.TOTAL)'] }, ...scans]],
        }),
      ],
    ],
  });
  const text = (content: string): Reply => ({ columns: [['content', 'text']], rows: [[content]] });
  const planned = (reply: Reply | ((sql: string) => Reply | undefined)): Script => ({
    onQuery: answering((sql) =>
      sql.startsWith(EXPLAIN) ? (typeof reply === 'function' ? reply(sql) : reply) : undefined,
    ),
  });
  const HIDDEN = {
    code: '002003',
    sqlState: '02000',
    message: "EXPLAIN command has insufficient privilege on object 'TABLES'",
  };

  test('above it a statement is refused before it runs, with what it would scan and how to scan less', async () => {
    const { recorder, engine } = await open(
      planned(plan(1.204e12, scan('CLUB.PUBLIC.TEAM', 4e9, 4), scan('CLUB.PUBLIC.ORDERS', 1.2e12, 3_000))),
      { maxScanBytes: 100e9 },
    );
    expect(await runOne(engine, `${SCANS};`)).toEqual({
      kind: 'refused',
      message:
        'the statement would scan too much here: up to 1.2 TB in 3,004 of 3,104 micro-partitions, the ceiling is 100 GB; ' +
        'the largest part is CLUB.PUBLIC.ORDERS (1.2 TB in 3,000 of 3,100 micro-partitions): compare columns that the rows ' +
        'are stored by, such as dates or ids, with constants, and leave out tables that are not needed; what ' +
        'joins, subqueries and LIMIT leave out while running does not count',
    });
    expect(recorder.asked()).toEqual([EXPLAIN + SCANS]);
  });

  test('what a view reads is not named', async () => {
    const { engine } = await open(planned(plan(5e9, scan('CLUB.PAYROLL.SALARIES', 5e9, 4))), { maxScanBytes: 1e9 });
    const result = await runOne(engine, 'SELECT * FROM headcount');
    expect(result).toMatchObject({ kind: 'refused', message: expect.stringContaining('up to 5 GB') as string });
    expect(JSON.stringify(result)).not.toContain('SALARIES');
  });

  test('up to it a statement runs, in the same session, with its tag, and in what its plan left of the time', async () => {
    const { recorder, engine } = await open(planned(plan(1e9)), { maxScanBytes: 1e9 });
    expect(await runOne(engine, SCANS, { timeoutMs: 3_000, tag: 'q7f i2.probe' })).toMatchObject({ rows: [[1]] });
    expect(recorder.asked()).toEqual([EXPLAIN + SCANS, SCANS]);
    expect(recorder.logins).toHaveLength(1);
    for (const { parameters } of recorder.queries.slice(-2))
      expect(parameters).toMatchObject({ QUERY_TAG: 'gate q7f i2.probe', STATEMENT_TIMEOUT_IN_SECONDS: 3 });
  });

  test.each([
    ['without figures', text('{"Operations":[[{"id":0,"operation":"Result"}]]}')],
    ['of constants', plan(0)],
  ])('a plan %s passes', async (_, reply) => {
    const { engine } = await open(planned(reply), { maxScanBytes: 1 });
    expect(await runOne(engine, 'SELECT 1')).toMatchObject({ kind: 'rows' });
  });

  test.each<[string, Reply, string]>([
    ['which Snowflake does not explain', HIDDEN, 'insufficient privilege on object'],
    ['whose plan is no plan', text('Result'), 'the answer to EXPLAIN is none'],
    ['whose plan is empty', { columns: [['content', 'text']] }, 'the answer to EXPLAIN is none'],
  ])('a statement %s is refused, since nothing bounds it', async (_, reply, reason) => {
    const { recorder, engine } = await open(planned(reply), { maxScanBytes: 1e6 });
    const sql = 'SELECT * FROM orders, INFORMATION_SCHEMA.TABLES';
    expect(await runOne(engine, sql)).toEqual({
      kind: 'refused',
      message: expect.stringMatching(
        `^what the statement would scan cannot be told, and the ceiling is 1 MB: .*${reason}.*; leave out INFORMATION_SCHEMA`,
      ) as string,
    });
    expect(recorder.queries.filter(({ sql: sent, describeOnly }) => sent === sql && !describeOnly)).toEqual([]);
  });

  test('an error of the statement is its own, with the places of its own text', async () => {
    const wrong = (place: number) => ({
      code: '000904',
      sqlState: '42000',
      message: `SQL compilation error: error line 1 at position ${place}\ninvalid identifier 'NOPE'`,
    });
    const { recorder, engine } = await open(
      { onQuery: answering((sql) => wrong(sql.indexOf('nope'))) },
      { maxScanBytes: 1e6 },
    );
    expect(await runOne(engine, 'SELECT nope FROM t')).toMatchObject({
      kind: 'sql-error',
      message: expect.stringContaining('position 7 ') as string,
    });
    expect(recorder.queries.at(-1)).toMatchObject({ sql: 'SELECT nope FROM t', describeOnly: true });
  });

  test('a plan that takes too long is a timeout, and the statement does not run', async () => {
    const late = { code: '000630', message: 'Statement reached its statement timeout', sqlState: '57014' };
    const { recorder, engine } = await open(planned(late), { maxScanBytes: 1e6 });
    expect(await runOne(engine, SCANS, { timeoutMs: 1_000 })).toEqual({ kind: 'timeout', afterMs: 1_000 });
    expect(recorder.asked()).toEqual([EXPLAIN + SCANS, EXPLAIN + SCANS]);
  });

  test('a digest is held against it like a statement', async () => {
    const { recorder, engine } = await open(planned(plan(2e6)), { maxScanBytes: 1e6 });
    expect(await engine.digest(SCANS, options())).toMatchObject({ kind: 'refused' });
    expect(recorder.queries.filter(({ sql, describeOnly }) => !describeOnly && sql.startsWith('WITH'))).toEqual([]);
  });

  test.each([
    'EXPLAIN SELECT 1',
    'SHOW TABLES',
    'DESCRIBE TABLE t',
    'CALL p()',
    'INSERT INTO t SELECT 1',
    'SELECT 1; SELECT 2',
  ])('what EXPLAIN does not take never gets to it: %s', async (sql) => {
    const { recorder, engine } = await open(planned(plan(0)), { maxScanBytes: 1e6 });
    expect(await runOne(engine, sql)).toMatchObject({ kind: 'refused' });
    expect(recorder.asked()).toEqual([]);
  });

  test('the configuration sets it, and the number of sessions', async () => {
    const { recorder } = await open(planned(plan(2e6)));
    const cwd = mkdtempSync(join(tmpdir(), 'gate-snowflake-'));
    const club = {
      url: 'snowflake://ann@my-account/club/public?warehouse=wh&role=reader',
      maxScanBytes: 1e6,
      maxConnections: 1,
      snowflake: { passwordEnv: 'CLUB_PASSWORD', accessUrl: recorder.accessUrl },
    };
    writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify({ databases: { club } }));
    const opened = openEngines(loadConfig({ cwd, env: { HOME: cwd, CLUB_PASSWORD: 'secret' } }));
    try {
      const { engine } = await opened.engine('club');
      const results = await Promise.all([runOne(engine, SCANS), runOne(engine, SCANS)]);
      expect(results).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }]);
      expect(recorder.logins).toHaveLength(1);
    } finally {
      await opened.close();
      rmSync(cwd, { recursive: true });
    }
  });
});

describe('time limits and cancellation', () => {
  test('an abort cancels the statement on the server, by its request, and ends the session', async () => {
    const { recorder, engine } = await open({
      onQuery: answering((sql) => (sql === 'SELECT slow' ? 'never' : undefined)),
    });
    const controller = new AbortController();
    const running = runOne(engine, 'SELECT slow', { signal: controller.signal });
    await eventually(() => recorder.asked().length === 1);
    controller.abort(new Error('cancelled by the user'));
    await expect(running).rejects.toThrow('cancelled by the user');
    await eventually(() => recorder.aborts.length === 1 && recorder.ended.length === 1);
    expect(recorder.aborts[0]?.body).toEqual({ requestId: recorder.queries.at(-1)?.requestId });
    expect(await runOne(engine, 'SELECT 9')).toMatchObject({ kind: 'rows' });
  });

  test("the server's own time limit is a timeout after one more try on a fresh session, and the neighbours keep their results", async () => {
    const late = { code: '000630', message: 'Statement reached its statement timeout', sqlState: '57014' };
    const { recorder, engine } = await open({
      onQuery: answering((sql) => (sql === 'SELECT slow' ? late : undefined)),
    });
    const { results } = await engine.run(['SELECT 5', 'SELECT slow', 'SELECT 7'], options({ timeoutMs: 2_000 }));
    expect(results).toMatchObject([{ rows: [[1]] }, { kind: 'timeout', afterMs: 2_000 }, { rows: [[1]] }]);
    expect(recorder.asked().filter((sql) => sql === 'SELECT slow')).toHaveLength(2);
    expect(recorder.logins.length).toBeGreaterThan(1);
  });

  test('a statement that the server does not end is cancelled and given up', async () => {
    const { recorder, engine } = await open({
      onQuery: answering((sql) => (sql === 'SELECT slow' ? 'never' : undefined)),
    });
    expect(await runOne(engine, 'SELECT slow', { timeoutMs: 300 })).toEqual({ kind: 'timeout', afterMs: 300 });
    expect(recorder.aborts).toHaveLength(2);
  });
});

describe('errors', () => {
  test.each([
    ['002003', '42S02', "Object 'NOPE' does not exist or not authorized."],
    ['003001', '42501', 'Insufficient privileges to operate on table TEAM'],
    ['100051', '22012', 'Division by zero'],
  ])('%s is a value, and the session goes on', async (code, sqlState, message) => {
    const { recorder, engine } = await open({ onQuery: answering((sql) => (sql === 'SELECT bad' ? { code, sqlState, message } : undefined)) }); // prettier-ignore
    expect(await runOne(engine, 'SELECT bad')).toMatchObject({ kind: 'sql-error', code, message: expect.stringContaining(message) as string }); // prettier-ignore
    expect(await runOne(engine, 'SELECT 1')).toMatchObject({ kind: 'rows' });
    expect(recorder.logins).toHaveLength(1);
  });

  test.each([
    ['000606', '57P03', 'No active warehouse selected in the current session.'],
    ['090073', '22000', "Warehouse 'WH' cannot be resumed because resource monitor 'RM' has exceeded its quota."],
  ])('%s names the warehouse and what to change', async (code, sqlState, message) => {
    const { engine } = await open({ onQuery: answering(() => ({ code, sqlState, message })) });
    await expect(runOne(engine, 'SELECT 1')).rejects.toMatchObject({
      code: 'not-configured',
      message: expect.stringMatching(/warehouse \(wh\).*name one that ann may use/) as string,
    });
  });

  test('a session that ended is a lost connection, and the next run logs in anew', async () => {
    let gone = true;
    const { recorder, engine } = await open({
      onQuery: answering(() => (gone ? { code: '390111', message: 'Session no longer exists.' } : undefined)),
    });
    await expect(runOne(engine, 'SELECT 1')).rejects.toMatchObject({ code: 'connection' });
    gone = false;
    expect(await runOne(engine, 'SELECT 1')).toMatchObject({ kind: 'rows' });
    expect(recorder.logins).toHaveLength(2);
  });
});

test('a server that answers nothing any more, not even a cancellation, is a lost connection', async () => {
  const { recorder, engine } = await open({ onQuery: answering(() => 'never'), mute: true });
  const lost = { code: 'connection', message: expect.stringContaining('my-account does not answer') as string };
  await expect(runOne(engine, 'SELECT 1', { timeoutMs: 1_000 })).rejects.toMatchObject(lost);
  // A statement of a description has half a minute, which is over in a moment.
  jest.useFakeTimers({ advanceTimers: true, doNotFake: ['Date', 'nextTick', 'performance', 'setImmediate'] });
  const told = expect(engine.describe(options())).rejects.toMatchObject(lost);
  await eventually(() => recorder.asked().some((sql) => sql.startsWith('SELECT CURRENT_VERSION()')));
  jest.advanceTimersByTime(33_000);
  await told;
  jest.useRealTimers();
  expect(recorder.logins).toHaveLength(2);
});
