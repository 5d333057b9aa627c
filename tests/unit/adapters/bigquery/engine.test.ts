/** The engine against a server that speaks BigQuery's protocol (no SQL is run). */
import type { Scan, SqlEngine, SqlOptions } from '../../../../src/domain/ports';
import { createBigQueryEngine, type BigQueryEngineSettings } from '../../../../src/adapters/bigquery';
import { readAsBigQuery } from '../../../helpers/bigquery-sql';
import {
  EMAIL,
  startBigQuery,
  type Answering,
  type BigQueryServer,
  type Failing,
  type Script,
} from '../../../helpers/bigquery-server';

/** Jest's own modules cannot import the library's fetch. */
const load = async () => ({ ...(await import('@google-cloud/bigquery')), fetchImplementation: fetch });

const open: { readonly server: BigQueryServer; readonly engine: SqlEngine }[] = [];

async function started(
  script: Script,
  options: BigQueryEngineSettings['options'] = {},
  parameters: Readonly<Record<string, string>> = {},
): Promise<{ readonly server: BigQueryServer; readonly engine: SqlEngine }> {
  const server = await startBigQuery({ datasets: { 'own-project.club': {} }, ...script });
  const engine = createBigQueryEngine({
    url: server.url('club', parameters),
    options: { key: server.key, load, ...options },
  });
  open.push({ server, engine });
  return { server, engine };
}

afterEach(async () => {
  for (const { server, engine } of open.splice(0)) {
    await engine.close();
    await server.close();
  }
});

const TIMEOUT_MS = 240_000;
const asked = (more: Partial<SqlOptions> = {}): SqlOptions => ({
  timeoutMs: TIMEOUT_MS,
  maxRows: 100,
  signal: new AbortController().signal,
  tag: 'gate S-1 look.Then',
  ...more,
});

const ONE = { fields: [{ name: 'n', type: 'INTEGER' }], rows: [['1']] };
const run = async (engine: SqlEngine, sql: string, more: Partial<SqlOptions> = {}) => (await engine.run([sql], asked(more))).results[0]; // prettier-ignore

test('a statement is compiled first, then run with a ceiling, labels, location and a time limit', async () => {
  const { server, engine } = await started({ onQuery: () => ({ ...ONE, bytes: 1_000 }) }, {}, { location: 'EU' });
  expect(await run(engine, 'SELECT 1 AS n;')).toMatchObject({
    kind: 'rows',
    columns: [{ name: 'n', kind: 'number' }],
    rows: [[1]],
    truncated: false,
  });
  const [dry, job] = server.queries;
  expect(dry).toMatchObject({ sql: 'SELECT 1 AS n', dryRun: true });
  expect(job).toMatchObject({ sql: 'SELECT 1 AS n', dryRun: false });
  expect(job?.configuration).toMatchObject({
    labels: { gate_search: 's-1', gate_step: 'look_then' },
    query: {
      maximumBytesBilled: String(100 * 1024 ** 3),
      useLegacySql: false,
      useQueryCache: true,
      defaultDataset: { projectId: 'own-project', datasetId: 'club' },
    },
  });
  // What the dry run left of it.
  expect(Number(job?.configuration['jobTimeoutMs'])).toBeGreaterThan(TIMEOUT_MS / 2);
  expect(Number(job?.configuration['jobTimeoutMs'])).toBeLessThanOrEqual(TIMEOUT_MS);
  expect(server.requests.find(({ path }) => path.includes('/queries/'))?.query.get('location')).toBe('EU');
});

test.each(['INSERT', 'DELETE', 'SCRIPT', 'CREATE_TABLE_AS_SELECT', 'EXPORT_DATA', 'CALL', ''])(
  'what the server takes for %s is not run',
  async (statementType) => {
    const { server, engine } = await started({ onQuery: () => ({ ...ONE, statementType }) });
    const expected = `BigQuery takes the statement for ${statementType || 'no query'}: write one SELECT that only reads`;
    expect(await run(engine, 'SELECT 1 AS n')).toEqual({ kind: 'refused', message: expected });
    expect(server.ran()).toEqual([]);
  },
);

