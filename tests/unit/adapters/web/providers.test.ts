/** Each search provider as it speaks: the request it gets, its reply read, its refusals mapped. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWeb, type ProviderName } from '../../../../src/adapters/web';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let base = '';
let seen: Seen[] = [];
let reply: { status: number; body: unknown; headers?: Record<string, string> };

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(reply.status, reply.headers);
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  seen = [];
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const search = (provider: ProviderName, apiKey: string | null = 'k3y', query = 'iso week') =>
  createWeb({ provider, baseUrl: base, apiKey }).search(query, { signal: new AbortController().signal });

const found = { title: 'Week', url: 'https://example.org/week', snippet: 'A week begins on Monday' };

test('SearXNG is asked for JSON and needs no key', async () => {
  reply = { status: 200, body: { results: [{ title: 'Week', url: found.url, content: found.snippet }] } };
  expect(await search('searxng', null)).toEqual([found]);
  expect(seen[0]).toMatchObject({ method: 'GET', url: '/search?q=iso+week&format=json' });
  expect(seen[0]!.headers.authorization).toBeUndefined();
});

test('Tavily gets its key in a header and the query in the body', async () => {
  reply = { status: 200, body: { results: [{ title: 'Week', url: found.url, content: found.snippet }] } };
  expect(await search('tavily')).toEqual([found]);
  expect(seen[0]).toMatchObject({ method: 'POST', url: '/search', headers: { authorization: 'Bearer k3y' } });
  expect(JSON.parse(seen[0]!.body)).toEqual({ query: 'iso week', max_results: 8 });
});

test('Brave gets its token, and its marks are taken out of the text', async () => {
  const description = 'A <strong>week</strong> begins on Monday';
  reply = { status: 200, body: { web: { results: [{ title: 'Week', url: found.url, description }] } } };
  expect(await search('brave')).toEqual([{ ...found, snippet: 'A week begins on Monday' }]);
  expect(seen[0]).toMatchObject({ url: '/web/search?q=iso+week&count=8', headers: { 'x-subscription-token': 'k3y' } });
  reply = { status: 200, body: { query: {} } };
  expect(await search('brave')).toEqual([]);
});

test('at most eight results come back, and only those with an http address', async () => {
  const results = [
    { title: 'no', url: 'javascript:alert(1)' },
    ...Array.from({ length: 20 }, (_, n) => ({ title: `t${n}`, url: `https://example.org/${n}`, content: null })),
  ];
  reply = { status: 200, body: { results } };
  const given = await search('searxng');
  expect(given).toHaveLength(8);
  expect(given[0]).toEqual({ title: 't0', url: 'https://example.org/0', snippet: '' });
});

test.each([
  ['tavily', 401, 'authentication'],
  ['brave', 422, 'authentication'],
  ['searxng', 403, 'bad-answer'],
  ['tavily', 429, 'rate-limited'],
  ['brave', 503, 'server-error'],
  ['searxng', 404, 'bad-answer'],
  ['searxng', 302, 'bad-answer'],
] as const)('%s answering %i is the error %s', async (provider, status, code) => {
  reply = { status, body: '', headers: { 'retry-after': '7', location: 'http://10.0.0.1/' } };
  await expect(search(provider)).rejects.toMatchObject({
    code,
    ...(code === 'rate-limited' ? { options: { retryAfterMs: 7_000 } } : {}),
  });
  expect(seen).toHaveLength(1);
});

test.each([
  ['what is no JSON', '<html>'],
  ['JSON of another form', { items: [] }],
])('%s is a bad answer', async (_claim, body) => {
  reply = { status: 200, body };
  await expect(search('searxng')).rejects.toMatchObject({ code: 'bad-answer' });
});

test('a missing key is said before anything is sent', async () => {
  await expect(search('tavily', null)).rejects.toMatchObject({ code: 'not-configured' });
  expect(seen).toEqual([]);
});

test('no error carries the key', async () => {
  reply = { status: 401, body: 'k3y is wrong' };
  await expect(search('tavily')).rejects.not.toThrow(/k3y/);
});
