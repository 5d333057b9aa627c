/**
 * One HTTP exchange with a checked host.
 *
 * 1. A name is resolved once, all its addresses are checked, and the connection goes to one of them. The name is not
 *    resolved again, so it cannot change in between (DNS rebinding). TLS still verifies the name.
 * 2. Every exchange has its own connection, follows no redirect, and ignores proxy settings of the environment.
 * 3. At most `maxBytes` are read, before and after decompression. The caller's signal limits the time.
 */
import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { Agent, request } from 'undici';
import { WebError } from '../../ports';
import { checkAddresses, type Loopback, type Networks } from './addresses';

export type Resolve = (host: string) => Promise<readonly string[]>;

export interface Exchange {
  readonly status: number;
  readonly header: (name: string) => string | null;
  /** Empty unless the status is 2xx: the body of an error or a redirect is not used. */
  readonly body: Buffer;
  /** The body was longer than `maxBytes`. */
  readonly truncated: boolean;
}

export interface ExchangeOptions {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly accept: string;
  /** Takes the body piece by piece, instead of `body`. */
  readonly sink?: (chunk: Buffer) => Promise<void>;
  /** JSON to post; left out: GET. */
  readonly post?: string;
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
    connect: { lookup: fixedLookup(addresses), ...(loopback?.ca === undefined ? {} : { ca: loopback.ca }) },
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
      },
      ...(options.post === undefined ? {} : { body: options.post }),
    });
    listened(response.body);
    const header = (name: string): string | null => {
      const value = response.headers[name];
      return (Array.isArray(value) ? value[0] : value) ?? null;
    };
    const { statusCode: status } = response;
    const hasBody = status >= 200 && status < 300;
    const read = hasBody
      ? await readBody(response.body, header('content-encoding'), options)
      : { body: Buffer.alloc(0), truncated: false };
    return { status, header, ...read };
  } catch (error) {
    throw connectionError(error, url.hostname, options.signal);
  } finally {
    await agent.destroy();
  }
}

/** A body that is destroyed before its end emits an error, which would end the process without a listener. */
export function listened(body: Readable): void {
  body.on('error', () => undefined);
}

async function checkedAddresses(
  url: URL,
  { resolve, loopback, networks, signal, isTrusted = false }: ExchangeOptions,
): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  let addresses: readonly string[] = [host];
  try {
    if (isIP(host) === 0) addresses = await untilAborted(resolve(host), signal);
  } catch (error) {
    throw connectionError(error, host, signal);
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
export function connectionError(error: unknown, host: string, signal: AbortSignal): unknown {
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
