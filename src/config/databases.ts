/**
 * From what a user writes after `--db` (a configured name, a path or a URL) to a database by name and address.
 * An ad-hoc path or URL gets a generated name: its last part and a hash of the address without the password, so that
 * no secret enters a search id or a Temporal history (design D7) and the same database keeps its name.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, Secret, type Config, type DatabaseConfig } from './index';
import { snowflakeAccess } from './snowflake';
import { fileIdentity, serverIdentity, type DatabaseIdentity } from './database-identity';
import type { Dialect } from '../domain/question';

/** `identity` says which database it is, whatever its name; `addressLabel` where, without a secret. */
export interface ResolvedDatabase extends DatabaseIdentity {
  readonly name: string;
  readonly dialect: Dialect;
  readonly address: { readonly kind: 'path'; readonly path: string } | { readonly kind: 'url'; readonly url: Secret };
  /** Not in the configuration: only this process can serve it. */
  readonly adHoc: boolean;
  /** Of the configuration. */
  readonly id: string | null;
  readonly role: string | null;
  readonly schemas: readonly string[];
  readonly limits: DatabaseConfig['limits'];
  readonly snowflake: DatabaseConfig['snowflake'];
  readonly access: DatabaseConfig['access'];
  readonly docs: readonly string[];
}

const POSTGRES = /^postgres(ql)?:\/\//i;
const SNOWFLAKE = /^snowflake:\/\//i;
const SQLITE = /^(sqlite|file):/i;
const BARE_SCHEME = /^(postgres(?:ql)?|snowflake):/i;
const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;
const OPEN_ACCESS = {
  id: null,
  role: null,
  schemas: [],
  limits: { maxConnections: null, maxPlanCost: null, maxScanBytes: null },
  access: { allow: [], deny: [] },
  docs: [],
  snowflake: snowflakeAccess(undefined, { where: 'database', base: '.', env: {}, problems: [] }),
} as const;

/** Throws `ConfigError` with one line that says what to change. */
export function resolveDatabase(config: Config, spec: string, cwd: string): ResolvedDatabase {
  if (spec.trim() === '') throw fail('--db is empty; give a configured name, a path or postgresql://…');
  const configured = config.databases[spec];
  if (configured !== undefined) return namedDatabase(config, spec, configured);
  if (POSTGRES.test(spec)) return adHocServer(spec, 'postgresql', POSTGRES_EXAMPLE);
  if (SNOWFLAKE.test(spec)) return adHocServer(spec, 'snowflake', SNOWFLAKE_EXAMPLE);
  if (SQLITE.test(spec)) return adHocSqlite(sqlitePath(spec, cwd));
  const scheme = SCHEME.exec(spec)?.[1];
  if (scheme)
    throw fail(`${scheme}:// is not supported; use postgresql://user@host/database, snowflake://… or an SQLite file`);
  const bare = BARE_SCHEME.exec(spec)?.[1];
  if (bare) throw fail(`the URL cannot be read; begin it with ${bare}://`);
  const path = resolve(cwd, spec);
  if (!isPathLike(spec) && infoOf(path) === null) {
    const names = Object.keys(config.databases);
    const known = names.length > 0 ? `configured: ${names.join(', ')}` : 'none is configured';
    throw fail(
      `'${withoutLogin(spec)}' is neither a configured database (${known}) nor a file; give a name, a path or postgresql://…`,
    );
  }
  return adHocSqlite(path);
}

/** A configured database by its name, as a worker resolves it. */
export function namedDatabase(config: Config, name: string, entry = config.databases[name]): ResolvedDatabase {
  if (entry === undefined) {
    const names = Object.keys(config.databases).join(', ') || 'none';
    throw fail(`database '${name}' is not configured here; configured: ${names}; add it under "databases"`);
  }
  const { address, id, role, schemas, limits, access, snowflake, docs } = entry;
  const common = { name, adHoc: false, id, role, schemas, limits, access, snowflake, docs };
  if (address.kind === 'unset') throw fail(`database '${name}' has no address: ${address.fix}`);
  if (address.kind === 'path') {
    return { ...common, ...sqliteAt(sqliteFile(address.path), id) };
  }
  const url = address.url.reveal();
  if (POSTGRES.test(url)) {
    serverUrl(url, `database '${name}': its URL`, POSTGRES_EXAMPLE);
    return { ...common, ...serverIdentity(url, 'postgresql', entry), dialect: 'postgresql', address };
  }
  if (SNOWFLAKE.test(url)) {
    serverUrl(url, `database '${name}': its URL`, SNOWFLAKE_EXAMPLE);
    if (snowflake.login.kind === 'unset') throw fail(`database '${name}' cannot log in: ${snowflake.login.fix}`);
    return { ...common, ...serverIdentity(url, 'snowflake', entry), dialect: 'snowflake', address };
  }
  if (SQLITE.test(url)) {
    return { ...common, ...sqliteAt(sqliteFile(sqlitePath(url, '.')), id) };
  }
  throw fail(`database '${name}': its URL must start with postgresql://, snowflake:// or sqlite:`);
}

