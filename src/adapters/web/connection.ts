/**
 * One HTTP exchange with a checked host.
 *
 * 1. A name is resolved once, all its addresses are checked, and the connection goes to one of them. The name is not
 *    resolved again, so it cannot change in between (DNS rebinding). TLS still verifies the name.
 * 2. Every exchange has its own connection, follows no redirect, and ignores proxy settings of the environment.
 * 3. At most `maxBytes` of a body are kept, and twice as many are unpacked. The caller's signal limits the time.
 */
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { Agent, request } from 'undici';
import ipaddr from 'ipaddr.js';
import { WebError } from '../../domain/ports';
import { untilAborted } from '../../limiter';

/** How hosts are found, and what is near them. Tests give their own. */
export interface Reach {
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Networks of this machine, in CIDR notation. */
  readonly networks: () => readonly string[];
  /** For tests only: ports of this machine that serve as the web, and the authority that their certificates are of. */
  readonly loopback: { readonly ports: ReadonlySet<number>; readonly ca?: string } | null;
}

export const INTERNET: Reach = {
  resolve: async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
  networks: () => Object.values(networkInterfaces()).flatMap((each) => (each ?? []).flatMap(({ cidr }) => cidr ?? [])),
  loopback: null,
};

export interface Exchange {
  readonly status: number;
  readonly header: (name: string) => string | null;
  /** Empty unless the status is 2xx or the caller reads errors. */
  readonly body: Buffer;
  /** The body was longer than `maxBytes`. */
  readonly truncated: boolean;
}

interface ExchangeOptions {
  readonly signal: AbortSignal;
  /** 0: nobody waits for the body. */
  readonly maxBytes: number;
  readonly accept: string;
  readonly reach?: Reach;
  /** Takes the body piece by piece, instead of `body`. */
  readonly sink?: (chunk: Buffer) => Promise<void>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON to post; left out: GET. */
  readonly post?: string;
  /** The body of an error or a redirect is read too. */
  readonly readsErrors?: boolean;
  /** What messages call the host; default: its name. */
  readonly name?: string;
  /** A host that the configuration allows, wherever it is. */
  readonly isTrusted?: boolean;
}

/** The User-Agent header. Groups of robots.txt are matched by its first word. */
export const USER_AGENT = 'gate-sql/0.1 (a person asked; honours robots.txt)';

/** `url` must have passed `checkedUrl`, or be of a host that the configuration allows. */
export async function exchange(url: URL, options: ExchangeOptions): Promise<Exchange> {
  const { signal, reach = INTERNET, post } = options;
  let agent: Agent | null = null;
  try {
    const addresses = await checkedAddresses(url, reach, options);
    agent = new Agent({
      connect: { lookup: fixedLookup(addresses), ca: reach.loopback?.ca },
      connections: 1,
      pipelining: 0,
      allowH2: false,
    });
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      method: post === undefined ? 'GET' : 'POST',
      maxRedirections: 0,
      signal,
      headers: {
        'user-agent': USER_AGENT,
        accept: options.accept,
        'accept-encoding': 'gzip, br',
        ...(post !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: post,
    });
    // A body that is destroyed before its end emits an error, which would end the process without a listener.
    body.on('error', () => undefined);
    const header = (name: string): string | null => [headers[name]].flat()[0] ?? null;
    const answer = { status: statusCode, header };
    if (options.maxBytes === 0 || (options.readsErrors !== true && !isSuccess(answer)))
      return { ...answer, body: Buffer.alloc(0), truncated: false };
    return { ...answer, ...(await readBody(body, header('content-encoding'), options)) };
  } catch (error) {
    throw connectionError(error, options.name ?? url.hostname, signal);
  } finally {
    await agent?.destroy();
  }
}

const REDIRECTS = 5;

/** Follows redirects, each target checked like the address itself. An absolute target is checked as written. */
export async function follow(
  address: string,
  { loopback }: Reach,
  visit: (url: URL) => Promise<Exchange>,
): Promise<{ readonly url: URL; readonly answer: Exchange }> {
  let url = checkedUrl(address, loopback);
  for (let hops = 0; hops <= REDIRECTS; hops += 1) {
    const answer = await visit(url);
    const target = [301, 302, 303, 307, 308].includes(answer.status) ? answer.header('location') : null;
    if (target === null) return { url, answer };
    if (!URL.canParse(target, url.href)) throw refused(`${url.host} redirects to what is no URL`);
    url = checkedUrl(URL.canParse(target) ? target : new URL(target, url).href, loopback);
  }
  throw refused(`more than ${REDIRECTS} redirects`);
}

