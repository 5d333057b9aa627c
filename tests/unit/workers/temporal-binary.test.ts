import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  binaryVersion,
  findPresentBinary,
  findTemporalBinary,
  SERVERLESS_SERVER,
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

test('a version is what the command says, and nothing has to be asked of one in the cache', async () => {
  const [folder, cacheFolder] = [emptyFolder(), emptyFolder()];
  const onPath = script(folder, 'temporal', 'echo "temporal version 0 (Server 1.33.0-rc.1, UI 2)"');
  const search = { env: { PATH: `${folder}:/bin` }, cacheFolder };
  expect(findPresentBinary(search)).toBe(onPath);
  expect(binaryVersion(onPath, cacheFolder)).toBe('1.33');
  mkdirSync(join(cacheFolder, 'temporal', 'v1.5.1'), { recursive: true });
  const cached = script(join(cacheFolder, 'temporal', 'v1.5.1'), 'temporal');
  expect(await findTemporalBinary({ env: { PATH: '' }, cacheFolder })).toBe(cached);
  expect(binaryVersion(cached, cacheFolder)).toBe('1.29');
});

test('the server that starts workers is built with its provider, whatever is on PATH, and never downloaded', async () => {
  const [folder, cacheFolder] = [emptyFolder(), emptyFolder()];
  script(folder, 'temporal');
  const build = `echo "$PWD $GOTOOLCHAIN $@" > "${folder}/call"; printf '#!/bin/sh\\n' > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"`;
  script(folder, 'go', build);
  await withDownloads(Buffer.from(''), async (downloads, asked) => {
    const env = { PATH: `${folder}:/bin:/usr/bin` };
    const found = await findTemporalBinary({ env, cacheFolder, downloads, server: SERVERLESS_SERVER });
    expect(found).toBe(join(cacheFolder, 'temporal', 'server-1.32.2-serverless', 'temporal'));
    expect(asked).toEqual([]);
    expect(readFileSync(join(folder, 'call'), 'utf8')).toMatch(
      /\/infra\/temporal-server auto build -mod=readonly .* -tags computeprovider_subprocess -o \S+\/temporal \.$/m,
    );
    expect(binaryVersion(found, cacheFolder)).toBe('1.32');
  });
});

test('when nothing works, one line names every way out and leaves no half-made file', async () => {
  const cacheFolder = emptyFolder();
  await withDownloads(null, async (downloads) => {
    const error = await findTemporalBinary({ env: { PATH: '' }, cacheFolder, downloads }).catch(
      (e: unknown) => e as Error,
    );
    expect((error as Error).message).toBe(
      'no Temporal server to be had: set TEMPORAL_ADDRESS to a running one, put the temporal CLI on PATH ' +
        '(https://docs.temporal.io/cli), or install Go so that it can be built ' +
        '(download: HTTP 404; go install: Go is not installed)',
    );
  });
  expect(existsSync(join(cacheFolder, 'temporal', 'v1.5.1', 'temporal'))).toBe(false);
});

test('what is built is the version of its place in the cache, pinned with its checksums', () => {
  const { build, cacheName } = SERVERLESS_SERVER;
  const file = (name: string): string => readFileSync(join(build.cwd, name), 'utf8');
  const version = cacheName.replace(/^server-(.*)-serverless$/, 'v$1');
  expect(file('go.mod')).toContain(`go.temporal.io/server ${version}\n`);
  expect(file('go.sum')).toContain(`go.temporal.io/server ${version} h1:`);
  expect(existsSync(join(build.cwd, 'main.go'))).toBe(true);
});

test('a download that gets no answer is given up after five seconds', async () => {
  const later = globalThis.setTimeout;
  const quick = (act: () => void, ms?: number) => later(act, ms === 5_000 ? 50 : ms);
  const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(quick);
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const downloads = `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
  const found = findTemporalBinary({ env: { PATH: '' }, cacheFolder: emptyFolder(), downloads });
  await expect(found).rejects.toThrow('download: no reply in time; go install: Go is not installed');
  timers.mockRestore();
  silent.closeAllConnections();
  silent.close();
});
