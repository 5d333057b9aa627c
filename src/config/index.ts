/**
 * The configuration: one schema over a file and the environment, read once in a composition root and passed on.
 * File: `GATE_CONFIG`, else `gate.config.json` in the working directory, else in the user's configuration folder.
 *
 * 1. Secrets come from the environment or from a file that the configuration names; they are wrapped (`Secret`), so
 *    that no log, error or JSON prints one.
 * 2. Every mistake is one line: where it stands, what is wrong, what is allowed. All mistakes are reported at once.
 * 3. A database whose URL is missing is an error only when it is used.
 */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { z } from 'zod';
import { EncryptionEntry, encryptionOf, type EncryptionConfig } from './encryption';
import { ConfigError, linesOf } from './errors';
import { readConfigFile } from './file';
import { LimitsEntries, limitsTable, VersioningEntry, versioningOf } from './limits';
import type { ModelLimitsTable, VersioningConfig } from './limits';
import { SnowflakeEntry, snowflakeAccess, type SnowflakeAccess } from './snowflake';
import { PresetName, Role } from '../domain/question';
import { embeddingsOf, SchemaEntry, type EmbeddingsConfig } from './schema';
import { StoreEntry, storeOf, type StoreConfig } from './store';
import { WebEntry, webOf, type WebConfig } from './web';
import { checkKey, holdsLogin, holdsPassword, secretFile } from './secrets';
import { userFolders, type Environment, type Folders } from './folders';
import { DEFAULT_BUDGETS, DEFAULT_PRESET, MAX_QUERIES_PER_ACTION } from './presets';

export { ConfigError } from './errors';

const names = z.array(z.string().min(1));

const DatabaseEntry = z.strictObject({
  /** A URL without a password; with one it belongs into `urlEnv` or `urlFile`. */
  url: z.string().min(1).optional(),
  urlEnv: z.string().min(1).optional(),
  urlFile: z.string().min(1).optional(),
  /** An SQLite file, relative to the configuration file. */
  path: z.string().min(1).optional(),
  /** Which database it is, where its address does not say so: the same one at several addresses, or in a new file every night. */
  id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/, 'use letters, digits, ., - and _, at most 60, a letter or digit first')
    .optional(),
  /** A role with only SELECT; PostgreSQL assumes it by SET ROLE, Snowflake logs in with it. */
  role: z.string().min(1).optional(),
  /** PostgreSQL: the search path, and the schemas to describe; default: the login's search path, every schema. */
  schemas: names.optional(),
  /** Connections at most (SQLite: processes). */
  maxConnections: z.number().int().positive().max(1000).optional(),
  /** PostgreSQL: statements that the planner expects to cost more are refused before they run. */
  maxPlanCost: z.number().positive().optional(),
  /** Snowflake: statements that would scan more bytes, by their plan, are refused before they run. */
  maxScanBytes: z.number().positive().optional(),
  snowflake: SnowflakeEntry.optional(),
  /** Tables (`orders`) and columns (`orders.total`) that may, or may not, reach a model. */
  access: z.strictObject({ allow: names.optional(), deny: names.optional() }).optional(),
  /** What explains the database: files and folders, relative to the configuration file. */
  docs: names.optional(),
});

const QUERIES = `allowed: whole numbers from 1 to ${String(MAX_QUERIES_PER_ACTION)}`;
const amount = z.number().positive().nullable();
const count = z.number().int().positive().nullable();
const queriesPerAction = z.int(QUERIES).min(1, QUERIES).max(MAX_QUERIES_PER_ACTION, QUERIES);
/** Timers cannot wait much longer, and nobody should have to. */
const DAY_MS = 24 * 60 * 60_000;

