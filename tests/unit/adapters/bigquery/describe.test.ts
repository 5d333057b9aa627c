/** What a BigQuery dataset looks like, its addresses, and access lists over its names, against a server that speaks the protocol. */
import {
  createBigQueryEngine,
  createBigQueryInspector,
  type BigQueryEngineSettings,
} from '../../../../src/adapters/bigquery';
import { readTarget } from '../../../../src/adapters/bigquery/target';
import { createGuardedEngine } from '../../../../src/adapters/kit/guard';
import type { SqlEngine } from '../../../../src/domain/ports';
import { withDescriptionCache } from '../../../../src/workers/description-cache';
import {
  startBigQuery,
  type BigQueryServer,
  type Failing,
  type Script,
  type TestTable,
} from '../../../helpers/bigquery-server';
import { startTcpProxy } from '../../../helpers/tcp-proxy';

/** Jest's own modules cannot import the library's fetch. */
const load = async () => ({ ...(await import('@google-cloud/bigquery')), fetchImplementation: fetch });

let server: BigQueryServer;
let engine: SqlEngine;

async function start(
  script: Script,
  options: BigQueryEngineSettings['options'] = {},
  parameters: Readonly<Record<string, string>> = {},
) {
  server = await startBigQuery(script);
  engine = createBigQueryEngine({
    url: server.url('club', parameters),
    options: { key: server.key, load, ...options },
  });
}
afterEach(async () => {
  await engine.close();
  await server.close();
});

const signal = new AbortController().signal;
const asked = { timeoutMs: 240_000, maxRows: 10, tag: 'test', signal };
const id = { name: 'id', type: 'INTEGER', mode: 'REQUIRED' };
const params = {
  name: 'event_params',
  type: 'RECORD',
  mode: 'REPEATED',
  fields: [
    { name: 'key', type: 'STRING', description: 'what it tells' },
    { name: 'value', type: 'RECORD', fields: [{ name: 'int_value', type: 'INTEGER' }] },
  ],
};
const reference = (tableId: string) => ({ projectId: 'own-project', datasetId: 'club', tableId });
const TEAM: TestTable = {
  fields: [id, { name: 'code', type: 'STRING', description: 'three letters' }],
  rows: [
    ['1', 'x'.repeat(100)],
    ['2', 'ABC'],
  ],
  more: {
    description: 'Teams',
    clustering: { fields: ['code'] },
    tableConstraints: { primaryKey: { columns: ['id'] } },
  },
};
const PLAYER: TestTable = {
  fields: [id, { name: 'team_id', type: 'INTEGER' }],
  more: {
    timePartitioning: { type: 'DAY', field: 'joined' },
    requirePartitionFilter: true,
    tableConstraints: {
      foreignKeys: [
        {
          name: 'f',
          referencedTable: reference('team'),
          columnReferences: [{ referencingColumn: 'team_id', referencedColumn: 'id' }],
        },
        {
          name: 'g',
          referencedTable: reference('gone'),
          columnReferences: [{ referencingColumn: 'id', referencedColumn: 'id' }],
        },
      ],
    },
  },
};
const EVENTS: TestTable = {
  fields: [{ name: 'event_name', type: 'STRING' }, params],
  rows: [['open', { list: [{ row: ['k', { row: ['7'] }] }] }]],
};
const CLUB = {
  team: TEAM,
  player: PLAYER,
  events_20210101: EVENTS,
  events_20210103: EVENTS,
  teams: { fields: [id], type: 'VIEW' },
  forecast: { fields: [], type: 'MODEL' },
  year_20200101: TEAM,
};