/** Throws for an answer that is no success. `what`: who answered. */
export function checkStatus({ status, header }: Exchange, what: string): void {
  if (isSuccess({ status })) return;
  const message = `${what} answered ${status}`;
  if (status === 429) throw new WebError('rate-limited', message, afterOf(header('retry-after')));
  throw new WebError(status >= 500 ? 'server-error' : 'not-found', message);
}

export const isSuccess = ({ status }: Pick<Exchange, 'status'>): boolean => status >= 200 && status < 300;

/** Reads Retry-After in seconds only; a date is ignored. */
export function afterOf(retryAfter: string | null): { readonly retryAfterMs?: number } {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? { retryAfterMs: Number(retryAfter) * 1_000 } : {};
}

/** Of the host, each of them public and in no network of this machine, unless the host is trusted. */
async function checkedAddresses(
  url: URL,
  { resolve, networks, loopback }: Reach,
  { signal, isTrusted = false }: ExchangeOptions,
): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) === 0 ? await untilAborted(resolve(host), signal) : [host];
  if (isTrusted) return addresses;
  if (addresses.length === 0) throw new WebError('not-found', `${host} has no address`);
  const isTestPort = loopback?.ports.has(Number(url.port)) ?? false;
  const judged = addresses.filter((address) => !(isTestPort && address === '127.0.0.1'));
  const bad = judged.find((address) => !isPublicAddress(address));
  if (bad !== undefined) throw refused(`${host} resolves to ${bad}, which is no public address`);
  const near = judged.find((address) => isWithin(address, networks()));
  if (near !== undefined) throw refused(`${host} resolves to ${near}, which is in a network of this machine`);
  return addresses;
}

/** A DNS lookup that returns the checked addresses for any name. */
function fixedLookup(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = entries;
    if (options.all === true) callback(null, entries);
    else callback(null, first?.address ?? '', first?.family);
  };
}

async function readBody(
  body: Readable,
  encoding: string | null,
  { maxBytes, sink }: Pick<ExchangeOptions, 'maxBytes' | 'sink'>,
): Promise<{ readonly body: Buffer; readonly truncated: boolean }> {
  // A body that fits the limit unpacked is hardly larger when packed. How the connection cuts what it receives must not decide.
  const maxPacked = 2 * maxBytes;
  let received = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      received += chunk.length;
      yield chunk;
      if (received > maxPacked) return;
    }
  };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of unpacked(counted(), encoding)) {
      if (sink === undefined) chunks.push(chunk);
      else await sink(chunk);
      size += chunk.length;
      if (size > maxBytes) break;
    }
  } finally {
    body.destroy();
  }
  // Cut before it could be unpacked; where the cut falls between two members of gzip, nothing else would say so.
  if (received > maxPacked && size <= maxBytes)
    throw new WebError('unsupported', 'the body is longer packed than unpacked');
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes };
}

async function* unpacked(source: AsyncIterable<Buffer>, encoding: string | null): AsyncGenerator<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') {
    yield* source;
    return;
  }
  const unpack = /^(x-)?gzip$/.test(name) ? createGunzip() : name === 'br' ? createBrotliDecompress() : null;
  if (unpack === null) throw new WebError('unsupported', `the content encoding ${name.slice(0, 40)} is not read`);
  // An error of the pipeline also ends the loop below.
  pipeline(source, unpack).catch(() => undefined);
  yield* unpack as AsyncIterable<Buffer>;
}