export const ConfigFile = z.strictObject({
  $schema: z.string().optional(),
  databases: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,60}$/), DatabaseEntry).optional(),
  models: z
    .strictObject({
      default: z.string().min(1).optional(),
      roles: z.partialRecord(Role, z.string().min(1)).optional(),
      baseUrl: z.url({ protocol: /^https?$/ }).optional(),
      apiKeyEnv: z.string().min(1).optional(),
      apiKeyFile: z.string().min(1).optional(),
      temperature: z.number().min(0).max(2).optional(),
      topP: z.number().gt(0).max(1).optional(),
      maxOutputTokens: z.number().int().positive().optional(),
      /** A reasoning model gets the larger output cap; default: by its name. */
      reasoning: z.boolean().optional(),
      requestTimeoutMs: z.number().int().positive().max(DAY_MS, 'is too large; allowed: at most 86400000').optional(),
      limits: LimitsEntries.optional(),
    })
    .optional(),
  /** US dollars per million tokens, by model name. */
  prices: z
    .record(
      z.string(),
      z.strictObject({
        inputPerMillion: z.number().min(0),
        outputPerMillion: z.number().min(0),
        /** Prompt tokens that the provider reads from its cache; default: as `inputPerMillion`. */
        cachedInputPerMillion: z.number().min(0).optional(),
      }),
    )
    .optional(),
  /** What ranks the tables of a schema that is too large to show; left out: the question's words alone. */
  schema: SchemaEntry.optional(),
  store: StoreEntry.optional(),
  /** Encrypts what Temporal and the store keep; left out: nothing is encrypted. */
  encryption: EncryptionEntry.optional(),
  /** Left out: no question can ask the web. */
  web: WebEntry.optional(),
  temporal: z
    .strictObject({
      address: z.string().min(1).optional(),
      namespace: z.string().min(1).optional(),
      /** Worker versioning (docs/deploying.md); left out: off. */
      versioning: VersioningEntry.optional(),
    })
    .optional(),
  preset: PresetName.optional(),
  react: z.strictObject({ queries: queriesPerAction.optional() }).optional(),
  /** Per question; `null` lifts a limit. */
  budgets: z
    .strictObject({
      llmCalls: count,
      tokens: count,
      costUsd: amount,
      wallMs: count,
      sqlExecutions: count,
      sqlMs: count,
      sqlRows: count,
    })
    .partial()
    .optional(),
});
export type ConfigFile = z.infer<typeof ConfigFile>;

/** A value that does not print: only `reveal()` gives it. */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return '[secret]';
  }
  toJSON(): string {
    return '[secret]';
  }
  [inspect.custom](): string {
    return '[secret]';
  }
}

export interface DatabaseConfig {
  readonly address:
    | { readonly kind: 'path'; readonly path: string }
    | { readonly kind: 'url'; readonly url: Secret }
    | { readonly kind: 'unset'; readonly fix: string };
  /** null: the address says which database it is. */
  readonly id: string | null;
  readonly role: string | null;
  readonly schemas: readonly string[];
  /** null: the engine's default, and no ceilings. */
  readonly limits: {
    readonly maxConnections: number | null;
    readonly maxPlanCost: number | null;
    readonly maxScanBytes: number | null;
  };
  /** Read by Snowflake databases only. */
  readonly snowflake: SnowflakeAccess<Secret>;
  readonly access: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** Absolute paths of its documentation. */
  readonly docs: readonly string[];
}

export interface ModelsConfig {
  readonly default: string | null;
  readonly roles: Readonly<Partial<Record<Role, string>>>;
  readonly baseUrl: string | null;
  readonly apiKey: Secret | null;
  /** Where the key is looked for, to name it in messages. */
  readonly apiKeySource: string;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly maxOutputTokens: number | null;
  readonly reasoning: boolean | null;
  readonly requestTimeoutMs: number;
  readonly limits: ModelLimitsTable;
}

export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  readonly cachedInputPerMillion?: number;
}

export interface Config {
  /** The file that was read, or null. */
  readonly file: string | null;
  readonly databases: Readonly<Record<string, DatabaseConfig>>;
  readonly models: ModelsConfig;
  readonly prices: Readonly<Record<string, Price>>;
  /** null: tables are ranked by words alone. */
  readonly embeddings: EmbeddingsConfig<Secret> | null;
  readonly store: StoreConfig;
  /** Default of `gate gc --older-than`. */
  readonly retentionDays: number | null;
  /** null: off. */
  readonly encryption: EncryptionConfig | null;
  /** null: no web. */
  readonly web: WebConfig<Secret> | null;
  /** `address` null: a `temporal.toml` profile, else the embedded server. */
  readonly temporal: {
    readonly address: string | null;
    readonly namespace: string;
    readonly versioning: VersioningConfig | null;
  };
  readonly preset: PresetName;
  /** Queries that one action of the method `react` may run. */
  readonly react: { readonly queries: number };
  /** Whether models see values of rows before they ask for any. */
  readonly showsValues: boolean;
  readonly budgets: typeof DEFAULT_BUDGETS;
  readonly folders: Folders;
}

export interface ConfigSource {
  readonly env: Environment;
  readonly cwd: string;
  readonly platform?: NodeJS.Platform;
}

const REQUEST_TIMEOUT_MS = 300_000;

