/**
 * From a database URL to a connection.
 *
 * 1. `sslmode` means what it means to libpq: `require` encrypts (and checks the chain if `sslrootcert` is given),
 *    `verify-ca` checks the chain, `verify-full` also the host name; `prefer` and `allow` take TLS when the server has it.
 * 2. Statements are pipelined: a query is sent before the answer to the one before it has come.
 * 3. A client counts the bytes that it receives for one page of rows and closes the connection beyond a limit: the driver
 *    holds a whole row in memory, a row can have a gigabyte, and no server setting prevents that.
 */
import { Client, type ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';
import { readUrl, wrong } from '../kit/address';
import type { ServerPlace } from '../kit/engine';
import { toConnectError } from './errors';

export interface Address {
  readonly target: ServerPlace;
  readonly config: ClientConfig;
  /** `sslmode` allows a connection without TLS when the server offers none. */
  readonly plainAllowed: boolean;
}

export class GateClient extends Client {
  /** The connection was closed because one page of rows was larger than the limit. */
  overran = false;
  /** Bytes received since `allowBytes`. */
  receivedBytes = 0;
  #limit = Number.POSITIVE_INFINITY;

  constructor(config: ClientConfig = {}) {
    super(config);
    this.on('error', () => undefined); // a lost connection also fails the query that waits for it
    this.once('connect', () =>
      this.#stream.on('data', ({ length }) => {
        this.receivedBytes += length;
        if (this.receivedBytes <= this.#limit || this.overran) return;
        this.overran = true;
        this.disconnect();
      }),
    );
  }

  /** Sets the limit for the next page and starts to count from zero. */
  allowBytes(limit: number): void {
    this.receivedBytes = 0;
    this.#limit = limit;
  }

  /** Gives up whatever runs: its server process notices within seconds that its client is gone. */
  disconnect(): void {
    this.#stream.destroy();
  }

  /** What is sent until the end of this turn goes out at once, and wakes the server once. */
  gather(): void {
    const stream = this.#stream;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  /** Whether this process stays for what the connection waits for. */
  hold(isHeld: boolean): void {
    this.#stream[isHeld ? 'ref' : 'unref']();
  }

  /** The one with TLS, if there is any. */
  get #stream(): Stream {
    return (this as unknown as { connection: { stream: Stream } }).connection.stream;
  }
}

interface Stream {
  on(event: 'data', use: (chunk: Buffer) => void): void;
  destroy(): void;
  cork(): void;
  uncork(): void;
  ref(): void;
  unref(): void;
}

const EXAMPLE = 'postgres://user:password@host:port/database';
const CONNECT_TIMEOUT_MS = 10_000;
/** Settings of the driver that would change how results arrive. */
const DRIVER_PARAMETERS = ['binary', 'pipeline', 'query_timeout', 'client_encoding', 'replication', 'keepAlive'];
const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** Throws `SqlEngineError` with one line that says what to change in the URL. */
export function readAddress(text: string): Address {
  const { url, host, user, path, parameters } = readUrl(text, /^postgres(ql)?:/i, EXAMPLE);
  const target: ServerPlace = {
    host: `${parameters.get('host') ?? (host || 'localhost')}:${url.port || '5432'}`,
    database: path.join('/'),
    user: user || 'the current user',
  };
  for (const name of [...DRIVER_PARAMETERS, 'uselibpqcompat']) parameters.delete(name);
  const mode = readTlsMode(parameters);
  return {
    target,
    plainAllowed: mode === 'prefer' || mode === 'allow',
    config: {
      ...parsed(url),
      // The driver does not decode %40, %2F and the like in the name of a database.
      database: target.database || undefined,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'gate',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      pipeline: true,
    },
  };
}

/** Writes the mode as the driver knows it. Without one, certificates or `ssl=true` mean that the server is to be verified. */
function readTlsMode(parameters: URLSearchParams): string | null {
  const mode = parameters.get('ssl') === 'no-verify' ? 'no-verify' : parameters.get('sslmode');
  if (mode !== null && !TLS_MODES.includes(mode))
    throw wrong(`sslmode=${mode} is not known: write one of ${TLS_MODES.join(', ')}`);
  const authority = parameters.get('sslrootcert');
  if (mode === 'verify-ca' && (authority ?? '') === '')
    throw wrong(
      'sslmode=verify-ca needs sslrootcert=FILE in the URL; write verify-full for a certificate of a public authority',
    );
  if (authority === 'system') parameters.delete('sslrootcert');
  if (mode === null) {
    const isAsked =
      /^(true|1|)$/.test(parameters.get('ssl') ?? 'no') || authority !== null || parameters.has('sslcert');
    if (isAsked) parameters.set('sslmode', 'verify-full');
  } else if (mode === 'allow') parameters.set('sslmode', 'prefer');
  else if (mode === 'no-verify') {
    parameters.set('sslmode', 'require');
    parameters.delete('sslrootcert');
  }
  parameters.delete('ssl');
  return mode;
}

function parsed(url: URL): object {
  try {
    const { ssl, ...config } = parse(url.href, { useLibpqCompat: true });
    // Undefined lets the driver use PGSSLMODE.
    if (typeof ssl !== 'object') return { ...config, ssl };
    return { ...config, ssl: { ...ssl, passphrase: url.searchParams.get('sslpassword') ?? undefined } };
  } catch (error) {
    const { code = 'error', path } = error as NodeJS.ErrnoException;
    const [name] = [...url.searchParams].find(([, value]) => value === path) ?? ['a certificate'];
    throw wrong(`${name}=${path} cannot be read (${code}): correct the path in the URL`, error);
  }
}

/** Connects, without TLS where the server offers none and the URL allows that. */
export async function connect({ config, target, plainAllowed }: Address): Promise<GateClient> {
  const attempt = async (): Promise<GateClient> => {
    const client = new GateClient(config);
    await client.connect();
    return client;
  };
  try {
    return await attempt().catch((error: unknown) => {
      if (!plainAllowed || !/server does not support SSL/i.test((error as Error).message)) throw error;
      config.ssl = false;
      return attempt();
    });
  } catch (error) {
    throw toConnectError(error, target);
  }
}
