/**
 * What a user can do with databases: add one to the configuration file, list, check and describe them.
 *
 * `addDatabase` leaves everything else in the file as it is, checks the file as it will be read, and replaces it as a whole. A URL
 * with a password is never written. `checkOn` attempts writes on the very connection that statements get, and the database has to
 * refuse each. Snowflake has no read-only transaction, so there nothing is attempted: opening it examines the role's grants.
 */
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { DatabaseCheck } from '../adapters/database-check';
import { ConfigError, configFile, ConfigFile, loadConfig, type Config, type DatabaseConfig } from '../config';
import { engineOfUrl, namedDatabase, resolveDatabase, type ResolvedDatabase } from '../config/databases';
import { linesOf, readConfigFile } from '../config/file';
import { holdsPassword } from '../config/secrets';
import type { DatabaseDescription, TableDescription } from '../domain';
import type { SqlEngine } from '../domain/ports';
import { SCHEMA_CHARS, schemaContext, type SchemaContext } from '../database/context';
import { profiledText, renderProfiles } from '../database/profile/render';
import { sameRelation } from '../sql/validate';
import { takeProfiles } from '../roles/sql/profiles';
import { openEngines } from '../workers/engines';
import { checkDatabase as described, withEngines } from './check-database';
import { errorText, UsageError } from './errors';
import type { Surroundings } from './surroundings';

const WAIT_MS = 60_000;

export interface AddFlags {
  readonly path?: string;
  readonly url?: string;
  readonly urlEnv?: string;
  readonly urlFile?: string;
  readonly id?: string;
  readonly role?: string;
  readonly schemas?: readonly string[];
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly docs?: readonly string[];
  readonly maxPlanCost?: number;
  readonly maxScanBytes?: number;
  readonly replace?: boolean;
}

type Json = Record<string, unknown>;

/** Gives the file, and whether a database of that name was replaced. */
export function addDatabase(
  name: string,
  flags: AddFlags,
  io: Surroundings,
): { readonly file: string; readonly replaced: boolean } {
  if (!/^[A-Za-z0-9_-]{1,60}$/.test(name))
    throw new UsageError(`'${name}' cannot be the name of a database: use letters, digits, - and _, at most 60`);
  const file = configFile(io) ?? join(io.cwd, 'gate.config.json');
  const entry = entryOf(flags, io.cwd, dirname(file));
  const { json, text } = existsSync(file) ? readConfigFile(file) : { json: {}, text: null };
  if (!isObject(json)) throw new ConfigError([`${file}: not an object: begin it with {`]);
  const databases = isObject(json['databases']) ? json['databases'] : {};
  const isKnown = Object.hasOwn(databases, name);
  if (isKnown && flags.replace !== true)
    throw new UsageError(`database '${name}' is configured already in ${file}: choose another name, or give --replace`);
  const changed = { ...json, databases: { ...databases, [name]: entry } };
  const parsed = ConfigFile.safeParse(changed);
  if (!parsed.success) throw new ConfigError(linesOf(ConfigFile, parsed.error, file), { cause: parsed.error });
  const indent = /^([ \t]+)"/m.exec(text ?? '')?.[1] ?? '  ';
  writeWhole(file, `${JSON.stringify(changed, null, indent)}\n`, text);
  return { file, replaced: isKnown };
}

function entryOf(flags: AddFlags, cwd: string, base: string): Json {
  const { path, url, urlEnv, urlFile, id, role, maxPlanCost, maxScanBytes } = flags;
  const given = [path, url, urlEnv, urlFile].filter((value) => value !== undefined);
  if (given.length !== 1)
    throw new UsageError(
      `where is the database? give exactly one of --path, --url, --url-env and --url-file${given.length === 0 ? '' : ` (given: ${given.length})`}`,
    );
  if (url !== undefined && !URL.canParse(url))
    throw new UsageError('--url cannot be read; write postgresql://user@host:5432/database');
  if (url !== undefined && holdsPassword(url))
    throw new UsageError(
      '--url holds a password, which would be written into the file: put the URL into a variable and give --url-env NAME, or into a file and give --url-file FILE',
    );
  if (urlEnv !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(urlEnv))
    throw new UsageError('--url-env: give the name of a variable, not the URL itself');
  if (urlFile !== undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(urlFile))
    throw new UsageError('--url-file: give the path of a file that holds the URL, not the URL itself');
  if (path !== undefined && !existsSync(resolve(cwd, path)))
    throw new UsageError(`--path ${path}: no such file; give an SQLite file`);
  /** Paths in the file begin at the file. */
  const fromFile = (text: string): string => {
    const full = resolve(cwd, text);
    if (isAbsolute(text)) return full;
    const short = relative(base, full);
    return short.startsWith('..') ? short : `./${short}`;
  };
  const access = { allow: namesIn(flags.allow), deny: namesIn(flags.deny) };
  return {
    path: path && fromFile(path),
    url,
    urlEnv,
    urlFile: urlFile && fromFile(urlFile),
    id,
    role,
    schemas: namesIn(flags.schemas),
    maxPlanCost,
    maxScanBytes,
    access: (access.allow ?? access.deny) ? access : undefined,
    docs: flags.docs?.map(fromFile),
  };
}

