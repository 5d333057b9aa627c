/**
 * A batch as one durable workflow. It works through a stored manifest and keeps N questions in flight, each a workflow of
 * its own.
 *
 * 1. Questions continue when the batch closes (abandoned, not terminated) and have ids of their own. So a batch that is run
 *    again joins running questions and does not start finished ones.
 * 2. Between pages it continues as new if its history is long. Questions in flight are carried over and followed.
 * 3. A question that failed is recorded as an infrastructure failure, apart from the answers, and the batch continues. One
 *    whose model gave no usable reply is answered, with status `failed`: wrongly.
 * 4. If cancelled, it starts no more questions, cancels those in flight, waits for their final records, and completes.
 * 5. A question that follows another starts once that one has ended, however it ended.
 * 6. Once a question failed by what its model endpoint did, no further one starts while any is in flight, until one is
 *    answered. Three such questions in a row end the batch: the others are left for the next run.
 * 7. If paused, it starts no more questions; those in flight go on, or are paused as well. A pause is carried over
 *    continue-as-new, and so is another concurrency; a lower one lets what is in flight finish.
 */
import {
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Steering } from '../domain';
import type { BatchActivities, BatchEntry, BatchOutcome } from '../domain/ports/batch';
import { reasonOf } from '../search/findings';
import { UNUSABLE_REPLIES } from '../search/select-answer';
import { startSearch, type AnswerQuestionInput } from './answer-question';
import type { BatchCounts, BatchPause, BatchProgress } from './batch-progress';
import { fromParent } from './children';
import { asWorkflowFailure, continueUpgraded, failureType } from './ending';
import { type Attributes, batchMarkdown, openAttributes } from './details';
import { questionWorkflowId } from './ids';
import { GATE_ATTRIBUTES } from './search-attributes';
import { tell } from './tell-receivers';

export interface RunBatchInput {
  readonly batchId: string;
  /** Until a signal gives another. */
  readonly concurrency: number;
  readonly total: number;
  readonly pages: number;
  /** Positions of the questions that are asked; left out: all that have no final record. */
  readonly only?: readonly number[];
  /** The same for every question of the batch. */
  readonly question: Pick<
    AnswerQuestionInput,
    'settings' | 'modelTimeoutMs' | 'modelOutageMs' | 'iterationsPerRun' | 'searchAttributes'
  >;
  /** History events after which the batch continues as new, at the next page. */
  readonly eventsPerRun: number;
  /** Whether webhooks are told of its end; left out: none is configured. */
  readonly tells?: true;
  /** State handed over by the run before. */
  readonly resume: {
    readonly page: number;
    readonly counts: BatchCounts;
    readonly inFlight: readonly BatchEntry[];
    readonly down?: Down;
  } | null;
  /** Carried over continue-as-new; left out: it is not paused. */
  readonly pause?: BatchPause;
}

/** Questions that ended in a row by what the model endpoint did, and what that was. */
interface Down {
  readonly questions: number;
  readonly reason: string;
}

const MOST_DOWN = 3;
const TOLD_WITHIN = '30 seconds';

/** Failures that the next question would meet as well; a refused request or a long prompt is its own. */
const ENDPOINT_DOWN =
  /^ModelError\.(rate-limited|server-error|connection|timeout|bad-answer|authentication|unknown-model)$/;

export const pauseSignal = defineSignal<[BatchPause]>('pause');
export const resumeSignal = defineSignal<[Pick<BatchPause, 'author'>]>('resume');
export const concurrencySignal = defineSignal<[Pick<RunBatchInput, 'concurrency'>]>('concurrency');
export const batchProgressQuery = defineQuery<BatchProgress>('progress');

export async function runBatch(input: RunBatchInput): Promise<BatchProgress> {
  const batch = new Batch(input, CancellationScope.current());
  setHandler(batchProgressQuery, () => batch.progress(), { description: 'Counts per status and questions in flight' });
  setHandler(pauseSignal, (pause) => batch.pause(pause), {
    description: 'Start no further question; with now, pause those in flight: { author, now }',
  });
  setHandler(resumeSignal, ({ author }) => batch.resume(author), { description: 'Go on after a pause: { author }' });
  setHandler(concurrencySignal, ({ concurrency }) => void (batch.concurrency = concurrency), {
    description: 'How many questions run at the same time: { concurrency }',
  });
  // The loop notices a cancellation itself and ends in order: a cancelled scope would interrupt its bookkeeping.
  return CancellationScope.nonCancellable(() => batch.run());
}

/** Its steps have it, too. What a person asks has the usual one, 3, and goes first where it waits for the same worker. */
const BEHIND_PEOPLE = { priorityKey: 4 } as const;

const COMMON = { heartbeatTimeout: '30s', retry: { maximumInterval: '1 minute' } } as const;

class Batch {
  concurrency: number;
  private readonly inFlight = new Map<number, BatchEntry>();
  private readonly failures: unknown[] = [];
  /** Child workflows requested but not started yet: the server would drop them if the batch closed now. */
  private starting = 0;
  /** Commands to questions that are on their way: the server would drop them as well. */
  private telling = 0;
  private counts: BatchCounts;
  private page: number;
  private paused: BatchPause | undefined;
  private down: Down | null;
  private readonly attributes: Attributes;

