/** What is kept of an import, for whom, and what ends one. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { getEventListeners, once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { createDuckdbEngine } from '../../../../../src/adapters/duckdb';
import { cacheEntries, importFiles, removeEntry } from '../../../../../src/adapters/duckdb/files';
import { withFileLock } from '../../../../../src/file-lock';
import { dataFormat } from '../../../../../src/data-file';

const { signal } = new AbortController();
let folder: string;
let cacheFolder: string;
let orders: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gate-files-cache-'));
  cacheFolder = join(folder, 'cache');
  orders = join(folder, 'orders.csv');
  writeFileSync(orders, 'id,name\n1,Ann\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

const options = () => ({ cacheFolder, signal });
/** What is in the folders of the cache. */
const inEntry = (): string[] => {
  const entries = readdirSync(join(cacheFolder, 'files'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return entries.flatMap(({ name }) => readdirSync(join(cacheFolder, 'files', name)));
};

async function opened(path: string) {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  return {
    rows: async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson(),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Processes that a process started and that run; `tsx` starts esbuild. */
function childrenOf(parent: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,comm='], { encoding: 'utf8' });
  const all = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  return all.flatMap(([pid, ppid, state = '', name]) =>
    Number(ppid) === parent && !state.startsWith('Z') && name !== 'ps' && name !== 'esbuild' ? [Number(pid)] : [],
  );
}

function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

/** Takes some seconds to import. */
function writeLarge(path: string): void {
  const line = Array.from({ length: 20 }, (_, index) => `value ${index}`).join(',');
  writeFileSync(path, `${line.replaceAll('value', 'name')}\n${`${line}\n`.repeat(400_000)}`);
}

test('what is unchanged is not imported again; what changed is', async () => {
  const first = await importFiles(orders, options());
  expect(first.source).toBe(orders);
  expect(first.asOf).toBe(statSync(orders).mtime.toISOString());
  const again = await importFiles(orders, options());
  expect([again.path, again.importedAt]).toEqual([first.path, first.importedAt]);

  const reader = await opened(first.path);
  writeFileSync(orders, 'id,name\n1,Ann\n2,Bob\n');
  const changed = await importFiles(orders, options());
  expect(changed.path).not.toBe(first.path);
  expect(changed.tables[0]?.rows).toBe(2);
  expect(inEntry().filter((name) => name.endsWith('.duckdb')).length).toBe(1);
  expect(await reader.rows('FROM orders')).toEqual([['1', 'Ann']]);
  reader.close();
  const now = await opened(changed.path);
  expect(await now.rows('FROM orders')).toEqual([['1', 'Ann'], ['2', 'Bob']]); // prettier-ignore
  now.close();
});

test('a content is not read where size and time are as they were', async () => {
  const time = new Date('2024-01-01T00:00:00Z');
  utimesSync(orders, time, time);
  const first = await importFiles(orders, options());
  writeFileSync(orders, 'id,name\n1,Eve\n');
  utimesSync(orders, time, time);
  expect((await importFiles(orders, options())).path).toBe(first.path);
});

test('a new time with the same content takes a new time and no import', async () => {
  const first = await importFiles(orders, options());
  const time = new Date('2031-01-01T00:00:00Z');
  utimesSync(orders, time, time);
  const touched = await importFiles(orders, options());
  expect(touched).toMatchObject({ path: first.path, importedAt: first.importedAt, asOf: time.toISOString() });
});

test('a new, a lost and a renamed file of a folder are noticed', async () => {
  const data = join(folder, 'data');
  mkdirSync(data);
  writeFileSync(join(data, 'a.csv'), 'x\n1\n');
  const tables = async () => (await importFiles(data, options())).tables.map(({ name }) => name);
  expect(await tables()).toEqual(['a']);
  writeFileSync(join(data, 'b.csv'), 'x\n2\n');
  expect(await tables()).toEqual(['a', 'b']);
  renameSync(join(data, 'b.csv'), join(data, 'c.csv'));
  expect(await tables()).toEqual(['a', 'c']);
  rmSync(join(data, 'a.csv'));
  expect(await tables()).toEqual(['c']);
  writeFileSync(join(data, 'notes.md'), '');
  expect((await importFiles(data, options())).ignored).toEqual([
    { file: 'notes.md', reason: 'its ending is not one of data' },
  ]);
});

test('folders are for their user alone, and nothing but the database and its report stays', async () => {
  const { path } = await importFiles(orders, options());
  const entry = join(path, '..');
  const mode = (at: string): string => (statSync(at).mode & 0o777).toString(8);
  expect(readdirSync(entry).sort()).toEqual([path.split('/').at(-1), 'report.json'].sort());
  expect([mode(join(cacheFolder, 'files')), mode(entry), mode(path), mode(join(entry, 'report.json')), mode(`${entry}.lock`)]).toEqual(['700', '700', '600', '600', '600']);
}); // prettier-ignore

test('links out of the folder are not followed, links within are', async () => {
  const data = join(folder, 'data');
  mkdirSync(join(data, 'deep'), { recursive: true });
  writeFileSync(join(data, 'deep', 'in.csv'), 'x\n1\n');
  symlinkSync(join(data, 'deep', 'in.csv'), join(data, 'alias.csv'));
  symlinkSync(orders, join(data, 'out.csv'));
  symlinkSync(folder, join(data, 'up.csv'));
  symlinkSync(join(folder, 'none'), join(data, 'none.csv'));
  const { tables, ignored } = await importFiles(data, options());
  expect(tables.map(({ name }) => name)).toEqual(['alias', 'deep_in']);
  expect(ignored).toEqual([
    { file: 'none.csv', reason: 'a link to nothing' },
    { file: 'out.csv', reason: 'a link that leads out of the folder' },
    { file: 'up.csv', reason: 'a link that leads out of the folder' },
  ]);
});

test('two imports at once make one', async () => {
  const two = await Promise.all([importFiles(orders, options()), importFiles(orders, options())]);
  expect(two[0].importedAt).toBe(two[1].importedAt);
  expect(inEntry().length).toBe(2);
});

test('an import that is aborted ends its process and leaves nothing', async () => {
  const large = join(folder, 'large.csv');
  writeLarge(large);
  const before = childrenOf(process.pid);
  const others = () => childrenOf(process.pid).filter((id) => !before.includes(id));
  const stop = new AbortController();
  const importing = importFiles(large, { cacheFolder, signal: stop.signal });
  const ended = importing.then(() => null, (error: unknown) => error); // prettier-ignore
  while (others().length === 0) await sleep(5);
  while (!inEntry().some((name) => name.startsWith('new-'))) await sleep(5);
  stop.abort(new Error('enough'));
  expect(await ended).toEqual(new Error('enough'));
  expect(others()).toEqual([]);
  expect(inEntry()).toEqual([]);
  expect((await importFiles(large, options())).tables[0]?.rows).toBe(400_000);
});

test('an import that the system killed says so', async () => {
  const large = join(folder, 'large.csv');
  writeLarge(large);
  const before = childrenOf(process.pid);
  const importing = importFiles(large, options());
  const ended = importing.then(() => null, (error: unknown) => error); // prettier-ignore
  const started = () => childrenOf(process.pid).find((id) => !before.includes(id));
  let child = started();
  for (; child === undefined; child = started()) await sleep(5);
  while (!existsSync(join(cacheFolder, 'files')) || !inEntry().some((name) => name.startsWith('new-'))) await sleep(5);
  process.kill(child, 'SIGKILL');
  expect(await ended).toMatchObject({
    code: 'connection',
    message: `the import of ${realpathSync(large)} ended unexpectedly: by SIGKILL`,
  });
});

test('the import ends with the process that asked for it, and the next one takes its place', async () => {
  const large = join(folder, 'large.csv');
  writeLarge(large);
  const module = require.resolve('../../../../../src/adapters/duckdb/files');
  const code = `require(${JSON.stringify(module)}).importFiles(${JSON.stringify(large)}, { cacheFolder: ${JSON.stringify(cacheFolder)}, signal: new AbortController().signal });`;
  const asking = spawn(process.execPath, ['--require', require.resolve('tsx/cjs'), '-e', code]);
  while (!existsSync(join(cacheFolder, 'files')) || !inEntry().some((name) => name.startsWith('new-'))) await sleep(5);
  const [child = 0] = childrenOf(asking.pid ?? 0);
  expect(isRunning(child)).toBe(true);
  asking.kill('SIGKILL');
  await once(asking, 'exit');
  while (isRunning(child)) await sleep(10);
  expect(inEntry().some((name) => name.endsWith('.duckdb'))).toBe(false);
  expect((await importFiles(large, options())).tables[0]?.rows).toBe(400_000);
  expect(inEntry().length).toBe(2);
});

test('entries are listed with their sizes and removed; what was not used for longest makes room', async () => {
  const { path, source } = await importFiles(orders, options());
  const [entry, ...others] = await cacheEntries(cacheFolder);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ source, folder: join(path, '..') });
  expect(entry?.bytes).toBeGreaterThan(statSync(path).size);
  const other = join(folder, 'other.csv');
  writeFileSync(other, 'x\n1\n');
  await importFiles(other, { ...options(), maxBytes: (entry?.bytes ?? 0) + 1000 });
  expect((await cacheEntries(cacheFolder)).map((each) => each.source)).toEqual([other]);
  for (const each of await cacheEntries(cacheFolder)) await removeEntry(each);
  expect(await cacheEntries(cacheFolder)).toEqual([]);
  await expect(importFiles(orders, { ...options(), maxBytes: 3 })).rejects.toThrow(
    /has 14 bytes, and an import may take 3/,
  );
});

test('an import that takes longer than the wait for a database is not given up', async () => {
  const engine = createDuckdbEngine({ path: orders, cacheFolder });
  try {
    const late = AbortSignal.timeout(0);
    await once(late, 'abort');
    const { tables } = await engine.describe({ signal: late });
    expect(tables.map(({ name }) => name)).toEqual(['orders']);
  } finally {
    await engine.close();
  }
});

test.each(['describe', 'revision', 'run', 'a run of files that changed'])(
  'an import is given up with its caller: %s',
  async (what) => {
    const engine = createDuckdbEngine({ path: orders, cacheFolder });
    const asked = (signal: AbortSignal) => ({ signal, timeoutMs: 60_000, maxRows: 1, tag: 'test' });
    if (what.startsWith('a run')) {
      await engine.run(['SELECT 1'], asked(signal));
      writeFileSync(orders, 'id,name\n1,Ann\n2,Bob\n');
    }
    const lock = `${join(
      cacheFolder,
      'files',
      createHash('sha256')
        .update(JSON.stringify(realpathSync(orders)))
        .digest('hex')
        .slice(0, 32),
    )}.lock`;
    const caller = new AbortController();
    // Another process imports it, and takes its time.
    await withFileLock(lock, async () => {
      const { signal: left } = caller;
      const work =
        what === 'describe'
          ? engine.describe({ signal: left })
          : what === 'revision'
            ? engine.revision?.({ signal: left })
            : engine.run(['SELECT 1'], asked(left));
      setTimeout(() => caller.abort(new Error('the user left')), 200);
      await expect(work).rejects.toThrow('the user left');
    });
    await engine.close();
  },
);

test('a session and a caller who ask many times gather no listeners', async () => {
  const engine = createDuckdbEngine({ path: orders, cacheFolder });
  const caller = new AbortController();
  const warnings: string[] = [];
  const warned = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', warned);
  for (let times = 0; times < 12; times += 1) {
    await engine.run(['SELECT 1'], { signal: caller.signal, timeoutMs: 60_000, maxRows: 1, tag: 'test' });
    await engine.revision?.({ signal: caller.signal });
  }
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  expect(warnings).toEqual([]);
  process.off('warning', warned);
  await engine.close();
});

test('what another version made is made again', async () => {
  const { path } = await importFiles(orders, options());
  writeFileSync(join(path, '..', 'report.json'), '{"version":0}');
  expect((await importFiles(orders, options())).tables[0]?.rows).toBe(1);
});

test.each<[string, RegExp]>([
  ['nothing.csv', /^there is no file or folder .*nothing\.csv: check the path$/],
  ['empty', /holds nothing to read/],
  ['https://example.com/a.csv', /^there is no file or folder https:/],
  ['s3://bucket/a.parquet', /^there is no file or folder s3:/],
])('%s is refused with one line', async (name, message) => {
  mkdirSync(join(folder, 'empty'));
  const source = name.includes('://') ? name : join(folder, name);
  await expect(importFiles(source, options())).rejects.toThrow(message);
});

test('which files are read by their endings', () => {
  const names = [
    'a.csv',
    'A.TSV',
    'a.json.gz',
    'a.ndjson',
    'a.jsonl',
    'a.parquet',
    'a.parquet.gz',
    'a.db',
    'csv',
    'a.txt',
  ];
  expect(names.filter((name) => dataFormat(name) !== null)).toEqual(names.slice(0, 6));
});