test('a table that the text does not name is not read, except through a view', async () => {
  const datasets = {
    'own-project.club': {
      team: { fields: [{ name: 'id', type: 'INTEGER' }] },
      teams: { fields: [{ name: 'id', type: 'INTEGER' }], type: 'VIEW' },
    },
  };
  const { server, engine } = await started({
    datasets,
    onQuery: () => ({ ...ONE, reads: ['own-project.club.secret'] }),
  });
  expect(await run(engine, 'SELECT id FROM team')).toEqual({
    kind: 'refused',
    message: 'the statement would read own-project.club.secret, which its text does not name: name each table',
  });
  expect(server.ran()).toEqual([]);
  expect(await run(engine, 'SELECT id FROM teams')).toMatchObject({ kind: 'rows' });
});

test.each([
  'SELECT 1 FROM events_20210101',
  'SELECT 1 FROM `events_*`',
  'SELECT 1 FROM club.events_20210101',
  'SELECT 1 FROM own-project.club.events_20210101',
  'SELECT 1 FROM `own-project.club.events_2021*`',
])('the tables that the server found are those of the text: %s', async (sql) => {
  const { engine } = await started({ onQuery: () => ({ ...ONE, reads: ['own-project.club.events_20210101'] }) });
  expect(await run(engine, sql)).toMatchObject({ kind: 'rows' });
});

test('a statement above the ceiling is refused with its size and price, and not run', async () => {
  const { server, engine } = await started(
    { onQuery: () => ({ ...ONE, bytes: 2 * 1024 ** 4 }) },
    { maxScanBytes: 1e9 },
  );
  const result = await run(engine, 'SELECT 1 AS n');
  expect(result).toMatchObject({ kind: 'refused', message: expect.stringContaining('2.2 TB, about $12.50, the ceiling is 1 GB, about $0.006 (maxScanBytes)') as string }); // prettier-ignore
  expect(server.ran()).toEqual([]);
});

test('an estimate costs no run', async () => {
  const { server, engine } = await started({ onQuery: () => ({ ...ONE, bytes: 1024 ** 4 }) }, { usdPerTiB: 5 });
  expect(await engine.estimate?.('SELECT 1 AS n', asked())).toEqual({ bytes: 1024 ** 4, usd: 5 });
  expect(server.ran()).toEqual([]);
});

describe('what is billed', () => {
  const MIB = 1024 ** 2;
  const billed = async (
    answer: Partial<Answering> | Failing,
    work: (engine: SqlEngine, options: SqlOptions) => Promise<unknown>,
    more: Partial<SqlOptions> = {},
  ) => {
    const { engine } = await started({ onQuery: () => ({ ...ONE, ...answer }) }, { usdPerTiB: 8 });
    const told: Scan[] = [];
    await work(engine, asked({ onBilled: (scan) => told.push(scan), ...more }));
    return told;
  };
  const reads = ['own-project.club.team', 'own-project.club.player'];
  const sql = 'SELECT n FROM team, player';
  const once = (engine: SqlEngine, options: SqlOptions) => engine.run([sql], options);

  test.each<[string, Partial<Answering> | Failing, readonly number[]]>([
    ['whole MiB', { reads, bytes: 100 * MIB + 1 }, [101]],
    ['at least ten MiB a table', { reads, bytes: 1 }, [20]],
    ['nothing, where nothing is read', { reads, bytes: 0 }, [0]],
    ['nothing, from the cache', { reads, bytes: 100 * MIB, cacheHit: true }, [0]],
    ['once, however many pages', { reads, bytes: 100 * MIB, rows: Array(7).fill(['1']) as string[][], pageRows: 2 }, [100]],
    ['nothing for a statement that fails', { status: 400, reason: 'invalidQuery', message: 'no', onlyJob: true }, []],
    ['nothing for one that is not run', { reads, bytes: 1e15 }, []],
    ['at most the whole of one that may run unheard, and the one that runs instead', { reads, bytes: 100 * MIB, breaks: 2 }, [100, 100]],
    ['once, where its request was repeated', { reads, bytes: 100 * MIB, breaks: 1 }, [100]],
    ['at most the whole of one that is stopped, each time it ran', { reads, bytes: 100 * MIB, never: true }, [100, 100]],
  ])('%s', async (_, answer, expected) => {
    const told = await billed(answer, once, 'never' in answer ? { timeoutMs: 1_500 } : {});
    expect(told).toEqual(expected.map((mib) => ({ bytes: mib * MIB, usd: (mib * MIB * 8) / 1024 ** 4 })));
  }); // prettier-ignore

  test('a job whose rows do not arrive, and the one that runs instead', async () => {
    const busy = { status: 503, reason: 'backendError', message: 'Try again' };
    let requests = 0;
    const { server, engine } = await started({
      onQuery: () => ({ ...ONE, reads, bytes: 100 * MIB, rows: [['1'], ['2']], pageRows: 1 }),
      // The second page, and its repetition.
      onRequest: (path) => (path.includes('/queries/') && [2, 3].includes((requests += 1)) ? busy : undefined),
    });
    const told: Scan[] = [];
    await once(engine, asked({ onBilled: (scan) => told.push(scan) }));
    expect(server.ran()).toHaveLength(2);
    expect(told.map(({ bytes }) => bytes / MIB)).toEqual([100, 100]);
  });

  test('each statement of a run, and a digest', async () => {
    const answer = { reads, bytes: 50 * MIB };
    expect(await billed(answer, (engine, options) => engine.run([sql, sql, 'DELETE FROM team'], options))).toHaveLength(2); // prettier-ignore
    expect(await billed(answer, (engine, options) => engine.digest(sql, options))).toHaveLength(1);
  });
});