function namesIn(texts: readonly string[] | undefined): string[] | undefined {
  return texts?.flatMap((text) => text.split(',').map((part) => part.trim())).filter((part) => part !== '');
}

/** Through a link to the file it stands for; refused when somebody else has written in between. */
function writeWhole(file: string, text: string, before: string | null): void {
  const place = existsSync(file) ? realpathSync(file) : file;
  const mode = existsSync(place) ? statSync(place).mode & 0o777 : 0o644;
  const temporary = `${place}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode, flag: 'wx' });
    if ((existsSync(place) ? readFileSync(place, 'utf8') : null) !== before)
      throw new UsageError(`${file} was changed meanwhile: try again`);
    renameSync(temporary, place);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface ListedDatabase {
  readonly name: string;
  readonly engine: string;
  readonly address: string;
  /** Of the configuration. */
  readonly id: string | null;
  /** null: there is nothing at the address, or no address. */
  readonly identity: string | null;
  readonly access: string;
}

export function listDatabases(config: Config): readonly ListedDatabase[] {
  return Object.entries(config.databases).map(([name, entry]) => listedOf(config, name, entry));
}

function listedOf(config: Config, name: string, entry: DatabaseConfig): ListedDatabase {
  const { address, id, role, schemas, access } = entry;
  const parts = [
    ...(role === null ? [] : [`role ${role}`]),
    ...(schemas.length === 0 ? [] : [`schemas ${schemas.join(', ')}`]),
    ...(access.allow.length === 0 ? [] : [`only ${access.allow.join(', ')}`]),
    ...(access.deny.length === 0 ? [] : [`not ${access.deny.join(', ')}`]),
  ];
  let identity: string | null = null;
  try {
    identity = namedDatabase(config, name).identity;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error; // gate db check says what is wrong
  }
  return { name, ...placeOf(address), id, identity, access: parts.join('; ') || 'everything that may be read' };
}

function placeOf(address: DatabaseConfig['address']): Pick<ListedDatabase, 'engine' | 'address'> {
  if (address.kind === 'path') return { engine: 'sqlite', address: address.path };
  if (address.kind === 'unset') return { engine: '?', address: `not set: ${address.fix}` };
  const url = address.url.reveal();
  return { engine: engineOfUrl(url) ?? '?', address: bareAddress(url) };
}

/** User, host, port and path: parameters may hold keys. */
function bareAddress(text: string): string {
  if (!URL.canParse(text)) return 'a URL that cannot be read';
  const { protocol, username, host, pathname } = new URL(text);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

export interface CheckReport {
  readonly database: string;
  readonly address: string;
  /** Which database it is (docs/databases.md); `id` where the configuration names it. */
  readonly identity: string;
  readonly id: string | null;
  readonly readOnly: boolean;
  readonly check: DatabaseCheck | null;
  readonly version: string | null;
  readonly tables: number | null;
  readonly rowEstimate: number | null;
  readonly describeMs: number | null;
  /** Why the database cannot be used; empty when it can. */
  readonly problems: readonly string[];
}

export function checkDatabase(spec: string, at: Surroundings): Promise<CheckReport> {
  const config = loadConfig(at);
  const database = resolveDatabase(config, spec, at.cwd);
  return checkOn(database, () => openEngines(config, [database]));
}

export async function checkOn(
  database: ResolvedDatabase,
  open: () => ReturnType<typeof openEngines>,
): Promise<CheckReport> {
  const nothing = { check: null, version: null, tables: null, rowEstimate: null, describeMs: null };
  const { name, addressLabel: address, identity, id } = database;
  const about = { database: name, address, identity, id };
  let check: DatabaseCheck | null;
  try {
    check = await attempts(database);
  } catch (error) {
    return { ...about, ...nothing, readOnly: false, problems: [errorText(error, false)] };
  }
  const through = (check?.attempts ?? []).filter(({ outcome }) => outcome !== 'refused');
  const problems = through.map(({ what, outcome, message }) =>
    outcome === 'went-through'
      ? `it could ${what}: do not use this connection`
      : `could not try to ${what}: ${message}`,
  );
  const engines = open();
  const startedMs = performance.now();
  try {
    const { engine } = await engines.engine(database.name);
    const { tables, version } = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
    if (tables.length === 0) problems.push(`no table is visible: ${noTables(database)}`);
    const rows = tables.reduce((sum, { rowEstimate }) => sum + (rowEstimate ?? 0), 0);
    return {
      ...about,
      readOnly: through.length === 0,
      check,
      version: check?.version ?? version,
      tables: tables.length,
      rowEstimate: Math.round(rows),
      describeMs: Math.round(performance.now() - startedMs),
      problems,
    };
  } catch (error) {
    return { ...about, ...nothing, check, readOnly: false, problems: [...problems, errorText(error, false)] };
  } finally {
    await engines.close();
  }
}

async function attempts({ address, dialect, role, schemas }: ResolvedDatabase): Promise<DatabaseCheck | null> {
  if (address.kind === 'path') {
    const { checkSqlite } = await import('../adapters/sqlite');
    return checkSqlite(address.path);
  }
  if (dialect === 'snowflake') return null;
  const { checkPostgres } = await import('../adapters/postgres');
  return checkPostgres({ url: address.url.reveal(), role, schemas });
}

function noTables({ dialect, access, role }: ResolvedDatabase): string {
  if (access.allow.length > 0 || access.deny.length > 0) return 'check the access lists of the configuration';
  if (dialect === 'sqlite') return 'check the path';
  return `grant it: GRANT USAGE ON SCHEMA … TO ${role ?? 'the user'}; GRANT SELECT ON ALL TABLES IN SCHEMA … TO ${role ?? 'the user'};`;
}

export interface Describing {
  /** Only these tables, in full. */
  readonly table?: readonly string[];
  /** What a model would see for it, where the schema is too large to show whole. */
  readonly question?: string;
}

/** Of English and SQL; models differ. */
const CHARS_PER_TOKEN = 4;

/** The schema as a model would see it. */
export async function describeDatabase(spec: string, flags: Describing, at: Surroundings) {
  const config = loadConfig(at);
  const database = resolveDatabase(config, spec, at.cwd);
  return withEngines(config, database, async (engines) => {
    const description = await described(engines, database.name);
    const { engine } = await engines.engine(database.name);
    const { text, shown } = await shownSchema({ engine, description }, flags, config.showsValues);
    const { fingerprint, version, tables } = description;
    return {
      database: database.name,
      address: database.addressLabel,
      identity: database.identity,
      version,
      fingerprint,
      tables: tables.length,
      /** Tables whose columns are shown; null: all of them. */
      shown: shown?.length ?? null,
      characters: text.length,
      tokens: Math.ceil(text.length / CHARS_PER_TOKEN),
      text,
    };
  });
}

async function shownSchema(
  { engine, description }: { readonly engine: SqlEngine; readonly description: DatabaseDescription },
  { table, question }: Describing,
  values: boolean,
): Promise<Pick<SchemaContext, 'text' | 'shown'>> {
  const profiled = (names: readonly string[]) =>
    takeProfiles(engine, description, names, { tag: 'gate db describe', values });
  const { dialect, tables } = description;
  if (table !== undefined) {
    const found = chosen(description, table);
    const { profiles } = await profiled(found.map(({ name }) => name));
    return { text: renderProfiles(found, profiles, { dialect, maxChars: Infinity }), shown: null };
  }
  const context = schemaContext(description, { maxChars: SCHEMA_CHARS, question });
  const { profiles } = await profiled(context.shown ?? tables.map(({ name }) => name));
  return { ...context, text: profiledText(description, context, profiles) };
}

function chosen({ tables }: DatabaseDescription, names: readonly string[]): TableDescription[] {
  return names.map((name) => {
    const table = tables.find((each) => each.name === name) ?? tables.find((each) => sameRelation(each.name, name));
    if (table !== undefined) return table;
    const near = tables.filter((each) => each.name.toLowerCase().includes(name.toLowerCase())).slice(0, 5);
    const hint =
      near.length === 0 ? 'gate db describe shows all names' : `there is ${near.map((each) => each.name).join(', ')}`;
    throw new UsageError(`--table ${name}: no such table may be read; ${hint}`);
  });
}
