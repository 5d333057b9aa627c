/**
 * From a database URL to a connection: address, TLS, and a client that knows what it is connected to.
 *
 * 1. `sslmode` means what it means to libpq: `require` encrypts (and checks the chain if `sslrootcert` is given),
 *    `verify-ca` checks the chain, `verify-full` also the host name; `prefer` and `allow` take TLS when the server has it.
 * 2. Statements are pipelined: a query is sent before the answer to the one before it has come.
 * 3. A client counts the bytes that it receives for one page of rows and closes the connection beyond a limit: the driver
 *    holds a whole row in memory, a row can have a gigabyte, and no server setting prevents that.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Client, type ClientConfig } from 'pg';
import { SqlEngineError } from '../../ports/sql-engine';

export interface Target {
  readonly host: string;
  readonly database: string;
  readonly user: string;
}

export interface Address {
  readonly target: Target;
  readonly config: ClientConfig;
  /** `sslmode` allows a connection without TLS when the server offers none. */
  readonly plainAllowed: boolean;
}

/** The driver's connection at protocol level, which has no types. */
interface Wire {
  readonly stream: { on(event: 'data', use: (chunk: Buffer) => void): void; destroy(): void; unref(): void };
  readonly ssl: unknown;
  on(event: string, use: (message: { parameterName: string; parameterValue: string }) => void): void;
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** Names and values, as `set_config` takes them. */
export type Settings = Readonly<Record<string, string>>;

/** The settings that hold for the whole session. */
export interface Settled {
  /** The server process of the session; null behind a pooler, where nothing is set for the session. */
  readonly process: number | null;
  readonly settings: Settings;
  /** The time limit that they were set for. An engine's role and schemas never change. */
  readonly timeoutMs: number | null;
}

export class GateClient extends Client {
  /** Major version, for example 15. This and the next two are what the server reported at the start of the session. */
  serverVersion = 0;
  isSuperuser = false;
  /** The database has no encoding (`SQL_ASCII`): its texts may hold any bytes. */
  storesAnyBytes = false;
  /** The connection was closed because one page of rows was larger than the limit. */
  overran = false;
  /** The connection was closed because the server did not stop a statement. */
  wasCut = false;
  /** null: `settle` has not run yet. */
  settled: Settled | null = null;
  #received = 0;
  #limit = Number.POSITIVE_INFINITY;

  constructor(config: ClientConfig = {}) {
    super(config);
    // The driver does not decode %40, %2F and the like in the name of a database.
    const { connectionParameters } = this as unknown as { connectionParameters: { database?: string } };
    if (config.database !== undefined) connectionParameters.database = config.database;
    const wire = wireOf(this);
    let started = false;
    wire.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (started) return; // later messages report changes such as SET ROLE
      if (parameterName === 'server_version') this.serverVersion = Number.parseInt(parameterValue, 10);
      if (parameterName === 'server_encoding') this.storesAnyBytes = parameterValue === 'SQL_ASCII';
      if (parameterName === 'is_superuser') this.isSuperuser = parameterValue === 'on';
    });
    this.once('connect', () => {
      started = true;
      const { stream } = wireOf(this); // the one with TLS, if there is any
      stream.on('data', ({ length }) => {
        this.#received += length;
        if (this.#received <= this.#limit || this.overran) return;
        this.overran = true;
        stream.destroy();
      });
    });
  }

  /** Whether this is the server process named at the start. Behind a pooler it is another one. */
  isServedBy(process: number): boolean {
    return process === (this as unknown as { processID: number | null }).processID;
  }

  /** Bytes received since `allowBytes`. */
  get receivedBytes(): number {
    return this.#received;
  }

  /** Sets the limit for the next page and starts to count from zero. */
  allowBytes(limit: number): void {
    this.#received = 0;
    this.#limit = limit;
  }

  cut(): void {
    this.wasCut = true;
    this.disconnect();
  }

  /**
   * While on (until `false` or the end of the transaction), bytes that are not UTF-8 arrive as U+FFFD. It is on while the
   * catalogues are read: else one such byte in a comment or a function would make the whole database unreadable. In the
   * result of a statement such a byte is an error.
   */
  async takeAnyBytes(any = true): Promise<void> {
    if (this.storesAnyBytes) await this.query(`SET LOCAL client_encoding = ${any ? 'SQL_ASCII' : 'UTF8'}`);
  }

  disconnect(): void {
    wireOf(this).stream.destroy();
  }
}

const wireOf = (client: Client): Wire => (client as unknown as { connection: Wire }).connection;

const CANCEL_WITHIN_MS = 3_000;

export interface Cancelling {
  /** To be called when the statement has ended: its connection is then not closed. */
  readonly spare: () => void;
  /** Resolves when the server has received the request, or cannot be reached. */
  readonly taken: Promise<unknown>;
}

/**
 * Asks the server to cancel the statement that the client runs. A cancel request is not a session: it needs neither a
 * login nor a free connection. If the statement still runs after `CANCEL_WITHIN_MS`, the connection is closed.
 */