  constructor(
    private readonly input: RunBatchInput,
    private readonly root: CancellationScope,
  ) {
    this.counts = input.resume?.counts ?? NO_COUNTS;
    this.page = input.resume?.page ?? 0;
    this.paused = input.pause;
    this.down = input.resume?.down ?? null;
    this.concurrency = input.concurrency;
    // A pause that is heard before the run begins reaches the questions that it took over.
    for (const entry of input.resume?.inFlight ?? []) this.inFlight.set(entry.n, entry);
    this.attributes = openAttributes(input.question.searchAttributes);
  }

  async run(): Promise<BatchProgress> {
    void this.cancelWhenAsked();
    for (const entry of this.input.resume?.inFlight ?? []) this.launch(entry, 'follow');
    for (; this.page < this.input.pages && !this.stopping && !this.givenUp; this.page += 1) {
      if (this.historyIsLong()) await this.handOver();
      else await this.runPage();
    }
    await condition(() => this.inFlight.size === 0 || this.failures.length > 0);
    this.check();
    const value = this.stopping ? 'cancelled' : 'completed';
    this.attributes.set([{ key: GATE_ATTRIBUTES.status, value }, this.progressAttribute()]);
    if (this.input.tells === true) await this.tellEnd();
    return this.progress();
  }

  progress(): BatchProgress {
    const { batchId, total } = this.input;
    const done = Object.values(this.counts).reduce((sum, count) => sum + count, 0);
    const inFlight = [...this.inFlight.values()].map(({ n, searchId }) => ({ n, searchId }));
    const paused = this.paused !== undefined;
    return {
      batchId,
      total,
      done,
      counts: this.counts,
      inFlight,
      stopping: this.stopping,
      ...(paused && { paused }),
      ...(this.down && { held: this.down.reason }),
    };
  }

  pause(pause: BatchPause): void {
    if (this.stopping) return;
    this.paused = { ...pause, now: pause.now || this.paused?.now === true };
    this.showPause('paused');
    if (pause.now) this.tellAll({ kind: 'pause', author: pause.author });
  }

  resume(author: string): void {
    if (this.stopping || this.paused === undefined) return;
    const { now } = this.paused;
    this.paused = undefined;
    this.showPause('running');
    if (now) this.tellAll({ kind: 'resume', author });
  }

  private get givenUp(): boolean {
    return (this.down?.questions ?? 0) >= MOST_DOWN && this.inFlight.size === 0;
  }

  private get stopping(): boolean {
    return this.root.consideredCancelled;
  }

  private async runPage(): Promise<void> {
    const { batchId } = this.input;
    const page = this.activities(`page ${String(this.page + 1)} of ${String(this.input.pages)}`);
    const { entries, finished } = await page.loadBatchPage({ batchId, page: this.page });
    const done = new Set(finished.map(({ n }) => n));
    for (const { status } of finished) this.count(status);
    const { only } = this.input;
    let waiting = entries.filter(({ n }) => !done.has(n) && (only === undefined || only.includes(n)));
    while (waiting.length > 0) {
      const next = (): BatchEntry | undefined => {
        const hasPlace = this.inFlight.size < (this.down === null ? this.concurrency : 1);
        return hasPlace && this.paused === undefined ? this.firstReady(waiting) : undefined;
      };
      await condition(() => next() !== undefined || this.stopping || this.failures.length > 0);
      this.check();
      if (this.stopping || this.givenUp) return;
      const entry = next();
      // A pause may have come just now.
      if (entry === undefined) continue;
      this.launch(entry, 'start');
      waiting = waiting.filter((each) => each !== entry);
    }
  }

  /** The first that follows none which has not ended. */
  private firstReady(waiting: readonly BatchEntry[]): BatchEntry | undefined {
    const isOpen = (id: string): boolean =>
      [...this.inFlight.values(), ...waiting].some(({ searchId }) => searchId === id);
    return waiting.find(({ after }) => after === undefined || !isOpen(after));
  }

  private launch(entry: BatchEntry, how: 'start' | 'follow'): void {
    this.inFlight.set(entry.n, entry);
    this.show();
    this.settle(entry, how).catch((error: unknown) => this.failures.push(error));
  }

  private async settle(entry: BatchEntry, how: 'start' | 'follow'): Promise<void> {
    const outcome = how === 'start' ? await this.ask(entry) : await this.follow(entry);
    const results = this.activities(`record question ${String(entry.n + 1)}`);
    await results.recordResult({ batchId: this.input.batchId, n: entry.n, searchId: entry.searchId, outcome });
    this.inFlight.delete(entry.n);
    this.noteEndpoint(outcome);
    this.count(outcome.kind === 'answer' ? outcome.status : outcome.kind);
  }

