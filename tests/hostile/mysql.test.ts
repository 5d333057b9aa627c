/**
 * What a hostile statement can do to a MariaDB server through this engine: nothing that lasts. The corpus runs with a login that
 * has all rights, and the check of logins switched off: behind the guard, then with the engine alone, then in its session alone,
 * so that each fence is seen to hold by itself. Before and after, everything is compared.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from 'mysql2/promise';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createMysqlEngine, createMysqlInspector } from '../../src/adapters/mysql';
import { readAddress } from '../../src/adapters/mysql/address';
import { MysqlSession } from '../../src/adapters/mysql/session';
import type { SqlResult } from '../../src/domain';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import { startMariaDb, type TestMariaDb } from '../helpers/mariadb';
import { fill } from './corpus';
import { acts, legitimate, ofMysqlAlone, PREY } from './mysql';

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

const TIMEOUT_MS = 500;
const folder = mkdtempSync(join(tmpdir(), 'gate-hostile-'));
chmodSync(folder, 0o777);

let server: TestMariaDb;
let admin: Connection;
/** Another session of the server: it must stay as it is. */
let bystander: Connection;
let statements: string[];
const inspector = createMysqlInspector();

beforeAll(async () => {
  server = await startMariaDb(['--log-bin=binlog', '--secure-file-priv=', '--server-id=1']);
  await server.createDatabase('preydb', PREY);
  if (server.isMariaDb) await server.query('CREATE SEQUENCE counter', 'preydb');
  await server.createUser('least', 'secret', 'SELECT, SHOW VIEW ON preydb.*');
  admin = await server.connect('preydb');
  bystander = await server.connect('preydb');
  const values = { OUT: folder, PID: String(bystander.threadId) };
  statements = acts.flatMap((each) => each.statements).map((sql) => fill(sql, values));
});

