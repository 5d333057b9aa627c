/** What a user can do with databases: add one to the configuration file, list, check, describe and query them. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { engineFor } from '../adapters/engines';
import type { DatabaseCheck } from '../adapters/kit/database-check';
import { ConfigError, configFile, ConfigFile, loadConfig, type Config } from '../config';
import { databaseOf } from '../config/database';
import { namedDatabase, resolveDatabase, type ResolvedDatabase } from '../config/databases';
import { linesOf, readConfigFile } from '../config/file';
import type { DatabaseDescription, DataFiles, TableDescription } from '../domain';
import type { Scan, SqlEngine } from '../domain/ports';
import { replaceFile } from '../replace-file';
import { SCHEMA_CHARS, schemaContext, type SchemaContext } from '../database/context';
import { profiledText, renderProfiles } from '../database/profile/render';
import { accessRules } from '../sql/access';
import { sameRelation } from '../sql/validate';
import { indexed, takeOverview, takeProfiles } from '../roles/sql/profiles';
import { isWide } from '../database/wide/overview';
import { wideSchema } from '../database/wide/schema-text';
import { checkDatabase as described, withEngines } from './check-database';
import { errorText, UsageError } from './errors';
import { askedDatabase, questionText } from './question-input';
import { rowsOf, type Rows } from './rows';
import { cacheOf, openingOf } from '../workers/engines';
import type { Surroundings } from './surroundings';

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

/**
 * Everything else in the file stays as it is. The file is checked as it will be read, so a URL with a password is never written.
 * Gives the file, and whether a database of that name was replaced.
 */
export function addDatabase(
  name: string,
  flags: AddFlags,
  io: Surroundings,
): { readonly file: string; readonly replaced: boolean } {
  const file = configFile(io) ?? join(io.cwd, 'gate.config.json');
  const base = dirname(file);
  const { json, text } = existsSync(file) ? readConfigFile(file) : { json: {}, text: '' };
  if (!isObject(json)) throw new ConfigError([`${file}: not an object: begin it with {`]);
  const databases = isObject(json['databases']) ? json['databases'] : {};
  const isKnown = Object.hasOwn(databases, name);
  if (isKnown && flags.replace !== true)
    throw new UsageError(`database '${name}' is configured already in ${file}: choose another name, or give --replace`);
  const changed = { ...json, databases: { ...databases, [name]: entryOf(flags, io.cwd, base) } };
  const parsed = ConfigFile.safeParse(changed);
  if (!parsed.success) throw new ConfigError(linesOf(ConfigFile, parsed.error, file), { cause: parsed.error });
  const added = parsed.data.databases[name];
  const problems: string[] = [];
  if (added !== undefined) databaseOf(added, { where: `databases.${name}`, base, env: io.env, problems });
  if (problems.length > 0) throw new ConfigError(problems);
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  writeWhole(file, `${JSON.stringify(changed, null, indent)}\n`);
  return { file, replaced: isKnown };
}

function entryOf(flags: AddFlags, cwd: string, base: string): Json {
  const { path, url, urlEnv, urlFile, id, role, allow, deny, maxPlanCost, maxScanBytes } = flags;
  if ([urlEnv, urlFile].some((place) => place?.includes('://')))
    throw new UsageError('--url-env and --url-file name a variable or a file that holds the URL: do not give the URL');
  if (path !== undefined && !existsSync(resolve(cwd, path)))
    throw new UsageError(`--path ${path}: no such file; give an SQLite or DuckDB file, or CSV, Parquet or JSON files`);
  /** Paths in the file begin at the file. */
  const fromFile = (text: string): string => {
    const full = resolve(cwd, text);
    const short = relative(base, full);
    return isAbsolute(text) ? full : short.startsWith('..') ? short : `./${short}`;
  };
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
    access: (allow ?? deny) ? { allow: namesIn(allow), deny: namesIn(deny) } : undefined,
    docs: flags.docs?.map(fromFile),
  };
}

function namesIn(texts: readonly string[] | undefined): string[] | undefined {
  return texts?.flatMap((text) => text.split(',').map((part) => part.trim())).filter((part) => part !== '');
}

