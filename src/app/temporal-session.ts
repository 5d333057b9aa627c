/** A connection to Temporal, as commands use it. Which Temporal that is: `open-temporal.ts`. */
import { codecEndpoint, type Config } from '../config';
import { each } from '../limiter';
import type { Progress } from '../search/progress';
import { cancelWorkflow, connectClient, type GateClient } from '../workers/client';
import type { Target } from '../workers/configured-temporal';
import type { EmbeddedServer } from '../workers/embedded-server';
import { GRPC, grpcCode, isInChain } from '../workers/grpc-status';
import {
  batchProgress,
  describeQuestion,
  isPaused,
  questionView,
  runningQuestions,
  type QuestionDescription,
} from '../workers/workflow-views';
import type { BatchProgress } from '../workflows/batch-progress';
import { questionWorkflowId, searchIdIn } from '../workflows/ids';
import type { UiPlace } from './app';

/** Searches of batches under way that nobody has begun yet. */
export type Waiting = (session: TemporalSession) => Promise<ReadonlySet<string>>;

/** Searches that have not ended, by id. */
export interface Living {
  readonly running: ReadonlyMap<string, 'running' | 'paused'>;
  readonly waiting: ReadonlySet<string>;
}

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
  progress(searchId: string, withinMs?: number): Promise<Progress | null> {
    return answerInTime(this.gate, () => questionView<Progress | null>(this.gate, searchId, 'progress'), withinMs);
  }

  /** Null when no worker answers in time. */
  batchProgress(batchId: string): Promise<BatchProgress | null> {
    return answerInTime(this.gate, () => batchProgress(this.gate, batchId));
  }

  /** Null when no worker answers in time. */
  view<T>(searchId: string, query: 'plan' | 'memory' | 'candidates'): Promise<T | null> {
    return answerInTime(this.gate, () => questionView<T>(this.gate, searchId, query));
  }

  /** Null when Temporal does not answer in time. */
  living(waitingIn: Waiting): Promise<Living | null> {
    return answerInTime(this.gate, () => this.#living(waitingIn), LIST_WITHIN_MS);
  }

  async #living(waitingIn: Waiting): Promise<Living> {
    const known = await runningQuestions(this.gate, MOST_LISTED);
    const running = await each(known, async ({ workflowId }): Promise<[string, 'running' | 'paused']> => {
      const searchId = searchIdIn(workflowId);
      return [searchId, (await isPaused(this.gate, searchId)) ? 'paused' : 'running'];
    });
    return { running: new Map(running), waiting: await waitingIn(this) };
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
async function answerInTime<T>(
  gate: GateClient,
  ask: () => Promise<T>,
  withinMs = ANSWER_WITHIN_MS,
): Promise<T | null> {
  try {
    return await gate.client.connection.withDeadline(Date.now() + withinMs, ask);
  } catch (error) {
    if (error instanceof Error && NOT_YET.has(error.name)) return null;
    if (isDeadline(error)) return null;
    throw error;
  }
}

const ANSWER_WITHIN_MS = 3_000;
const LIST_WITHIN_MS = 15_000;
const MOST_LISTED = 500;

const NOT_YET = new Set(['QueryNotRegisteredError', 'QueryRejectedError', 'WorkflowNotFoundError']);
const NO_ANSWER: readonly unknown[] = [GRPC.deadlineExceeded, GRPC.failedPrecondition, GRPC.cancelled];

export function isDeadline(error: unknown): boolean {
  return isInChain(error, (one) => NO_ANSWER.includes(grpcCode(one)));
}
