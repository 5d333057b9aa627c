/**
 * The addresses of servers, by dialect: which URLs are theirs, and what of one says which database it is and whose rights its
 * sessions have. Passwords, keys, TLS and ways to a server do not.
 */
import type { Dialect } from '../domain/question';

export type Server = Exclude<Dialect, 'sqlite' | 'duckdb'>;

export interface Place {
  readonly place: readonly string[];
  readonly reader: string;
  /** Further settings that decide which data is visible, too long for the label. */
  readonly details: readonly string[];
}

interface Addresses {
  readonly scheme: RegExp;
  readonly example: string;
  readonly place: (url: URL, role: string | null) => Place;
}

export const SERVERS: Readonly<Record<Server, Addresses>> = {
  postgresql: {
    scheme: /^postgres(?:ql)?:/i,
    example: 'postgresql://user@host:5432/database',
    place: postgresPlace,
  },
  mysql: {
    scheme: /^(?:mysql|mariadb):/i,
    example: 'mysql://user@host:3306/database',
    place: mysqlPlace,
  },
  snowflake: {
    scheme: /^snowflake:/i,
    example: 'snowflake://user@account/database/schema?warehouse=…&role=…',
    place: snowflakePlace,
  },
  bigquery: {
    scheme: /^bigquery:/i,
    example: 'bigquery://project/dataset?location=…&keyFile=…',
    place: bigqueryPlace,
  },
};

/** Null for a scheme that no server has. */
export function serverOfUrl(url: string): Server | null {
  const found = Object.entries(SERVERS).find(([, { scheme }]) => scheme.test(url));
  return (found?.[0] as Server | undefined) ?? null;
}

/** The driver takes parts that the URL does not give from the environment variables of libpq. */
function postgresPlace({ hostname, port, pathname, username, searchParams }: URL, role: string | null): Place {
  const { PGHOST, PGPORT, PGDATABASE, PGUSER, PGOPTIONS, USER, USERNAME } = process.env;
  const host = searchParams.get('host') || decodeURIComponent(hostname) || PGHOST || 'localhost';
  const user = searchParams.get('user') || decodeURIComponent(username) || PGUSER || USER || USERNAME || '';
  const place = `${host.startsWith('/') ? host : host.toLowerCase()}:${searchParams.get('port') || port || PGPORT || '5432'}`;
  const database = decodeURIComponent(pathname.slice(1)) || PGDATABASE || user;
  return {
    place: [place, database],
    reader: role === null || role === 'none' ? user : role,
    // May set the search path, or name the server behind a proxy.
    details: [searchParams.get('options') || PGOPTIONS || ''],
  };
}

function mysqlPlace({ hostname, port, pathname, username, searchParams }: URL, role: string | null): Place {
  const socket = searchParams.get('socket');
  return {
    place: [
      socket ?? `${hostname.toLowerCase() || 'localhost'}:${port || '3306'}`,
      decodeURIComponent(pathname.slice(1)),
    ],
    reader: role ?? decodeURIComponent(username),
    details: [],
  };
}

function snowflakePlace({ hostname, pathname, username, searchParams }: URL, role: string | null): Place {
  const account = hostname.toLowerCase().replace(/\.snowflakecomputing\.(com|cn)$/, '');
  return {
    place: [account, ...pathname.split('/').filter(Boolean).map(decodeURIComponent)],
    reader: role ?? searchParams.get('role') ?? decodeURIComponent(username),
    details: [],
  };
}

/** Who pays changes no row. */
function bigqueryPlace({ hostname, pathname }: URL): Place {
  return {
    place: [hostname, ...pathname.split('/').filter(Boolean).map(decodeURIComponent)],
    reader: '',
    details: [],
  };
}
