/**
 * From what a user writes after `--db` (a configured name, a path or a URL) to a database by name and address.
 * An ad-hoc path or URL gets a generated name: its last part and a hash of the address without the password, so that
 * no secret enters a search id or a Temporal history (design D7) and the same database keeps its name.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, Secret, type Config, type DatabaseConfig } from './config';
import { snowflakeAccess } from './config-snowflake';
import type { Dialect } from './domain/question';

export interface ResolvedDatabase {
  readonly name: string;
  readonly dialect: Dialect;
  readonly address: { readonly kind: 'path'; readonly path: string } | { readonly kind: 'url'; readonly url: Secret };
  /** Not in the configuration: only this process can serve it. */
  readonly adHoc: boolean;
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
const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;
const OPEN_ACCESS = {
  role: null,
  schemas: [],
  limits: { maxConnections: null, maxPlanCost: null, maxScanBytes: null },
  access: { allow: [], deny: [] },
  docs: [],
  snowflake: snowflakeAccess<Secret>(undefined, {
    place: 'database',
    base: '.',
    env: {},
    problems: [],
    wrap: (text) => new Secret(text),
  }),
} as const;

/** Throws `ConfigError` with one line that says what to change. */
export function resolveDatabase(config: Config, spec: string, cwd: string): ResolvedDatabase {
  const configured = config.databases[spec];
  if (configured !== undefined) return namedDatabase(config, spec, configured);
  if (POSTGRES.test(spec)) return adHocServer(spec, 'postgresql', POSTGRES_EXAMPLE);
  if (SNOWFLAKE.test(spec)) return adHocServer(spec, 'snowflake', SNOWFLAKE_EXAMPLE);
  if (SQLITE.test(spec)) return adHocSqlite(sqlitePath(spec, cwd));
  const scheme = SCHEME.exec(spec)?.[1];
  if (scheme)
    throw fail(`${scheme}:// is not supported; use postgresql://user@host/database, snowflake://… or an SQLite file`);
  const path = resolve(cwd, spec);
  if (!isPathLike(spec) && statSync(path, { throwIfNoEntry: false }) === undefined) {
    const names = Object.keys(config.databases);
    const known = names.length > 0 ? `configured: ${names.join(', ')}` : 'none is configured';
    throw fail(`'${spec}' is no configured database (${known}) and no file; give a name, a path or postgresql://…`);
  }
  return adHocSqlite(path);
}

/** A configured database by its name, as a worker resolves it. */
export function namedDatabase(config: Config, name: string, entry = config.databases[name]): ResolvedDatabase {
  if (entry === undefined) {
    const names = Object.keys(config.databases).join(', ') || 'none';
    throw fail(`database '${name}' is not configured here; configured: ${names}; add it under "databases"`);
  }
  const { address, role, schemas, limits, access, snowflake, docs } = entry;
  const common = { name, adHoc: false, role, schemas, limits, access, snowflake, docs };
  if (address.kind === 'unset') throw fail(`database '${name}' has no address: ${address.fix}`);
  if (address.kind === 'path') {
    return { ...common, dialect: 'sqlite', address: { kind: 'path', path: sqliteFile(address.path) } };
  }
  const url = address.url.reveal();
  if (POSTGRES.test(url)) return { ...common, dialect: 'postgresql', address };
  if (SNOWFLAKE.test(url)) {
    if (snowflake.login.kind === 'unset') throw fail(`database '${name}' cannot log in: ${snowflake.login.fix}`);
    return { ...common, dialect: 'snowflake', address };
  }
  if (SQLITE.test(url)) {
    return { ...common, dialect: 'sqlite', address: { kind: 'path', path: sqliteFile(sqlitePath(url, '.')) } };
  }
  throw fail(`database '${name}': its URL must start with postgresql://, snowflake:// or sqlite:`);
}

const POSTGRES_EXAMPLE = 'postgresql://user@host:5432/database';
const SNOWFLAKE_EXAMPLE = 'snowflake://user@account/database/schema?warehouse=…&role=…';

function adHocServer(text: string, dialect: 'postgresql' | 'snowflake', example: string): ResolvedDatabase {
  if (!URL.canParse(text)) throw fail(`the URL cannot be read; write ${example}`);
  const url = new URL(text);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (!database) throw fail(`the URL names no database; write ${example}`);
  url.password = '';
  for (const key of [...url.searchParams.keys()]) if (/pass|secret|key|token/i.test(key)) url.searchParams.delete(key);
  const name = generatedName(database, url.href);
  return { name, dialect, address: { kind: 'url', url: new Secret(text) }, adHoc: true, ...OPEN_ACCESS };
}

function adHocSqlite(path: string): ResolvedDatabase {
  const file = sqliteFile(path);
  const name = generatedName(basename(file, extname(file)), file);
  return { name, dialect: 'sqlite', address: { kind: 'path', path: file }, adHoc: true, ...OPEN_ACCESS };
}

function generatedName(base: string, address: string): string {
  const readable = base.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40) || 'db';
  return `${readable}-${createHash('sha256').update(address).digest('hex').slice(0, 8)}`;
}

function sqlitePath(spec: string, cwd: string): string {
  if (/^file:\/\//i.test(spec)) return fileURLToPath(new URL(spec.split('?')[0] ?? spec));
  return resolve(cwd, decodeURIComponent(spec.replace(/^(sqlite|file):(\/\/)?/i, '').split('?')[0] ?? ''));
}

const HEADER = 'SQLite format 3\0';

/** An existing SQLite file's real path; an empty file is a valid database without tables. */
function sqliteFile(path: string): string {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) throw fail(`no file ${path}; correct the path of the SQLite database`);
  if (info.isDirectory()) throw fail(`${path} is a folder; name the SQLite file in it`);
  if (info.size > 0 && headerOf(path) !== HEADER) throw fail(`${path} is not an SQLite database`);
  return realpathSync(path);
}

function headerOf(path: string): string {
  const buffer = Buffer.alloc(HEADER.length);
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw fail(`cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? 'error'}); check its permissions`);
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
