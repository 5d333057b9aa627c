/**
 * From what a user writes after `--db` (a configured name, a path or a URL) to a database by name, address and identity.
 *
 * 1. The identity says which database it is, whatever its name: `id` of the configuration, else a short hash of where it is and
 *    who reads it. Two databases with the same `id` are one.
 * 2. No secret goes into an identity, a label or a generated name: they stand in search ids and Temporal histories (design D7).
 * 3. A server's database is host, port and database (Snowflake: account, database and schema), and what decides which rows and
 *    tables a session sees: the search path, and the role where one is set, else the login. Passwords, keys, TLS, warehouse and
 *    access lists change none of it.
 * 4. A file is its real path, so one that is replaced every night stays the same database: what is kept of it is counted again
 *    before it is used, as after any other write. One that moved is another database.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dialect } from '../domain/question';
import { databaseOf } from './database';
import { ConfigError, Secret, type Config, type DatabaseConfig } from './index';
import { DatabaseEntry } from './schema';

export interface ResolvedDatabase extends Omit<DatabaseConfig, 'address'> {
  readonly name: string;
  readonly dialect: Dialect;
  readonly address: { readonly kind: 'path'; readonly path: string } | { readonly kind: 'url'; readonly url: Secret };
  /** Not in the configuration: only this process can serve it. */
  readonly adHoc: boolean;
  readonly identity: string;
  /** Of a file: changes when another one takes its place, so that it is opened anew. Empty for a server. */
  readonly version: string;
  /** Where it is, for people: `reader@` before the host is whose rights a session has. */
  readonly addressLabel: string;
}

type Server = Exclude<Dialect, 'sqlite'>;

const EXAMPLES: Readonly<Record<Server, string>> = {
  postgresql: 'postgresql://user@host:5432/database',
  snowflake: 'snowflake://user@account/database/schema?warehouse=…&role=…',
};