export function cancelStatement(config: ClientConfig, client: GateClient): Cancelling {
  const cut = setTimeout(() => client.cut(), CANCEL_WITHIN_MS);
  cut.unref();
  const spare = (): void => clearTimeout(cut);
  client.once('end', spare);
  const { processID, secretKey } = client as unknown as { processID: number | null; secretKey: number | null };
  if (processID === null || secretKey === null) return { spare, taken: Promise.resolve() };
  const carrier = new Client(config);
  const wire = wireOf(carrier);
  const send = (): void => wire.cancel(processID, secretKey);
  wire.on('connect', () => (wire.ssl ? wire.requestSsl() : send()));
  wire.on('sslconnect', send);
  wire.on('error', () => undefined); // server unreachable: closing the connection ends the wait
  const taken = new Promise((resolve) => wire.on('end', resolve)); // the server closes the connection after the request
  const { host, port } = carrier as unknown as { host: string; port: number };
  if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
  else wire.connect(port, host);
  setTimeout(() => wireOf(carrier).stream.destroy(), CANCEL_WITHIN_MS).unref();
  wire.stream.unref();
  return { spare, taken };
}

/**
 * Waits for cancel signals that arrive late or twice (PostgreSQL 12 and 13 signal a process and its group), so that they
 * cancel this harmless statement and not the next one of the run.
 */
export async function hearOut(client: GateClient): Promise<void> {
  // Being cancelled is its purpose; a lost connection is reported by the next statement.
  await client.query('SELECT pg_catalog.pg_sleep(0.1)').catch(() => undefined);
  await client.query('ROLLBACK TO SAVEPOINT gate').catch(() => undefined);
}

const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'uselibpqcompat'];
/** Settings of the driver that would change how results arrive. */
const DRIVER_PARAMETERS = ['binary', 'pipeline', 'query_timeout', 'client_encoding', 'replication', 'keepAlive'];
const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** Throws `SqlEngineError` with one line that says what to change in the URL. */
export function readAddress(text: string, connectTimeoutMs: number): Address {
  let url: URL;
  try {
    url = new URL(text);
    if (!/^postgres(ql)?:$/.test(url.protocol)) throw new Error('not a PostgreSQL URL');
  } catch (error) {
    throw new SqlEngineError(
      'not-configured',
      'the database URL is not valid: write postgres://user:password@host:port/database',
      { cause: error },
    );
  }
  const target: Target = {
    host: `${url.searchParams.get('host') ?? (url.hostname || 'localhost')}:${url.port || '5432'}`,
    database: decodeURIComponent(url.pathname.slice(1)),
    user: decodeURIComponent(url.username) || 'the current user',
  };
  const mode = sslMode(url.searchParams);
  // With undefined, the driver uses PGSSLMODE.
  const ssl = mode === null ? undefined : mode === 'disable' ? false : tlsOptions(mode, url.searchParams);
  for (const name of [...TLS_PARAMETERS, ...DRIVER_PARAMETERS]) url.searchParams.delete(name);
  return {
    target,
    plainAllowed: mode === 'prefer' || mode === 'allow',
    config: {
      connectionString: url.href,
      ...(target.database === '' ? {} : { database: target.database }),
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: 'gate',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      pipeline: true,
      ssl,
    },
  };
}

/** Without a mode, certificates or `ssl=true` mean that the server is to be verified. */
function sslMode(parameters: URLSearchParams): string | null {
  const mode = parameters.get('sslmode');
  if (mode !== null && !TLS_MODES.includes(mode)) {
    throw new SqlEngineError('not-configured', `sslmode=${mode} is not known: write one of ${TLS_MODES.join(', ')}`);
  }
  if (mode !== null) return mode;
  const ssl = parameters.get('ssl');
  if (ssl === 'no-verify') return 'no-verify';
  const asked =
    ssl === 'true' || ssl === '1' || ssl === '' || parameters.has('sslrootcert') || parameters.has('sslcert');
  return asked ? 'verify-full' : null;
}

function tlsOptions(mode: string, parameters: URLSearchParams): ConnectionOptions {
  const file = (name: string): string | undefined => {
    const path = parameters.get(name);
    if (path === null || path === '' || path === 'system') return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const { code = 'error' } = error as NodeJS.ErrnoException;
      throw new SqlEngineError(
        'not-configured',
        `${name}=${path} cannot be read (${code}): correct the path in the URL`,
        {
          cause: error,
        },
      );
    }
  };
  const ca = file('sslrootcert');
  if (mode === 'verify-ca' && ca === undefined)
    throw new SqlEngineError(
      'not-configured',
      'sslmode=verify-ca needs sslrootcert=FILE in the URL; write verify-full for a certificate of a public authority',
    );
  const chain = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && ca !== undefined);
  const [cert, key] = [file('sslcert'), file('sslkey')];
  const passphrase = parameters.get('sslpassword');
  return {
    rejectUnauthorized: chain,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === null ? {} : { passphrase }),
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}