test('pages are read up to the row cap and no further', async () => {
  const rows = Array.from({ length: 25 }, (_, at) => [String(at)]);
  const { server, engine } = await started({ onQuery: () => ({ ...ONE, rows, pageRows: 4, polls: 2 }) });
  expect(await run(engine, 'SELECT n', { maxRows: 10 })).toMatchObject({ truncated: true, rows: rows.slice(0, 10).map(([at]) => [Number(at)]) }); // prettier-ignore
  const sizes = server.requests.filter(({ path }) => path.includes('/queries/')).map(({ query }) => query.get('maxResults')); // prettier-ignore
  expect(sizes).toEqual(['11', '11', '11', '7', '3']);
  expect(await run(engine, 'SELECT n', { maxRows: 25 })).toMatchObject({ truncated: false });
});

test('an abort cancels the job and ends the run at once', async () => {
  const { server, engine } = await started({ onQuery: () => ({ ...ONE, never: true }) });
  const abort = new AbortController();
  const running = engine.run(['SELECT n'], asked({ signal: abort.signal }));
  await server.polled;
  abort.abort(new Error('enough'));
  await expect(running).rejects.toThrow('enough');
  expect(server.cancelled).toHaveLength(1);
});

test('closing ends what runs, and cancels its job', async () => {
  const { server, engine } = await started({ onQuery: () => ({ ...ONE, never: true }) });
  const running = expect(engine.run(['SELECT n'], asked())).rejects.toMatchObject({ code: 'connection' });
  await server.polled;
  await engine.close();
  await running;
  expect(server.cancelled).toHaveLength(1);
});

test('a job past its time limit is cancelled and reported as a timeout, after one more try', async () => {
  const { server, engine } = await started({ onQuery: () => ({ ...ONE, never: true }) });
  expect(await run(engine, 'SELECT n', { timeoutMs: 100 })).toEqual({ kind: 'timeout', afterMs: 100 });
  expect(server.cancelled).toHaveLength(2);
});

test('a job that the server stops at its time limit is a timeout', async () => {
  const stopped = { status: 400, reason: 'stopped', message: 'Job execution was cancelled: Job timed out after 5s' };
  const { engine } = await started({ onQuery: () => ({ ...stopped, onlyJob: true }) });
  expect(await run(engine, 'SELECT n')).toEqual({ kind: 'timeout', afterMs: TIMEOUT_MS });
});

test('a request that fails for the moment is repeated once', async () => {
  const busy = { status: 503, reason: 'backendError', message: 'Error encountered during execution. Retrying may solve the problem.', times: 1 }; // prettier-ignore
  const { engine } = await started({ onQuery: () => ONE, onRequest: (path) => (path.endsWith('/jobs') ? busy : undefined) }); // prettier-ignore
  expect(await run(engine, 'SELECT 1 AS n')).toMatchObject({ kind: 'rows' });
});