/** Throws `ConfigError`, one line per mistake. */
export function loadConfig(source: ConfigSource): Config {
  const folders = userFolders(source.env, source.platform);
  const path = fileToRead(source, folders);
  const file = path === null ? {} : parseFile(path);
  const base = path === null ? source.cwd : dirname(path);
  const problems: string[] = [];
  const where = path ?? 'configuration';
  const env = fromEnvironment(source.env, problems);
  const models = file.models ?? {};
  const apiKeyEnv = models.apiKeyEnv ?? 'OPENAI_API_KEY';
  const databases = Object.entries(file.databases ?? {}).map(([name, entry]) => {
    const place = `${where}: databases.${name}`;
    return [name, databaseOf(entry, { place, base, env: source.env, problems })] as const;
  });
  const keyFile = models.apiKeyFile === undefined ? null : resolve(base, models.apiKeyFile);
  const apiKey =
    source.env[apiKeyEnv]?.trim() || (keyFile && secretFile(keyFile, `${where}: models.apiKeyFile`, problems));
  if (apiKey) checkKey(apiKey, source.env[apiKeyEnv] ? apiKeyEnv : `${where}: models.apiKeyFile`, problems);
  if (holdsLogin(models)) problems.push(`${where}: models.baseUrl: ${NO_LOGIN}`);
  const store = storeOf(file.store, {
    ...{ where, base, cwd: source.cwd, env: source.env, problems },
    dataFolder: folders.data,
  });
  const encryption = encryptionOf(file.encryption, { where, base, env: source.env, problems });
  const wrap = (text: string): Secret => new Secret(text);
  const web = webOf(file.web, { where, base, env: source.env, problems, wrap });
  const modelKeySource = keyFile === null ? apiKeyEnv : `${apiKeyEnv} or ${keyFile}`;
  const embeddings = embeddingsOf(file.schema, { where, base, env: source.env, problems, wrap, modelKeySource });
  const versioning = versioningOf(file.temporal?.versioning, source.env, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    file: path,
    // Without a prototype: `constructor` is no database unless one is called so.
    databases: Object.assign(Object.create(null) as Record<string, DatabaseConfig>, Object.fromEntries(databases)),
    models: {
      default: env.model ?? models.default ?? null,
      roles: { ...models.roles, ...env.roles },
      baseUrl: env.baseUrl ?? models.baseUrl ?? null,
      apiKey: apiKey ? new Secret(apiKey) : null,
      apiKeySource: modelKeySource,
      temperature: models.temperature ?? null,
      topP: models.topP ?? null,
      maxOutputTokens: models.maxOutputTokens ?? null,
      reasoning: models.reasoning ?? null,
      requestTimeoutMs: models.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      limits: limitsTable(models.limits),
    },
    prices: file.prices ?? {},
    embeddings,
    store,
    retentionDays: file.store?.retentionDays ?? null,
    encryption,
    web,
    temporal: {
      address: env.temporalAddress ?? file.temporal?.address ?? null,
      namespace: env.temporalNamespace ?? file.temporal?.namespace ?? 'default',
      versioning,
    },
    preset: env.preset ?? file.preset ?? DEFAULT_PRESET,
    react: { queries: file.react?.queries ?? 1 },
    showsValues: file.schema?.values ?? true,
    budgets: { ...DEFAULT_BUDGETS, ...file.budgets, ...env.budgets },
    folders,
  };
}

/** The file that would be read, or null. */
export function configFile(source: ConfigSource): string | null {
  return fileToRead(source, userFolders(source.env, source.platform));
}

function fileToRead({ env, cwd }: ConfigSource, folders: Folders): string | null {
  if (env['GATE_CONFIG']) {
    const named = isAbsolute(env['GATE_CONFIG']) ? env['GATE_CONFIG'] : resolve(cwd, env['GATE_CONFIG']);
    if (!existsSync(named))
      throw new ConfigError([`GATE_CONFIG: no file ${named}; correct the path or unset GATE_CONFIG`]);
    return named;
  }
  const places = [join(cwd, 'gate.config.json'), join(folders.config, 'gate.config.json')];
  return places.find((place) => existsSync(place)) ?? null;
}

function parseFile(path: string): ConfigFile {
  const parsed = ConfigFile.safeParse(readConfigFile(path).json);
  if (parsed.success) return parsed.data;
  throw new ConfigError(linesOf(ConfigFile, parsed.error, path), { cause: parsed.error });
}

interface Place {
  readonly place: string;
  readonly base: string;
  readonly env: Environment;
  readonly problems: string[];
}

function databaseOf(entry: z.infer<typeof DatabaseEntry>, at: Place): DatabaseConfig {
  const given = (['url', 'urlEnv', 'urlFile', 'path'] as const).filter((key) => entry[key] !== undefined);
  if (given.length !== 1) {
    at.problems.push(`${at.place}: set exactly one of url, urlEnv, urlFile, path (set: ${given.join(', ') || 'none'})`);
  }
  const address = addressOf(entry, at);
  checkCeilings(entry, address, at);
  return {
    address,
    id: entry.id ?? null,
    role: entry.role ?? null,
    schemas: entry.schemas ?? [],
    limits: {
      maxConnections: entry.maxConnections ?? null,
      maxPlanCost: entry.maxPlanCost ?? null,
      maxScanBytes: entry.maxScanBytes ?? null,
    },
    snowflake: snowflakeAccess(entry.snowflake, {
      ...at,
      place: `${at.place}.snowflake`,
      wrap: (text) => new Secret(text),
    }),
    access: { allow: entry.access?.allow ?? [], deny: entry.access?.deny ?? [] },
    docs: (entry.docs ?? []).map((path) => resolve(at.base, path)),
  };
}

