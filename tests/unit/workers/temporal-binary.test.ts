import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  binaryVersion,
  databaseSuffix,
  findPresentBinary,
  findTemporalBinary,
  isAsked,
  NoTemporalError,
  SERVERLESS_SERVER,
  SERVERS,
  VERSION_VARIABLE,
} from '../../../src/workers/temporal-binary';

const home = mkdtempSync(join(tmpdir(), 'gate-binary-'));
afterAll(() => rmSync(home, { recursive: true }));

let count = 0;
const emptyFolder = () => {
  const folder = join(home, String((count += 1)));
  mkdirSync(folder);
  return folder;
};

function script(folder: string, name: string, body = 'exit 0'): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Serves one archive under any path, or 404. */
async function withDownloads(
  archive: Buffer | null,
  work: (url: string, asked: string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(archive === null ? 404 : 200).end(archive ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, asked);
  } finally {
    server.close();
  }
}

test('TEMPORAL_CLI_PATH wins over everything', async () => {
  const folder = emptyFolder();
  const given = script(folder, 'mine');
  script(folder, 'temporal');
  const env = { TEMPORAL_CLI_PATH: given, PATH: folder };
  expect(await findTemporalBinary({ env, cacheFolder: emptyFolder() })).toBe(given);
});

test('a wrong TEMPORAL_CLI_PATH is an error that names it', async () => {
  const env = { TEMPORAL_CLI_PATH: '/nowhere/temporal', PATH: '' };
  await expect(findTemporalBinary({ env, cacheFolder: emptyFolder() })).rejects.toThrow(
    'TEMPORAL_CLI_PATH: /nowhere/temporal is no executable file; correct the path or unset it',
  );
});

test('temporal on PATH wins over the cache', async () => {
  const [folder, cacheFolder] = [emptyFolder(), emptyFolder()];
  const onPath = script(folder, 'temporal');
  const env = { PATH: `${emptyFolder()}:${folder}` };
  expect(await findTemporalBinary({ env, cacheFolder })).toBe(onPath);
});

test('a download is unpacked into the cache and used from there the next time', async () => {
  const [folder, cacheFolder] = [emptyFolder(), emptyFolder()];
  script(folder, 'temporal', 'echo downloaded');
  execFileSync('tar', ['-czf', join(folder, 'a.tar.gz'), '-C', folder, 'temporal']);
  await withDownloads(readFileSync(join(folder, 'a.tar.gz')), async (downloads, asked) => {
    const search = { env: { PATH: '' }, cacheFolder, downloads };
    const first = await findTemporalBinary(search);
    expect(first).toBe(join(cacheFolder, 'temporal', 'v1.5.1', 'temporal'));
    expect(execFileSync(first).toString()).toBe('downloaded\n');
    expect(await findTemporalBinary(search)).toBe(first);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/^\/cli\/archive\/v1\.5\.1\?platform=(linux|darwin)&arch=(amd64|arm64)$/);
  });
});

test('without a download it is built by Go, telling so, also when two ask at once', async () => {
  const [folder, cacheFolder] = [emptyFolder(), emptyFolder()];
  script(
    folder,
    'go',
    `echo "$@" >> "${folder}/calls"; sleep 0.2; printf '#!/bin/sh\\n' > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"`,
  );
  await withDownloads(null, async (downloads) => {
    const lines: string[] = [];
    const search = {
      env: { PATH: `${folder}:/bin:/usr/bin` },
      cacheFolder,
      downloads,
      onProgress: (line: string) => lines.push(line),
    };
    const [first, second] = await Promise.all([findTemporalBinary(search), findTemporalBinary(search)]);
    expect(first).toBe(second);
    expect(existsSync(first)).toBe(true);
    expect(readFileSync(join(folder, 'calls'), 'utf8')).toBe('install github.com/temporalio/cli/cmd/temporal@v1.5.1\n');
    expect(lines).toContain('building the Temporal server with Go (about 2 minutes, once)');
  });
});

/** A command `temporal` that says which server it holds. */
const serverOf = (folder: string, name: string, version: string): string =>
  script(folder, name, `echo "temporal version 0 (Server ${version}, UI 2)"`);

test('a version that is asked for is found on PATH only if it is that one, or for the newest a newer one', () => {
  const [folder, cacheFolder] = [emptyFolder(), emptyFolder()];
  const found = (version: string): string | null =>
    findPresentBinary({ env: { PATH: `${folder}:/bin`, [VERSION_VARIABLE]: version }, cacheFolder });
  const onPath = serverOf(folder, 'temporal', '1.29.1');
  expect([found('1.29'), found('1.32')]).toEqual([onPath, null]);
  serverOf(folder, 'temporal', '1.33.0-rc.1');
  expect([found('1.29'), found('1.32')]).toEqual([null, onPath]);
  expect(binaryVersion(onPath, cacheFolder)).toBe('1.33.0-rc.1');
});

test('a version is found in its own place of the cache, and one that is not offered is an error that names those that are', () => {
  const cacheFolder = emptyFolder();
  for (const { cacheName } of SERVERS) {
    mkdirSync(join(cacheFolder, 'temporal', cacheName), { recursive: true });
    script(join(cacheFolder, 'temporal', cacheName), 'temporal');
  }
  const found = (version: string): string | null =>
    findPresentBinary({ env: { PATH: '', [VERSION_VARIABLE]: version }, cacheFolder });
  for (const { version, cacheName } of SERVERS) {
    const path = join(cacheFolder, 'temporal', cacheName, 'temporal');
    expect(found(version)).toBe(path);
    expect(binaryVersion(path, cacheFolder)).toBe(version);
  }
  expect(findPresentBinary({ env: { PATH: '' }, cacheFolder })).toContain('v1.5.1');
  expect(() => found('1.30')).toThrow("GATE_TEMPORAL_VERSION: '1.30' is not offered; give 1.29 or 1.32");
});

