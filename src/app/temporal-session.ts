/**
 * Which Temporal a command talks to (design §6, D9): `TEMPORAL_ADDRESS` or the configuration, a `temporal.toml` profile,
 * else the store's embedded server. Commands that only look never start one.
 */
import type { Config } from '../config';
import { codecEndpoint } from '../config';
import { embeddedPlace } from '../config/store';
import type { Environment } from '../config/folders';
import type { Progress } from '../search/progress';
import type { EmbeddedServer } from '../workers/embedded-server';
import { configuredTemporal, type Target } from '../workers/configured-temporal';
import { dataConverterOf } from '../workers/payloads';
import { startTracing } from '../workers/telemetry/tracing';
import { registerSearchAttributes } from '../workers/search-attributes';
import { cancelWorkflow, connectClient, type GateClient } from '../workers/client';
import { GRPC, grpcCode } from '../workers/grpc-status';
import { noAnswer, TemporalUnreachableError, type TemporalProblem } from '../workers/connection-problem';
import {
  batchProgress,
  describeQuestion,
  isPaused,
  listQuestions,
  questionProgress,
  questionView,
  type QuestionDescription,
} from '../workers/workflow-views';
import type { BatchProgress } from '../workflows/batch-progress';
import { questionWorkflowId } from '../workflows/ids';
import { each } from '../limiter';
import { note, type App, type UiPlace } from './app';
import { errorText } from './errors';

export { configuredTemporal, type Target };

/** Joins or starts what is needed. */
export async function openTemporal(
  config: Config,
  env: Environment,
  options: {
    readonly onProgress: (line: string) => void;
    /** Told before this session is connected, so that a worker can be made meanwhile. */
    readonly onTarget?: (target: Target) => void;
    readonly port?: number;
    readonly uiPort?: number;
    readonly uiCodecEndpoint?: string;
    readonly serverless?: boolean;
  },
): Promise<TemporalSession> {
  await startTracing(env, options.onProgress);
  const configured = configuredTemporal(config, env);
  const dataConverter = dataConverterOf(config);
  if (configured !== null) {
    options.onTarget?.({ ...configured, dataConverter });
    return TemporalSession.connect({ ...configured, dataConverter });
  }
  const { joinEmbeddedServer } = await import('../workers/embedded-server');
  const codec = config.encryption === null ? {} : { uiCodecEndpoint: codecEndpoint(config.encryption) };
  const embedded = await joinEmbeddedServer({ place: embeddedPlace(config), env, ...codec, ...options });
  const target = { address: embedded.address, namespace: 'default', dataConverter };
  options.onTarget?.(target);
  try {
    const joined = await TemporalSession.connect(target, embedded.uiUrl, embedded);
    // The database file of an earlier version has a namespace without search attributes.
    await registerSearchAttributes(joined.gate.client).catch((error: unknown) => {
      options.onProgress(`the Temporal UI lists searches without their question and state: ${errorText(error, false)}`);
    });
    return joined;
  } catch (error) {
    await embedded.leave();
    throw error;
  }
}

/** What is up already; null when nothing is. A configured Temporal that cannot be used counts as nothing: `tell` is told why. */
export async function openRunning(
  config: Config,
  env: Environment,
  tell: (problem: TemporalProblem) => void = () => undefined,
): Promise<TemporalSession | null> {
  const configured = configuredTemporal(config, env);
  const dataConverter = dataConverterOf(config);
  if (configured !== null) {
    const connectionOptions = { ...configured.connectionOptions, connectTimeout: ANSWER_WITHIN_MS };
    return TemporalSession.connect({ ...configured, connectionOptions, dataConverter }).catch((error: unknown) => {
      if (!(error instanceof TemporalUnreachableError)) throw error;
      tell(error.problem);
      return null;
    });
  }
  const { embeddedServerInfo } = await import('../workers/embedded-server');
  const info = await embeddedServerInfo(embeddedPlace(config));
  if (info === null) return null;
  const target = { address: `127.0.0.1:${info.port}`, namespace: 'default', dataConverter };
  return TemporalSession.connect(target, info.uiPort === null ? null : `http://127.0.0.1:${info.uiPort}`);
}

/** What to call a search without a record that Temporal does not report as running: only an answer tells. */
export function statusWithoutRecord(config: Config, env: Environment, answered: boolean): 'interrupted' | 'unknown' {
  return answered || configuredTemporal(config, env) === null ? 'interrupted' : 'unknown';
}