afterAll(async () => {
  await admin.end();
  await bystander.end();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Waits or computes up to its time limit. What ends by itself ends in its own time: a late answer must not count as one. */
const WAITS = /sleep|benchmark|wait|_lock/i;
const options = (sql = '') => ({
  timeoutMs: WAITS.test(sql) ? TIMEOUT_MS : 240_000,
  maxRows: 100,
  tag: 'hostile',
  signal: new AbortController().signal,
});
const allRights = (): SqlEngine => createMysqlEngine({ url: server.url('preydb'), options: { anyLogin: true } });

/** Tables with their rows, what else is stored, users, settings, files, locks, the log of changes, the other session. */
async function everything(): Promise<Record<string, unknown>> {
  const rows = async (sql: string): Promise<unknown[][]> => (await admin.query(sql))[0] as unknown[][];
  const own = "table_schema NOT IN ('information_schema', 'performance_schema', 'sys')";
  const tables = await rows(
    `SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE ${own} ORDER BY 1, 2`,
  );
  const counted = tables.filter(
    ([, name, kind]) =>
      kind === 'BASE TABLE' && !/^((general|slow)_log|gtid_executed|innodb_.*_stats)$/.test(String(name)),
  );
  const volatile = /^(TIMESTAMP|LAST_INSERT_ID|IDENTITY|INSERT_ID|RAND_SEED\d|GTID_\w+|INNODB_BUFFER_POOL_LOAD_\w+)$/;
  return {
    tables,
    checksums: await rows(
      `CHECKSUM TABLE ${counted.map(([schema, name]) => `\`${String(schema)}\`.\`${String(name)}\``).join(', ')} EXTENDED`,
    ),
    routines: await rows('SELECT routine_schema, routine_name FROM information_schema.routines ORDER BY 1, 2'),
    events: await rows('SELECT event_schema, event_name FROM information_schema.events'),
    triggers: await rows('SELECT trigger_schema, trigger_name FROM information_schema.triggers'),
    settings: (await rows('SHOW GLOBAL VARIABLES')).filter(([name]) => !volatile.test(String(name).toUpperCase())),
    log: await rows(server.isMariaDb ? 'SHOW MASTER STATUS' : 'SHOW BINARY LOG STATUS'),
    lock: await rows("SELECT is_free_lock('evil')"),
    counter: server.isMariaDb ? await rows('SELECT next_not_cached_value FROM counter') : [],
    files: readdirSync(folder),
    bystander: (await bystander.query('SELECT connection_id()'))[0],
  };
}

/** Statement by statement, each in a run of its own, as a hostile plan could have it. */
async function outcomes(engine: SqlEngine): Promise<Map<string, SqlResult | Error>> {
  const found = new Map<string, SqlResult | Error>();
  for (const sql of statements) {
    const result = await engine.run([sql], options(sql)).then(
      ({ results }) => results[0] as SqlResult,
      (error: unknown) => error as Error,
    );
    found.set(sql, result);
  }
  await engine.close();
  return found;
}

const allowed = (found: Map<string, SqlResult | Error>): string[] =>
  [...found]
    .filter(([, result]) => !('kind' in result) || result.kind === 'rows' || result.kind === 'timeout')
    .map(([sql]) => sql);

it('the corpus has at least 150 statements', () => {
  expect(new Set(statements).size).toBeGreaterThanOrEqual(150);
});

it('the guard refuses every statement, and nothing changes', async () => {
  const before = await everything();
  const found = await outcomes(createGuardedEngine(allRights(), inspector));
  expect(allowed(found)).toEqual([]);
  expect(await everything()).toEqual(before);
});

it('without the guard nothing changes either', async () => {
  const before = await everything();
  const found = await outcomes(allRights());
  expect(await everything()).toEqual(before);
  // These run: what they tell or take is gone with the session, or is what the check of logins and the guard are for.
  expect(allowed(found).filter((sql) => !READS.some((pattern) => pattern.test(sql)))).toEqual([]);
});

/** Reads what a login may read, waits, or holds a lock until its run ends. */
const READS = [
  WAITS,
  /\b(mysql|performance_schema|sys|information_schema)\b/i,
  /user|connection_id|password|load_file/i,
  /FOR (UPDATE|SHARE)|LOCK IN SHARE/,
  /lastval|PREVIOUS VALUE|uuid_short|last_insert_id|name_const|extractvalue|updatexml|PROCEDURE ANALYSE|commits\(\)/,
];

it('the session alone changes nothing, whatever begins a statement', async () => {
  const session = await MysqlSession.open(readAddress(server.url('preydb')));
  await session.begin(options());
  const before = await everything();
  // These have columns, so that they are executed; they check or analyse tables and are refused by the engine before.
  const administers = /^(REPAIR|OPTIMIZE|ANALYZE|CHECK|CHECKSUM|CACHE) /i;
  for (const sql of statements.filter((each) => !administers.test(each)))
    await session
      .execute(sql, options(sql))
      .catch((error: unknown) => expect((error as Error).message).toMatch(/NUL|lost/));
  await session.end();
  await session.close();
  expect(await everything()).toEqual(before);
});

it('a view that calls a stored function, or that is over one, is refused; the server refuses what it writes', async () => {
  const engine = createGuardedEngine(allRights(), inspector);
  const before = await everything();
  const statements = ['SELECT * FROM through', 'SELECT x FROM "OVER_IT"', 'SELECT count(*) FROM shown'];
  expect((await engine.run(statements, options())).results).toMatchObject([
    { kind: 'refused', message: matching(/^the view through calls a function that may act/) },
    { kind: 'refused', message: matching(/^the view over_it calls a function that may act/) },
    { kind: 'rows', rows: [[3]] },
  ]);
  await engine.close();
  const session = await MysqlSession.open(readAddress(server.url('preydb')));
  await session.begin(options());
  expect(await session.execute('SELECT * FROM through', options())).toMatchObject({ message: matching(/READ ONLY/) });
  await session.close();
  expect(await everything()).toEqual(before);
});

it('a login with all these rights is refused when the database is opened', async () => {
  const engine = createMysqlEngine({ url: server.url('preydb') });
  await expect(engine.run(['SELECT 1'], options())).rejects.toMatchObject({
    code: 'not-read-only',
    message: matching(/may do more than read .*GRANT SELECT, SHOW VIEW ON `preydb`\.\* TO 'gate_reader'/),
  });
  await engine.close();
});

it('what people write runs with the least rights', async () => {
  const url = server.url('preydb', { user: 'least', password: 'secret' });
  const engine = createGuardedEngine(createMysqlEngine({ url }), inspector);
  const refused: string[] = [];
  for (const sql of legitimate) {
    const [result] = (await engine.run([sql], options())).results;
    const unknown = server.isMariaDb && ofMysqlAlone.some((pattern) => pattern.test(sql));
    if (
      result?.kind !== 'rows' &&
      !(unknown && result?.kind === 'sql-error' && ['1064', '1370'].includes(result.code ?? ''))
    )
      refused.push(`${sql}: ${JSON.stringify(result)}`);
  }
  await engine.close();
  expect(refused).toEqual([]);
});