/** Through a link, the file that it stands for. */
function writeWhole(file: string, text: string): void {
  const place = existsSync(file) ? realpathSync(file) : file;
  const mode = existsSync(place) ? statSync(place).mode & 0o777 : 0o644;
  replaceFile(place, text, { mode });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface ListedDatabase {
  readonly name: string;
  /** `?`: it cannot be used. */
  readonly engine: string;
  /** Without secrets; of one that cannot be used: why. */
  readonly address: string;
  /** Of the configuration. */
  readonly id: string | null;
  readonly identity: string | null;
  readonly access: string;
}

export function listDatabases(config: Config): readonly ListedDatabase[] {
  return Object.entries(config.databases).map(([name, entry]) => {
    const { id, role, schemas } = entry;
    const { allow, deny } = entry.access;
    const parts = [
      role !== null && `role ${role}`,
      schemas.length > 0 && `schemas ${schemas.join(', ')}`,
      allow.length > 0 && `only ${allow.join(', ')}`,
      deny.length > 0 && `not ${deny.join(', ')}`,
    ];
    const access = parts.filter(Boolean).join('; ') || 'everything that may be read';
    try {
      const { dialect: engine, addressLabel: address, identity } = namedDatabase(config, name);
      return { name, engine, address, id, identity, access };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { name, engine: '?', address: error.message, id, identity: null, access };
    }
  });
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
  /** What to look at although it can be used. */
  readonly notes: readonly string[];
}

const WAIT_MS = 60_000;

export function checkDatabase(spec: string, at: Surroundings): Promise<CheckReport> {
  const config = loadConfig(at);
  return checkOn(config, resolveDatabase(config, spec, at.cwd));
}

/**
 * Writes are attempted on the very connection that statements get, and the database has to refuse each. Snowflake has no
 * read-only transaction, so there nothing is attempted: opening it examines the role's grants.
 */
export async function checkOn(config: Config, database: ResolvedDatabase): Promise<CheckReport> {
  const { name, addressLabel: address, identity, id } = database;
  const nothing = { version: null, tables: null, rowEstimate: null, describeMs: null };
  const problems: string[] = [];
  const notes: string[] = [];
  const about = { database: name, address, identity, id, problems, notes };
  let check: DatabaseCheck | null = null;
  try {
    const kind = await engineFor(database.dialect);
    const opening = openingOf(database, cacheOf(config));
    check = (await kind.check?.(opening)) ?? null;
    for (const { what, outcome, message } of check?.attempts ?? [])
      if (outcome === 'went-through') problems.push(`it could ${what}: do not use this connection`);
      else if (outcome === 'failed') problems.push(`could not try to ${what}: ${message}`);
    const readOnly = problems.length === 0;
    const startedMs = performance.now();
    const engine = kind.open(opening);
    const whole = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) }).finally(() => engine.close());
    const rules = accessRules(database.access, kind.searchPath?.(opening) ?? [], database.dialect);
    const tables = whole.tables.filter((table) => rules.mayReadTable(table.name));
    for (const pattern of rules.unmatched(whole.tables))
      notes.push(`the access pattern "${pattern}" matches no table and no column: correct it, unless one is to come`);
    if (tables.length === 0) problems.push(`no table is visible: ${noTables(database)}`);
    return {
      ...about,
      readOnly,
      check,
      version: check?.version ?? whole.version,
      tables: tables.length,
      rowEstimate: Math.round(tables.reduce((sum, { rowEstimate }) => sum + (rowEstimate ?? 0), 0)),
      describeMs: Math.round(performance.now() - startedMs),
    };
  } catch (error) {
    problems.push(errorText(error, false));
    return { ...about, ...nothing, check, readOnly: false };
  }
}

function noTables({ address, access, role, dialect }: ResolvedDatabase): string {
  if (access.allow.length > 0 || access.deny.length > 0) return 'check the access lists of the configuration';
  if (address.kind === 'path') return 'check the path';
  if (dialect === 'mysql') return "grant it: GRANT SELECT, SHOW VIEW ON `…`.* TO 'the user'@'…';";
  return `grant it: GRANT USAGE ON SCHEMA … TO ${role ?? 'the user'}; GRANT SELECT ON ALL TABLES IN SCHEMA … TO ${role ?? 'the user'};`;
}

export interface Querying {
  readonly db?: string;
  readonly maxRows: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told before the query runs, where scanning costs money. */
  readonly onEstimate?: (scan: Scan) => void;
}

/** The rows of one read-only query, with the safeguards of a search. */
export async function queryDatabase(given: string, options: Querying, at: Surroundings): Promise<Rows> {
  const query = questionText(given, 'query');
  const config = loadConfig(at);
  const database = askedDatabase(config, options, at);
  return withEngines(config, database, async (engines) => {
    const { engine } = await engines.engine(database.name);
    const asked = { ...options, tag: 'gate db sql' };
    const scan = options.onEstimate === undefined ? null : await engine.estimate?.(query, asked);
    if (scan) options.onEstimate?.(scan);
    const { results } = await engine.run([query], asked);
    const tooLong = `no result within ${options.timeoutMs / 1000} s; narrow the query or raise --timeout`;
    return rowsOf(results[0], tooLong);
  });
}

export interface Describing {
  /** Only these tables, in full. */
  readonly table?: readonly string[];
  /** What a model would see for it, where the schema is too large to show whole. */
  readonly question?: string;
}

/** Of English and SQL; models differ. */
const CHARS_PER_TOKEN = 4;

export interface DescribedDatabase {
  readonly database: string;
  readonly address: string;
  readonly identity: string;
  /** Of the engine. */
  readonly version: string;
  /** Of its tables and columns. */
  readonly fingerprint: string;
  readonly tables: number;
  /** Tables whose columns are shown; null: all of them. */
  readonly shown: number | null;
  readonly characters: number;
  /** An estimate. */
  readonly tokens: number;
  readonly text: string;
  /** Left out: a database. */
  readonly files?: DataFiles;
}

/** The schema as a model would see it. */
export async function describeDatabase(spec: string, flags: Describing, at: Surroundings): Promise<DescribedDatabase> {
  const config = loadConfig(at);
  const database = resolveDatabase(config, spec, at.cwd);
  return withEngines(config, database, async (engines) => {
    const description = await described(engines, database.name);
    const { engine } = await engines.engine(database.name);
    const { text, shown } = await shownSchema({ engine, description }, flags, config.showsValues);
    const { fingerprint, version, tables, files } = description;
    return {
      database: database.name,
      address: database.addressLabel,
      identity: database.identity,
      version,
      fingerprint,
      tables: tables.length,
      shown: shown?.length ?? null,
      characters: text.length,
      tokens: Math.ceil(text.length / CHARS_PER_TOKEN),
      text,
      ...(files === undefined ? {} : { files }),
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
  if (isWide(description)) {
    const { content } = await takeOverview(engine, description, { tag: 'gate db describe', values });
    return wideSchema(description, indexed(content), { question });
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