test('a job that fails for the moment is run once more, under another name', async () => {
  let jobs = 0;
  const busy = { status: 503, reason: 'jobBackendError', message: 'Try again', times: 2 };
  const { server, engine } = await started({
    onQuery: () => ONE,
    onRequest: (path) => (path.includes('/queries/') && (jobs += 1) <= 2 ? busy : undefined),
  });
  expect(await run(engine, 'SELECT 1 AS n')).toMatchObject({ kind: 'rows' });
  expect(server.ran()).toHaveLength(2);
});

test.each([
  [400, 'invalidQuery', 'Syntax error: Unexpected keyword FROM at [1:8]', 'Syntax error: Unexpected keyword FROM at [1:8]'],
  [404, 'notFound', 'Not found: Table own-project:club.x was not found in location US', 'Not found: Table own-project:club.x was not found in location US'],
  [403, 'accessDenied', 'Access Denied: Table p:d.t: User does not have permission to query table p:d.t, or perhaps it does not exist.', 'Access Denied: Table p:d.t: User does not have permission to query table p:d.t, or perhaps it does not exist.'],
  [400, 'bytesBilledLimitExceeded', 'Query exceeded limit for bytes billed: 1000. 10485760 or higher required.', 'Query exceeded limit for bytes billed: 1000. 10485760 or higher required.: select fewer columns or partitions, or raise maxScanBytes'],
  [400, 'resourcesExceeded', 'Resources exceeded during query execution', 'Resources exceeded during query execution'],
])('%i %s is the statement’s own error', async (status, reason, message, shown) => {
  const { engine } = await started({ onQuery: () => ({ status, reason, message }) });
  expect(await run(engine, 'SELECT n')).toMatchObject({ kind: 'sql-error', code: reason, message: shown });
}); // prettier-ignore

test.each([
  [403, 'accessDenied', 'Access Denied: Project own-project: User does not have bigquery.jobs.create permission in project own-project.', 'authentication', `${EMAIL} may not run queries in own-project: grant it roles/bigquery.jobUser there, or name another project in billing`],
  [403, 'quotaExceeded', 'Quota exceeded: Your project exceeded quota for free query bytes scanned.', 'connection', 'a quota of own-project is used up: Quota exceeded: Your project exceeded quota for free query bytes scanned.'],
  [403, 'billingNotEnabled', 'Billing has not been enabled for this project.', 'not-configured', 'the project own-project has no billing account: Billing has not been enabled for this project.; name one that has in billing'],
  [404, 'notFound', 'Not found: Dataset own-project:club was not found in location EU', 'not-found', 'Not found: Dataset own-project:club was not found in location EU: set location in the URL to where the dataset is (now: not given)'],
  [401, 'authError', 'Request had invalid authentication credentials.', 'authentication', `BigQuery refused ${EMAIL}: Request had invalid authentication credentials.; check the key and the clock of this machine`],
  [404, 'notFound', 'Not found: Project own-project', 'not-found', 'Not found: Project own-project: check project (own-project), billing (own-project) and location (not given) in the URL'],
])('%i %s is one line with what to change', async (status, reason, message, code, line) => {
  const { engine } = await started({ onQuery: () => ({ status, reason, message }) });
  await expect(run(engine, 'SELECT n')).rejects.toMatchObject({ code, message: line });
}); // prettier-ignore

test('a login that may write is refused with the roles to grant, and not asked where that is allowed', async () => {
  const script: Script = {
    datasets: { 'own-project.club': { team: ONE } },
    permissions: ['bigquery.tables.updateData', 'bigquery.tables.delete'],
    onQuery: () => ONE,
  };
  const { server, engine } = await started(script);
  await expect(run(engine, 'SELECT 1 AS n')).rejects.toMatchObject({
    code: 'not-read-only',
    message: `${EMAIL} can do more than read (bigquery.tables.updateData, bigquery.tables.delete in own-project.club): use one with roles/bigquery.dataViewer on the dataset and roles/bigquery.jobUser on own-project, or set "allowPrivilegedRole": true`,
  });
  expect(server.queries).toEqual([]);
  const allowed = await started(script, { allowPrivilegedRole: true });
  expect(await run(allowed.engine, 'SELECT 1 AS n')).toMatchObject({ kind: 'rows' });
  expect(allowed.server.requests.some(({ path }) => path.includes('testIamPermissions'))).toBe(false);
});

