/**
 * From a database URL to a connection: `mysql://user:password@host:3306/database?ssl-mode=…`, also `mariadb://`.
 *
 * 1. `ssl-mode` means what it means to MySQL's own client: PREFERRED takes TLS when the server has it, REQUIRED encrypts,
 *    VERIFY_CA checks the chain, VERIFY_IDENTITY also the host name. With `ssl-ca` alone it is VERIFY_CA.
 * 2. One statement at a time, no files of this machine (LOCAL INFILE).
 * 3. Values arrive in the binary protocol, where the server loses no digit; the driver gives what JavaScript cannot hold as text.
 */
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import type { Connection, ConnectionOptions } from 'mysql2';
import { fileText, readUrl, wrong } from '../kit/address';
import { optionalPackage, type ServerPlace } from '../kit/engine';
import { toConnectError } from './errors';

export interface Address {
  readonly target: ServerPlace;
  readonly options: ConnectionOptions;
  /** PREFERRED: a server without TLS is taken as it is. */
  readonly plainAllowed: boolean;
}

const EXAMPLE = 'mysql://user:password@host:3306/database?ssl-mode=REQUIRED';
const MODES = ['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY'];
const KNOWN = ['ssl-mode', 'ssl-ca', 'ssl-cert', 'ssl-key', 'socket'];
const CONNECT_TIMEOUT_MS = 10_000;
const ANSWERED_WITHIN_MS = 60_000;

/** Throws `SqlEngineError` with one line that says what to change in the URL. */
export function readAddress(text: string): Address {
  const { url, user, password, path, parameters, ...named } = readUrl(text, /^(mysql|mariadb):/i, EXAMPLE, KNOWN);
  const database = path.join('/');
  if (user === '' || database === '') throw wrong(`the database URL must name user and database: write ${EXAMPLE}`);
  const socketPath = parameters.get('socket') ?? undefined;
  const host = named.host || 'localhost';
  const port = Number(url.port || 3306);
  const mode = modeOf(parameters);
  // The driver would compare the certificate with "localhost".
  if (mode === 'VERIFY_IDENTITY' && isIP(host.replace(/[[\]]/g, '')) > 0)
    throw wrong('ssl-mode=VERIFY_IDENTITY needs the name of the host in the URL, not its address');
  return {
    target: { host: socketPath ?? `${host}:${port}`, database, user },
    plainAllowed: mode === 'PREFERRED',
    options: {
      ...(socketPath === undefined ? { host: host.replace(/^\[(.*)\]$/, '$1'), port } : { socketPath }),
      ...{ user, password, database },
      ssl: socketPath === undefined ? tlsOf(mode, parameters) : undefined,
      connectTimeout: CONNECT_TIMEOUT_MS,
      ...{ charset: 'utf8mb4', multipleStatements: false, flags: ['-LOCAL_FILES'] },
      ...{ rowsAsArray: true, dateStrings: true, supportBigNumbers: true, jsonStrings: true },
      connectAttributes: { program_name: 'gate' },
    },
  };
}

function modeOf(parameters: URLSearchParams): string {
  const given = parameters.get('ssl-mode');
  if (given === null) return parameters.has('ssl-ca') ? 'VERIFY_CA' : 'PREFERRED';
  if (!MODES.includes(given.toUpperCase()))
    throw wrong(`ssl-mode=${given} is not known: write one of ${MODES.join(', ')}`);
  return given.toUpperCase();
}

function tlsOf(mode: string, parameters: URLSearchParams): ConnectionOptions['ssl'] {
  if (mode === 'DISABLED') return undefined;
  const file = (name: string): string | undefined => {
    const path = parameters.get(name);
    return path === null ? undefined : fileText(name, path);
  };
  return {
    ...{ ca: file('ssl-ca'), cert: file('ssl-cert'), key: file('ssl-key') },
    ...{ rejectUnauthorized: mode.startsWith('VERIFY'), verifyIdentity: mode === 'VERIFY_IDENTITY' },
  };
}

/** Connects, without TLS where the server offers none and the URL allows that. */
export async function connect({ options, target, plainAllowed }: Address): Promise<Connection> {
  const driver = await optionalPackage('mysql2', () => import('mysql2'));
  const open = async (with_: ConnectionOptions): Promise<Connection> => {
    // The driver writes into its settings.
    const connection = driver.createConnection({ ...with_, ssl: with_.ssl && { ...(with_.ssl as object) } });
    connection.on('error', () => undefined); // a lost connection also fails the statement that waits for it
    await once(connection, 'connect');
    return connection;
  };
  try {
    return await open(options).catch((error: unknown) => {
      if (!plainAllowed || (error as { code?: string }).code !== 'HANDSHAKE_NO_SSL_SUPPORT') throw error;
      return open({ ...options, ssl: undefined });
    });
  } catch (error) {
    throw toConnectError(error, target);
  }
}

export const socketOf = (connection: Connection): Socket => (connection as unknown as { stream: Socket }).stream;

/** What a new connection is asked first: the kit counts the time of what comes later. */
export async function answered<T>(connection: Connection, work: Promise<T>): Promise<T> {
  const late = new Error(`no answer within ${ANSWERED_WITHIN_MS / 1000} s`);
  const giveUp = setTimeout(() => socketOf(connection).destroy(late), ANSWERED_WITHIN_MS);
  return work.finally(() => clearTimeout(giveUp));
}
