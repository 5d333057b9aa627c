/**
 * What the Snowflake engine sends, and what it makes of the answers, on the wire of the real driver: logins, session and
 * statement settings, the role, cancellation, time limits, errors, values. The answers are scripted; that a real account
 * answers so is not shown here.
 */
import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { createSnowflakeEngine, type SnowflakeEngineSettings } from '../../src/adapters/snowflake';
import { SqlResult } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/ports/sql-engine';
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

const options = (more: Partial<SqlOptions> = {}): SqlOptions => ({
  timeoutMs: 20_000,
  maxRows: 100,
  signal: new AbortController().signal,
  tag: 's1 i1.probe',
  ...more,
});

async function runOne(engine: SqlEngine, sql: string, more: Partial<SqlOptions> = {}): Promise<SqlResult> {
  return SqlResult.parse((await engine.run([sql], options(more))).results[0]);
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
    const refusing = await unusedPort();
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

describe('time limits and cancellation', () => {
  test('an abort cancels the statement on the server, by its request, and ends the session', async () => {
    const { recorder, engine } = await open({
      onQuery: answering((sql) => (sql === 'SELECT slow' ? 'never' : undefined)),
    });
    const controller = new AbortController();
    const running = runOne(engine, 'SELECT slow', { signal: controller.signal });
    await until(() => recorder.asked().length === 1);
    controller.abort(new Error('cancelled by the user'));
    await expect(running).rejects.toThrow('cancelled by the user');
    await until(() => recorder.aborts.length === 1 && recorder.ended.length === 1);
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

function unusedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function until(holds: () => boolean): Promise<void> {
  for (const started = Date.now(); !holds(); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() - started > 10_000) throw new Error('it did not come true within 10 s');
}

test('a server that answers nothing any more, not even a cancellation, is a lost connection', async () => {
  const { engine } = await open({ onQuery: answering(() => 'never'), mute: true });
  await expect(runOne(engine, 'SELECT 1', { timeoutMs: 1_000 })).rejects.toMatchObject({
    code: 'connection',
    message: expect.stringContaining('my-account does not answer') as string,
  });
});