test('a TEMPORAL_CLI_PATH of another version than the one asked for is an error that names both', () => {
  const given = serverOf(emptyFolder(), 'mine', '1.29.1');
  const env = { TEMPORAL_CLI_PATH: given, PATH: '/bin', [VERSION_VARIABLE]: '1.32' };
  expect(() => findPresentBinary({ env, cacheFolder: emptyFolder() })).toThrow(
    `TEMPORAL_CLI_PATH: ${given} is Temporal 1.29.1, and GATE_TEMPORAL_VERSION asks for 1.32; unset one of them`,
  );
});

test('a download whose list of checksums is not the pinned one is refused; then 1.32 is built from our own module', async () => {
  const [folder, cacheFolder] = [emptyFolder(), emptyFolder()];
  script(
    folder,
    'go',
    `echo "$PWD $GOTOOLCHAIN $@" >> "${folder}/calls"; printf '#!/bin/sh\\n' > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"`,
  );
  await withDownloads(Buffer.from('not the list'), async (downloads, asked) => {
    const env = { PATH: `${folder}:/bin:/usr/bin`, [VERSION_VARIABLE]: '1.32' };
    const found = await findTemporalBinary({ env, cacheFolder, downloads });
    expect(found).toBe(join(cacheFolder, 'temporal', 'server-1.32.2', 'temporal'));
    expect(asked).toEqual(['/v1.9.1/checksums.txt']);
    const [call] = readFileSync(join(folder, 'calls'), 'utf8').split('\n');
    expect(call).toMatch(/\/infra\/temporal-server auto build -mod=readonly .* -o \S+\/temporal \.$/);
  });
});

test('the server that starts workers is built with its provider, whatever is on PATH, and never downloaded', async () => {
  const [folder, cacheFolder] = [emptyFolder(), emptyFolder()];
  serverOf(folder, 'temporal', '1.32.2');
  const build = `echo "$@" > "${folder}/call"; printf '#!/bin/sh\\n' > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"`;
  script(folder, 'go', build);
  await withDownloads(Buffer.from(''), async (downloads, asked) => {
    const env = { PATH: `${folder}:/bin:/usr/bin`, [VERSION_VARIABLE]: '1.29' };
    const found = await findTemporalBinary({ env, cacheFolder, downloads, server: SERVERLESS_SERVER });
    expect(found).toBe(join(cacheFolder, 'temporal', 'server-1.32.2-serverless', 'temporal'));
    expect(asked).toEqual([]);
    expect(readFileSync(join(folder, 'call'), 'utf8')).toContain(' -tags computeprovider_subprocess ');
    expect(binaryVersion(found, cacheFolder)).toBe('1.32');
  });
});

test('when nothing works, one line names every way out and leaves no half-made file', async () => {
  const cacheFolder = emptyFolder();
  await withDownloads(null, async (downloads) => {
    const error = await findTemporalBinary({ env: { PATH: '' }, cacheFolder, downloads }).catch(
      (e: unknown) => e as Error,
    );
    expect(error).toBeInstanceOf(NoTemporalError);
    expect((error as Error).message).toBe(
      'no Temporal server to be had: set TEMPORAL_ADDRESS to a running one, put the temporal CLI on PATH ' +
        '(https://docs.temporal.io/cli), or install Go so that it can be built ' +
        '(download: HTTP 404; go install: Go is not installed)',
    );
  });
  expect(existsSync(join(cacheFolder, 'temporal', 'v1.5.1', 'temporal'))).toBe(false);
});

test('a server has a database file of its own from 1.30 on; the older ones and an unknown one keep the file they had', () => {
  const files = ['1.27.0', '1.29.1', null, '1.31.0', '1.32.2', '1.32.0-rc.1'].map(databaseSuffix);
  expect(files).toEqual(['', '', '', '-1.31', '-1.32', '-1.32']);
});

test('only the newest offered version may be a newer one', () => {
  const [old, newest] = [SERVERS[0], SERVERS[1]];
  expect(['1.29.1', '1.30.0', '1.32.2', '1.40.0', '2.0.0'].map((version) => isAsked(version, old))).toEqual([
    ...[true, false, false, false, false],
  ]);
  expect(['1.29.1', '1.31.9', '1.32.2', '1.40.0', '2.0.0'].map((version) => isAsked(version, newest))).toEqual([
    ...[false, false, true, true, true],
  ]);
});

test('what is built is the version of its place in the cache, pinned with its checksums', () => {
  const { build, cacheName } = SERVERS[1];
  const file = (name: string): string => readFileSync(join(build.cwd, name), 'utf8');
  const version = cacheName.replace('server-', 'v');
  expect(file('go.mod')).toContain(`go.temporal.io/server ${version}\n`);
  expect(file('go.sum')).toContain(`go.temporal.io/server ${version} h1:`);
  expect(existsSync(join(build.cwd, 'main.go'))).toBe(true);
});
