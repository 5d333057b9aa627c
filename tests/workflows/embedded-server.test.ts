import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { userFolders, type Folders } from '../../src/config/folders';
import { embeddedServerInfo, joinEmbeddedServer, stopEmbeddedServer } from '../../src/workers/embedded-server';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { isServerProcess } from '../../src/workers/temporal-process';
import { testFolder } from '../helpers/temporal';

const used: Folders[] = [];
let env: Record<string, string | undefined>;

beforeAll(async () => {
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  env = { ...process.env, TEMPORAL_CLI_PATH: binary };
});
afterAll(async () => {
  for (const folders of used) await stopEmbeddedServer(folders);
});

/** The folders of a user of its own. */
function freshUser(): Folders {
  const home = testFolder();
  const folders = userFolders({ HOME: home, XDG_CACHE_HOME: join(home, 'cache'), XDG_STATE_HOME: join(home, 'state') });
  used.push(folders);
  return folders;
}

/** Another process that joins, says what it got, and leaves when its input ends. */
function otherProcess(folders: Folders) {
  const code = `
    const { joinEmbeddedServer } = require(${JSON.stringify(join(__dirname, '../../src/workers/embedded-server'))});
    joinEmbeddedServer({ folders: ${JSON.stringify(folders)}, env: process.env, uiPort: null }).then((server) => {
      process.stdout.write(JSON.stringify({ pid: server.info.pid, started: server.started }) + '\\n');
      process.stdin.resume().on('end', () => server.leave().then((left) => process.stdout.write(left + '\\n')));
    });`;
  const child = spawn(process.execPath, ['--require', require.resolve('tsx/cjs'), '-e', code], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  let wake: () => void = () => undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    lines.push(...chunk.toString().split('\n').filter(Boolean));
    wake();
  });
  return {
    child,
    async line(): Promise<string> {
      while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return lines.shift() ?? '';
    },
  };
}

test('two processes that start at once share one server, and the last one out stops it', async () => {
  const folders = freshUser();
  const [a, b] = [otherProcess(folders), otherProcess(folders)];
  const joined = (await Promise.all([a.line(), b.line()])).map(
    (line) => JSON.parse(line) as { pid: number; started: boolean },
  );
  expect(joined[0]?.pid).toBe(joined[1]?.pid);
  expect(joined.map(({ started }) => started).sort()).toEqual([false, true]);
  a.child.stdin.end();
  expect(await a.line()).toBe('running');
  expect(isServerProcess(joined[0]?.pid ?? 0)).toBe(true);
  b.child.stdin.end();
  expect(await b.line()).toBe('stopped');
  expect(await embeddedServerInfo(folders)).toBeNull();
  expect(isServerProcess(joined[0]?.pid ?? 0)).toBe(false);
});

test('a process that joins twice uses the server until it has left twice', async () => {
  const folders = freshUser();
  const [outer, inner] = [
    await joinEmbeddedServer({ folders, env, uiPort: null }),
    await joinEmbeddedServer({ folders, env, uiPort: null }),
  ];
  expect(await inner.leave()).toBe('running');
  expect(isServerProcess(outer.info.pid)).toBe(true);
  expect(await outer.leave()).toBe('stopped');
});

test('a user that was killed does not keep the server; the next one joins it and stops it', async () => {
  const folders = freshUser();
  const killed = otherProcess(folders);
  const { pid } = JSON.parse(await killed.line()) as { pid: number };
  killed.child.kill('SIGKILL');
  await new Promise((resolve) => killed.child.once('exit', resolve));
  const server = await joinEmbeddedServer({ folders, env, uiPort: null });
  expect(server).toMatchObject({ started: false, info: { pid } });
  expect(await server.leave()).toBe('stopped');
});

test('one that is killed while its server starts leaves no second one behind: the next one joins it', async () => {
  const folders = freshUser();
  const killed = otherProcess(folders);
  const file = join(folders.cache, 'temporal', 'server.json');
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 2));
  killed.child.kill('SIGKILL');
  await new Promise((resolve) => killed.child.once('exit', resolve));
  const { pid, version } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; version: string };
  expect(version).toBe('starting');
  const server = await joinEmbeddedServer({ folders, env, uiPort: null });
  expect(server).toMatchObject({ started: false, info: { pid, version: expect.stringMatching(/^\d+\./) as string } });
  expect(await server.leave()).toBe('stopped');
  expect(isServerProcess(pid)).toBe(false);
});

test('a killed server is started again, on the same database file', async () => {
  const folders = freshUser();
  const first = await joinEmbeddedServer({ folders, env, uiPort: null });
  process.kill(first.info.pid, 'SIGKILL');
  while (isServerProcess(first.info.pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  const second = await joinEmbeddedServer({ folders, env, uiPort: null });
  expect(second.started).toBe(true);
  expect(second.info.databaseFile).toBe(first.info.databaseFile);
  expect(await second.leave()).toBe('stopped');
});

test('a server that is asked to stay does, until it is stopped', async () => {
  const folders = freshUser();
  const server = await joinEmbeddedServer({ folders, env });
  expect(server.uiUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
  expect(await server.leave({ keep: true })).toBe('running');
  const again = await joinEmbeddedServer({ folders, env });
  expect(again.started).toBe(false);
  expect(await again.leave()).toBe('running');
  expect(await stopEmbeddedServer(folders)).toBe(true);
  expect(await stopEmbeddedServer(folders)).toBe(false);
});

test('a fixed port in use is one clear line', async () => {
  const blocker = createServer();
  const port = await new Promise<number>((resolve) =>
    blocker.listen(0, '127.0.0.1', () => resolve((blocker.address() as { port: number }).port)),
  );
  await expect(joinEmbeddedServer({ folders: freshUser(), env, port })).rejects.toThrow(
    `gRPC port ${String(port)} is in use: choose another one or leave it out`,
  );
  blocker.close();
});

test('another store has a server of its own', async () => {
  const user = freshUser();
  const elsewhere = { ...user, otherStore: '/elsewhere/store' };
  const own = await joinEmbeddedServer({ folders: user, env, uiPort: null });
  const other = await joinEmbeddedServer({ folders: elsewhere, env, uiPort: null });
  expect(other.started).toBe(true);
  expect(other.info.databaseFile).not.toBe(own.info.databaseFile);
  expect(await stopEmbeddedServer(elsewhere)).toBe(true);
  expect((await embeddedServerInfo(user))?.pid).toBe(own.info.pid);
});

test('servers of several users that start at once do not take the same port for their UI', async () => {
  const servers = await Promise.all(
    [freshUser(), freshUser(), freshUser()].map((folders) => joinEmbeddedServer({ folders, env })),
  );
  expect(new Set(servers.map(({ info }) => info.uiPort)).size).toBe(3);
});
