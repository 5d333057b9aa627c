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
import { z } from 'zod';
import { DatabaseEntry, databaseOf, type DatabaseConfig } from './database';
import { EncryptionEntry, encryptionOf, type EncryptionConfig } from './encryption';
import { fromEnvironment } from './environment';
import { ConfigError, linesOf, readConfigFile } from './file';
import { VersioningEntry, versioningOf, type VersioningConfig } from './limits';
import { modelsOf, ModelsEntry, type ModelsConfig } from './models';
import { MemoryMode, PresetName } from '../domain/question';
import { StoreEntry, storeOf, type StoreConfig } from './store';
import { WebEntry, webOf, type WebConfig } from './web';
import { userFolders, type Environment, type Folders } from './folders';
import { DEFAULT_BUDGETS, DEFAULT_PRESET, MAX_QUERIES_PER_ACTION } from './presets';

export type { DatabaseConfig } from './database';
export { ConfigError } from './file';
export type { ModelsConfig } from './models';
export { Secret } from './secrets';

const QUERIES = `allowed: whole numbers from 1 to ${String(MAX_QUERIES_PER_ACTION)}`;
const amount = z.number().positive().nullable();
const count = z.number().int().positive().nullable();
const queriesPerAction = z.int(QUERIES).min(1, QUERIES).max(MAX_QUERIES_PER_ACTION, QUERIES);

export const ConfigFile = z.strictObject({
  $schema: z.string().optional(),
  databases: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,60}$/), DatabaseEntry).optional(),
  models: ModelsEntry.optional(),
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
  /** `values`: whether models see values of rows before they ask for any; default: yes. */
  schema: z.strictObject({ values: z.boolean().optional() }).optional(),
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
  /** Whether a question uses the semantic layer of its database, and adds to it; default: on. */
  memory: MemoryMode.optional(),
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
  readonly store: StoreConfig;
  /** Default of `gate gc --older-than`. */
  readonly retentionDays: number | null;
  /** null: off. */
  readonly encryption: EncryptionConfig | null;
  /** null: no web. */
  readonly web: WebConfig | null;
  /** `address` null: a `temporal.toml` profile, else the embedded server. */
  readonly temporal: {
    readonly address: string | null;
    readonly namespace: string;
    readonly versioning: VersioningConfig | null;
  };
  readonly preset: PresetName;
  /** Of `gate ask`; batches are off unless asked. */
  readonly memory: MemoryMode;
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

/** Throws `ConfigError`, one line per mistake. */
export function loadConfig(source: ConfigSource): Config {
  const folders = userFolders(source.env, source.platform);
  const path = fileToRead(source, folders);
  const file = path === null ? {} : parseFile(path);
  const base = path === null ? source.cwd : dirname(path);
  const problems: string[] = [];
  const at = { where: path ?? 'configuration', base, env: source.env, problems };
  const env = fromEnvironment(source.env, problems);
  const databases = Object.entries(file.databases ?? {}).map(
    ([name, entry]) => [name, databaseOf(entry, { ...at, where: `${at.where}: databases.${name}` })] as const,
  );
  const models = modelsOf(file.models ?? {}, env, at);
  const store = storeOf(file.store, { ...at, cwd: source.cwd, dataFolder: folders.data });
  const encryption = encryptionOf(file.encryption, at);
  const web = webOf(file.web, at);
  const versioning = versioningOf(file.temporal?.versioning, source.env, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    file: path,
    // Without a prototype: `constructor` is no database unless one is called so.
    databases: Object.assign(Object.create(null) as Record<string, DatabaseConfig>, Object.fromEntries(databases)),
    models,
    prices: file.prices ?? {},
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
    memory: env.memory ?? file.memory ?? 'on',
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
