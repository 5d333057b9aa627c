/**
 * One HTTP exchange with a checked host.
 *
 * 1. A name is resolved once, all its addresses are checked, and the connection goes to one of them. The name is not
 *    resolved again, so it cannot change in between (DNS rebinding). TLS still verifies the name.
 * 2. Every exchange has its own connection, follows no redirect, and ignores proxy settings of the environment.
 * 3. At most `maxBytes` are read, before and after decompression. The caller's signal limits the time.
 */
import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { Agent, request } from 'undici';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { WebError } from '../../domain/ports';

export type Resolve = (host: string) => Promise<readonly string[]>;

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
  readonly maxBytes: number;
  readonly accept: string;
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
  readonly resolve: Resolve;
  readonly loopback: Loopback | null;
  readonly networks: Networks;
}

/** The User-Agent header. Groups of robots.txt are matched by its first word. */
export const USER_AGENT = 'gate-sql/0.1 (a person asked; honours robots.txt)';

export const systemResolve: Resolve = async (host) =>
  (await dnsLookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** `url` must have passed `checkedUrl`. */
export async function exchange(url: URL, options: ExchangeOptions): Promise<Exchange> {
  const { loopback } = options;
  const addresses = await checkedAddresses(url, options);
  const agent = new Agent({
    connect: { lookup: fixedLookup(addresses), ca: loopback?.ca },
    connections: 1,
    pipelining: 0,
    allowH2: false,
  });
  try {
    const response = await request(url, {
      dispatcher: agent,
      method: options.post === undefined ? 'GET' : 'POST',
      maxRedirections: 0,
      signal: options.signal,
      headers: {
        ...{ 'user-agent': USER_AGENT, accept: options.accept, 'accept-encoding': 'gzip, br' },
        ...(options.post === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: options.post,
    });
    // A body that is destroyed before its end emits an error, which would end the process without a listener.
    response.body.on('error', () => undefined);
    const header = (name: string): string | null => {
      const value = response.headers[name];
      return (Array.isArray(value) ? value[0] : value) ?? null;
    };
    const { statusCode: status } = response;
    const hasBody = options.readsErrors === true || (status >= 200 && status < 300);
    const read = hasBody
      ? await readBody(response.body, header('content-encoding'), options)
      : { body: Buffer.alloc(0), truncated: false };
    return { status, header, ...read };
  } catch (error) {
    throw connectionError(error, options.name ?? url.hostname, options.signal);
  } finally {
    await agent.destroy();
  }
}

async function checkedAddresses(
  url: URL,
  { resolve, loopback, networks, signal, name, isTrusted = false }: ExchangeOptions,
): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  let addresses: readonly string[] = [host];
  try {
    if (isIP(host) === 0) addresses = await untilAborted(resolve(host), signal);
  } catch (error) {
    throw connectionError(error, name ?? host, signal);
  }
  if (!isTrusted) checkAddresses(host, addresses, loopback?.ports.has(Number(url.port)) ?? false, networks);
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
  let received = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      received += chunk.length;
      yield chunk;
      // A body that fits the limit unpacked is not larger when packed.
      if (received > maxBytes) return;
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
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes || received > maxBytes };
}

async function* unpacked(source: AsyncIterable<Buffer>, encoding: string | null): AsyncGenerator<Buffer> {
  const unpack = unpackerFor(encoding);
  if (unpack === null) {
    yield* source;
    return;
  }
  // An error of the pipeline also ends the loop below.
  pipeline(source, unpack).catch(() => undefined);
  yield* unpack as AsyncIterable<Buffer>;
}

function unpackerFor(encoding: string | null): Transform | null {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new WebError('unsupported', `the content encoding ${encoding?.slice(0, 40) ?? ''} is not read`);
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

const MISSING: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

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
  if (MISSING.has(code)) return new WebError('not-found', `${host} is no known host`, { cause: error });
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
 * 3. Names are checked twice: here, and by every address that they resolve to (`connection.ts`).
 * 4. Networks of this machine are refused even if their addresses are public: with IPv6 a printer at home has a public
 *    address, and from this machine one can reach what a firewall hides from others.
 */

/** For tests only: ports of this machine that serve as the web. */
export interface Loopback {
  readonly ports: ReadonlySet<number>;
  /** The certificate authority that their certificates are of. */
  readonly ca?: string;
}

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
export function checkedUrl(text: string, loopback: Loopback | null = null): URL {
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

export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || CLOUD_ADDRESSES.has(parsed.toString())) return false;
  if (parsed.kind() === 'ipv4') return true;
  const [first = 0] = (parsed as ipaddr.IPv6).parts;
  return first >> 13 === 1 && !embedsAddress((parsed as ipaddr.IPv6).parts);
}

/** ISATAP: an interface id that tunnels to the IPv4 address in its last half. */
function embedsAddress(parts: readonly number[]): boolean {
  return ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe;
}

/** In CIDR notation. */
export type Networks = () => readonly string[];

export const ownNetworks: Networks = () =>
  Object.values(networkInterfaces()).flatMap((each) => (each ?? []).flatMap(({ cidr }) => cidr ?? []));

/** Throws unless every address that a host resolved to is public. */
function checkAddresses(host: string, addresses: readonly string[], isTestPort: boolean, networks: Networks): void {
  if (addresses.length === 0) throw new WebError('not-found', `${host} has no address`);
  const judged = addresses.filter((address) => !(isTestPort && address === '127.0.0.1'));
  const bad = judged.find((address) => !isPublicAddress(address));
  if (bad !== undefined) throw refused(`${host} resolves to ${bad}, which is no public address`);
  const near = judged.find((address) => isWithin(address, networks()));
  if (near !== undefined) throw refused(`${host} resolves to ${near}, which is in a network of this machine`);
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
