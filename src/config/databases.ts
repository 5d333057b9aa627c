/**
 * From what a user writes after `--db` (a configured name, a path or a URL) to a database by name, address and identity.
 *
 * 1. The identity says which database it is, whatever its name: `id` of the configuration, else a short hash of where it is and
 *    who reads it. Two databases with the same `id` are one.
 * 2. No secret goes into an identity, a label or a generated name: they stand in search ids and Temporal histories (design D7).
 * 3. A server's database is host, port and database (Snowflake: account, database and schema), and what decides which rows and
 *    tables a session sees: the search path, and the role where one is set, else the login. Passwords, keys, TLS, warehouse and
 *    access lists change none of it.
 * 4. A file, or a folder of data files, is its real path, so one that is replaced every night stays the same database: what is kept of it is counted again
 *    before it is used, as after any other write. One that moved is another database.
 */
import { existsSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dialect } from '../domain/question';
import { sha256 } from '../sha256';
import { databaseOf } from './database';
import { databaseFile, fileVersion, isFileName, type DatabaseFile } from './database-file';
import { ConfigError, Secret, type Config, type DatabaseConfig } from './index';
import { SERVERS, serverOfUrl, type Server } from './places';
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

const EXAMPLES = Object.values(SERVERS)
  .map(({ example }) => example)
  .join(', ');

/** Throws `ConfigError` with one line that says what to change. */
export function resolveDatabase(config: Config, spec: string, cwd: string): ResolvedDatabase {
  if (spec.trim() === '') throw fail('--db is empty; give a configured name, a path or postgresql://…');
  const configured = config.databases[spec];
  if (configured !== undefined) return namedDatabase(config, spec, configured);
  if (/^(sqlite|file):/i.test(spec)) return unnamedFile(filePath(spec, cwd));
  const [, scheme = '', slashes] = /^([a-z][a-z0-9+.-]+):(\/\/)?/i.exec(spec) ?? [];
  const server = serverOfUrl(spec);
  if (server !== null && slashes === undefined) throw fail(`the URL cannot be read; begin it with ${scheme}://`);
  if (server !== null) return unnamedServer(spec, server);
  if (/^(https?|s3|gs|ftp)$/i.test(scheme))
    throw fail(
      `${scheme}:// is not read: a database stays the same while it is asked, and nothing is fetched from a network for it; download the file and give its path`,
    );
  if (slashes !== undefined) throw fail(`${scheme}:// is not supported; use ${EXAMPLES} or a file`);
  const path = resolve(cwd, spec);
  const isPath = /[/\\]/.test(spec) || isFileName(spec);
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
  const { address, snowflake, bigquery } = entry;
  const common = { ...entry, name, adHoc: false };
  if (address.kind === 'unset') throw fail(`database '${name}' has no address: ${address.fix}`);
  if (address.kind === 'path') return { ...common, ...fileAt(databaseFile(address.path), entry.id) };
  const url = address.url.reveal();
  if (/^(sqlite|file):/i.test(url)) return { ...common, ...fileAt(databaseFile(filePath(url, '.')), entry.id) };
  const dialect = serverOfUrl(url);
  if (dialect === null) throw fail(`database '${name}': its URL must be like ${EXAMPLES}`);
  serverUrl(url, `database '${name}': its URL`, dialect);
  const { login } = snowflake;
  if (dialect === 'snowflake' && login !== null && 'fix' in login)
    throw fail(`database '${name}' cannot log in: ${login.fix}`);
  if (dialect === 'bigquery' && bigquery.key !== null && 'fix' in bigquery.key)
    throw fail(`database '${name}' cannot log in: ${bigquery.key.fix}`);
  return { ...common, ...serverAt(url, dialect, entry), address };
}

/** A database that was resolved before: its file may have been replaced meanwhile. */
export function asItIs(database: ResolvedDatabase): ResolvedDatabase {
  const { address } = database;
  // The engine reports a file that does not exist.
  if (address.kind === 'url' || !existsSync(address.path)) return database;
  const version = fileVersion(address.path);
  return version === database.version ? database : { ...database, version };
}

const NO_SETTINGS = databaseOf(DatabaseEntry.parse({ path: '.' }), { where: '', base: '.', env: {}, problems: [] });

function unnamedFile(path: string): ResolvedDatabase {
  const file = databaseFile(path);
  const name = generatedName(basename(file.path, extname(file.path)), file.path);
  return { ...NO_SETTINGS, name, adHoc: true, ...fileAt(file, null) };
}

function unnamedServer(text: string, dialect: Server): ResolvedDatabase {
  const { url, database } = serverUrl(text, 'the URL', dialect);
  if (!database) throw fail(`the URL names no database; write ${SERVERS[dialect].example}`);
  url.password = '';
  for (const key of [...url.searchParams.keys()]) if (/pass|secret|key|token/i.test(key)) url.searchParams.delete(key);
  const address = { kind: 'url', url: new Secret(text) } as const;
  const name = generatedName(database, url.href);
  return { ...NO_SETTINGS, name, adHoc: true, ...serverAt(text, dialect, NO_SETTINGS), address };
}

/** Its last part, and a hash of the address without secrets: the same database keeps its name. */
function generatedName(base: string, address: string): string {
  const readable = base.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40) || 'db';
  return `${readable}-${sha256(address).slice(0, 8)}`;
}

function identityOf(parts: readonly (string | readonly string[])[]): string {
  return `d-${sha256(JSON.stringify(parts)).slice(0, 16)}`;
}

function fileAt({ dialect, path, version }: DatabaseFile, id: string | null) {
  return {
    dialect,
    address: { kind: 'path', path },
    identity: id ?? identityOf([dialect, path]),
    version,
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
  const { place, reader, details } = SERVERS[dialect].place(url, role);
  const label = `${dialect}://${reader === '' ? '' : `${reader}@`}${place.join('/')}`;
  return {
    dialect,
    identity: id ?? identityOf([dialect, place, reader, details, schemas]),
    version: '',
    addressLabel: schemas.length === 0 ? label : `${label} (${schemas.join(', ')})`,
  };
}

const ENCODING =
  'write special characters of a password or a name as %40 for @, %2F for /, %23 for #, %3F for ?, %25 for %';

/** A mistake is said without a part of the text: which part is the password is what cannot be told. */
function serverUrl(text: string, what: string, dialect: Server): { readonly url: URL; readonly database: string } {
  if (!URL.canParse(text)) throw fail(`${what} cannot be read; write ${SERVERS[dialect].example}, and ${ENCODING}`);
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

function filePath(spec: string, cwd: string): string {
  const [address = ''] = spec.split('?');
  try {
    if (/^file:\/\//i.test(address)) return fileURLToPath(new URL(address));
    return resolve(cwd, decodeURIComponent(address.replace(/^(sqlite|file):(\/\/)?/i, '')));
  } catch {
    throw fail(`${address} cannot be read; give the plain path of the file, or write % as %25`);
  }
}

function fail(message: string): ConfigError {
  return new ConfigError([`database: ${message}`]);
}