/** Null for a scheme that is not supported. */
export function engineOfUrl(url: string): Dialect | null {
  if (/^postgres(ql)?:\/\//i.test(url)) return 'postgresql';
  if (/^snowflake:\/\//i.test(url)) return 'snowflake';
  return /^(sqlite|file):/i.test(url) ? 'sqlite' : null;
}

/** Throws `ConfigError` with one line that says what to change. */
export function resolveDatabase(config: Config, spec: string, cwd: string): ResolvedDatabase {
  if (spec.trim() === '') throw fail('--db is empty; give a configured name, a path or postgresql://…');
  const configured = config.databases[spec];
  if (configured !== undefined) return namedDatabase(config, spec, configured);
  const dialect = engineOfUrl(spec);
  if (dialect === 'sqlite') return unnamedFile(sqlitePath(spec, cwd));
  if (dialect !== null) return unnamedServer(spec, dialect);
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(spec)?.[1];
  if (scheme)
    throw fail(`${scheme}:// is not supported; use postgresql://user@host/database, snowflake://… or an SQLite file`);
  const bare = /^(postgres(?:ql)?|snowflake):/i.exec(spec)?.[1];
  if (bare) throw fail(`the URL cannot be read; begin it with ${bare}://`);
  const path = resolve(cwd, spec);
  const isPath = /[/\\]/.test(spec) || /\.(db|db3|sqlite|sqlite3)$/i.test(spec);
  if (isPath || existsSync(path)) return unnamedFile(path);
  const names = Object.keys(config.databases);
  const known = names.length > 0 ? `configured: ${names.join(', ')}` : 'none is configured';
  throw fail(
    `'${withoutLogin(spec)}' is neither a configured database (${known}) nor a file; give a name, a path or postgresql://…`,
  );
}

/** A configured database by its name, as a worker resolves it. */
export function namedDatabase(config: Config, name: string, entry = config.databases[name]): ResolvedDatabase {
  if (entry === undefined) {
    const names = Object.keys(config.databases).join(', ') || 'none';
    throw fail(`database '${name}' is not configured here; configured: ${names}; add it under "databases"`);
  }
  const { address, snowflake } = entry;
  const common = { ...entry, name, adHoc: false };
  if (address.kind === 'unset') throw fail(`database '${name}' has no address: ${address.fix}`);
  if (address.kind === 'path') return { ...common, ...fileAt(sqliteFile(address.path), entry.id) };
  const url = address.url.reveal();
  const dialect = engineOfUrl(url);
  if (dialect === null)
    throw fail(`database '${name}': its URL must start with postgresql://, snowflake:// or sqlite:`);
  if (dialect === 'sqlite') return { ...common, ...fileAt(sqliteFile(sqlitePath(url, '.')), entry.id) };
  serverUrl(url, `database '${name}': its URL`, dialect);
  const { login } = snowflake;
  if (dialect === 'snowflake' && login !== null && 'fix' in login)
    throw fail(`database '${name}' cannot log in: ${login.fix}`);
  return { ...common, ...serverAt(url, dialect, entry), address };
}

/** A database that was resolved before: its file may have been replaced meanwhile. */
export function asItIs(database: ResolvedDatabase): ResolvedDatabase {
  const { address, id, version } = database;
  // The engine reports a file that does not exist.
  if (address.kind === 'url' || !existsSync(address.path)) return database;
  const now = fileAt(address.path, id);
  return now.version === version ? database : { ...database, ...now };
}

const NO_SETTINGS = databaseOf(DatabaseEntry.parse({ path: '.' }), { where: '', base: '.', env: {}, problems: [] });

function unnamedFile(path: string): ResolvedDatabase {
  const file = sqliteFile(path);
  const name = generatedName(basename(file, extname(file)), file);
  return { ...NO_SETTINGS, name, adHoc: true, ...fileAt(file, null) };
}

function unnamedServer(text: string, dialect: Server): ResolvedDatabase {
  const { url, database } = serverUrl(text, 'the URL', dialect);
  if (!database) throw fail(`the URL names no database; write ${EXAMPLES[dialect]}`);
  url.password = '';
  for (const key of [...url.searchParams.keys()]) if (/pass|secret|key|token/i.test(key)) url.searchParams.delete(key);
  const address = { kind: 'url', url: new Secret(text) } as const;
  const name = generatedName(database, url.href);
  return { ...NO_SETTINGS, name, adHoc: true, ...serverAt(text, dialect, NO_SETTINGS), address };
}

/** Its last part, and a hash of the address without secrets: the same database keeps its name. */
function generatedName(base: string, address: string): string {
  const readable = base.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40) || 'db';
  return `${readable}-${createHash('sha256').update(address).digest('hex').slice(0, 8)}`;
}

function identityOf(parts: readonly (string | readonly string[])[]): string {
  return `d-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)}`;
}

/** `path` is a real path. */
function fileAt(path: string, id: string | null) {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  return {
    dialect: 'sqlite',
    address: { kind: 'path', path },
    identity: id ?? identityOf(['sqlite', path]),
    version: `${ino} ${birthtimeNs}`,
    addressLabel: path,
  } as const;
}

/** `text`: a URL that the engine takes. */
function serverAt(
  text: string,
  dialect: Server,
  { id, role, schemas }: Pick<DatabaseConfig, 'id' | 'role' | 'schemas'>,
) {
  const url = new URL(text);
  const { place, reader, details } = dialect === 'postgresql' ? postgresPlace(url, role) : snowflakePlace(url, role);
  const label = `${dialect}://${reader === '' ? '' : `${reader}@`}${place.join('/')}`;
  return {
    dialect,
    identity: id ?? identityOf([dialect, place, reader, details, schemas]),
    version: '',
    addressLabel: schemas.length === 0 ? label : `${label} (${schemas.join(', ')})`,
  };
}

interface Place {
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
    place: [place, database],
    reader: role === null || role === 'none' ? user : role,
    // May set the search path, or name the server behind a proxy.
    details: [searchParams.get('options') || PGOPTIONS || ''],
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

const ENCODING =
  'write special characters of a password or a name as %40 for @, %2F for /, %23 for #, %3F for ?, %25 for %';

/** A mistake is said without a part of the text: which part is the password is what cannot be told. */
function serverUrl(text: string, what: string, dialect: Server): { readonly url: URL; readonly database: string } {
  if (!URL.canParse(text)) throw fail(`${what} cannot be read; write ${EXAMPLES[dialect]}, and ${ENCODING}`);
  const url = new URL(text);
  // An @ behind the address is the end of a password that has a / in it.
  if (url.hash !== '' || url.pathname.includes('@')) throw fail(`${what} cannot be read; ${ENCODING}`);
  try {
    const [database = ''] = [url.pathname.slice(1), url.username, url.hostname].map(decodeURIComponent);
    return { url, database };
  } catch {
    throw fail(`${what} has a % that does not encode a character; ${ENCODING}`);
  }
}

/** A text that is no URL may hold a login all the same. */
function withoutLogin(text: string): string {
  return text.replace(/:[^@]*@/, ':***@');
}

function sqlitePath(spec: string, cwd: string): string {
  const [address = ''] = spec.split('?');
  try {
    if (/^file:\/\//i.test(address)) return fileURLToPath(new URL(address));
    return resolve(cwd, decodeURIComponent(address.replace(/^(sqlite|file):(\/\/)?/i, '')));
  } catch {
    throw fail(`${address} cannot be read; give the plain path of the file, or write % as %25`);
  }
}

const HEADER = 'SQLite format 3\0';

/** An existing SQLite file's real path; an empty file is a valid database without tables. */
function sqliteFile(path: string): string {
  try {
    const info = statSync(path);
    if (info.isDirectory()) throw fail(`${path} is a folder; name the SQLite file in it`);
    if (!info.isFile()) throw fail(`${path} is not a regular file; name an SQLite file`);
    if (info.size > 0 && headerOf(path) !== HEADER) throw fail(`${path} is not an SQLite database`);
    return realpathSync(path);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code = 'error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw fail(`no file ${withoutLogin(path)}; correct the path of the SQLite database`);
    throw fail(`cannot read ${path} (${code}); check its permissions`);
  }
}

function headerOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(HEADER.length);
    readSync(file, buffer, 0, buffer.length, 0);
    return buffer.toString('latin1');
  } finally {
    closeSync(file);
  }
}

function fail(message: string): ConfigError {
  return new ConfigError([`database: ${message}`]);
}