test('who leaves while the rights are asked leaves alone', async () => {
  const left = new AbortController();
  const onRequest = (path: string): undefined => {
    if (path.endsWith(':testIamPermissions')) left.abort(new Error('left'));
  };
  const datasets = { 'own-project.club': { team: { fields: ONE.fields } } };
  const { server, engine } = await started({ datasets, onRequest, onQuery: () => ONE });
  const leaving = run(engine, 'SELECT 1 AS n', { signal: left.signal });
  const staying = run(engine, 'SELECT 1 AS n');
  await expect(leaving).rejects.toThrow('left');
  expect(await staying).toMatchObject({ kind: 'rows' });
  expect(await run(engine, 'SELECT 1 AS n')).toMatchObject({ kind: 'rows' });
  expect(server.requests.filter(({ path }) => path.endsWith(':testIamPermissions'))).toHaveLength(2);
});

test('the rights are asked of a few tables of each dataset', async () => {
  const tables = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`t${at}`, ONE]));
  const script = { datasets: { 'own-project.club': {}, 'public.other': tables }, onQuery: () => ONE };
  const { server, engine } = await started(script, { schemas: ['public.other'] });
  expect(await run(engine, 'SELECT 1 AS n')).toMatchObject({ kind: 'rows' });
  const asked = server.requests.filter(({ path }) => path.endsWith(':testIamPermissions')).map(({ path }) => path);
  expect(asked.map((path) => path.split('/').slice(1, 4).join('.'))).toEqual(Array(3).fill('public.datasets.other'));
  const writer = await started({ ...script, permissions: ['bigquery.tables.delete'] }, { schemas: ['public.other'] });
  await expect(run(writer.engine, 'SELECT 1 AS n')).rejects.toThrow('(bigquery.tables.delete in public.other)');
});

test('without the package, without a server and with a wrong key there is one line', async () => {
  const missing = Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
  const { engine } = await started({}, { load: () => Promise.reject(missing) });
  await expect(run(engine, 'SELECT 1')).rejects.toThrow('install @google-cloud/bigquery: npm install @google-cloud/bigquery'); // prettier-ignore
  const { engine: lost, server } = await started({});
  await server.close();
  await expect(run(lost, 'SELECT 1')).rejects.toMatchObject({ code: 'connection', message: expect.stringContaining('ECONNREFUSED') as string }); // prettier-ignore
  const broken = JSON.stringify({ type: 'service_account', client_email: EMAIL, private_key: 'no key' });
  const { engine: wrong } = await started({}, { key: broken });
  await expect(run(wrong, 'SELECT 1')).rejects.toMatchObject({ code: 'not-configured', message: expect.stringContaining(`the key of ${EMAIL} cannot be used`) as string }); // prettier-ignore
});

test('no error holds the key or the token', async () => {
  const { engine, server } = await started({ onQuery: () => ({ status: 401, reason: 'authError', message: 'no' }) });
  const error = await run(engine, 'SELECT n').then(
    () => null,
    (thrown: unknown) => thrown as Error,
  );
  const seen: string[] = [];
  for (let one: unknown = error; one instanceof Error; one = one.cause) seen.push(JSON.stringify(Object.getOwnPropertyDescriptors(one))); // prettier-ignore
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.join()).not.toMatch(/Bearer|eyJ/);
  expect(seen.join()).not.toContain(
    (JSON.parse(server.key) as { readonly private_key: string }).private_key.slice(60, 90),
  );
});

