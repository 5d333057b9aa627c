/**
 * The composition root: from the configuration to the ports and steps of one process. Everything is opened on first use,
 * so that a command pays only for what it touches.
 *
 * 1. A workflow names databases and models; here is where names become addresses and keys (design D7).
 * 2. Every engine is behind the guard: the parser's fence and the access list hold for whatever SQL arrives.
 */
import { createGuardedEngine } from '../adapters/guard';
import type { PaceLimits } from '../adapters/paced';
import type { Config } from '../config';
import { limitsOf, shareOf } from '../config/limits';
import type { SnowflakeLogin } from '../config/snowflake';
import type { WebConfig } from '../config/web';
import { asItIs, namedDatabase, type ResolvedDatabase } from '../config/databases';
import type { Dialect } from '../domain';
import type { WatchSteps } from '../ports/drift';
import {
  ModelError,
  SqlEngineError,
  WebError,
  type Clock,
  type LanguageModel,
  type ObjectStore,
  type SqlInspector,
} from '../ports';
import { sha256 } from '../sha256';
import { createSteps, type StepDeps } from '../steps';
import { createWatchSteps } from '../steps/watch-layer';
import { telemetry } from '../telemetry/active';
import { observedEngine, observedModel } from '../telemetry/observed';
import { identityKey } from '../steps/context';
import { identityChain } from './database-aliases';
import { tellerOf } from './drift-outlets';
import { withDescriptionCache } from './description-cache';
import { openEmbedder } from './open-embedder';
import { openStore } from './open-store';
import type { WorkerSteps } from './run-worker';
import type { ServedModel } from './serving';

export interface CompositionOptions {
  /** What this process may serve although it is not configured (an ad-hoc path or URL); configured ones change nothing. */
  readonly adHoc?: readonly ResolvedDatabase[];
  /** Engines that were opened before, in place of `adHoc`; closed with the composition. */
  readonly engines?: Engines;
  /** Stores every exchange with the model in this file. */
  readonly record?: string;
  /** Answers from a recording instead of a model. */
  readonly replay?: string;
  readonly clock?: Clock;
}

export interface Composition extends ServedModel {
  readonly store: ObjectStore;
  readonly steps: WorkerSteps;
  readonly watch: WatchSteps;
  /** Opens the database and reads from it, behind the guard. */
  readonly engine: StepDeps['engine'];
  readonly model: LanguageModel;
  /** Models an Ollama offers, when one was found in place of a key; else null. */
  readonly ollamaModels: readonly string[] | null;
  /** The next use opens them again. */
  closeDatabases(): Promise<void>;
  close(): Promise<void>;
}

export interface Engines {
  readonly adHoc: ReadonlyMap<string, ResolvedDatabase>;
  readonly engine: StepDeps['engine'];
  readonly close: () => Promise<void>;
}

/** The databases alone, each opened on first use. */
export function openEngines(config: Config, databases: readonly ResolvedDatabase[] = []): Engines {
  const adHoc = new Map(databases.filter((one) => one.adHoc).map((one) => [one.name, one]));
  const resolved = new Map(adHoc);
  const engines = new Map<string, { readonly version: string; readonly open: ReturnType<StepDeps['engine']> }>();
  const replaced = new Set<ReturnType<StepDeps['engine']>>();
  let opened: ObjectStore | null = null;
  const store = (): ObjectStore => (opened ??= openStore(config));
  /** Statements that run read the file that they began with; whoever comes next reads the one that is there now. */
  const retire = (open: ReturnType<StepDeps['engine']>): void => {
    replaced.add(open);
    setTimeout(() => {
      if (replaced.delete(open)) void closeAll([open]);
    }, RETIRED_MS).unref();
  };
  const engineOf = (database: ResolvedDatabase): ReturnType<StepDeps['engine']> => {
    const { name, version } = database;
    const before = engines.get(name);
    if (before?.version === version) return before.open;
    if (before !== undefined) retire(before.open);
    const cache = { database: identityKey(database.identity), store, hash: sha256 };
    const open = openEngine(database).then(({ engine, inspector }) => {
      // One that is not configured is named by its path or URL, which is nobody's business.
      const observed = observedEngine(engine, database.adHoc ? 'ad-hoc' : name);
      return withDescriptionCache({ engine: observed, inspector }, cache);
    });
    engines.set(name, { version, open });
    // A failed opening is tried again by the next step.
    open.catch(() => engines.get(name)?.open === open && engines.delete(name));
    return open;
  };
  return {
    adHoc,
    async engine(name, identity) {
      const database = asItIs(resolved.get(name) ?? namedDatabase(config, name));
      resolved.set(name, database);
      if (identity !== undefined) await checkIdentity(database, identity, store);
      return engineOf(database);
    },
    async close() {
      await closeAll([...replaced, ...[...engines.values()].map(({ open }) => open)]);
      replaced.clear();
      // The next use opens them again.
      engines.clear();
    },
  };
}

