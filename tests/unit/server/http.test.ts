import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { GateError, UsageError } from '../../../src/app/errors';
import { ConfigFile } from '../../../src/config';
import { localTokenOf } from '../../../src/server/http/access';
import { sha256 } from '../../../src/sha256';
import { LOCAL } from '../../../src/server/http/caller';
import type { Route, ServerEvent } from '../../../src/server/http/route';
import { startHttpServer, type HttpServer, type ServerOptions } from '../../../src/server/http/server';
import { eventually } from '../../helpers/engine';
import { freePort } from '../../helpers/free-port';

const state = mkdtempSync(join(tmpdir(), 'gate-http-'));
const open = new Set<HttpServer>();
afterEach(async () => {
  await Promise.all([...open].map((server) => server.close(100)));
  open.clear();
});
afterAll(() => rmSync(state, { recursive: true }));

const EVENTS = ['one', 'two\nlines', 'three'];
let left = 0;
async function* told(after: number, leave: AbortSignal): AsyncGenerator<ServerEvent, void> {
  try {
    for (const [at, data] of EVENTS.entries()) if (at >= after) yield { id: String(at + 1), event: 'step', data };
    if (after < 0) await new Promise((resolve) => leave.addEventListener('abort', resolve));
  } finally {
    left += 1;
  }
}

const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/open', scope: 'open', handler: () => ({ type: 'text/html', body: '<p>é</p>' }) },
  { method: 'GET', path: '/who', scope: 'login', handler: ({ caller }) => ({ json: { token: caller.token } }) },
  {
    method: 'POST',
    path: '/echo/:id',
    scope: 'ask',
    handler: async ({ json, params }) => ({
      json: { ...(await json(z.strictObject({ text: z.string() }))), ...params },
    }),
  },
  { method: 'POST', path: '/steer', scope: 'steer', handler: () => ({ status: 204 }) },
  {
    method: 'POST',
    path: '/form',
    scope: 'ask',
    handler: async ({ form }) => ({ json: Object.fromEntries(await form()) }),
  },
  {
    method: 'GET',
    path: '/events',
    scope: 'ask',
    handler: ({ lastEventId, leave }) => ({ events: told(Number(lastEventId ?? 0), leave) }),
  },
  { method: 'GET', path: '/endless', scope: 'ask', handler: ({ leave }) => ({ events: told(-1, leave) }) },
  {
    method: 'GET',
    path: '/throws/:what',
    scope: 'open',
    handler: ({ params }) => {
      if (params['what'] === 'usage') throw new UsageError('one\ntwo');
      if (params['what'] === 'conflict') throw new GateError('it has ended', 'conflict');
      throw new Error('secret inside');
    },
  },
  {
    method: 'POST',
    path: '/taken',
    scope: 'ask',
    handler: () => ({ handledBy: async (_, response) => void response.writeHead(202).end('own') }),
  },
];

const logged: string[] = [];

