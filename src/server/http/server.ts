/**
 * HTTP over `node:http`: a list of routes behind the same checks, limits and form of errors. `/livez` and `/readyz` are built in.
 *
 * 1. Nothing of a request is read before its host and its site are checked, and no body before its caller is known.
 * 2. A caller may send so many requests a minute and so many at the same time; the server holds so many connections. What is
 *    slow is cut: headers within ten seconds, a request within thirty.
 * 3. `close` takes no new request, ends event streams, lets requests finish for a while, then cuts them.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { given } from '../../app/given';
import type { Config } from '../../config';
import { listenOn } from '../../workers/http-server';
import { CHALLENGE, ONCE_PARAMETER, openAccess, type Access } from './access';
import { NOBODY, type Caller } from './caller';
import { HttpError, httpError } from './errors';
import { sendError, sendReply } from './send';
import { findRoute, type Found, type HttpRequest, type Route } from './route';

export interface Limits {
  readonly bodyBytes: number;
  readonly connections: number;
  readonly requestsPerMinute: number;
  /** Requests of one caller at the same time: those that wait and event streams, too. */
  readonly atOnce: number;
  readonly headersMs: number;
  readonly requestMs: number;
}

export const LIMITS: Limits = {
  bodyBytes: 256 * 1024,
  connections: 512,
  requestsPerMinute: 600,
  atOnce: 200,
  headersMs: 10_000,
  requestMs: 30_000,
};

export interface ServerOptions {
  readonly config: Pick<Config, 'server' | 'folders'>;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly routes: readonly Route[];
  readonly now: () => number;
  /** Null: ready; else why not, in a line. */
  readonly readiness?: () => Promise<string | null>;
  /** What failed inside. */
  readonly log: (line: string, error: unknown) => void;
  readonly limits?: Partial<Limits>;
}

export interface HttpServer {
  readonly url: string;
  readonly access: Access;
  /** The address of a page for one opening in a browser. `origin`: by which it is reached. Left out: where it listens. */
  loginUrl(caller: Caller, path?: string, origin?: string): string;
  close(graceMs?: number): Promise<void>;
}

export async function startHttpServer(options: ServerOptions): Promise<HttpServer> {
  const { config, now, host, port } = options;
  const limits = { ...LIMITS, ...options.limits };
  const access = openAccess(config, { now });
  const asking = new Set<AbortController>();
  let isStopping = false;
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    keepAliveTimeout: 5_000,
  });
  server.maxConnections = limits.connections;
  const asked = new Minute(now);
  const held = new Map<string, number>();
  const at: Serving = { options, limits, access, isStopping: () => isStopping, asking, asked, held };
  server.on('request', (request, response) => void answer(request, response, at));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, code] =
      error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? ['408 Request Timeout', 'timeout'] : ['400 Bad Request', 'usage'];
    const text = JSON.stringify({
      error: { code, message: code === 'timeout' ? 'the request took too long' : 'no HTTP that can be read' },
    });
    socket.end(
      `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
  });
  const { url } = await listenOn(server, host, port);
  return {
    url,
    access,
    loginUrl: (caller, path = '/', origin = url) => `${origin}${path}?${ONCE_PARAMETER}=${access.once(caller)}`,
    close: async (graceMs = 5_000) => {
      isStopping = true;
      for (const one of asking) one.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const idle = setInterval(() => server.closeIdleConnections(), 20);
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(cut);
      clearInterval(idle);
    },
  };
}

interface Serving {
  readonly options: ServerOptions;
  readonly limits: Limits;
  readonly access: Access;
  readonly isStopping: () => boolean;
  /** Of requests under way. */
  readonly asking: Set<AbortController>;
  readonly asked: Minute;
  /** Requests under way, by who asks. */
  readonly held: Map<string, number>;
}

async function answer(request: IncomingMessage, response: ServerResponse, at: Serving): Promise<void> {
  const leave = new AbortController();
  at.asking.add(leave);
  response.once('close', () => {
    at.asking.delete(leave);
    leave.abort();
  });
  try {
    await respond(request, response, at, leave.signal);
  } catch (thrown) {
    // Nobody is there any more to be told.
    if (response.destroyed) return;
    const { error, known } = httpError(thrown);
    if (!known) at.options.log(`${request.method ?? ''} ${(request.url ?? '').split('?', 1)[0] ?? ''}`, thrown);
    sendError(request, response, error);
  }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  at: Serving,
  leave: AbortSignal,
): Promise<void> {
  const { access, options, limits } = at;
  if (at.isStopping()) throw new HttpError('unavailable', 'this server is stopping; ask again');
  const origin = access.checkSite(request);
  const path = pathOf(request);
  const method = request.method ?? 'GET';
  if (path === '/livez' || path === '/readyz') {
    const failed = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');
    const problem = path === '/livez' ? null : ((await options.readiness?.().catch(failed)) ?? null);
    return sendReply(request, response, {
      status: problem === null ? 200 : 503,
      type: 'text/plain',
      body: `${problem ?? 'ok'}\n`,
    });
  }
  const url = new URL(`http://localhost${request.url ?? ''}`);
  const once = method === 'GET' ? url.searchParams.get(ONCE_PARAMETER) : null;
  const cookie = once === null ? null : access.exchanged(once, request.socket.localPort ?? 0);
  if (once !== null && cookie !== null) {
    url.searchParams.delete(ONCE_PARAMETER);
    return sendReply(request, response, {
      status: 303,
      headers: { location: `${url.pathname.replace(/^\/+/, '/')}${url.search}`, 'set-cookie': cookie },
    });
  }
  const address = `address ${request.socket.remoteAddress ?? ''}`;
  const { found, caller, name } = checked(request, path, at, address);
  const { route, params } = found;
  const body = (): Promise<Buffer> => bodyOf(request, limits.bodyBytes);
  const asked: HttpRequest = {
    ...{ method, path, params, query: url.searchParams, headers: request.headers, caller, origin, leave },
    lastEventId: header(request, 'last-event-id') ?? url.searchParams.get('lastEventId'),
    json: async (schema) => {
      contentType(request, 'application/json');
      return given(schema, parsed(await body()), 'body');
    },
    form: async () => {
      contentType(request, 'application/x-www-form-urlencoded');
      return new URLSearchParams((await body()).toString('utf8'));
    },
  };
  const open = (at.held.get(name) ?? 0) + 1;
  if (open > limits.atOnce) throw new HttpError('too-many', `at most ${limits.atOnce} requests at the same time`);
  at.held.set(name, open);
  try {
    await sendReply(request, response, await route.handler(asked), leave);
  } finally {
    const left = (at.held.get(name) ?? 1) - 1;
    if (left > 0) at.held.set(name, left);
    else at.held.delete(name);
  }
}