/** Longer than any statement. */
const RETIRED_MS = 30 * 60_000;

async function closeAll(engines: readonly ReturnType<StepDeps['engine']>[]): Promise<void> {
  const opened = await Promise.allSettled(engines);
  for (const one of opened) if (one.status === 'fulfilled') await one.value.engine.close();
}

/** A search goes on with the database that it was asked of, or not at all. */
async function checkIdentity(database: ResolvedDatabase, wanted: string, store: () => ObjectStore): Promise<void> {
  const { name, identity, addressLabel } = database;
  if (identity === wanted || (await identityChain(store(), identity)).includes(wanted)) return;
  throw new SqlEngineError(
    'not-configured',
    `'${name}' is another database here (${addressLabel}) than the one that was asked: check its address, or if it only moved, run gate db adopt ${name}`,
  );
}

export async function compose(config: Config, options: CompositionOptions = {}): Promise<Composition> {
  const store = openStore(config);
  const { model, modelUrl, recording, ollamaModels, close: closeModel } = await openModel(config, options);
  // A recording holds no vectors.
  const isRecorded = options.record !== undefined || options.replay !== undefined;
  const opened = isRecorded ? null : openEmbedder(config);
  const { adHoc, engine, close: closeEngines } = options.engines ?? openEngines(config, options.adHoc);
  const deps: StepDeps = {
    store,
    models: () => model,
    engine,
    // A model's own queue may be served where the question's database is not reachable.
    inspector: async (name, dialect) =>
      adHoc.has(name) || Object.hasOwn(config.databases, name) ? (await engine(name)).inspector : inspectorOf(dialect),
    ...(config.web === null ? {} : { web: webOnce(config.web) }),
    ...(opened === null ? {} : { embedder: opened.embedder }),
    // A limit that is set is kept.
    outputCeiling: config.models.maxOutputTokens,
    onJournalHit: ({ role, model }) => telemetry.metrics?.add('gate_journal_hits_total', { role, model }),
    clock: options.clock ?? { now: () => Date.now() },
    hash: sha256,
  };
  return {
    store,
    steps: createSteps(deps),
    watch: createWatchSteps({ ...deps, tell: tellerOf(config.watch) }),
    engine,
    ...{ model, modelUrl, recording, ollamaModels },
    closeDatabases: closeEngines,
    async close() {
      opened?.close();
      await closeEngines();
      await closeModel();
    },
  };
}

/** One for the process: it remembers each site's robots.txt. */
function webOnce({ provider, baseUrl, apiKey, fix }: WebConfig): NonNullable<StepDeps['web']> {
  let opened: ReturnType<NonNullable<StepDeps['web']>> | null = null;
  const open = async (): ReturnType<NonNullable<StepDeps['web']>> => {
    if (fix !== null) throw new WebError('not-configured', `the web search of ${provider} has no key: ${fix}`);
    const { createWeb } = await import('../adapters/web');
    return createWeb({ provider, baseUrl, apiKey: apiKey?.reveal() ?? null });
  };
  return () => (opened ??= open());
}

async function inspectorOf(dialect: Dialect): Promise<SqlInspector> {
  switch (dialect) {
    case 'sqlite':
      return (await import('../adapters/sqlite')).createSqliteInspector();
    case 'postgresql':
      return (await import('../adapters/postgres')).createPostgresInspector();
    case 'snowflake':
      return (await import('../adapters/snowflake')).createSnowflakeInspector({ functions: [] });
  }
}

