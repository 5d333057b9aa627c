/**
 * The identity of a database, independent of its name: a short hash of where it is and who reads it.
 *
 * 1. Secrets are not part of it: no password, no key, no parameter that could hold one. The same holds for the label.
 * 2. A server's database is host, port and database (Snowflake: account, database and schema), and what decides which rows and
 *    tables a session sees: the search path, and whose rights it has (row policies, grants, Snowflake's active role). Those are
 *    the role where one is set, else the login. Passwords, keys, TLS, warehouse and access lists change none of it.
 * 3. A file is its real path, so one that is replaced every night stays the same database: whatever is kept of it is counted again
 *    before it is used, as after any other write.
 * 4. An `id` in the configuration replaces all of this.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Dialect } from '../domain/question';

export interface DatabaseIdentity {
  readonly identity: string;
  /** Of a file: changes when another one takes its place, so that it is opened anew. Empty for a server. */
  readonly version: string;
  /** Where it is, for people: `reader@` before the host is whose rights a session has. */
  readonly addressLabel: string;
}

interface Reader {
  /** `id` of the configuration. */
  readonly id: string | null;
  readonly role: string | null;
  readonly schemas: readonly string[];
}

/** `path` is a real path. */
export function fileIdentity(path: string, id: string | null): DatabaseIdentity {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  const version = `${ino} ${birthtimeNs}`;
  return { identity: id ?? hashed(['sqlite', path]), version, addressLabel: path };
}

/** `url` is one that the engine takes. */
export function serverIdentity(
  url: string,
  dialect: Exclude<Dialect, 'sqlite'>,
  { id, role, schemas }: Reader,
): DatabaseIdentity {
  const { scheme, place, reader, details } = (dialect === 'postgresql' ? postgresPlace : snowflakePlace)(
    new URL(url),
    role,
  );
  const label = `${scheme}://${reader === '' ? '' : `${reader}@`}${place.join('/')}`;
  return {
    identity: id ?? hashed([dialect, place, reader, details, schemas]),
    version: '',
    addressLabel: schemas.length === 0 ? label : `${label} (${schemas.join(', ')})`,
  };
}

interface Place {
  readonly scheme: string;
  readonly place: readonly string[];
  readonly reader: string;
  /** Further settings that decide which data is visible, too long for the label. */
  readonly details: readonly string[];
}

/** The driver takes parts that the URL does not give from the environment variables of libpq. */
function postgresPlace({ hostname, port, pathname, username, searchParams }: URL, role: string | null): Place {
  const { PGHOST, PGPORT, PGDATABASE, PGUSER, PGOPTIONS, USER, USERNAME } = process.env;
  const host = searchParams.get('host') || decodeURIComponent(hostname) || PGHOST || 'localhost';
  const user = searchParams.get('user') || decodeURIComponent(username) || PGUSER || USER || USERNAME || '';
  const place = `${host.startsWith('/') ? host : host.toLowerCase()}:${searchParams.get('port') || port || PGPORT || '5432'}`;
  const database = decodeURIComponent(pathname.slice(1)) || PGDATABASE || user;
  return {
    scheme: 'postgresql',
    place: [place, database],
    reader: role === null || role === 'none' ? user : role,
    // May set the search path, or name the server behind a proxy.
    details: [searchParams.get('options') || PGOPTIONS || ''],
  };
}

function snowflakePlace({ hostname, pathname, username, searchParams }: URL, role: string | null): Place {
  const account = hostname.toLowerCase().replace(/\.snowflakecomputing\.(com|cn)$/, '');
  return {
    scheme: 'snowflake',
    place: [account, ...pathname.split('/').filter(Boolean).map(decodeURIComponent)],
    reader: role ?? searchParams.get('role') ?? decodeURIComponent(username),
    details: [],
  };
}

function hashed(parts: readonly (string | readonly string[])[]): string {
  return `d-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)}`;
}
