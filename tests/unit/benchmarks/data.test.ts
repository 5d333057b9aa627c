/** `gate-bench data` with a local folder, and with downloads from an HTTPS server of the test. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { ZipFile } from 'yazl';
import { download } from '../../../src/adapters/web/download';
import { fetchData } from '../../../benchmarks/data';
import { sha256 } from '../../../src/sha256';
import { createAuthority } from '../../helpers/certificates';
import { testProcess } from '../cli/test-io';

let server: Server;
let port: number;
let ca: string;
const answers = new Map<string, { status?: number; location?: string; body?: Buffer | string }>();

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-data-ca-'));
  const authority = createAuthority(folder, 'test-ca');
  const { cert, key } = authority.issue('leaf', 'files.gate-sql.dev');
  ca = readFileSync(authority.cert, 'utf8');
  server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    const { status = 200, location, body = '' } = answers.get(request.url ?? '') ?? { status: 404 };
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => void server.close(resolve)));

const at = (path: string): string => `https://files.gate-sql.dev:${port}${path}`;
const local = (authority: { readonly ca?: string } = { ca }) => ({
  reach: {
    loopback: { ports: new Set([port]), ...authority },
    resolve: () => Promise.resolve(['127.0.0.1']),
    networks: () => [],
  },
  signal: AbortSignal.timeout(240_000),
});
const folder = (): string => mkdtempSync(join(tmpdir(), 'gate-data-'));

test('a file is written as it comes, with its hash, also after a redirect', async () => {
  const body = Buffer.alloc(300_000, 'abc');
  answers.set('/moved', { status: 302, location: at('/file') }).set('/file', { body });
  const to = join(folder(), 'file');
  expect(await download(at('/moved'), { ...local(), to, maxBytes: 1e6 })).toEqual({
    sha256: sha256(body.toString()),
    bytes: 300_000,
  });
  expect(readFileSync(to).equals(body)).toBe(true);
});

test.each<[string, () => string, RegExp]>([
  ['a file beyond its limit', () => at('/large'), /sends more than 0 MB/],
  ['an address without HTTPS', () => 'http://files.gate-sql.dev/file', /without HTTPS/],
  ['a redirect to one', () => at('/plain'), /without HTTPS/],
  ['a redirect to a private address', () => at('/private'), /no public address/],
  ['a private address', () => 'https://10.0.0.1/file', /no public address/],
  ['what is not there', () => at('/nothing'), /answered 404/],
])('%s is refused, and nothing is left behind', async (_, url, message) => {
  answers.set('/large', { body: Buffer.alloc(2_000) });
  answers.set('/plain', { status: 301, location: 'http://files.gate-sql.dev/file' });
  answers.set('/private', { status: 301, location: 'https://192.168.0.1/file' });
  const to = folder();
  await expect(download(url(), { ...local(), to: join(to, 'file'), maxBytes: 1_000 })).rejects.toThrow(message);
  expect(readdirSync(to)).toEqual([]);
});

test('a certificate that nobody vouches for is refused', async () => {
  answers.set('/file', { body: 'x' });
  await expect(download(at('/file'), { ...local({}), to: join(folder(), 'file'), maxBytes: 1_000 })).rejects.toThrow(
    /UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
  );
});

function zipped(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return buffer(zip.outputStream);
}

const BIRD = JSON.stringify([{ question_id: 0, db_id: 'shop', question: 'q', evidence: '', SQL: 'SELECT 1' }]);

test('fetch downloads and unpacks a zip without the folder around it', async () => {
  answers.set('/dev.zip', {
    body: await zipped({
      'dev_20240627/dev.json': BIRD,
      'dev_20240627/dev_databases/shop/shop.sqlite': 'rows',
    }),
  });
  const { io, home } = testProcess();
  const asked: string[] = [];
  const code = await fetchData('bird', { dir: 'bird' }, io, (url, options) => {
    asked.push(url);
    return download(at('/dev.zip'), { ...options, ...local() });
  });
  expect([code, asked]).toEqual([0, ['https://bird-bench.oss-cn-beijing.aliyuncs.com/dev.zip']]);
  expect(readFileSync(join(home, 'bird', 'dev.json'), 'utf8')).toBe(BIRD);
});

test('an archive in an archive is unpacked beside it with its own folder, and what macOS adds is left out', async () => {
  const databases = await zipped({ 'dev_databases/shop/shop.sqlite': 'rows', '__MACOSX/dev_databases/._shop': 'x' });
  const parts = { 'dev_20240627/dev.json': '[]', 'dev_20240627/dev_databases.zip': databases };
  answers.set('/dev.zip', {
    body: await zipped({ ...parts, '__MACOSX/dev_20240627/._dev.json': 'x', 'dev_20240627/.DS_Store': 'x' }),
  });
  const { io, bench, home } = testProcess();
  await fetchData('bird', { dir: 'bird' }, io, (_, options) => download(at('/dev.zip'), { ...options, ...local() }));
  const filesIn = (name: string): string[] =>
    readdirSync(join(home, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name: file }) => relative(join(home, name), join(parentPath, file)))
      .sort();
  const expected = ['dev.json', 'dev_databases/shop/shop.sqlite'];
  expect(filesIn('bird')).toEqual(expected);
  mkdirSync(join(home, 'unpacked-once'));
  writeFileSync(join(home, 'unpacked-once', 'dev.json'), '[]');
  writeFileSync(join(home, 'unpacked-once', 'dev_databases.zip'), databases);
  await bench('data', 'fetch', 'bird', '--from', 'unpacked-once', '--dir', 'copied');
  expect(filesIn('copied')).toEqual(expected);
});

test('a folder that a benchmark cannot be read from is said to be none', async () => {
  const { bench, home } = testProcess();
  mkdirSync(join(home, 'part'));
  writeFileSync(join(home, 'part', 'dev.json'), BIRD);
  const why = `${join(home, 'bird')} is incomplete: the folder dev_databases of databases is missing`;
  const { code, err } = await bench('data', 'fetch', 'bird', '--from', 'part');
  expect([code, err]).toEqual([0, expect.stringMatching(`it cannot be used yet: ${why}\n$`)]);
});

test('a published file with another hash is refused', async () => {
  answers.set('/any', { body: 'other' });
  const { io } = testProcess();
  const fetched = fetchData('ehrsql2024', {}, io, (_, options) => download(at('/any'), { ...options, ...local() }));
  await expect(fetched).rejects.toThrow('data/mimic_iv/test/data.json has another hash than published');
});

test('a local collection serves a benchmark from its folder, databases unpacked', async () => {
  const { bench, home } = testProcess();
  mkdirSync(join(home, 'all', 'ehrsql_2024', 'db'), { recursive: true });
  writeFileSync(join(home, 'all', 'ehrsql_2024', 'questions.jsonl'), '{}\n');
  writeFileSync(join(home, 'all', 'ehrsql_2024', 'db', 'mimic_iv.sqlite.gz'), gzipSync('rows'));
  const { code, out } = await bench('data', 'fetch', 'ehrsql2024', '--from', 'all', '--dir', 'mine');
  expect([code, out]).toEqual([0, `${join(home, 'mine')}: 2 files\n`]);
  expect(readFileSync(join(home, 'mine', 'db', 'mimic_iv.sqlite'), 'utf8')).toBe('rows');
});

test('sources, licences and what is got by hand are told; bad input is one line', async () => {
  const { bench } = testProcess();
  const { out } = await bench('data', 'list');
  expect(out).toMatch(/livesqlbench-base-lite {2}https:.*\n {2}licence: CC-BY-SA-4.0\n/);
  expect(out).toContain('by hand: gold SQL and test cases: an e-mail to bird.bench25@gmail.com');
  const line = async (...args: string[]) => (await bench('data', ...args)).err;
  expect(await line('fetch', 'nothing')).toMatch(/'nothing' is invalid.*\n$/);
  expect(await line('fetch', 'bird', '--from', 'nowhere')).toContain('--from');
});