async function openEngine(database: ResolvedDatabase): ReturnType<StepDeps['engine']> {
  const { access, address, role, dialect, limits, schemas, snowflake } = database;
  if (dialect === 'sqlite') {
    const { createSqliteEngine, createSqliteInspector } = await import('../adapters/sqlite');
    if (address.kind !== 'path') throw new TypeError('an SQLite database has a path');
    const inspector = createSqliteInspector();
    const poolSize = limits.maxConnections ?? undefined;
    const opened = createSqliteEngine({ path: address.path, ...(poolSize === undefined ? {} : { poolSize }) });
    return { engine: createGuardedEngine(opened, inspector, access), inspector };
  }
  if (dialect === 'snowflake') {
    const { createSnowflakeEngine, createSnowflakeInspector } = await import('../adapters/snowflake');
    if (address.kind !== 'url') throw new TypeError('a Snowflake database has a URL');
    const { accessUrl, allowPrivilegedRole, functions, login } = snowflake;
    const inspector = createSnowflakeInspector({ functions });
    const opened = createSnowflakeEngine({
      url: address.url.reveal(),
      options: {
        login: revealedLogin(login),
        role,
        schemas,
        accessUrl,
        allowPrivilegedRole,
        ...(limits.maxConnections === null ? {} : { poolSize: limits.maxConnections }),
        ...(limits.maxScanBytes === null ? {} : { maxScanBytes: limits.maxScanBytes }),
      },
    });
    return { engine: createGuardedEngine(opened, inspector, access), inspector };
  }
  const { createPostgresEngine, createPostgresInspector } = await import('../adapters/postgres');
  if (address.kind !== 'url') throw new TypeError('a PostgreSQL database has a URL');
  const inspector = await createPostgresInspector();
  const { maxConnections, maxPlanCost } = limits;
  const opened = createPostgresEngine({
    url: address.url.reveal(),
    options: {
      ...(role === null ? {} : { role }),
      ...(maxConnections === null ? {} : { poolSize: maxConnections }),
      ...(maxPlanCost === null ? {} : { maxPlanCost }),
      schemas,
    },
  });
  return { engine: createGuardedEngine(opened, inspector, access, schemas), inspector };
}

function revealedLogin(login: ResolvedDatabase['snowflake']['login']): SnowflakeLogin<string> | null {
  switch (login.kind) {
    case 'key':
      return { ...login, privateKey: login.privateKey.reveal(), passphrase: login.passphrase?.reveal() ?? null };
    case 'token':
      return { ...login, token: login.token.reveal() };
    case 'password':
      return { ...login, password: login.password.reveal() };
    case 'url':
    case 'unset':
      return null;
    default:
      return login satisfies never;
  }
}

interface OpenedModel extends ServedModel {
  readonly model: LanguageModel;
  readonly ollamaModels: readonly string[] | null;
  readonly close: () => Promise<void>;
}

async function openModel(config: Config, options: CompositionOptions): Promise<OpenedModel> {
  const nothing = (): Promise<void> => Promise.resolve();
  if (options.replay !== undefined) {
    const { replayModel } = await import('../adapters/recording');
    const replayed = { modelUrl: 'none', recording: options.replay, ollamaModels: null };
    return { ...replayed, model: await replayModel(options.replay), close: nothing };
  }
  const opened = { ...(await openEndpoint(config)), close: nothing };
  if (options.record === undefined) return { ...opened, recording: null };
  const { recordingModel } = await import('../adapters/recording');
  return { ...opened, recording: options.record, model: recordingModel(opened.model, options.record) };
}

async function openEndpoint(config: Config): Promise<Pick<OpenedModel, 'model' | 'modelUrl' | 'ollamaModels'>> {
  const { createOpenAiModel, detectOllama, OPENAI_BASE_URL } = await import('../adapters/openai');
  const { createPacedModel } = await import('../adapters/paced');
  const { apiKey, baseUrl, requestTimeoutMs } = config.models;
  const create = (url: string | null): LanguageModel => {
    const endpoint = createOpenAiModel({
      apiKey: apiKey?.reveal() ?? null,
      baseUrl: url,
      timeoutMs: requestTimeoutMs,
      prices: config.prices,
    });
    const share = (model: string): PaceLimits | null => {
      const limits = limitsOf(config.models.limits, model);
      return limits === null ? null : shareOf(limits);
    };
    return createPacedModel(observedModel(endpoint), { limitsOf: share });
  };
  if (apiKey !== null || baseUrl !== null)
    return { model: create(baseUrl), modelUrl: baseUrl ?? OPENAI_BASE_URL, ollamaModels: null };
  const ollama = await detectOllama();
  if (ollama !== null) return { model: create(ollama.baseUrl), modelUrl: ollama.baseUrl, ollamaModels: ollama.models };
  const source = config.models.apiKeySource;
  return {
    model: unconfigured(`no model to ask: set ${source}, or OPENAI_BASE_URL, or start an Ollama`),
    ...{ modelUrl: 'none', ollamaModels: null },
  };
}

/** Fails at its first use, so that commands which ask no model work without one. */
function unconfigured(message: string): LanguageModel {
  return { endpoint: 'none', complete: () => Promise.reject(new ModelError('not-configured', message)) };
}