test('tables, keys, comments, samples and shards of a dataset', async () => {
  await start({ datasets: { 'own-project.club': CLUB } });
  const { dialect, tables } = await engine.describe({ signal });
  expect(dialect).toBe('bigquery');
  expect(tables.map(({ name, kind }) => [name, kind])).toEqual([
    ['team', 'table'],
    ['player', 'table'],
    ['events_*', 'table'],
    ['teams', 'view'],
    ['year_20200101', 'table'],
  ]);
  const [team, player, events, view] = tables;
  expect(team).toMatchObject({ comment: 'Teams; clustered by code', rowEstimate: 2, primaryKey: ['id'] });
  expect(team?.columns[0]).toMatchObject({ name: 'id', type: 'INT64', nullable: false, samples: ['1', '2'] });
  expect(team?.columns[1]).toMatchObject({ comment: 'three letters', nullable: true });
  expect(team?.columns[1]?.samples.map(({ length }) => length)).toEqual([60, 3]);
  expect(player?.comment).toBe('partitioned by joined (DAY), which a WHERE must compare');
  expect(player?.foreignKeys).toEqual([{ columns: ['team_id'], table: 'team', references: ['id'] }]);
  expect(events?.comment).toMatch(/^2 tables, _TABLE_SUFFIX from '20210101' to '20210103'/);
  expect(events?.rowEstimate).toBe(2);
  expect(events?.columns[1]).toMatchObject({
    type: 'ARRAY<STRUCT<`key` STRING, `value` STRUCT<`int_value` INT64>>>',
    comment: 'event_params.key: what it tells',
    samples: ['[{"key":"k","value":{"int_value":7}}]'],
  });
  expect(view?.rowEstimate).toBeNull();
  expect(server.requests.some(({ path }) => path.endsWith('/teams/data'))).toBe(false);
  expect(server.queries).toEqual([]);
});

test('the revision is that of what the tables are, and of how many rows they have to a power of two', async () => {
  const many = (rows: number): TestTable => ({ ...TEAM, rows: Array<string[]>(rows).fill(['1', 'A']) });
  const revisionOf = async (tables: Readonly<Record<string, TestTable>>, more = {}): Promise<string | undefined> => {
    await start({ datasets: { 'own-project.club': tables }, ...more });
    const revision = await engine.revision?.({ signal });
    await engine.close();
    await server.close();
    return revision;
  };
  const first = await revisionOf({ a: many(100) });
  expect(await revisionOf({ a: many(110) })).toBe(first);
  const others: readonly Readonly<Record<string, TestTable>>[] = [
    { a: many(400) },
    { a: { ...many(100), type: 'VIEW' } },
    { a: { ...many(100), more: { description: 'other' } } },
    { a: { ...many(100), fields: [id] } },
    { a: many(100), b: many(1) },
    { a_20210101: many(100), a_20210102: many(100) },
  ];
  const revisions = [first];
  for (const tables of others) revisions.push(await revisionOf(tables));
  expect(new Set(revisions).size).toBe(others.length + 1);
});

test('tables are asked for once, and samples only where a description is wanted', async () => {
  await start({ datasets: { 'own-project.club': CLUB } });
  let now = 0;
  const cached = withDescriptionCache(engine, () => (now += 10_000));
  const asked = (part: RegExp): number => server.requests.filter(({ path }) => part.test(path)).length;
  const description = await cached.describe({ signal });
  expect(await cached.describe({ signal })).toBe(description);
  expect([asked(/tables\/team$/), asked(/tables\/team\/data$/)]).toEqual([1, 1]);
});

test('a table that may not be read has no samples, and its description stands', async () => {
  const onRequest = (path: string): Failing | undefined =>
    path.endsWith('/team/data') ? { status: 403, reason: 'accessDenied', message: 'no' } : undefined;
  await start({ datasets: { 'own-project.club': CLUB }, onRequest });
  const { tables } = await engine.describe({ signal });
  expect(tables[0]).toMatchObject({ name: 'team', columns: [{ samples: [] }, { samples: [] }] });
  expect(tables[2]?.columns[0]?.samples).toEqual(['open']);
});

