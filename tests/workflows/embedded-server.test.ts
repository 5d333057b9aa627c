import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { loadConfig } from '../../src/config';
import { userFolders, type Environment } from '../../src/config/folders';
import { embeddedPlace, type EmbeddedPlace } from '../../src/config/store';
import { embeddedServerInfo, joinEmbeddedServer, stopEmbeddedServer } from '../../src/workers/embedded-server';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { isServerProcess } from '../../src/workers/temporal-process';
import { testFolder } from '../helpers/temporal';

const used: EmbeddedPlace[] = [];
let env: Record<string, string | undefined>;

beforeAll(async () => {
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  env = { ...process.env, TEMPORAL_CLI_PATH: binary };
});
afterAll(async () => {
  for (const place of used) await stopEmbeddedServer(place);
});

/** Where the server of a user with these variables lies. */
function placeOf(variables: Environment): EmbeddedPlace {
  const place = embeddedPlace(loadConfig({ cwd: testFolder(), env: variables, platform: process.platform }));
  used.push(place);
  return place;
}

function freshStore(): EmbeddedPlace {
  return placeOf({ HOME: testFolder() });
}

/** Another process that joins, says what it got, and leaves when its input ends. `before`: code that it begins with. */
function otherProcess(place: EmbeddedPlace, before = '') {
  const code = `
    ${before}
    const { joinEmbeddedServer } = require(${JSON.stringify(join(__dirname, '../../src/workers/embedded-server'))});
    joinEmbeddedServer({ place: ${JSON.stringify(place)}, env: process.env, uiPort: null }).then((server) => {
      process.stdout.write(JSON.stringify({ pid: server.info.pid, started: server.started }) + '\\n');
      process.stdin.resume().on('end', () => server.leave().then((left) => process.stdout.write(left + '\\n')));
    });`;
  const child = spawn(process.execPath, ['--import', pathToFileURL(require.resolve('tsx')).href, '-e', code], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async (): Promise<string> => ((await lines.next()) as { readonly value: string }).value };
}

test('two processes that start at once share one server, and the last one out stops it', async () => {
  const place = freshStore();
  const [a, b] = [otherProcess(place), otherProcess(place)];
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
  expect(await embeddedServerInfo(place)).toBeNull();
  expect(isServerProcess(joined[0]?.pid ?? 0)).toBe(false);
});

test('a process that joins twice uses the server until it has left twice', async () => {
  const place = freshStore();
  const [outer, inner] = [
    await joinEmbeddedServer({ place, env, uiPort: null }),
    await joinEmbeddedServer({ place, env, uiPort: null }),
  ];
  expect(await inner.leave()).toBe('running');
  expect(isServerProcess(outer.info.pid)).toBe(true);
  expect(await outer.leave()).toBe('stopped');
});

test('a user that was killed does not keep the server; the next one joins it and stops it', async () => {
  const place = freshStore();
  const killed = otherProcess(place);
  const { pid } = JSON.parse(await killed.line()) as { pid: number };
  killed.child.kill('SIGKILL');
  await new Promise((resolve) => killed.child.once('exit', resolve));
  const server = await joinEmbeddedServer({ place, env, uiPort: null });
  expect(server).toMatchObject({ started: false, info: { pid } });
  expect(await server.leave()).toBe('stopped');
});

test('one that is killed while its server starts leaves no second one behind: the next one joins it', async () => {
  const place = freshStore();
  const file = join(place.home, 'server.json');
  // As soon as the server that starts is recorded.
  const killed = otherProcess(
    place,
    `const fs = require('node:fs');
    const { renameSync } = fs;
    fs.renameSync = (from, to) => {
      renameSync(from, to);
      if (to === ${JSON.stringify(file)}) process.kill(process.pid, 'SIGKILL');
    };`,
  );
  await new Promise((resolve) => killed.child.once('exit', resolve));
  const { pid, version } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; version: string };
  expect(version).toBe('starting');
  const server = await joinEmbeddedServer({ place, env, uiPort: null });
  expect(server).toMatchObject({ started: false, info: { pid, version: expect.stringMatching(/^\d+\./) as string } });
  expect(await server.leave()).toBe('stopped');
  expect(isServerProcess(pid)).toBe(false);
});

