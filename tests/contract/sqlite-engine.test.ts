/** SQLite beyond what every engine does (engines-*.test.ts): its files, their locks and the process that reads them. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'libsql';
import { createSqliteEngine } from '../../src/adapters/sqlite';
import { databaseFile } from '../../src/config/database-file';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import { ENDLESS, eventually, options, rowsOf, runOne } from '../helpers/engine';
import { recursiveSeries } from './engines/subject';

const folder = mkdtempSync(join(tmpdir(), 'gate-sqlite-'));
const file = join(folder, 'club.sqlite');
const engines: SqlEngine[] = [];

beforeAll(() =>
  write(
    "CREATE TABLE team (id integer PRIMARY KEY, code text, city text); INSERT INTO team VALUES (1, 'ABC', 'Rome'), (2, 'DEF', NULL), (3, 'GHI', 'Bern')",
  ),
);
afterAll(async () => {
  for (const engine of engines) await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

function keep(engine: SqlEngine): SqlEngine {
  engines.push(engine);
  return engine;
}

const WRITE = 'const [, library, file, sql] = process.argv; new (require(library))(file).exec(sql);';
/** In a process of its own: libsql keeps the lock of a statement that failed until its process ends. */
const write = (sql: string): Promise<void> =>
  promisify(execFile)(process.execPath, ['-e', WRITE, require.resolve('libsql'), file, sql]).then(() => undefined);

test('text that is not UTF-8 and binary values arrive as text', async () => {
  await write(
    "DROP TABLE IF EXISTS odd; CREATE TABLE odd (t text); INSERT INTO odd VALUES ('é'), (CAST(x'41ff42' AS TEXT))",
  );
  const engine = keep(createSqliteEngine({ path: file }));
  const sql = "SELECT t, x'00ff' AS b, 1e400 AS i FROM odd ORDER BY rowid";
  expect(rowsOf(await runOne(engine, sql))).toEqual([['é', '\\x00ff', 'Infinity'], ['A\ufffdB', '\\x00ff', 'Infinity']]); // prettier-ignore
  expect(await engine.digest(sql, options())).toMatchObject({ count: 2 });
  const { tables } = await engine.describe(options());
  expect(tables.find(({ name }) => name === 'odd')?.columns[0]?.samples).toEqual(['é', 'A\ufffdB']);
  await write('DROP TABLE odd');
});

test('a missing file, a directory and another kind of file: one line each', async () => {
  const other = join(folder, 'notes.txt');
  writeFileSync(other, 'these are notes and not a database');
  const cases: [string, RegExp][] = [
    [join(folder, 'missing.sqlite'), /^there is no file .*missing\.sqlite: check the path/],
    [folder, /is a directory: name the SQLite file in it$/],
    [other, /is not a SQLite database/],
  ];
  for (const [path, message] of cases) {
    await expect(runOne(keep(createSqliteEngine({ path })), 'SELECT 1')).rejects.toMatchObject({
      code: 'not-found',
      message: expect.stringMatching(message) as string,
    });
  }
  expect(() => statSync(join(folder, 'missing.sqlite'))).toThrow('ENOENT');
});

test('a file without tables is described as having none', async () => {
  const path = join(folder, 'empty.sqlite');
  writeFileSync(path, '');
  expect((await keep(createSqliteEngine({ path })).describe(options())).tables).toEqual([]);
});

test('a result that was cut keeps no lock', async () => {
  await runOne(keep(createSqliteEngine({ path: file })), recursiveSeries(5_000).replace('FROM r', 'FROM r, team'), {
    maxRows: 3,
  });
  await runOne(keep(createSqliteEngine({ path: file })), 'SELECT * FROM team a, team b, team c', { maxRows: 1 });
  await write("INSERT INTO team VALUES (7, 'X', 'Y'); DELETE FROM team WHERE id = 7");
});

test('a file that this process writes stays locked while it is read', async () => {
  const path = join(mkdtempSync(join(folder, 'own-')), 'own.sqlite');
  const own = new Database(path);
  own.exec('CREATE TABLE t (n integer); BEGIN IMMEDIATE');
  for (let times = 0; times < 2; times += 1) expect(databaseFile(path)).toMatchObject({ dialect: 'sqlite' });
  const engine = keep(createSqliteEngine({ path }));
  expect(await runOne(engine, 'SELECT count(*) FROM t')).toMatchObject({ rows: [[0]] });
  await engine.describe(options());
  await engine.revision?.(options());
  const other = spawnSync(process.execPath, ['-e', WRITE, require.resolve('libsql'), path, 'INSERT INTO t VALUES (1)']);
  expect(other.stderr.toString()).toContain('database is locked');
  own.close();
});

test('a file in WAL mode is read while another process writes to it', async () => {
  const path = join(mkdtempSync(join(folder, 'wal-')), 'wal file?#.sqlite');
  const writer = new Database(path);
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n integer); INSERT INTO t VALUES (1)');
  const engine = keep(createSqliteEngine({ path }));
  expect(await runOne(engine, 'SELECT count(*) FROM t')).toMatchObject({ rows: [[1]] });
  writer.exec('INSERT INTO t VALUES (2)');
  expect(await runOne(engine, 'SELECT count(*) FROM t')).toMatchObject({ rows: [[2]] });
  writer.close();
});

test('when all its processes are killed at once, the next statement runs in a new one', async () => {
  const engine = keep(createSqliteEngine({ path: file, poolSize: 3 }));
  const ids = (): number[] => {
    const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)]);
    return Array.from(stdout.toString().matchAll(/^ *(\d+) .*(?:child|gate: reads)/gm), ([, id]) => Number(id));
  };
  const before = ids();
  await Promise.all(Array.from({ length: 3 }, () => runOne(engine, recursiveSeries(20_000))));
  const own = ids().filter((id) => !before.includes(id));
  expect(own).toHaveLength(3);
  for (const id of own) process.kill(id, 'SIGKILL');
  // Nothing is awaited before, so that this process has not heard of their end.
  spawnSync('sleep', ['0.2']);
  expect(await runOne(engine, 'SELECT 1')).toMatchObject({ kind: 'rows', rows: [[1]] });
});

test('a query of a process that was killed ends soon, also in the middle', async () => {
  const script = `const { createSqliteEngine } = require(${JSON.stringify(require.resolve('../../src/adapters/sqlite/index.ts'))});
    createSqliteEngine({ path: ${JSON.stringify(file)} }).run([${JSON.stringify(ENDLESS)}], { timeoutMs: 60000, maxRows: 1, tag: 't', signal: new AbortController().signal });`;
  const parent = spawn(process.execPath, ['--require', require.resolve('tsx/cjs'), '-e', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  parent.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const children = (): string[] => {
    if (parent.exitCode !== null) throw new Error(`it has ended: ${said}`);
    const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent.pid)]);
    const lines = stdout
      .toString()
      .split('\n')
      .filter((line) => /child\.ts|gate: reads/.test(line)); // it takes a name soon
    return lines.map((line) => line.trim().split(' ')[0] ?? '');
  };
  const [pid] = await eventually(children, (found) => found.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  parent.kill('SIGKILL');
  await eventually(
    () =>
      spawnSync('ps', ['-o', 'stat=', '-p', pid ?? ''])
        .stdout.toString()
        .trim(),
    (state) => state === '' || state.startsWith('Z'),
  );
});
