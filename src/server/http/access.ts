/**
 * Who may ask (issue of the doors: localhost is no wall).
 *
 * 1. Every request names this server as its host, so that no DNS name of a stranger reaches it, and comes from no other site:
 *    `Origin` is this server, `Sec-Fetch-Site` is `same-origin` or `none`. No CORS.
 * 2. A token is known by its SHA-256 alone. The person at this machine has one too, made from a key in the state folder that only
 *    its owner can read.
 * 3. A browser gets in by an address that holds a token for one use, and then has a cookie that scripts and other sites cannot
 *    use. It is signed with the same key, so that it outlives a restart, and dies with the token behind it.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { GateError } from '../../app/errors';
import type { Config } from '../../config';
import { sha256 } from '../../sha256';
import { isLoopback } from '../../workers/codec-server';
import { LOCAL, tokenCaller, type Caller } from './caller';
import { HttpError } from './errors';

export const ONCE_PARAMETER = 'token';
const ONCE_MS = 10 * 60_000;
const KEY_BYTES = 32;
const COOKIE_SECONDS = 30 * 24 * 3600;
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface Access {
  /** Of the person at this machine, as a bearer token. */
  readonly localToken: string;
  /** A token for one use within ten minutes, by which a browser becomes that caller. */
  once(caller: Caller): string;
  /** The cookie for such a token; null: it was used, or is none. */
  exchanged(token: string, port: number): string | null;
  /** Null: nobody says who asks. Throws where it is said wrongly. */
  callerOf(request: IncomingMessage): Caller | null;
  /** Throws where a request is not for this server, or comes from another site. Gives where it is reached. */
  checkSite(request: IncomingMessage): string;
}

export function openAccess(
  { server: { tokens, hosts }, folders }: Pick<Config, 'server' | 'folders'>,
  { now }: { readonly now: () => number },
): Access {
  const key = keyIn(folders.state);
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  const localToken = localTokenOf(folders.state);
  const callers = Object.entries(tokens).map(([name, entry]) => ({
    hash: entry.sha256,
    caller: tokenCaller(name, entry),
  }));
  callers.push({ hash: sha256(localToken), caller: LOCAL });
  const bearer = (token: string): Caller | undefined => {
    const hash = sha256(token);
    return callers.filter((one) => isSame(one.hash, hash))[0]?.caller;
  };
  const byCookie = (value: string): Caller | null => {
    const [name = '', until = '', signature = ''] = value.split('.');
    const one = callers.find(({ caller }) => (caller.token ?? '') === name);
    if (one === undefined || !(Number(until) > now())) return null;
    return isSame(signature, sign(`${name}.${until}.${one.hash}`)) ? one.caller : null;
  };
  const waiting = new Map<string, { readonly caller: Caller; readonly until: number }>();
  return {
    localToken,
    once: (caller) => {
      for (const [token, { until }] of waiting) if (until < now()) waiting.delete(token);
      const token = randomBytes(24).toString('base64url');
      waiting.set(sha256(token), { caller, until: now() + ONCE_MS });
      return token;
    },
    exchanged: (token, port) => {
      const found = waiting.get(sha256(token));
      waiting.delete(sha256(token));
      if (found === undefined || found.until < now()) return null;
      const name = found.caller.token ?? '';
      const hash = callers.find(({ caller }) => caller === found.caller)?.hash ?? '';
      const until = now() + COOKIE_SECONDS * 1000;
      const value = `${name}.${until}.${sign(`${name}.${until}.${hash}`)}`;
      return `${cookieName(port)}=${value}; Max-Age=${COOKIE_SECONDS}; Path=/; HttpOnly; SameSite=Strict`;
    },
    callerOf: (request) => {
      const { authorization, cookie = '' } = request.headers;
      if (authorization !== undefined) {
        const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization) ?? [];
        const found = token === undefined ? undefined : bearer(token);
        if (found === undefined || !mayBeHere(found, request))
          throw new HttpError('unauthorized', 'the bearer token is unknown', CHALLENGE);
        return found;
      }
      const name = `${cookieName(request.socket.localPort ?? 0)}=`;
      const given = cookie.split(/; */).find((one) => one.startsWith(name));
      const caller = given === undefined ? null : byCookie(given.slice(name.length));
      // A cookie is sent without being asked for: that the page of this server sent it has to be said.
      const { origin, 'sec-fetch-site': site } = request.headers;
      if (caller !== null && !READS.has(request.method ?? '') && origin === undefined && site === undefined)
        throw new HttpError('forbidden', 'a browser has to say from where it posts (Origin, Sec-Fetch-Site)');
      return caller !== null && mayBeHere(caller, request) ? caller : null;
    },
    checkSite: (request) => {
      const { host = '', origin, 'sec-fetch-site': site } = request.headers;
      const [, name = ''] = /^(\[[^\]]+\]|[^:@/]+)(?::\d+)?$/.exec(host) ?? [];
      const here = name.replace(/^\[|\]$/g, '').toLowerCase();
      const local = addressOf(request);
      const isOurs =
        (isLoopback(local) && isLoopback(here)) || (isIP(here) > 0 && here === local) || hosts.includes(here);
      if (!isOurs) throw new HttpError('host', 'this server is not asked by that name; add it to "server.hosts"');
      const self = `http://${host.toLowerCase()}`;
      const isOwn =
        origin === undefined || origin === self || (hosts.includes(here) && origin === `https://${host.toLowerCase()}`);
      if (!isOwn || (site !== undefined && site !== 'same-origin' && site !== 'none'))
        throw new HttpError('forbidden', 'requests from another site are refused');
      return origin ?? self;
    },
  };
}

export const CHALLENGE = { 'www-authenticate': 'Bearer realm="gate"' };

function addressOf({ socket }: IncomingMessage): string {
  return (socket.localAddress ?? '').replace(/^::ffff:/, '');
}

/** The person at this machine comes by its loopback. */
function mayBeHere(caller: Caller, request: IncomingMessage): boolean {
  return caller !== LOCAL || isLoopback(addressOf(request));
}

/** Cookies are shared by all ports of a host. */
function cookieName(port: number): string {
  return `gate-${port}`;
}

/** What the person at this machine sends as a bearer token, also for programs that find the server through the state folder. */
export function localTokenOf(stateFolder: string): string {
  return `local_${createHmac('sha256', keyIn(stateFolder)).update('local').digest('base64url')}`;
}

function keyIn(stateFolder: string): Buffer {
  const file = join(stateFolder, 'server.key');
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const made = `${file}.${process.pid}`;
    writeFileSync(made, randomBytes(KEY_BYTES), { mode: 0o600 });
    try {
      // Whole or not at all, and the first of two processes wins.
      linkSync(made, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(made);
    }
  }
  const key = readFileSync(file);
  if (key.length !== KEY_BYTES) throw new GateError(`${file} holds no key: delete it, and a new one is made`);
  return key;
}

function isSame(one: string, other: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(one), digest(other));
}
