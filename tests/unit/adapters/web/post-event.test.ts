/** What is posted to a receiver on this machine, and what is refused or tried again. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { INTERNET } from '../../../../src/adapters/web/connection';
import { postEvent, signatureOf, type PostTarget } from '../../../../src/adapters/web/post-event';

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

/** The test vector of the libraries of Standard Webhooks. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const EVENT = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', json: '{"test": 2432232314}' };

const target = (more: Partial<PostTarget> = {}): PostTarget => ({
  ...{ name: 'HOOK', url: `http://${host}/${TOKEN}`, secret: SECRET, allowPrivate: true, ...more },
});

test('the signature is that of the specification, with the prefix of the secret and without', () => {
  const signed = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  expect(signatureOf(SECRET, { ...EVENT, timestamp: '1614265330' })).toBe(signed);
  expect(signatureOf(SECRET.slice('whsec_'.length), { ...EVENT, timestamp: '1614265330' })).toBe(signed);
});

test('an event is posted with its id, the time of the attempt and a signature over both and the body', async () => {
  status = 204;
  await postEvent(target(), EVENT, never);
  const [{ body, headers } = { body: '', headers: {} as IncomingHttpHeaders }] = received;
  expect(body).toBe(EVENT.json);
  expect(headers).toMatchObject({ 'webhook-id': EVENT.id, 'content-type': 'application/json' });
  const timestamp = String(headers['webhook-timestamp']);
  expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(60);
  expect(headers['webhook-signature']).toBe(signatureOf(SECRET, { ...EVENT, timestamp }));
});

test.each([
  [429, { code: 'rate-limited', options: { retryAfterMs: 7_000 } }],
  [408, { code: 'server-error' }],
  [503, { code: 'server-error', options: { retryAfterMs: 7_000 } }],
  [302, { code: 'misconfigured', message: 'HOOK: 127.0.0.1 answered 302: check its URL' }],
  [404, { code: 'misconfigured' }],
])('an answer of %d is an error of its kind, and no redirect is followed', async (answer, error) => {
  status = answer;
  await expect(postEvent(target(), EVENT, never)).rejects.toMatchObject(error);
  expect(received).toHaveLength(1);
});

test('nobody waits for the body of a receiver that says it has the event', async () => {
  const silent = createServer((_, response) => response.writeHead(200, { 'content-length': 5 }).flushHeaders());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  await postEvent(target({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/` }), EVENT, never);
  silent.close();
});

test.each<[string, () => Partial<PostTarget>, string]>([
  ['a private address that is not allowed', () => ({ allowPrivate: false }), 'refused'],
  [
    'a name that resolves to a private address',
    () => ({
      url: 'https://public.example/x',
      allowPrivate: false,
      reach: { ...INTERNET, resolve: () => Promise.resolve(['10.0.0.1']) },
    }),
    'refused',
  ],
  ['a login in the URL', () => ({ url: `http://u:p@${host}/` }), 'misconfigured'],
  ['another scheme', () => ({ url: 'ftp://example.org/' }), 'misconfigured'],
  ['no URL', () => ({ url: TOKEN }), 'misconfigured'],
  ['a host that does not answer', () => ({ url: `http://127.0.0.1:9/${TOKEN}` }), 'connection'],
])('%s is one line without the URL, and nothing is sent', async (_, more, code) => {
  const error = await postEvent(target(more()), EVENT, never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'WebError', code });
  expect((error as Error).message).toMatch(/^HOOK[^\n]*$/);
  expect((error as Error).message).not.toContain(TOKEN);
  expect(received).toHaveLength(0);
});