  private async ask(entry: BatchEntry): Promise<BatchOutcome> {
    const { searchId, label, database } = entry;
    const { workflow: taskQueue, ...taskQueues } = entry.taskQueues;
    const question = { ...this.input.question, searchId, taskQueues, state: null };
    try {
      this.starting += 1;
      const child = await startSearch(question, {
        ...{ label, database, taskQueue, priority: BEHIND_PEOPLE },
        parentClosePolicy: ParentClosePolicy.ABANDON,
      }).finally(() => (this.starting -= 1));
      if (this.stopping) await this.cancel(entry);
      else if (this.paused?.now === true) await this.tell(entry, { kind: 'pause', author: this.paused.author });
      const { status } = await child.result();
      return { kind: 'answer', status };
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return this.follow(entry);
      if (!(error instanceof ChildWorkflowFailure)) throw error;
      const type = failureType(error, 'QuestionFailed');
      if (type === UNUSABLE_REPLIES) return { kind: 'answer', status: 'failed' };
      return { kind: 'infrastructure-failure', type, message: reasonOf(error) };
    }
  }

  private noteEndpoint(outcome: BatchOutcome): void {
    if (outcome.kind === 'answer') this.down = outcome.status === 'cancelled' ? this.down : null;
    else if (ENDPOINT_DOWN.test(outcome.type))
      this.down = { questions: (this.down?.questions ?? 0) + 1, reason: outcome.message };
  }

  private follow(entry: BatchEntry): Promise<BatchOutcome> {
    const steps = this.activities(`wait for question ${String(entry.n + 1)}`);
    return steps.followQuestion({ searchId: entry.searchId, workflowId: questionWorkflowId(entry.searchId) });
  }

  private async cancelWhenAsked(): Promise<void> {
    await condition(() => this.stopping);
    this.show();
    await Promise.all([...this.inFlight.values()].map((entry) => this.cancel(entry)));
  }

  /** Cancels a question. Ignores that it has just ended, or has not started yet: then it is cancelled once it has. */
  private async cancel(entry: BatchEntry): Promise<void> {
    await getExternalWorkflowHandle(questionWorkflowId(entry.searchId))
      .cancel()
      .catch(() => undefined);
  }

  private tellAll(steering: Steering): void {
    for (const entry of this.inFlight.values()) void this.tell(entry, steering);
  }

  /** Ignores that a question has just ended, or has not started yet: then it is told once it has. */
  private async tell(entry: BatchEntry, steering: Steering): Promise<void> {
    this.telling += 1;
    await getExternalWorkflowHandle(questionWorkflowId(entry.searchId))
      .signal(fromParent, steering)
      .catch(() => undefined)
      .finally(() => (this.telling -= 1));
  }

  private historyIsLong(): boolean {
    const { continueAsNewSuggested, historyLength, targetWorkerDeploymentVersionChanged } = workflowInfo();
    return continueAsNewSuggested || targetWorkerDeploymentVersionChanged || historyLength >= this.input.eventsPerRun;
  }

  /** Returns only if the batch is cancelled meanwhile. */
  private async handOver(): Promise<void> {
    await condition(() => (this.starting === 0 && this.telling === 0) || this.stopping);
    if (this.stopping) return;
    const resume = {
      page: this.page,
      counts: this.counts,
      inFlight: [...this.inFlight.values()],
      ...(this.down && { down: this.down }),
    };
    const { concurrency } = this;
    const { pause: _, ...input } = this.input;
    await continueUpgraded<typeof runBatch>({
      ...input,
      concurrency,
      resume,
      ...(this.paused && { pause: this.paused }),
    });
  }

  /** A process that serves this batch alone stops with it: so the batch waits a little for its receivers. */
  private async tellEnd(): Promise<void> {
    const { batchId, total } = this.input;
    const ended = await tell({ type: 'batch.ended', batchId, total, counts: this.counts, stopped: this.stopping });
    await Promise.race([ended.result(), sleep(TOLD_WITHIN)]);
  }

  private count(key: keyof BatchCounts): void {
    this.counts = { ...this.counts, [key]: this.counts[key] + 1 };
    this.show();
    this.attributes.setNowAndThen([this.progressAttribute()]);
  }

  private progressAttribute() {
    const { done, total } = this.progress();
    return { key: GATE_ATTRIBUTES.progress, value: `${String(done)} of ${String(total)}` };
  }

  private showPause(value: 'paused' | 'running'): void {
    this.show();
    this.attributes.set([{ key: GATE_ATTRIBUTES.status, value }]);
  }

  private show(): void {
    setCurrentDetails(batchMarkdown(this.progress()));
  }

  private check(): void {
    if (this.failures.length === 0) return;
    this.attributes.set([{ key: GATE_ATTRIBUTES.status, value: 'failed' }, this.progressAttribute()]);
    throw asWorkflowFailure(this.failures[0], 'BatchFailed');
  }

  private activities(summary: string): BatchActivities {
    return proxyActivities<BatchActivities>({ ...COMMON, startToCloseTimeout: '5 minutes', summary });
  }
}

const NO_COUNTS: BatchCounts = {
  answered: 0,
  unanswerable: 0,
  abstained: 0,
  cancelled: 0,
  failed: 0,
  'infrastructure-failure': 0,
};