/** How often something was done in the present minute, by name. */
class Minute {
  #since: number;
  readonly #counts = new Map<string, number>();

  constructor(private readonly now: () => number) {
    this.#since = now();
  }

  /** The number with this one. */
  add(name: string): number {
    if (this.secondsLeft() <= 0) {
      this.#since = this.now();
      this.#counts.clear();
    }
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }

  secondsLeft(): number {
    return Math.ceil((this.#since + 60_000 - this.now()) / 1000);
  }
}

/** Of an address: who knows a right one is not refused, although a proxy stands between. */
const WRONG_PER_MINUTE = 60;

function checked(
  request: IncomingMessage,
  path: string,
  at: Serving,
  address: string,
): { found: Found; caller: Caller; name: string } {
  const { asked, access, options, limits } = at;
  const found = findRoute(options.routes, request.method ?? '', path);
  if (found.route === null) {
    const { allowed } = found;
    if (allowed.length === 0)
      throw new HttpError('not-found', 'there is no such address; GET /v1/openapi.json has them all');
    throw new HttpError('method', `allowed: ${allowed.join(', ')}`, { allow: allowed.join(', ') });
  }
  const { scope } = found.route;
  let known: Caller | null;
  try {
    known = access.callerOf(request);
  } catch (error) {
    if (asked.add(address) > WRONG_PER_MINUTE) throw tooMany('wrong tokens', asked.secondsLeft());
    throw error;
  }
  if (known === null && scope !== 'open')
    throw new HttpError(
      'unauthorized',
      'send a token as Authorization: Bearer …, or open the address that gate ui prints',
      CHALLENGE,
    );
  const caller = known ?? NOBODY;
  const name = known === null ? `open ${address}` : `token ${caller.token ?? ''}`;
  if (asked.add(name) > limits.requestsPerMinute)
    throw tooMany(`more than ${limits.requestsPerMinute} requests a minute`, asked.secondsLeft());
  if (scope === 'local') {
    if (caller.token !== null)
      throw new HttpError('forbidden', 'the page is for the person at this machine; a token asks at /v1');
  } else if (scope !== 'open' && scope !== 'login' && !caller.scopes.has(scope))
    throw new HttpError('forbidden', `this token lacks the scope ${scope}`);
  return { found, caller, name };
}

function tooMany(what: string, seconds: number): HttpError {
  return new HttpError('too-many', `${what}; try again in ${seconds} s`, { 'retry-after': String(seconds) });
}

function pathOf({ url = '' }: IncomingMessage): string {
  if (!url.startsWith('/')) throw new HttpError('usage', 'the address has to begin with /');
  return url.split('?', 1)[0] ?? '';
}

function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

function contentType(request: IncomingMessage, wanted: string): void {
  const [type = ''] = (header(request, 'content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== wanted) throw new HttpError('content-type', `send the body as ${wanted}`);
}

async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer> {
  const tooLarge = new HttpError('too-large', `the body may have at most ${most} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new HttpError('usage', 'the body is no JSON in UTF-8');
  }
}