async function serverWith(options: Partial<ServerOptions> & { readonly server?: object } = {}): Promise<HttpServer> {
  const config = ConfigFile.parse({ databases: {}, server: options.server ?? {} });
  const server = await startHttpServer({
    config: { server: config.server, folders: { config: state, data: state, state, cache: state } },
    ...{ host: '127.0.0.1', port: 0, routes: ROUTES, now: () => Date.now() },
    log: (line) => logged.push(line),
    ...options,
  });
  open.add(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Without the browser's own headers, which `fetch` sets. */
function ask(
  url: string,
  {
    headers = {},
    method = 'GET',
    body = '',
  }: { headers?: Record<string, string>; method?: string; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const errorOf = ({ text }: Answer): string => (JSON.parse(text) as { error: { code: string } }).error.code;
const local = (): Record<string, string> => ({ authorization: `Bearer ${localTokenOf(state)}` });
const JSON_TYPE = { 'content-type': 'application/json' };

describe('who may ask', () => {
  it('needs a token for what is not open', async () => {
    const { url } = await serverWith();
    const { status, headers, text } = await ask(`${url}/open`);
    expect([status, headers['content-type'], text]).toEqual([200, 'text/html; charset=utf-8', '<p>é</p>']);
    const refused = await ask(`${url}/who`);
    expect([refused.status, errorOf(refused)]).toEqual([401, 'unauthorized']);
    expect(refused.headers['www-authenticate']).toContain('Bearer');
    expect(JSON.parse((await ask(`${url}/who`, { headers: local() })).text)).toEqual({ token: null });
  });

  it('knows tokens by their hash, with their scopes', async () => {
    const tokens = { reader: { sha256: sha256('secret') }, steerer: { sha256: sha256('other'), scopes: ['steer'] } };
    const { url } = await serverWith({ server: { tokens } });
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}`, ...JSON_TYPE }, method: 'POST' });
    expect(JSON.parse((await ask(`${url}/who`, { ...as('secret'), method: 'GET' })).text)).toEqual({ token: 'reader' });
    expect((await ask(`${url}/steer`, as('other'))).status).toBe(204);
    const lacking = await ask(`${url}/steer`, as('secret'));
    expect([lacking.status, errorOf(lacking)]).toEqual([403, 'forbidden']);
    for (const wrong of ['secre', 'secret2', sha256('secret'), 'x'.repeat(5_000)])
      expect((await ask(`${url}/who`, { ...as(wrong), method: 'GET' })).status).toBe(401);
  });

  it('lets an address be tried with wrong tokens 60 times a minute', async () => {
    let time = 0;
    const { url } = await serverWith({ now: () => time });
    const wrong = { headers: { authorization: 'Bearer wrong' } };
    for (let tries = 0; tries < 60; tries += 1) expect((await ask(`${url}/who`, wrong)).status).toBe(401);
    const refused = await ask(`${url}/who`, wrong);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect((await ask(`${url}/who`, { headers: local() })).status).toBe(200);
    time += 60_000;
    expect((await ask(`${url}/who`, wrong)).status).toBe(401);
  });

  it('exchanges a token in an address once for a cookie that lasts beyond a restart', async () => {
    const port = await freePort();
    const server = await serverWith({ port });
    const login = server.loginUrl(LOCAL, '/who');
    const first = await ask(login);
    expect([first.status, first.headers.location]).toEqual([303, '/who']);
    const [cookie = ''] = first.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^gate-\d+=.*; HttpOnly; SameSite=Strict$/);
    expect((await ask(login)).status).toBe(401);
    const away = await ask(server.loginUrl(LOCAL, '/.//evil.example/'));
    expect(away.headers.location).toBe('/evil.example/');
    const headers = { cookie: `a=b; ${cookie.split(';')[0] ?? ''}` };
    expect((await ask(`${server.url}/who`, { headers })).status).toBe(200);
    await server.close(0);
    const again = await serverWith({ port });
    expect((await ask(`${again.url}/who`, { headers })).status).toBe(200);
    expect((await ask(`${again.url}/who`, { headers: { cookie: `${headers.cookie}x` } })).status).toBe(401);
    await again.close(0);
    const later = await serverWith({ port, now: () => Date.now() + 31 * 24 * 3_600_000 });
    expect((await ask(`${later.url}/who`, { headers })).status).toBe(401);
  });

  it('lets a cookie post only where the browser says from where', async () => {
    const server = await serverWith();
    const [cookie = ''] = (await ask(server.loginUrl(LOCAL))).headers['set-cookie'] ?? [];
    const headers = { cookie: cookie.split(';')[0] ?? '', ...JSON_TYPE };
    const post = (more: Record<string, string>) =>
      ask(`${server.url}/echo/1`, { method: 'POST', body: '{"text":"a"}', headers: { ...headers, ...more } });
    expect((await post({})).status).toBe(403);
    expect((await post({ origin: server.url })).status).toBe(200);
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('forgets the cookie of a token that is gone, and of one that was changed', async () => {
    const with_ = (sha256: string) => ({ server: { tokens: { one: { sha256 } } } });
    const port = await freePort();
    const server = await serverWith({ ...with_(sha256('a')), port });
    const caller = { ...LOCAL, token: 'one' };
    const known = server.access.callerOf({ headers: { authorization: 'Bearer a' }, socket: {} } as never) ?? caller;
    const [cookie = ''] = (await ask(server.loginUrl(known))).headers['set-cookie'] ?? [];
    const headers = { cookie: cookie.split(';')[0] ?? '' };
    expect(JSON.parse((await ask(`${server.url}/who`, { headers })).text)).toEqual({ token: 'one' });
    await server.close(0);
    const changed = await serverWith({ ...with_(sha256('b')), port });
    expect((await ask(`${changed.url}/who`, { headers })).status).toBe(401);
    await changed.close(0);
    expect((await ask(`${(await serverWith({ port })).url}/who`, { headers })).status).toBe(401);
  });

  it('keeps its key for its owner', () => expect(statSync(join(state, 'server.key')).mode & 0o777).toBe(0o600));
});

describe('from where', () => {
  it.each([
    ['evil.example', 421],
    ['127.0.0.1.evil.example:80', 421],
    ['localhost@evil.example', 421],
    ['10.0.0.1', 421],
    ['localhost', 200],
    ['LOCALHOST:99', 200],
    ['127.0.0.1', 200],
    ['[::1]:80', 200],
  ])('as host %p: %p', async (host, status) => {
    const { url } = await serverWith();
    expect((await ask(`${url}/open`, { headers: { host } })).status).toBe(status);
    expect((await ask(`${url}/livez`, { headers: { host } })).status).toBe(status);
  });

  it('takes the names of the configuration, also behind a proxy with https', async () => {
    const { url } = await serverWith({ server: { hosts: ['gate.example'] } });
    expect(
      (await ask(`${url}/open`, { headers: { host: 'gate.example', origin: 'https://gate.example' } })).status,
    ).toBe(200);
    expect(
      (await ask(`${url}/open`, { headers: { host: 'gate.example', origin: 'https://evil.example' } })).status,
    ).toBe(403);
  });

  it.each([
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://127.0.0.1:1' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
  ])('with %p: %p, also with a token', async (headers, status) => {
    const { url } = await serverWith();
    const given = Object.fromEntries(Object.entries(headers)) as Record<string, string>;
    const answer = await ask(`${url}/who`, { headers: { ...local(), ...given } });
    expect(answer.status).toBe(status);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('requests and replies', () => {
  it('finds routes, and says which methods there are', async () => {
    const { url } = await serverWith();
    expect(errorOf(await ask(`${url}/nothing`))).toBe('not-found');
    const wrong = await ask(`${url}/open`, { method: 'POST' });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET']);
    const head = await ask(`${url}/open`, { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '9', '']);
    expect(await ask(`${url}/taken`, { method: 'POST', headers: local() })).toMatchObject({
      status: 202,
      text: 'own',
    });
  });

  it.each([
    ['{"text":"a"}', 'application/json; charset=utf-8', 200, ''],
    ['{"text":1}', 'application/json', 400, 'usage'],
    ['{"text":"a","more":1}', 'application/json', 400, 'usage'],
    ['{"text"', 'application/json', 400, 'usage'],
    ['', 'application/json', 400, 'usage'],
    ['{"text":"a"}', 'text/plain', 415, 'content-type'],
  ])('a body %p as %s: %i', async (body, type, status, code) => {
    const { url } = await serverWith();
    const headers = { ...local(), 'content-type': type };
    const answer = await ask(`${url}/echo/a%20b`, { method: 'POST', body, headers });
    expect(answer.status).toBe(status);
    if (status === 200) expect(JSON.parse(answer.text)).toEqual({ text: 'a', id: 'a b' });
    else expect(errorOf(answer)).toBe(code);
  });

  it('reads forms', async () => {
    const { url } = await serverWith();
    const headers = { ...local(), 'content-type': 'application/x-www-form-urlencoded' };
    const { text } = await ask(`${url}/form`, { method: 'POST', body: 'a=1+2&b=%C3%A9', headers });
    expect(JSON.parse(text)).toEqual({ a: '1 2', b: 'é' });
  });

  it('tells errors in one form, and what failed inside only to its log', async () => {
    const { url } = await serverWith();
    const usage = await ask(`${url}/throws/usage`);
    expect([usage.status, usage.text]).toEqual([400, '{"error":{"code":"usage","message":"one; two"}}\n']);
    expect((await ask(`${url}/throws/conflict`)).status).toBe(409);
    const inside = await ask(`${url}/throws/up`);
    expect([inside.status, errorOf(inside)]).toEqual([500, 'failed']);
    expect(inside.text).not.toContain('secret');
    expect(logged.at(-1)).toBe('GET /throws/up');
  });

  it('carries what keeps a browser from misusing a reply', async () => {
    const { url } = await serverWith();
    for (const path of ['/open', '/nothing']) {
      const { headers } = await ask(url + path);
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
      expect(headers['content-security-policy']).toContain("default-src 'none'");
    }
  });

  it('is ready when it says so', async () => {
    let problem: string | null = 'starting';
    const { url } = await serverWith({ readiness: async () => problem });
    expect((await ask(`${url}/livez`)).status).toBe(200);
    expect(await ask(`${url}/readyz`)).toMatchObject({ status: 503, text: 'starting\n' });
    problem = null;
    expect((await ask(`${url}/readyz`)).status).toBe(200);
  });
});

describe('event streams', () => {
  it('send what comes after the last event of the reader', async () => {
    const { url } = await serverWith();
    const all = await ask(`${url}/events`, { headers: local() });
    expect(all.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(all.text).toContain('id: 2\nevent: step\ndata: two\ndata: lines\n\n');
    const rest = await ask(`${url}/events`, { headers: { ...local(), 'last-event-id': '2' } });
    expect(rest.text.match(/^id: .*/gm)).toEqual(['id: 3']);
  });

  it('end when the reader leaves and when the server stops', async () => {
    const tokens = { local: { sha256: sha256('secret') } };
    const server = await serverWith({ limits: { atOnce: 2 }, server: { tokens } });
    const before = left;
    const reading = new AbortController();
    const headers = local();
    const one = await fetch(`${server.url}/endless`, { headers, signal: reading.signal });
    const two = await fetch(`${server.url}/endless`, { headers });
    expect((await ask(`${server.url}/endless`, { headers })).status).toBe(429);
    expect((await ask(`${server.url}/who`, { headers })).status).toBe(429);
    const other = { authorization: 'Bearer secret' };
    expect((await ask(`${server.url}/who`, { headers: other })).status).toBe(200);
    reading.abort();
    while (left === before) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.close(5_000);
    expect(left).toBe(before + 2);
    expect(one.status).toBe(200);
    expect(await two.text()).toContain('three');
  });
});

describe('limits', () => {
  it('refuses a body that is too large, said or not', async () => {
    const { url } = await serverWith({ limits: { bodyBytes: 1_000 } });
    const body = JSON.stringify({ text: 'a'.repeat(2_000) });
    const headers = { ...local(), ...JSON_TYPE };
    const said = await ask(`${url}/echo/1`, { method: 'POST', body, headers });
    expect([said.status, errorOf(said)]).toEqual([413, 'too-large']);
    const chunked = await ask(`${url}/echo/1`, {
      method: 'POST',
      body,
      headers: { ...headers, 'transfer-encoding': 'chunked' },
    });
    expect(chunked.status).toBe(413);
  });

  it('cuts a request that takes too long', async () => {
    const { url } = await serverWith({ limits: { headersMs: 150, requestMs: 300 } });
    const { port } = new URL(url);
    // What the server answers is there also where it hangs up before it has read all: that is an error of the socket.
    const slow = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
        let got = '';
        socket.on('data', (piece) => (got += piece.toString()));
        socket.on('close', () => resolve(got));
        socket.on('error', () => undefined);
      });
    expect(await slow('GET /open HTTP/1.1\r\nhost: localhost\r\n')).toContain('408');
    const { authorization = '' } = local();
    const post = `POST /echo/1 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: ${authorization}\r\ncontent-length: 100\r\n\r\n{`;
    expect(await slow(post)).toContain('408');
  });

  it('lets a caller send so many requests a minute', async () => {
    const { url } = await serverWith({ limits: { requestsPerMinute: 3 }, now: () => 0 });
    for (let asked = 0; asked < 3; asked += 1) expect((await ask(`${url}/who`, { headers: local() })).status).toBe(200);
    expect(await ask(`${url}/who`, { headers: local() })).toMatchObject({ status: 429 });
    expect((await ask(`${url}/open`)).status).toBe(200);
  });

  it('answers others beside a thousand open connections', async () => {
    const { url } = await serverWith({ limits: { connections: 100, headersMs: 400 } });
    const { port } = new URL(url);
    const sockets = Array.from({ length: 1_000 }, () =>
      connect(Number(port), '127.0.0.1')
        .on('error', () => undefined)
        .resume(),
    );
    const closed = () => sockets.filter(({ destroyed }) => destroyed).length;
    // Beyond the limit they are dropped, and those that say nothing are cut.
    await eventually(closed, (count) => count === 1_000);
    expect((await ask(`${url}/open`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});