test('values of all types arrive without loss', async () => {
  const text = (name: string, type: string, mode = 'NULLABLE') => ({ name, type, mode });
  const item = { name: 'item', type: 'RECORD', fields: [text('k', 'STRING'), text('n', 'INTEGER')] };
  const cells: readonly (readonly [ReturnType<typeof text> | (typeof item & { readonly mode?: string }), Parameters<typeof String>[0], unknown])[] = [
    [text('a', 'INTEGER'), '42', 42],
    [text('b', 'INTEGER'), '9007199254740993', '9007199254740993'],
    [text('c', 'NUMERIC'), '1.50', 1.5],
    [text('d', 'BIGNUMERIC'), '123456789012345678901234567890.12', '123456789012345678901234567890.12'],
    [text('e', 'FLOAT'), '0.1', 0.1],
    [text('f', 'FLOAT'), 'NaN', 'NaN'],
    [text('g', 'FLOAT'), '-Infinity', '-Infinity'],
    [text('h', 'BOOLEAN'), 'false', false],
    [text('i', 'STRING'), 'é', 'é'],
    [text('j', 'BYTES'), 'AP8=', '\\x00ff'],
    [text('k', 'DATE'), '2020-02-29', '2020-02-29'],
    [text('l', 'DATETIME'), '2020-02-29T10:00:00.120000', '2020-02-29 10:00:00.12'],
    [text('m', 'TIMESTAMP'), '1582970400123456', '2020-02-29 10:00:00.123456+00'],
    [text('n', 'TIMESTAMP'), '-1', '1969-12-31 23:59:59.999999+00'],
    [text('o', 'TIMESTAMP'), '1582970400000000', '2020-02-29 10:00:00+00'],
    [text('p', 'TIME'), '10:00:00', '10:00:00'],
    [text('q', 'INTERVAL'), '1-2 3 4:5:6', '1-2 3 4:5:6'],
    [text('r', 'GEOGRAPHY'), 'POINT(1 2)', 'POINT(1 2)'],
    [text('s', 'JSON'), '{"a": [1, 2.50]}', '{"a":[1,2.50]}'],
    [text('t', 'RANGE'), '[2020-01-01, UNBOUNDED)', '[2020-01-01, UNBOUNDED)'],
    [text('u', 'INTEGER'), null, null],
    [text('v', 'INTEGER', 'REPEATED'), { list: ['1', '9007199254740993'] }, '[1,9007199254740993]'],
    [item, { row: ['x"', null] }, '{"k":"x\\"","n":null}'],
    [{ ...item, name: 'items', mode: 'REPEATED' }, { list: [{ row: ['y', '2'] }] }, '[{"k":"y","n":2}]'],
    [text('w', 'FLOAT', 'REPEATED'), { list: ['1.5', 'NaN'] }, '[1.5,"NaN"]'],
  ]; // prettier-ignore
  const answer = { fields: cells.map(([field]) => field), rows: [cells.map(([, cell]) => cell as string)] };
  const { engine } = await started({ onQuery: () => answer });
  const result = await run(engine, 'SELECT everything');
  expect(result?.kind === 'rows' && result.rows[0]).toEqual(cells.map(([, , value]) => value));
  expect(result?.kind === 'rows' && result.columns.map(({ kind }) => kind)).toEqual(
    'number number number number number number number boolean text other time time time time time time time other json other number json json json json'.split(' '),
  ); // prettier-ignore
});

test('a digest is one statement that counts and hashes by position', async () => {
  const fields = [
    { name: 'f0_', type: 'INTEGER' },
    { name: 'x', type: 'STRING', mode: 'REPEATED' },
  ];
  const { server, engine } = await started({
    onQuery: (sql) => (sql.startsWith('WITH gate_rows') ? { fields: Array(3).fill({ name: 'n', type: 'NUMERIC' }) as typeof fields, rows: [['3', '10', '20']] } : { fields }),
  }); // prettier-ignore
  expect(await engine.digest('SELECT COUNT(*), x FROM UNNEST([1]) GROUP BY 2', asked())).toEqual({
    count: 3,
    hash: '10.20',
  });
  readAsBigQuery(server.ran()[0] ?? '');
  expect(server.ran()).toEqual([
    expect.stringContaining('SELECT CAST(NULL AS INT64) AS c0, CAST(NULL AS ARRAY<STRING>) AS c1 FROM UNNEST([1]) WHERE FALSE UNION ALL (\nSELECT COUNT(*), x FROM UNNEST([1]) GROUP BY 2\n)'),
  ]); // prettier-ignore
});
