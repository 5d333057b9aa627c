/**
 * Files that are no ordinary database, or that another process is writing: one clear line or an answer, at once, and
 * nothing of them changed. Shared-memory and write-ahead files of a database in WAL mode are its own (configuration.md).
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSqlite, createSqliteEngine } from '../../src/adapters/sqlite';
import { runOne } from '../helpers/engine';

const folder = mkdtempSync(join(tmpdir(), 'gate-odd-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MAKE = 'const [, library, file, sql] = process.argv; new (require(library))(file).exec(sql);';
/** Ends in the middle, as a killed process does. */
const BREAK = `${MAKE} process.kill(process.pid, 'SIGKILL');`;
const STAY = `${MAKE} console.log('ready'); setInterval(() => undefined, 1000);`;

const TABLE = 'CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);';
const library = require.resolve('libsql');

function make(name: string, sql: string): string {
  const file = join(folder, name);
  execFileSync(process.execPath, ['-e', MAKE, library, file, sql]);
  return file;
}

function breakOff(file: string, sql: string): void {
  expect(() => execFileSync(process.execPath, ['-e', BREAK, library, file, sql], { stdio: 'pipe' })).toThrow();
}

const files = (name: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.startsWith(name))
    .sort()
    .map(
      (file) =>
        `${file} ${createHash('md5')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}`,
    );

async function count(path: string, limits: { readonly timeoutMs?: number } = {}): Promise<unknown> {
  const engine = createSqliteEngine({ path });
  try {
    const result = await runOne(engine, 'SELECT count(*) FROM t', limits);
    return result.kind === 'rows' ? result.rows[0]?.[0] : result;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await engine.close();
  }
}

test('a named pipe and a device are no databases, and are said so at once', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const link = join(folder, 'link-to-pipe');
  symlinkSync(pipe, link);
  for (const path of [pipe, link, '/dev/null', '/dev/zero']) {
    expect(await count(path)).toMatch(/ is no ordinary file: name a SQLite 3 file$/);
    await expect(checkSqlite(path)).rejects.toThrow('is no ordinary file');
  }
});

test('a file overwritten or made of something else is said to be no database', async () => {
  const spoiled = make('spoiled', TABLE);
  writeFileSync(spoiled, Buffer.concat([readFileSync(spoiled).subarray(0, 4096), Buffer.alloc(4096, 255)]));
  const text = join(folder, 'text');
  writeFileSync(text, 'SELECT 1;');
  for (const path of [spoiled, text]) expect(await count(path)).toMatch(/ is not a SQLite database/);
});

test('a write that was broken off is not mended here, and is said', async () => {
  const path = make('hot', TABLE);
  breakOff(
    path,
    'PRAGMA cache_size = 1; BEGIN; INSERT INTO t SELECT hex(randomblob(500)) FROM generate_series(1, 5000);',
  );
  const before = files('hot');
  expect(before).toHaveLength(2); // the file and its journal
  expect(await count(path)).toMatch(
    /^a program was stopped in the middle of writing .*hot.*: open it once with one that may write/,
  );
  expect(files('hot')).toEqual(before);
});

test('what a killed writer had committed to the write-ahead log is read', async () => {
  const path = make('log', `PRAGMA journal_mode = WAL; ${TABLE}`);
  breakOff(path, 'INSERT INTO t VALUES (3)');
  const data = files('log').filter((file) => !file.includes('-shm'));
  expect(await count(path)).toBe(3);
  expect(files('log').filter((file) => !file.includes('-shm'))).toEqual(data);
});

describe('while another process', () => {
  const writers: ChildProcess[] = [];
  afterEach(() => {
    for (const writer of writers.splice(0)) writer.kill('SIGKILL');
  });
  const write = (file: string, sql: string): Promise<void> =>
    new Promise((resolve) => {
      const writer = spawn(process.execPath, ['-e', STAY, library, file, sql], { stdio: ['ignore', 'pipe', 'ignore'] });
      writers.push(writer);
      writer.stdout.once('data', () => resolve());
    });

  test('writes, what was committed before is read', async () => {
    const path = make('busy', TABLE);
    await write(path, 'BEGIN IMMEDIATE; INSERT INTO t VALUES (3)');
    expect(await count(path)).toBe(2);
  });

  test('holds the file alone, it is said', async () => {
    const path = make('locked', TABLE);
    await write(path, 'BEGIN EXCLUSIVE; INSERT INTO t VALUES (3)');
    // The wait for the file is not in the time of the statement.
    const locked = await count(path, { timeoutMs: 100 });
    expect(locked).toMatch(/^cannot read .*locked just now: database is locked$/);
  });
});