/** Refuses ceilings that the engine of the database does not support, because they would protect nothing. */
function checkCeilings(
  { maxPlanCost, maxScanBytes }: z.infer<typeof DatabaseEntry>,
  address: DatabaseConfig['address'],
  { place, problems }: Place,
): void {
  if (address.kind === 'unset') return;
  const isSnowflake = address.kind === 'url' && /^snowflake:/i.test(address.url.reveal());
  const isPostgres = address.kind === 'url' && /^postgres(ql)?:/i.test(address.url.reveal());
  if (maxPlanCost !== undefined && !isPostgres)
    problems.push(`${place}.maxPlanCost: only PostgreSQL has it; ${isSnowflake ? 'set maxScanBytes' : 'leave it out'}`);
  if (maxScanBytes !== undefined && !isSnowflake)
    problems.push(`${place}.maxScanBytes: only Snowflake has it; ${isPostgres ? 'set maxPlanCost' : 'leave it out'}`);
}

function addressOf(entry: z.infer<typeof DatabaseEntry>, at: Place): DatabaseConfig['address'] {
  if (entry.path !== undefined) return { kind: 'path', path: resolve(at.base, entry.path) };
  if (entry.url !== undefined) {
    if (holdsPassword(entry.url)) {
      at.problems.push(
        `${at.place}.url: holds a password; put the URL into an environment variable and name it in urlEnv`,
      );
    }
    return { kind: 'url', url: new Secret(entry.url) };
  }
  if (entry.urlEnv !== undefined) {
    const value = at.env[entry.urlEnv];
    return value ? { kind: 'url', url: new Secret(value) } : { kind: 'unset', fix: `set the variable ${entry.urlEnv}` };
  }
  if (entry.urlFile !== undefined) {
    const path = resolve(at.base, entry.urlFile);
    if (!existsSync(path)) return { kind: 'unset', fix: `write the URL into ${path}` };
    const value = secretFile(path, `${at.place}.urlFile`, at.problems);
    return value ? { kind: 'url', url: new Secret(value) } : { kind: 'unset', fix: `write the URL into ${path}` };
  }
  return { kind: 'unset', fix: 'set url, urlEnv, urlFile or path' };
}

const NO_LOGIN = 'holds a user name or password; put the key into OPENAI_API_KEY';
const ROLE_VARIABLE = 'GATE_MODEL_';

function fromEnvironment(env: Environment, problems: string[]) {
  const roles: Partial<Record<Role, string>> = {};
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(ROLE_VARIABLE) || !value) continue;
    const role = Role.safeParse(variable.slice(ROLE_VARIABLE.length).toLowerCase());
    if (role.success) roles[role.data] = value;
    else
      problems.push(
        `${variable}: no such role; allowed: ${Role.options.map((name) => ROLE_VARIABLE + name.toUpperCase()).join(', ')}`,
      );
  }
  const preset = env['GATE_PRESET'] ? PresetName.safeParse(env['GATE_PRESET']) : null;
  if (preset?.success === false)
    problems.push(`GATE_PRESET: '${env['GATE_PRESET']}' is not a preset; allowed: ${PresetName.options.join(', ')}`);
  const baseUrl = env['OPENAI_BASE_URL'] || null;
  if (baseUrl !== null && !/^https?:$/.test(URL.canParse(baseUrl) ? new URL(baseUrl).protocol : '')) {
    const shown = baseUrl.includes('@') ? 'the value' : `'${baseUrl}'`; // which may hold a password
    problems.push(`OPENAI_BASE_URL: ${shown} is not an http(s) URL; for example http://127.0.0.1:11434/v1`);
  } else if (baseUrl !== null && holdsLogin({ baseUrl })) problems.push(`OPENAI_BASE_URL: ${NO_LOGIN}`);
  return {
    roles,
    model: env['GATE_MODEL'] || null,
    baseUrl,
    temporalAddress: env['TEMPORAL_ADDRESS'] || null,
    temporalNamespace: env['TEMPORAL_NAMESPACE'] || null,
    preset: preset?.data ?? null,
    budgets: costCeiling(env['GATE_MAX_COST_USD'], problems),
  };
}

function costCeiling(text: string | undefined, problems: string[]): { costUsd?: number | null } {
  if (!text) return {};
  if (text === 'none') return { costUsd: null };
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value)))
    problems.push(`GATE_MAX_COST_USD: '${text}' is not allowed; give US dollars above 0, or none`);
  return { costUsd: value };
}