/** One that was resolved before: its file may have been replaced meanwhile. */
export function asItIs(database: ResolvedDatabase): ResolvedDatabase {
  const { address, id, version } = database;
  // The engine reports a file that does not exist.
  if (address.kind === 'url' || infoOf(address.path) === null) return database;
  const now = fileIdentity(address.path, id);
  return now.version === version ? database : { ...database, ...now };
}

const POSTGRES_EXAMPLE = 'postgresql://user@host:5432/database';
const SNOWFLAKE_EXAMPLE = 'snowflake://user@account/database/schema?warehouse=…&role=…';

function adHocServer(text: string, dialect: 'postgresql' | 'snowflake', example: string): ResolvedDatabase {
  const { url, database } = serverUrl(text, 'the URL', example);
  if (!database) throw fail(`the URL names no database; write ${example}`);
  const identity = serverIdentity(text, dialect, OPEN_ACCESS);
  url.password = '';
  for (const key of [...url.searchParams.keys()]) if (/pass|secret|key|token/i.test(key)) url.searchParams.delete(key);
  const name = generatedName(database, url.href);
  return { name, dialect, address: { kind: 'url', url: new Secret(text) }, adHoc: true, ...OPEN_ACCESS, ...identity };
}

/** What is written into a URL as it is and means something else there. */
const ENCODING =
  'write special characters of a password or a name as %40 for @, %2F for /, %23 for #, %3F for ?, %25 for %';

/** A mistake is said without a part of the text: which part is the password is what cannot be told. */
function serverUrl(text: string, what: string, example: string): { readonly url: URL; readonly database: string } {
  if (!URL.canParse(text)) throw fail(`${what} cannot be read; write ${example}, and ${ENCODING}`);
  const url = new URL(text);
  // An @ behind the address is the end of a password that has a / in it.
  if (url.hash !== '' || url.pathname.includes('@')) throw fail(`${what} cannot be read; ${ENCODING}`);
  const database = decoded(url.pathname.slice(1));
  if (database === null || decoded(url.username) === null || decoded(url.hostname) === null)
    throw fail(`${what} has a % that does not encode a character; ${ENCODING}`);
  return { url, database };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // a lone %
  }
}

/** What may be a login in a text that is no URL. */
function withoutLogin(text: string): string {
  return text.replace(/:[^@]*@/, ':***@');
}

function adHocSqlite(path: string): ResolvedDatabase {
  const file = sqliteFile(path);
  const name = generatedName(basename(file, extname(file)), file);
  return { name, adHoc: true, ...OPEN_ACCESS, ...sqliteAt(file, null) };
}

function sqliteAt(path: string, id: string | null) {
  return { dialect: 'sqlite', address: { kind: 'path', path }, ...fileIdentity(path, id) } as const;
}

function generatedName(base: string, address: string): string {
  const readable = base.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40) || 'db';
  return `${readable}-${createHash('sha256').update(address).digest('hex').slice(0, 8)}`;
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
  const info = infoOf(path);
  if (info === null) throw fail(`no file ${withoutLogin(path)}; correct the path of the SQLite database`);
  if (info.isDirectory()) throw fail(`${path} is a folder; name the SQLite file in it`);
  if (!info.isFile()) throw fail(`${path} is not a regular file; name an SQLite file`);
  if (info.size > 0 && headerOf(path) !== HEADER) throw fail(`${path} is not an SQLite database`);
  return realpathSync(path);
}

/** null: there is nothing; a file in place of a folder on the way is no folder either. */
function infoOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw unreadable(path, code);
  }
}

function unreadable(path: string, code: string): ConfigError {
  return fail(`cannot read ${path} (${code}); check its permissions`);
}

function headerOf(path: string): string {
  const buffer = Buffer.alloc(HEADER.length);
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw unreadable(path, (error as NodeJS.ErrnoException).code ?? 'error');
  }
  try {
    readSync(file, buffer, 0, buffer.length, 0);
  } finally {
    closeSync(file);
  }
  return buffer.toString('latin1');
}

/** Null for a scheme that is not supported. */
export function engineOfUrl(url: string): Dialect | null {
  if (POSTGRES.test(url)) return 'postgresql';
  if (SNOWFLAKE.test(url)) return 'snowflake';
  return SQLITE.test(url) ? 'sqlite' : null;
}

function isPathLike(spec: string): boolean {
  return /[/\\]/.test(spec) || /\.(db|db3|sqlite|sqlite3)$/i.test(spec);
}

function fail(message: string): ConfigError {
  return new ConfigError([`database: ${message}`]);
}
