/**
 * The composition root: from the configuration to the ports and steps of one process. Everything is opened on first use,
 * so that a command pays only for what it touches.
 * A workflow names databases and models; here, and in `engines.ts`, names become addresses and keys (design D7).
 */
import type { BatchPorts } from '../activities/batch';
import { Secret, type Config, type WebConfig } from '../config';
import { limitsOf, shareOf } from '../config/limits';
import type { ResolvedDatabase } from '../config/databases';
import { ModelError, WebError, type LanguageModel, type ObjectStore } from '../domain/ports';
import { createRunStore } from '../record/run-store';
import { createSteps } from '../methods/steps';
import type { StepDeps } from '../roles/shared/context';
import { createWatchSteps } from '../roles/layer/verify';
import { createRepeatSteps } from '../roles/answer/repeat';
import type { Receiver, Receivers, ScheduledSteps } from '../domain/ports/notices';
import { sha256 } from '../sha256';
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
}

export interface Composition extends ServedModel {
  readonly store: ObjectStore;
  readonly steps: WorkerSteps;
  readonly batch: BatchPorts;
  readonly scheduled: ScheduledSteps;
  /** Opens the database and reads from it, behind the guard. */
  readonly engine: StepDeps['engine'];
  readonly model: LanguageModel;
  /** Models an Ollama offers, when one was found in place of a key; else null. */
  readonly ollamaModels: readonly string[] | null;
  /** Closes the databases; the next use opens them again. */
  close(): Promise<void>;
}

export async function compose(config: Config, options: CompositionOptions = {}): Promise<Composition> {
  const store = openStore(config);
  const opened = await openModel(config, options);
  const { adHoc, engine, close } = options.engines ?? openEngines(config, options.adHoc);
  const deps: StepDeps = {
    store,
    models: () => opened.model,
    engine,
    // A model's own queue may be served where the question's database is not reachable.
    inspector: async (name, dialect) =>
      adHoc.has(name) || Object.hasOwn(config.databases, name) ? (await engine(name)).inspector : inspectorOf(dialect),
    web: config.web === null ? undefined : webOnce(config.web),
    // A limit that is set is kept.
    outputCeiling: config.models.maxOutputTokens,
    onJournalHit: ({ role, model }) => telemetry.metrics?.add('gate_journal_hits_total', { role, model }),
    clock: { now: () => Date.now() },
  };
  const telling = { ...deps, receivers: receiversOf(config) };
  return {
    ...opened,
    store,
    steps: createSteps(deps),
    batch: batchPorts(store),
    scheduled: { ...createWatchSteps(telling), ...createRepeatSteps(telling) },
    engine,
    close,
  };
}

export function batchPorts(store: ObjectStore): BatchPorts {
  return {
    store,
    // Without its rows: what a batch needs to know.
    readAnswer: async (searchId) => {
      const record = await createRunStore(store, searchId).find('result', searchId);
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

type OpenedModel = Pick<Composition, 'model' | 'modelUrl' | 'recording' | 'ollamaModels'>;

async function openModel(config: Config, { record, replay, scope }: CompositionOptions): Promise<OpenedModel> {
  if (replay !== undefined) {
    const { replayModel } = await import('../adapters/recording');
    return { model: await replayModel(replay, scope), modelUrl: 'none', recording: replay, ollamaModels: null };
  }
  const opened = await openEndpoint(config);
  if (record === undefined) return opened;
  const { recordingModel } = await import('../adapters/recording');
  return { ...opened, recording: record, model: recordingModel(opened.model, record, { scope }) };
}

/** Without an endpoint the model fails at its first use, so that commands which ask no model work without one. */
async function openEndpoint(config: Config): Promise<OpenedModel> {
  const { createOpenAiModel, detectOllama, OPENAI_BASE_URL } = await import('../adapters/openai');
  const { createPacedModel } = await import('../adapters/paced-model');
  const { priorityOfStep } = await import('./priority');
  const { apiKey, baseUrl, requestTimeoutMs: timeoutMs, limits, apiKeySource } = config.models;
  const isConfigured = apiKey !== null || baseUrl !== null;
  const ollama = isConfigured ? null : await detectOllama();
  const none = { recording: null, ollamaModels: ollama?.models ?? null };
  if (!isConfigured && ollama === null) {
    const message = `no model to ask: set ${apiKeySource}, or OPENAI_BASE_URL, or start an Ollama`;
    const complete = () => Promise.reject(new ModelError('not-configured', message));
    return { ...none, model: { endpoint: 'none', complete }, modelUrl: 'none' };
  }
  const url = ollama?.baseUrl ?? baseUrl;
  const key = apiKey?.reveal() ?? null;
  const endpoint = createOpenAiModel({ apiKey: key, baseUrl: url, timeoutMs, prices: config.prices });
  const share = (name: string) => {
    const found = limitsOf(limits, name);
    return found && shareOf(found);
  };
  const model = createPacedModel(observedModel(endpoint), share, priorityOfStep);
  return { ...none, model, modelUrl: url ?? OPENAI_BASE_URL };
}

type Webhook = Config['webhooks'][number];

/** The configured webhooks as receivers of notices. */
function receiversOf({ webhooks }: Pick<Config, 'webhooks'>): Receivers {
  const receivers = webhooks.map((webhook) => ({ events: webhook.events, receiver: receiverOf(webhook) }));
  return {
    wanting: (type) => receivers.flatMap(({ events, receiver }) => (events.includes(type) ? [receiver] : [])),
  };
}

function receiverOf({ setting: name, url, events, secret, allowPrivate }: Webhook): Receiver {
  return {
    name: sha256(JSON.stringify([url, events])).slice(0, 12),
    post: async (event, signal) => {
      if (!(secret instanceof Secret)) throw new WebError('misconfigured', `${name} has no secret: ${secret.fix}`);
      const { postEvent } = await import('../adapters/web/post-event');
      await postEvent({ name, url, secret: secret.reveal(), allowPrivate }, event, signal);
    },
  };
}
