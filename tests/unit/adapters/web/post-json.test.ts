/** What is posted to a receiver on this machine, and what is refused or tried again. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { INTERNET } from '../../../../src/adapters/web/connection';
import { postJson, type PostTarget } from '../../../../src/adapters/web/post-json';

const TOKEN = 'token-that-nobody-else-may-read';
const never = new AbortController().signal;
let server: Server;
let host: string;
let status = 204;
const received: { readonly body: string; readonly headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ body, headers: request.headers });
      response.writeHead(status, { 'retry-after': '7', location: '/elsewhere' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => received.splice(0));

const target = (more: Partial<PostTarget> = {}): PostTarget => ({
  ...{ name: 'HOOK', url: `http://${host}/${TOKEN}`, secret: null, privateHosts: [host], ...more },
});

test('the body is signed with the secret', async () => {
  status = 204;
  await postJson(target({ secret: 's' }), '{"a":1}', never);
  await postJson(target(), '{}', never);
  const signature = `sha256=${createHmac('sha256', 's').update('{"a":1}').digest('hex')}`;
  const [signed, unsigned] = received;
  expect(signed).toMatchObject({
    body: '{"a":1}',
    headers: { 'x-gate-signature': signature, 'content-type': 'application/json' },
  });
  expect(unsigned?.headers).not.toHaveProperty('x-gate-signature');
});

test.each([
  [429, { code: 'rate-limited', options: { retryAfterMs: 7_000 } }],
  [408, { code: 'server-error' }],
  [503, { code: 'server-error', options: { retryAfterMs: 7_000 } }],
  [302, { code: 'misconfigured', message: 'HOOK: 127.0.0.1 answered 302: check the URL in HOOK' }],
  [404, { code: 'misconfigured' }],
])('an answer of %d is an error of its kind, and no redirect is followed', async (answer, error) => {
  status = answer;
  await expect(postJson(target(), '{}', never)).rejects.toMatchObject(error);
  expect(received).toHaveLength(1);
});

test.each<[string, () => Partial<PostTarget>, string]>([
  ['a private address that is not named', () => ({ privateHosts: [] }), 'refused'],
  [
    'a name that resolves to a private address',
    () => ({
      url: 'https://public.example/x',
      privateHosts: [],
      reach: { ...INTERNET, resolve: () => Promise.resolve(['10.0.0.1']) },
    }),
    'refused',
  ],
  ['a login in the URL', () => ({ url: `http://u:p@${host}/` }), 'misconfigured'],
  ['another scheme', () => ({ url: 'ftp://example.org/' }), 'misconfigured'],
  ['no URL', () => ({ url: TOKEN }), 'misconfigured'],
  [
    'a host that does not answer',
    () => ({ url: `http://127.0.0.1:9/${TOKEN}`, privateHosts: ['127.0.0.1'] }),
    'connection',
  ],
])('%s is one line without the URL, and nothing is sent', async (_, more, code) => {
  const error = await postJson(target(more()), '{}', never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'WebError', code });
  expect((error as Error).message).toMatch(/^HOOK[^\n]*$/);
  expect((error as Error).message).not.toContain(TOKEN);
  expect(received).toHaveLength(0);
});