test('further datasets have their name in front, and with another payer every name is a whole path', async () => {
  const datasets = { 'own-project.club': { team: TEAM }, 'own-project.other': { a: TEAM }, 'public.data': { b: TEAM } };
  await start({ datasets }, { schemas: ['other', 'public.data'] });
  const names = async () => (await engine.describe({ signal })).tables.map(({ name }) => name);
  expect(await names()).toEqual(['team', 'other.a', 'public.data.b']);
  await engine.close();
  await server.close();
  await start({ datasets }, { schemas: ['other'] }, { billing: 'payer' });
  expect(await names()).toEqual(['own-project.club.team', 'own-project.other.a']);
});

test('lists of more than one page are read to their end, and a dataset that is not there is one line', async () => {
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`t${at}x`, TEAM]));
  await start({ datasets: { 'own-project.club': many } });
  expect((await engine.describe({ signal })).tables).toHaveLength(120);
  await engine.close();
  await server.close();
  await start({ datasets: {} });
  await expect(engine.describe({ signal })).rejects.toMatchObject({
    code: 'not-found',
    message: 'Not found: Dataset own-project:club: check project (own-project) and dataset (club) in the URL',
  });
});

test('requests that are dropped on their way end a description at its limit, with one line', async () => {
  jest.useFakeTimers({ advanceTimers: true, doNotFake: ['Date', 'nextTick', 'performance', 'setImmediate'] });
  await start({ datasets: { 'own-project.club': { team: TEAM } } });
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(server.endpoint).port) });
  const endpoint = `http://127.0.0.1:${proxy.port}`;
  const through = createBigQueryEngine({ url: server.url('club', { endpoint }), options: { key: server.key, load } });
  try {
    await through.describe({ signal });
    const dropped = new Promise<void>((resolve) => {
      proxy.at(proxy.sent() + 1, () => {
        proxy.forget();
        resolve();
      });
    });
    const told = expect(through.describe({ signal })).rejects.toMatchObject({
      code: 'connection',
      message: `lost BigQuery (${endpoint}): its catalogue was not read within 5 minutes: check the network, or name fewer schemas`,
    });
    await dropped;
    jest.advanceTimersByTime(300_000);
    await told;
  } finally {
    await through.close();
    await proxy.close();
    jest.useRealTimers();
  }
});

