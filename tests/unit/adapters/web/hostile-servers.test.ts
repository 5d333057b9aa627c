/** Servers that do not keep to HTTP, or keep to it with ill will: each ends as a page or an error, never as a dead process. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { createWeb, type ProviderName } from '../../../../src/adapters/web';

const servers: Server[] = [];
const sockets = new Set<Socket>();

async function serve(answer: (socket: Socket, request: string) => void): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    socket.once('data', (data) => answer(socket, data.toString()));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

const { signal } = new AbortController();

async function fetchFrom(answer: (socket: Socket) => void, timeoutMs = 240_000) {
  const port = await serve((socket, request) => {
    if (request.includes('/robots.txt')) socket.end('HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n');
    else answer(socket);
  });
  const web = createWeb(
    { provider: 'searxng', baseUrl: null, apiKey: null },
    { loopback: { ports: new Set([port]) }, resolve: () => Promise.resolve(['127.0.0.1']), limits: { timeoutMs } },
  );
  const page = await web.fetch(`http://a.example.com:${port}/page`, { signal });
  // What the connection has still to say when it is given up comes after the answer.
  await new Promise((resolve) => setTimeout(resolve, 20));
  return page;
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const answered =
  (head: string, body: string | Buffer = '') =>
  (socket: Socket): void =>
    void socket.end(Buffer.concat([Buffer.from(`${head}\r\n`), Buffer.from(body as string)]));
const packed = (encoding: string, body: Buffer) =>
  answered(`${OK}Content-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n`, body);
/** A body without end: bytes are still to come when the answer is given up. */
const drip =
  (head: string, piece: string) =>
  (socket: Socket): void => {
    socket.write(`${head}\r\n`);
    const timer = setInterval(() => socket.write(piece), 2);
    socket.on('close', () => clearInterval(timer));
  };

describe('a page', () => {
  const bomb = Buffer.alloc(50_000_000, 'x');

  test.each([
    ['gzip in gzip', packed('gzip, gzip', gzipSync(gzipSync('x')))],
    ['an encoding that was not offered', packed('zstd', Buffer.from('x'))],
    ['such an encoding, and a body without end', drip(`${OK}Content-Encoding: compress\r\n`, 'x'.repeat(1_000))],
    ['gzip that ends too early', packed('gzip', gzipSync('hello hello').subarray(0, 15))],
    ['many empty members', packed('gzip', Buffer.concat(Array<Buffer>(250_000).fill(gzipSync(''))))],
    // 20 bytes beyond what is unpacked: where the packed body is cut, a member ends.
    ['empty members up to the limit', packed('gzip', Buffer.concat(Array<Buffer>(200_001).fill(gzipSync(''))))],
    ['gzip said twice', answered(`${OK}Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n`, gzipSync(gzipSync('x')))],
    ['noise', packed('gzip', gzipSync(randomBytes(3_000_000)))],
  ])('with %s is not read', async (_claim, answer) => {
    await expect(fetchFrom(answer)).rejects.toMatchObject({ code: 'unsupported' });
  });

  test.each([
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['identity', bomb],
  ])('packed with %s beyond the limit is cut', async (encoding, body) => {
    expect(await fetchFrom(packed(encoding, body))).toMatchObject({ truncated: true });
  });

  test('that is larger packed is cut, also where its first bytes exceed the limit before they are unpacked', async () => {
    const body = gzipSync(randomBytes(1_200_000).toString('hex'), { level: 0 });
    const page = await fetchFrom((socket) => {
      socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body.subarray(0, 2_000_001));
      setTimeout(() => socket.end(body.subarray(2_000_001)), 200);
    });
    expect(page).toMatchObject({ truncated: true });
  });

  test.each([
    ['a length that is too long', answered(`${OK}Content-Length: 50\r\n`, 'hello')],
    ['two lengths', answered(`${OK}Content-Length: 2\r\nContent-Length: 5\r\n`, 'hello')],
    ['a broken chunk', answered(`${OK}Transfer-Encoding: chunked\r\n`, 'ZZ\r\nhello')],
    ['an unfinished chunk', answered(`${OK}Transfer-Encoding: chunked\r\n`, '5\r\nhello\r\n')],
    ['a huge header', answered(`${OK}X: ${'a'.repeat(100_000)}\r\n`, 'hello')],
    ['a hundred thousand headers', answered(`${OK}${'X: a\r\n'.repeat(100_000)}`, 'hello')],
    ['noise for an answer', (socket: Socket) => void socket.end(randomBytes(3_000))],
    ['no status line', (socket: Socket) => void socket.end('hello')],
    ['an upgrade', answered('HTTP/1.1 101 Switch\r\nUpgrade: websocket\r\nConnection: upgrade\r\n')],
    ['a hang-up', (socket: Socket) => void socket.destroy()],
  ])('with %s is a broken connection, said in words', async (_claim, answer) => {
    await expect(fetchFrom(answer)).rejects.toMatchObject({
      code: 'connection',
      message: expect.not.stringMatching(/UND_|\n/) as string,
    });
  });

  test.each([
    ['headers without end', drip('HTTP/1.1 200 OK', 'X: y\r\n')],
    ['early hints without end', drip('HTTP/1.1 103 Early Hints\r\n', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['a body that never comes', drip(`${OK}Content-Length: 99999999999999\r\n`, '')],
  ])('with %s ends with the time limit', async (_claim, answer) => {
    await expect(fetchFrom(answer, 300)).rejects.toMatchObject({ code: 'timeout' });
  });

  test.each([
    ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\n', 'refused'],
    ['an error', 'HTTP/1.1 404 None\r\n', 'not-found'],
  ])('nobody waits for the body of %s', async (_claim, head, code) => {
    await expect(fetchFrom(drip(head, 'x'.repeat(1_000)))).rejects.toMatchObject({ code });
  });
});

describe('a search provider', () => {
  const searchAt = async (answer: (socket: Socket) => void, provider: ProviderName = 'tavily') => {
    const baseUrl = `http://127.0.0.1:${await serve(answer)}`;
    try {
      return await createWeb({ provider, baseUrl, apiKey: 'k3y' }).search('week', { signal });
    } finally {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  test.each([
    [401, 'authentication'],
    [500, 'server-error'],
    [200, 'bad-answer'],
  ])('that answers %i with a body without end is the error %s', async (status, code) => {
    const answer = drip(`HTTP/1.1 ${status} X\r\n`, 'x'.repeat(100_000));
    await expect(searchAt(answer)).rejects.toMatchObject({ code });
  });
});