/** null: no Temporal answers. `waiting`: the searches of batches that nobody has begun. */
export async function liveSearches(
  app: App,
  waitingIn: (session: TemporalSession) => Promise<ReadonlySet<string>>,
): Promise<{
  readonly running: ReadonlyMap<string, 'running' | 'paused'>;
  readonly waiting: ReadonlySet<string>;
} | null> {
  const tell = storeOnly(app);
  const open = await openRunning(app.config, app.env, tell);
  if (open === null) return null;
  try {
    return await open.gate.client.connection.withDeadline(Date.now() + LIST_WITHIN_MS, async () => {
      const known = (await listQuestions(open.gate, 500)).filter(({ status }) => status === 'RUNNING');
      const running = new Map(
        await each(known, async ({ searchId }): Promise<[string, 'running' | 'paused']> => [
          searchId,
          (await isPaused(open.gate, searchId)) ? 'paused' : 'running',
        ]),
      );
      return { running, waiting: await waitingIn(open) };
    });
  } catch (error) {
    if (!isDeadline(error)) throw error;
    tell(noAnswer(open.address));
    return null;
  } finally {
    await open.close();
  }
}

/** For what goes on without Temporal. */
export function storeOnly(app: Pick<App, 'onEvent'>): (problem: TemporalProblem) => void {
  return ({ what, fix }) => note(app, `${what}: showing what the store holds; ${fix}`);
}

const ANSWER_WITHIN_MS = 3_000;
const LIST_WITHIN_MS = 15_000;

export class TemporalSession {
  private constructor(
    readonly gate: GateClient,
    /** For workers on this session. */
    readonly target: Target,
    readonly uiUrl: string | null,
    /** The embedded server, when this session joined it. */
    readonly embedded: EmbeddedServer | null,
  ) {}

  static async connect(
    target: Target,
    uiUrl: string | null = null,
    embedded: EmbeddedServer | null = null,
  ): Promise<TemporalSession> {
    return new TemporalSession(await connectClient(target), target, uiUrl, embedded);
  }

  get address(): string {
    return this.target.address;
  }

  get namespace(): string {
    return this.target.namespace;
  }

  uiOf(searchId: string): string | null {
    return this.uiOfWorkflow(questionWorkflowId(searchId));
  }

  /** Where the UI shows a search. The last user of an embedded server stops it, and its UI with it. */
  uiPlace(searchId: string, config: Pick<Config, 'encryption'>): UiPlace {
    const staysUp = this.embedded === null || this.embedded.info.keep;
    return { url: this.uiOf(searchId), staysUp, decoding: decodedInUi(config, this) };
  }

  uiOfWorkflow(id: string): string | null {
    return this.uiUrl === null ? null : `${this.uiUrl}/namespaces/${this.namespace}/workflows/${id}`;
  }

  describe(searchId: string): Promise<QuestionDescription | null> {
    return describeQuestion(this.gate, searchId);
  }

  /** Null when no worker answers in time. */
  progress(searchId: string): Promise<Progress | null> {
    return answerInTime(this.gate, () => questionProgress(this.gate, searchId));
  }

  /** Null when no worker answers in time. */
  batchProgress(batchId: string): Promise<BatchProgress | null> {
    return answerInTime(this.gate, () => batchProgress(this.gate, batchId));
  }

  /** Null when no worker answers in time. */
  view<T>(searchId: string, query: 'plan' | 'memory' | 'candidates'): Promise<T | null> {
    return answerInTime(this.gate, () => questionView<T>(this.gate, searchId, query));
  }

  cancel(searchId: string): Promise<boolean> {
    return cancelWorkflow(this.gate, questionWorkflowId(searchId));
  }

  /** Leaves the server; `keep` lets an embedded one stay up. True: it still runs. */
  async close({ keep = false }: { readonly keep?: boolean } = {}): Promise<boolean> {
    await this.gate.close();
    return this.embedded === null || (await this.embedded.leave({ keep })) === 'running';
  }
}

/** The line after a link into the UI; empty without a UI or without encryption. */
export function decodedInUi({ encryption }: Pick<Config, 'encryption'>, { embedded, uiUrl }: Shown): string {
  if (encryption === null || uiUrl === null) return '';
  const endpoint = codecEndpoint(encryption);
  const through =
    encryption.codecServer === null
      ? `while gate ops codec-server runs (${endpoint})`
      : `through the codec server ${endpoint}`;
  // A UI that was started without encryption, or with another address.
  const enter = embedded?.info.uiCodecEndpoint === endpoint ? '' : '; enter its address in the UI (the glasses)';
  return `Encrypted payloads are shown there in plain ${through}${enter}\n`;
}

type Shown = Pick<TemporalSession, 'embedded' | 'uiUrl'>;

/** A query is answered by a worker: with none, or before its first task, there is nothing to show yet. */
async function answerInTime<T>(gate: GateClient, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await gate.client.connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);
  } catch (error) {
    if (error instanceof Error && NOT_YET.has(error.name)) return null;
    if (isDeadline(error)) return null;
    throw error;
  }
}

const NOT_YET = new Set(['QueryNotRegisteredError', 'QueryRejectedError', 'WorkflowNotFoundError']);
const NO_ANSWER: readonly unknown[] = [GRPC.deadlineExceeded, GRPC.failedPrecondition, GRPC.cancelled];

export function isDeadline(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (NO_ANSWER.includes(grpcCode(at))) return true;
  }
  return false;
}
