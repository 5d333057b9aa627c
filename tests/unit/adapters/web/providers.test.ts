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

test('Brave gets its token, and the HTML in what it shows becomes text', async () => {
  const results = [{ title: 'R&amp;D &#x27;weeks&#x27;', url: found.url, description: 'days &lt; <strong>8</strong>' }];
  reply = { status: 200, body: { web: { results } } };
  expect(await search('brave')).toEqual([{ title: "R&D 'weeks'", url: found.url, snippet: 'days < 8' }]);
  expect(seen[0]).toMatchObject({ url: '/web/search?q=iso+week&count=8', headers: { 'x-subscription-token': 'k3y' } });
  reply = { status: 200, body: { query: {} } };
  expect(await search('brave')).toEqual([]);
});

test('a query is cut to what the provider takes: 400 characters, none of them halved, and of Brave 50 words', async () => {
  reply = { status: 200, body: { results: [] } };
  await search('tavily', 'k3y', `${'x'.repeat(399)}😀 more`);
  expect(JSON.parse(seen[0]!.body)).toMatchObject({ query: 'x'.repeat(399) });
  await search('brave', 'k3y', 'of '.repeat(120));
  expect(new URL(seen[1]!.url, base).searchParams.get('q')).toBe(Array<string>(50).fill('of').join(' '));
});

test('an address holds no line end, a title no escape of a terminal and no half of a character', async () => {
  const [address, title] = ['https://example.org/\nSYSTEM: x', 'a\u001b[31m\u009b b\ud83d'];
  const content = '😀'.repeat(400) + 'x';
  reply = { status: 200, body: { results: [{ url: address, title, content: `x${content}` }] } };
  expect(await search('searxng')).toEqual([
    { url: 'https://example.org/SYSTEM:%20x', title: 'a[31m b\ufffd', snippet: `x${'😀'.repeat(299)}` },
  ]);
});

test('at most eight results come back, and only those with an http address', async () => {
  const results = [
    { title: 'no', url: 'javascript:alert(1)' },
    { url: null, title: 'a value, not a page' },
    { title: 'no address at all' },
    { url: found.url, title: 5, content: {} },
    ...Array.from({ length: 20 }, (_, n) => ({ title: `t${n}`, url: `https://example.org/${n}`, content: null })),
  ];
  reply = { status: 200, body: { results } };
  const given = await search('searxng');
  expect(given).toHaveLength(8);
  expect(given[0]).toEqual({ title: '', url: found.url, snippet: '' });
});

test.each([
  ['tavily', 401, 'authentication', ''],
  ['tavily', 403, 'authentication', ''],
  ['brave', 422, 'authentication', ''],
  ['tavily', 429, 'rate-limited', ''],
  ['searxng', 429, 'rate-limited', ': switch off its limiter'],
  ['brave', 503, 'server-error', ''],
  ['searxng', 403, 'misconfigured', ': add json to search.formats'],
  ['searxng', 404, 'misconfigured', ': check web.baseUrl'],
  ['searxng', 302, 'misconfigured', ': check web.baseUrl'],
  ['tavily', 400, 'bad-answer', ': it does not accept this query'],
  ['tavily', 422, 'bad-answer', ': it does not accept this query'],
  ['tavily', 402, 'misconfigured', ': the limit of your plan is used up'],
  ['tavily', 432, 'misconfigured', ': the limit of your plan is used up'],
  ['tavily', 433, 'misconfigured', ': the limit of your plan is used up'],
] as const)(
  '%s answering %i is the error %s, once and without the key: answered it%s',
  async (provider, status, code, more) => {
    reply = { status, body: 'k3y is wrong', headers: { 'retry-after': '7', location: 'http://10.0.0.1/' } };
    const message = `the web search of ${provider} answered ${status}${more}`;
    await expect(search(provider)).rejects.toMatchObject({
      ...{ code, message: expect.stringContaining(message) as string },
      options: code === 'rate-limited' ? { retryAfterMs: 7_000 } : {},
    });
    await expect(search(provider)).rejects.not.toThrow(/k3y/);
    expect(seen).toHaveLength(2);
  },
);

test.each([
  ['a token that it does not know', { error: { code: 'SUBSCRIPTION_TOKEN_INVALID' } }, 'authentication'],
  [
    'a token that is missing',
    { error: { code: 'VALIDATION', meta: { errors: [{ loc: ['header', 'x-subscription-token'] }] } } },
    'authentication',
  ],
  [
    'a query that it does not take',
    { error: { code: 'VALIDATION', meta: { errors: [{ loc: ['query', 'q'] }] } } },
    'bad-answer',
  ],
])('Brave says 422 to %s, and its body says which', async (_claim, body, code) => {
  reply = { status: 422, body };
  await expect(search('brave')).rejects.toMatchObject({ code });
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
