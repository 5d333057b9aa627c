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
import * as z from 'zod';
import { MemoryMode, Role } from '../domain/question';
import { databaseOf, type DatabaseConfig } from './database';
import { ConfigError, linesOf, readConfigFile } from './file';
import { userFolders, type Environment, type Folders } from './folders';
import { DEFAULT_BUDGETS } from './presets';
import { BUILD_RULE, BuildId, ConfigFile, DEPLOYMENT_RULE, DeploymentName, Method, type WrittenConfig } from './schema';
import { endpointKey, holdsLogin, lateSecret, Secret, secretFile, type Place } from './secrets';
import { storeOf, type StoreConfig } from './store';

export type { DatabaseConfig } from './database';
export { ConfigError } from './file';
export { ConfigFile, type ServerConfig, type WrittenConfig } from './schema';
export { Secret } from './secrets';

export interface ModelsConfig extends Omit<ConfigFile['models'], 'apiKeyEnv' | 'apiKeyFile'> {
  readonly apiKey: Secret | null;
  /** Where the key is looked for, to name it in messages. */
  readonly apiKeySource: string;
}

export interface WebConfig extends Pick<NonNullable<ConfigFile['web']>, 'provider' | 'baseUrl' | 'lookups'> {
  readonly apiKey: Secret | null;
  /** What to do before the web can be searched; null: nothing. */
  readonly fix: string | null;
}

export interface WebhookConfig extends Pick<ConfigFile['webhooks'][number], 'url' | 'events' | 'allowPrivate'> {
  /** Where it stands, for messages. */
  readonly setting: string;
  /** `fix`: what to do before anything can be signed. */
  readonly secret: Secret | { readonly fix: string };
}

export interface EncryptionConfig {
  /** Of 32 bytes each; the first one encrypts. */
  readonly keys: readonly { readonly id: string; readonly key: Secret<Buffer> }[];
  /** null: a codec server would run on this machine, on `CODEC_PORT`. */
  readonly codecServer: string | null;
}

export interface VersioningConfig {
  readonly deployment: string;
  /** null: the package's version and a hash of the workflow code. */
  readonly buildId: string | null;
}

export interface Config extends Pick<ConfigFile, 'prices' | 'method' | 'memory' | 'server'> {
  /** The file that was read, or null. */
  readonly file: string | null;
  readonly databases: Readonly<Record<string, DatabaseConfig>>;
  readonly models: ModelsConfig;
  readonly store: StoreConfig;
  /** Default of `gate ops gc --older-than`. */
  readonly retentionDays: number | null;
  /** null: off. */
  readonly encryption: EncryptionConfig | null;
  /** null: no web. */
  readonly web: WebConfig | null;
  readonly webhooks: readonly WebhookConfig[];
  readonly temporal: {
    readonly address: string | null;
    readonly namespace: string;
    /** null: off. */
    readonly versioning: VersioningConfig | null;
  };
  /** Whether models see values of rows before they ask for any. */
  readonly showsValues: boolean;
  readonly budgets: typeof DEFAULT_BUDGETS;
  readonly folders: Folders;
}

export type Price = ConfigFile['prices'][string];

export interface ConfigSource {
  readonly env: Environment;
  readonly cwd: string;
  readonly platform?: NodeJS.Platform;
  /** In place of a file; relative paths in it begin at `cwd`. */
  readonly configuration?: WrittenConfig;
}