describe('access lists', () => {
  const ANSWER = { fields: [id], rows: [['1']] };
  const SECRET: TestTable = { fields: [id, { name: 'ssn', type: 'STRING' }] };
  const datasets = {
    'own-project.club': {
      team: TEAM,
      secret: SECRET,
      events_20210101: EVENTS,
      events_20210102: EVENTS,
      events_secret: SECRET,
      open: SECRET,
      late_20210101: EVENTS,
      late_20210102: EVENTS,
    },
  };
  const guarded = (deny: string[], searchPath = ['own-project.club', 'club']) =>
    createGuardedEngine(engine, createBigQueryInspector(), { allow: [], deny }, searchPath);
  const kindOf = async (sql: string, deny: string[]) => (await guarded(deny).run([sql], asked)).results[0]?.kind;

  test.each([
    'SELECT id FROM secret',
    'SELECT id FROM club.secret',
    'SELECT id FROM `own-project.club.secret`',
    'SELECT id FROM own-project.club.secret',
    'SELECT id FROM `own-project`.club.`secret`',
    'SELECT id FROM team START, secret',
    'SELECT id FROM team, (SELECT * FROM team.secret)',
    'SELECT id FROM `events_*`',
    'SELECT id FROM `own-project.club.e*`',
    'SELECT id FROM `*`',
    'SELECT id FROM `late_*`',
    'SELECT id FROM team user, team.secret',
    'SELECT id FROM team, `team.secret`',
    'SELECT EXTRACT(DAY FROM ssn-x.id) FROM open AS x',
    'SELECT id FROM open AS x WHERE 1 IS DISTINCT FROM ssn-x.id',
    'SELECT id FROM elsewhere.team',
    'SELECT table_name FROM club.INFORMATION_SCHEMA.COLUMNS',
    'SELECT ssn FROM open',
    'SELECT x.ssn FROM `own-project.club.open` AS x',
    'SELECT * FROM `own-project.club.open`',
    'SELECT TO_JSON_STRING(open) FROM club.open',
    'SELECT TO_JSON_STRING(x) FROM `own-project.club.open` x',
  ])('refused: %s', async (sql) => {
    await start({ datasets, onQuery: () => ANSWER });
    expect(await kindOf(sql, ['secret', 'club.events_secret', 'open.ssn', 'late_20210101'])).toBe('refused');
    expect(server.queries).toEqual([]);
  });

  test.each([
    'SELECT id FROM team',
    'SELECT id FROM `own-project.club.team`',
    'SELECT id FROM open',
    "SELECT event_name FROM `events_*` WHERE _TABLE_SUFFIX = '20210101'",
  ])('allowed: %s', async (sql) => {
    await start({ datasets, onQuery: () => ANSWER });
    expect(await kindOf(sql, ['secret', 'open.ssn'])).toBe('rows');
  });

  test.each(['*_20210101', '*20210101', '*2021010*', 'club.*_20210101', '*vents_*', '*s_2021*'])(
    'a shard that %s denies keeps the wildcard from being read',
    async (pattern) => {
      await start({ datasets, onQuery: () => ANSWER });
      expect(await kindOf('SELECT event_name FROM `events_*`', [pattern])).toBe('refused');
      expect((await guarded([pattern]).describe({ signal })).tables.map(({ name }) => name)).not.toContain('events_*');
    },
  );

  test.each(['*_20210101x', '*_secrets', '*.*email*', '*_2021010', '*.*_id', 'x*_20210101'])(
    'what %s denies is no shard',
    async (pattern) => {
      await start({ datasets, onQuery: () => ANSWER });
      expect(await kindOf('SELECT event_name FROM `events_*`', [pattern])).toBe('rows');
    },
  );

  test('patterns may name the project', async () => {
    await start({ datasets, onQuery: () => ANSWER }, {}, { billing: 'payer' });
    const of = async (sql: string, deny: string[]) => (await guarded(deny, []).run([sql], asked)).results[0]?.kind;
    expect(await of('SELECT id FROM `own-project.club.secret`', ['own-project.club.secret'])).toBe('refused');
    expect(await of('SELECT id FROM `own-project.club.secret`', ['club.secret'])).toBe('refused');
    expect(await of('SELECT ssn FROM `own-project.club.open`', ['own-project.club.open.ssn'])).toBe('refused');
    expect(await of('SELECT id FROM `own-project.club.open`', ['own-project.club.open.ssn'])).toBe('rows');
  });
});

test.each([
  ['bigquery://p', 'the database URL must name a project and a dataset: write bigquery://project/dataset?location=EU&billing=other-project&keyFile=/path/key.json'],
  ['bigquery://p/d/t', 'the database URL must name a project and a dataset: write bigquery://project/dataset?location=EU&billing=other-project&keyFile=/path/key.json'],
  ['bigquery://p/d?warehouse=x', 'the database URL has warehouse, which is unknown: allowed are location, billing, keyFile, endpoint'],
  ['bigquery://u:secret@p/d', 'the database URL has a login: leave it out, and name the key file of a service account in keyFile'],
  ['bigquery://p/d?endpoint=http://example.com', 'endpoint http://example.com would send secrets in the clear: write https://'],
  ['bigquery://p/d?endpoint=ftp://127.0.0.1', 'endpoint ftp://127.0.0.1 is no http(s) URL'],
  ['bigquery://p/d?keyFile=/no/such.json', 'cannot read keyFile /no/such.json (ENOENT): correct the path'],
])('%s is one line', async (url, message) => {
  await start({});
  expect(() => readTarget({ url })).toThrow(message);
}); // prettier-ignore

test('a key that is none is one line without its text', async () => {
  await start({});
  for (const key of ['{"private_key": "hush"', '{"type": "authorized_user", "refresh_token": "hush"}'])
    expect(() => readTarget({ url: 'bigquery://p/d', key })).toThrow(
      /^the configured key is no key of a service account: (?!.*hush)/,
    );
});