/** The error to throw: the caller's reason after an abort, `timeout` after a time limit, else one about the connection. */
function connectionError(error: unknown, host: string, signal: AbortSignal): unknown {
  if (error instanceof WebError) return error;
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    // Checked by name: the error may be of another realm.
    const timedOut = (reason as Error | null)?.name === 'TimeoutError';
    return timedOut ? new WebError('timeout', `${host} took too long`, { cause: error }) : reason;
  }
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND' || code === 'ENODATA')
    return new WebError('not-found', `${host} is no known host`, { cause: error });
  if (/^(Z_|ERR_BROTLI|ERR__ERROR)/.test(code)) {
    return new WebError('unsupported', `${host} sent data that cannot be unpacked`, { cause: error });
  }
  const isReadable = code !== '' && !code.startsWith('UND_');
  return new WebError('connection', `${host}: ${isReadable ? code : message}`, { cause: error });
}

/**
 * Which URLs and network addresses pages may be fetched from: only plainly public web sites.
 *
 * 1. A URL is checked as written and as parsed: a spelling that hides an address is refused even if the address is allowed.
 * 2. Addresses are allowed by range: IPv4 and IPv6 must be ordinary global unicast. So addresses that embed an IPv4
 *    address (mapped, 6to4, NAT64, Teredo) are refused.
 * 3. Names are checked twice: by `checkedUrl`, and by every address that they resolve to.
 * 4. Networks of this machine are refused even if their addresses are public: with IPv6 a printer at home has a public
 *    address, and from this machine one can reach what a firewall hides from others.
 */

export const LONGEST_URL = 2_000;
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Last labels of names that mean this machine, its network or its cloud, whatever they resolve to. */
const PRIVATE_NAMES = [
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home', 'corp', 'private', 'arpa'],
  ...['test', 'invalid', 'example', 'onion', 'alt'],
];
/** Addresses in a public range that serve a cloud's own machines. */
const CLOUD_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Throws `WebError` with one line that says what is wrong. */
export function checkedUrl(text: string, loopback: Reach['loopback'] = null): URL {
  if (text.length > LONGEST_URL) throw refused('the URL is longer than 2,000 characters');
  if (/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\\]/.test(text)) {
    throw refused('the URL has spaces, backslashes or invisible characters');
  }
  if (!URL.canParse(text)) throw refused('this is no absolute URL; write http:// or https:// and a host');
  const url = new URL(text);
  if (!(url.protocol in PORTS)) throw refused(`only http and https are fetched, not ${url.protocol.slice(0, 20)}`);
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority === undefined || authority === '') throw refused('write two slashes and a host after the scheme');
  if (authority.includes('@')) throw refused('a URL with a user name or password is not fetched');
  const port = url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port);
  checkHost(url.hostname, authority.replace(/:\d*$/, ''), loopback?.ports.has(port) ?? false);
  if (port !== 80 && port !== 443 && !(loopback?.ports.has(port) ?? false)) {
    throw refused(`port ${port} is not fetched, only 80 and 443`);
  }
  url.hash = '';
  return url;
}

/** `hostname` as parsed, `written` as it stands in the URL. */
function checkHost(hostname: string, written: string, isTestPort: boolean): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) {
    if (isIP(host) === 4 && written !== host) throw refused('write an IPv4 address as four decimal numbers');
    if (!isPublicAddress(host) && !(isTestPort && host === '127.0.0.1')) throw refused(`${host} is no public address`);
    return;
  }
  if (host.endsWith('.')) throw refused('write the host without the dot at its end');
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  if (labels.length < 2 || PRIVATE_NAMES.includes(last)) throw refused(`${host} is no public host name`);
  // Some resolvers take a last label of digits for an address.
  if (/^(\d+|0x[0-9a-f]*)$/i.test(last)) throw refused(`${host} is no public host name`);
  if (host.length > 253 || labels.some((label) => !/^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) {
    throw refused('the host is no valid DNS name');
  }
}

function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || CLOUD_ADDRESSES.has(parsed.toString())) return false;
  if (parsed.kind() === 'ipv4') return true;
  const [first = 0, , , , fifth = 0, sixth] = (parsed as ipaddr.IPv6).parts;
  // ISATAP: an interface id that tunnels to the IPv4 address in its last half.
  return first >> 13 === 1 && !((fifth & 0xfdff) === 0 && sixth === 0x5efe);
}

function isWithin(address: string, networks: readonly string[]): boolean {
  const parsed = ipaddr.parse(address);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === parsed.kind() && parsed.match(base, bits);
  });
}

export function refused(message: string): WebError {
  return new WebError('refused', message);
}