/** Throws `ConfigError`, one line per mistake. */
export function loadConfig(source: ConfigSource): Config {
  const { env, cwd, configuration } = source;
  const folders = userFolders(env, source.platform);
  const path = configuration === undefined ? fileToRead(source, folders) : null;
  const written = path === null ? (configuration ?? {}) : readConfigFile(path).json;
  const file = parsed(written, path ?? 'configuration');
  const problems: string[] = [];
  const at: Place = { where: path ?? 'configuration', base: path === null ? cwd : dirname(path), env, problems };
  const databases = Object.entries(file.databases).map(
    ([name, entry]) => [name, databaseOf(entry, { ...at, where: `${at.where}: databases.${name}` })] as const,
  );
  const method = variable('GATE_METHOD', Method, null, at);
  const modes = `is not allowed; give one of ${MemoryMode.options.join(', ')}`;
  const memory = variable('GATE_MEMORY', MemoryMode, modes, at);
  const config: Config = {
    file: path,
    // Without a prototype: `constructor` is no database unless one is called so.
    databases: Object.assign(Object.create(null) as Record<string, DatabaseConfig>, Object.fromEntries(databases)),
    models: modelsOf(file.models, at),
    prices: file.prices,
    store: storeOf(file.store, { cwd, dataFolder: folders.data }, at),
    retentionDays: file.store.retentionDays,
    encryption: encryptionOf(file.encryption, at),
    web: webOf(file.web, at),
    server: serverOf(file.server, file.databases, at),
    webhooks: file.webhooks.flatMap((entry, index) => webhookOf(entry, `webhooks.${index}`, at)),
    temporal: {
      address: env['TEMPORAL_ADDRESS'] || file.temporal.address,
      namespace: env['TEMPORAL_NAMESPACE'] || file.temporal.namespace,
      versioning: versioningOf(file.temporal.versioning, at),
    },
    method: method ?? file.method,
    memory: memory ?? file.memory,
    showsValues: file.schema.values,
    budgets: { ...DEFAULT_BUDGETS, ...file.budgets, ...costCeiling(at) },
    folders,
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** A variable of the environment, which goes before the file; null where it is not set or empty. `rule` null: the schema says it. */
function variable<T>(name: string, schema: z.ZodType<T>, rule: string | null, { env, problems }: Place): T | null {
  const text = env[name];
  if (!text) return null;
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  problems.push(`${name}: ${rule === null ? parsed.error.issues[0]?.message : `'${text}' ${rule}`}`);
  return null;
}

function costCeiling(at: Place): { readonly costUsd?: number | null } {
  if (at.env['GATE_MAX_COST_USD'] === 'none') return { costUsd: null };
  const rule = 'is not allowed; give US dollars above 0, or none';
  const costUsd = variable('GATE_MAX_COST_USD', z.coerce.number().positive(), rule, at);
  return costUsd === null ? {} : { costUsd };
}

const ROLE_VARIABLE = 'GATE_MODEL_';

function rolesOf({ env, problems }: Place): Partial<Record<Role, string>> {
  const given = Object.entries(env).filter(([name, value]) => name.startsWith(ROLE_VARIABLE) && value);
  const roles = given.flatMap(([name, value]) => {
    const role = Role.safeParse(name.slice(ROLE_VARIABLE.length).toLowerCase().replaceAll('_', '-'));
    if (role.success) return [[role.data, value]];
    const allowed = Role.options.map((each) => ROLE_VARIABLE + each.toUpperCase().replaceAll('-', '_')).join(', ');
    problems.push(`${name}: no such role; allowed: ${allowed}`);
    return [];
  });
  return Object.fromEntries(roles) as Partial<Record<Role, string>>;
}

const NO_LOGIN = 'holds a user name or password; put the key into OPENAI_API_KEY';

function modelsOf(entry: ConfigFile['models'], at: Place): ModelsConfig {
  const { env, problems } = at;
  const { apiKeyEnv = 'OPENAI_API_KEY', apiKeyFile, ...rest } = entry;
  const setting = `${at.where}: models`;
  const { apiKey, source } = endpointKey({ apiKeyEnv, apiKeyFile }, setting, at);
  if (holdsLogin(entry.baseUrl)) problems.push(`${setting}.baseUrl: ${NO_LOGIN}`);
  const baseUrl = env['OPENAI_BASE_URL'] || null;
  if (baseUrl !== null && !/^https?:$/.test(URL.canParse(baseUrl) ? new URL(baseUrl).protocol : '')) {
    const shown = baseUrl.includes('@') ? 'the value' : `'${baseUrl}'`; // which may hold a password
    problems.push(`OPENAI_BASE_URL: ${shown} is not an http(s) URL; for example http://127.0.0.1:11434/v1`);
  } else if (holdsLogin(baseUrl)) problems.push(`OPENAI_BASE_URL: ${NO_LOGIN}`);
  return {
    ...rest,
    default: env['GATE_MODEL'] || entry.default,
    roles: { ...entry.roles, ...rolesOf(at) },
    baseUrl: baseUrl ?? entry.baseUrl,
    apiKey,
    apiKeySource: source,
  };
}

const WEB_KEYS = { searxng: 'SEARXNG_API_KEY', tavily: 'TAVILY_API_KEY', brave: 'BRAVE_API_KEY' } as const;

function webOf(entry: ConfigFile['web'], at: Place): WebConfig | null {
  if (entry === undefined) return null;
  const { provider, baseUrl, lookups, apiKeyFile, apiKeyEnv = WEB_KEYS[provider] } = entry;
  const setting = `${at.where}: web`;
  if (provider === 'searxng' && baseUrl === null)
    at.problems.push(`${setting}.baseUrl: SearXNG has no address of its own; for example http://127.0.0.1:8080`);
  if (holdsLogin(baseUrl))
    at.problems.push(`${setting}.baseUrl: holds a password; name a key in web.apiKeyEnv or web.apiKeyFile`);
  const { apiKey } = endpointKey({ apiKeyEnv, apiKeyFile }, setting, at);
  const isMissing = apiKey === null && provider !== 'searxng';
  const fix = isMissing ? `set ${apiKeyEnv}, or web.apiKeyFile in the configuration` : null;
  return { provider, baseUrl, lookups, apiKey, fix };
}

function serverOf(entry: ConfigFile['server'], known: ConfigFile['databases'], at: Place): ConfigFile['server'] {
  for (const [name, { databases }] of Object.entries(entry.tokens))
    for (const database of databases ?? [])
      if (!Object.hasOwn(known, database))
        at.problems.push(`${at.where}: server.tokens.${name}.databases: '${database}' is not a configured database`);
  return entry;
}

function webhookOf(entry: ConfigFile['webhooks'][number], setting: string, at: Place): WebhookConfig[] {
  const { url, events, allowPrivate, secretEnv, secretFile: file } = entry;
  const place = { ...at, where: `${at.where}: ${setting}` };
  const wrong = (text: string): [] => {
    at.problems.push(`${place.where}${text}`);
    return [];
  };
  if (holdsLogin(url)) return wrong('.url: holds a user name or password; the secret signs instead');
  if (!allowPrivate && !url.startsWith('https:')) return wrong('.url: write https://, or set allowPrivate');
  if ((secretEnv === undefined) === (file === undefined)) return wrong(': set exactly one of secretEnv, secretFile');
  const found = lateSecret(
    secretEnv === undefined ? 'secretFile' : 'secretEnv',
    secretEnv ?? file ?? '',
    'secret',
    place,
  );
  if (typeof found === 'string' && !isSigningSecret(found.trim()))
    return wrong(
      `: ${secretEnv ?? file ?? ''} holds no secret that signs; make one with: echo whsec_$(openssl rand -base64 32)`,
    );
  const secret = typeof found === 'string' ? new Secret(found.trim()) : found;
  return [{ setting, url, events, allowPrivate, secret }];
}

/** As the Standard Webhooks specification has it: 24 to 64 bytes. */
function isSigningSecret(text: string): boolean {
  const [, base64 = ''] = /^(?:whsec_)?([A-Za-z0-9+/]{32,88}={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64;
}

const HOW_TO_MAKE = 'make one with: openssl rand -base64 32';

/** A key that is configured and cannot be read is a mistake at once: silence would mean plain text. */
function encryptionOf(entry: ConfigFile['encryption'], at: Place): EncryptionConfig | null {
  if (entry === undefined) return null;
  const keys = entry.keys.flatMap(({ id, env, file }, index) => {
    const place = `${at.where}: encryption.keys.${String(index)} ('${id}')`;
    const wrong = (text: string): [] => {
      at.problems.push(`${place}: ${text}`);
      return [];
    };
    if (entry.keys.findIndex((other) => other.id === id) < index)
      wrong('this id is given twice; each key needs an id of its own');
    if ((env === undefined) === (file === undefined)) return wrong('set exactly one of env, file');
    const source = env ?? resolve(at.base, file ?? '');
    const text = env === undefined ? secretFile(source, place, at) : (at.env[env] ?? '').trim();
    if (text === null) return [];
    if (text === '')
      return wrong(`${env === undefined ? `${source} is empty` : `set the variable ${source}`}; ${HOW_TO_MAKE}`);
    const bytes = keyBytes(text);
    if (bytes === null) return wrong(`${source} is not a key of 32 bytes in base64 or hexadecimal; ${HOW_TO_MAKE}`);
    return [{ id, key: new Secret(bytes) }];
  });
  return { keys, codecServer: entry.codecServer?.replace(/\/+$/, '') ?? null };
}

/** null: neither base64 nor hexadecimal, or another length. */
function keyBytes(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null;
}

/** Of `gate ops codec-server`: a fixed address for the UI's settings is nicer to return to. */
export const CODEC_PORT = 8834;

/** What a Temporal UI is told when it starts with encryption on, whether or not the codec server runs by then. */
export function codecEndpoint({ codecServer }: EncryptionConfig): string {
  return codecServer ?? `http://127.0.0.1:${String(CODEC_PORT)}`;
}

const DEFAULT_DEPLOYMENT = 'gate';

/** The deployment whose versions are looked at also where no worker says which version it is. */
export function deploymentOf(versioning: VersioningConfig | null): string {
  return versioning?.deployment ?? DEFAULT_DEPLOYMENT;
}

/** Either variable switches versioning on, as the setting does. null: off. */
function versioningOf(entry: ConfigFile['temporal']['versioning'], at: Place): VersioningConfig | null {
  const deployment = variable('GATE_DEPLOYMENT', DeploymentName, `is not allowed; ${DEPLOYMENT_RULE}`, at);
  const buildId = variable('GATE_BUILD_ID', BuildId, `is not allowed; ${BUILD_RULE}`, at);
  if (entry === undefined && deployment === null && buildId === null) return null;
  return {
    deployment: deployment ?? entry?.deployment ?? DEFAULT_DEPLOYMENT,
    buildId: buildId ?? entry?.buildId ?? null,
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

function parsed(json: unknown, where: string): ConfigFile {
  const { success, data, error } = ConfigFile.safeParse(json);
  if (success) return data;
  throw new ConfigError(linesOf(ConfigFile, error, where), { cause: error });
}