test('a killed server is started again, on the same database file', async () => {
  const place = freshStore();
  const first = await joinEmbeddedServer({ place, env, uiPort: null });
  process.kill(first.info.pid, 'SIGKILL');
  while (isServerProcess(first.info.pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  const second = await joinEmbeddedServer({ place, env, uiPort: null });
  expect(second.started).toBe(true);
  expect(second.info.databaseFile).toBe(first.info.databaseFile);
  expect(await second.leave()).toBe('stopped');
});

test('a server that is asked to stay does, until it is stopped', async () => {
  const place = freshStore();
  const server = await joinEmbeddedServer({ place, env });
  expect(server.uiUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
  expect(await server.leave({ keep: true })).toBe('running');
  const again = await joinEmbeddedServer({ place, env });
  expect(again.started).toBe(false);
  expect(await again.leave()).toBe('running');
  expect(await stopEmbeddedServer(place)).toBe(true);
  expect(await stopEmbeddedServer(place)).toBe(false);
});

test('a fixed port in use is one clear line', async () => {
  const blocker = createServer();
  const port = await new Promise<number>((resolve) =>
    blocker.listen(0, '127.0.0.1', () => resolve((blocker.address() as { port: number }).port)),
  );
  await expect(joinEmbeddedServer({ place: freshStore(), env, port })).rejects.toThrow(
    `gRPC port ${String(port)} is in use: choose another one or leave it out`,
  );
  blocker.close();
});

test('a store has one server, whichever folders lead to it, and another store has another', async () => {
  const home = testFolder();
  const own = placeOf({ HOME: home });
  const [first, states, data] = [
    await joinEmbeddedServer({ place: own, env, uiPort: null }),
    await joinEmbeddedServer({
      place: placeOf({ HOME: home, XDG_STATE_HOME: testFolder(), XDG_CACHE_HOME: testFolder() }),
      ...{ env, uiPort: null },
    }),
    await joinEmbeddedServer({ place: placeOf({ HOME: home, XDG_DATA_HOME: testFolder() }), env, uiPort: null }),
  ];
  expect(states).toMatchObject({ started: false, info: { pid: first.info.pid } });
  expect(data.started).toBe(true);
  expect(dirname(data.info.databaseFile)).not.toBe(dirname(first.info.databaseFile));
  const store = testFolder();
  const [named, joined] = [
    await joinEmbeddedServer({ place: placeOf({ HOME: home, GATE_STORE: store }), env, uiPort: null }),
    await joinEmbeddedServer({ place: placeOf({ HOME: testFolder(), GATE_STORE: store }), env, uiPort: null }),
  ];
  expect([named.started, joined.started, joined.info.pid]).toEqual([true, false, named.info.pid]);
  expect(named.info.databaseFile.startsWith(store)).toBe(true);
  expect(await stopEmbeddedServer(placeOf({ HOME: home, GATE_STORE: store }))).toBe(true);
  expect((await embeddedServerInfo(own))?.pid).toBe(first.info.pid);
});

test('a copy of a store does not use the server of the store it was copied from', async () => {
  const place = freshStore();
  const original = await joinEmbeddedServer({ place, env, uiPort: null });
  const copied = freshStore();
  mkdirSync(dirname(copied.home), { recursive: true });
  cpSync(place.home, copied.home, { recursive: true });
  expect(await stopEmbeddedServer(copied)).toBe(false);
  const own = await joinEmbeddedServer({ place: copied, env, uiPort: null });
  expect(own).toMatchObject({ started: true });
  expect(own.info.pid).not.toBe(original.info.pid);
});

test('servers of several stores that start at once do not take the same port for their UI', async () => {
  const servers = await Promise.all(
    [freshStore(), freshStore(), freshStore()].map((place) => joinEmbeddedServer({ place, env })),
  );
  expect(new Set(servers.map(({ info }) => info.uiPort)).size).toBe(3);
});
