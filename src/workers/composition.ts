/**
 * The composition root: from the configuration to the ports and steps of one process. Everything is opened on first use,
 * so that a command pays only for what it touches.
 * A workflow names databases and models; here, and in `engines.ts`, names become addresses and keys (design D7).
 */
import type { BatchPorts } from '../activities/batch';
import type { PaceLimits } from '../adapters/paced-model';
import type { Config, WebConfig } from '../config';
import { limitsOf, shareOf } from '../config/limits';
import type { ResolvedDatabase } from '../config/databases';
import { ModelError, WebError, type Clock, type LanguageModel, type ObjectStore } from '../domain/ports';
import { createRunStore } from '../record/run-store';
import { sha256 } from '../sha256';
import { createSteps } from '../methods/steps';
import type { StepDeps } from '../roles/shared/context';
import { createWatchSteps } from '../roles/layer/verify';
import type { WatchSteps } from '../domain/ports/steps';
import { telemetry } from './telemetry/tracing';
import { observedModel } from './telemetry/observed';
import { inspectorOf, openEngines, type Engines } from './engines';
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
  /** Which run of a comparison this is, where one recording holds several. */
  readonly scope?: string;
  readonly clock?: Clock;
}

export interface Composition extends ServedModel {
  readonly store: ObjectStore;
  readonly steps: WorkerSteps;
  readonly batch: BatchPorts;
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

export async function compose(config: Config, options: CompositionOptions = {}): Promise<Composition> {
  const store = openStore(config);
  const { model, modelUrl, recording, ollamaModels, close: closeModel } = await openModel(config, options);
  const { adHoc, engine, close: closeEngines } = options.engines ?? openEngines(config, options.adHoc);
  const deps: StepDeps = {
    store,
    models: () => model,
    engine,
    // A model's own queue may be served where the question's database is not reachable.
    inspector: async (name, dialect) =>
      adHoc.has(name) || Object.hasOwn(config.databases, name) ? (await engine(name)).inspector : inspectorOf(dialect),
    web: config.web === null ? undefined : webOnce(config.web),
    // A limit that is set is kept.
    outputCeiling: config.models.maxOutputTokens,
    onJournalHit: ({ role, model }) => telemetry.metrics?.add('gate_journal_hits_total', { role, model }),
    clock: options.clock ?? { now: () => Date.now() },
    hash: sha256,
  };
  return {
    store,
    steps: createSteps(deps),
    batch: batchPorts(store),
    watch: createWatchSteps(deps),
    engine,
    model,
    modelUrl,
    recording,
    ollamaModels,
    closeDatabases: closeEngines,
    async close() {
      await closeEngines();
      await closeModel();
    },
  };
}

/** The final record without its rows: what a batch needs to know. */
export function batchPorts(store: ObjectStore): BatchPorts {
  return {
    store,
    readAnswer: async (searchId) => {
      const record = await createRunStore(store, searchId, sha256).find('result', searchId);
      if (record === null) return null;
      const { id, status, endedBy, answer, sql, reason, usage } = record;
      return { id, status, endedBy, answer, sql, reason, usage };
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
    return { ...replayed, model: await replayModel(options.replay, options.scope), close: nothing };
  }
  const opened = { ...(await openEndpoint(config)), close: nothing };
  if (options.record === undefined) return { ...opened, recording: null };
  const { recordingModel } = await import('../adapters/recording');
  const { record, scope } = options;
  const model = recordingModel(opened.model, record, scope === undefined ? {} : { scope });
  return { ...opened, recording: record, model };
}

/** Temporal's own. */
const USUAL_PRIORITY = 3;

async function openEndpoint(config: Config): Promise<Pick<OpenedModel, 'model' | 'modelUrl' | 'ollamaModels'>> {
  const { createOpenAiModel, detectOllama, OPENAI_BASE_URL } = await import('../adapters/openai');
  const { createPacedModel } = await import('../adapters/paced-model');
  const { asyncLocalStorage } = await import('@temporalio/activity');
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
    // What a person asks goes before the questions of a batch (`workflows/run-batch.ts`).
    const rankOf = (): number => asyncLocalStorage.getStore()?.info.priority?.priorityKey ?? USUAL_PRIORITY;
    return createPacedModel(observedModel(endpoint), share, rankOf);
  };
  if (apiKey !== null || baseUrl !== null)
    return { model: create(baseUrl), modelUrl: baseUrl ?? OPENAI_BASE_URL, ollamaModels: null };
  const ollama = await detectOllama();
  if (ollama !== null) return { model: create(ollama.baseUrl), modelUrl: ollama.baseUrl, ollamaModels: ollama.models };
  const source = config.models.apiKeySource;
  return {
    model: unconfigured(`no model to ask: set ${source}, or OPENAI_BASE_URL, or start an Ollama`),
    modelUrl: 'none',
    ollamaModels: null,
  };
}

/** Fails at its first use, so that commands which ask no model work without one. */
function unconfigured(message: string): LanguageModel {
  return { endpoint: 'none', complete: () => Promise.reject(new ModelError('not-configured', message)) };
}
