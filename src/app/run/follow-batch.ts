/**
 * Starts or joins the batch's workflow, hands on each question as it ends, and tells what is in flight and what is being retried.
 *
 * 1. An interrupt cancels nothing, and the same command goes on. Where this process serves the batch, it pauses it.
 * 2. A batch that runs is told the concurrency of who joins it.
 * 3. A result that an earlier run left for a question that is asked again is blanked before the workflow starts.
 * 4. The ceiling of the whole run ends the batch's own workflow only: questions are workflows of their own, so those in flight go
 *    on and are followed.
 */
import { outcomeOf, putBatchResult, writeBatchManifest } from '../../activities/batch';
import type { BatchOutcome, BatchResult } from '../../domain/ports/batch';
import type { ObjectStore } from '../../domain/ports';
import { groupBy } from '../../group-by';
import { each } from '../../limiter';
import { counted, cut } from '../../report/printable';
import { awaitBatch, awaitQuestion, signalBatch, startBatch, type Ended } from '../../workers/client';
import { unlessGone } from '../../workers/grpc-status';
import { steerQuestion } from '../../workers/steer-question';
import { batchPause, batchProgress, runningWorkflow } from '../../workers/workflow-views';
import type { BatchProgress } from '../../workflows/batch-progress';
import { batchWorkflowId } from '../../workflows/ids';
import { GateError } from '../errors';
import { outagesOf, type Outage } from '../outages';
import { recordOf } from '../services';
import type { TemporalSession } from '../temporal-session';
import { aborted, isOver, pause } from '../waiting';
import type { ReadyArm } from './arms';
import type { BatchQueues } from './batch-queues';

interface StartBatch {
  readonly ready: ReadyArm;
  readonly session: TemporalSession;
  /** Positions of the searches that are asked. */
  readonly pending: ReadonlySet<number>;
  readonly queues: BatchQueues;
}

export interface FollowBatch extends StartBatch {
  /** Position of the arm in the run. */
  readonly index: number;
  /** As it is now. */
  readonly concurrency: () => number;
  /** Rejects when the workers of this process fail, if it has any. */
  readonly broken: Promise<never>;
  readonly ended: (n: number, outcome: BatchOutcome) => void;
  /** Whether the run has reached its cost limit. */
  readonly spent: () => boolean;
}

export type FollowEnd = 'completed' | 'interrupted' | 'ceiling' | 'cancelled';

const PAGE_SIZE = 50;
const EVENTS_PER_RUN = 4_000;
const ITERATIONS_PER_RUN = 20;
const POLL_MS = 250;

/** A batch that is being cancelled is begun again only when its questions in flight have ended. */
export async function untilCancelled({ ready, session }: Pick<StartBatch, 'ready' | 'session'>): Promise<void> {
  const { batchId } = ready.arm.batch;
  const running = await runningWorkflow(session.gate, batchWorkflowId(batchId));
  if (running?.isCancelled !== true) return;
  ready.note(`${batchId} is being cancelled: it goes on once its questions in flight have ended`);
  await awaitBatch(session.gate, batchId);
}

export async function startOrJoin(
  { ready, session, pending, queues }: StartBatch,
  concurrency: number,
): Promise<'started' | 'joined'> {
  const { services, retry } = ready.run;
  const { store, config } = services;
  const { batchId, name, settings, searches } = ready.arm.batch;
  const isRunning = (await runningWorkflow(session.gate, batchWorkflowId(batchId))) !== null;
  if (isRunning && (await signalBatch(session.gate, batchId, 'concurrency', { concurrency }))) return 'joined';
  const entries = searches.map(({ searchId, question }, n) => ({
    n,
    searchId,
    database: question.database,
    label: cut(`${question.database}: ${question.text}`, 80),
    taskQueues: queues.questionOn(question.database),
    ...(question.after === undefined ? {} : { after: question.after }),
  }));
  for (const { n } of await resultsIn(store, batchId)) {
    const searchId = entries[n]?.searchId;
    if (searchId !== undefined && pending.has(n)) await putBatchResult(store, batchId, { n, searchId, outcome: null });
  }
  const { pages } = await writeBatchManifest(store, batchId, entries, PAGE_SIZE);
  const { requestTimeoutMs: modelTimeoutMs, outageMs: modelOutageMs } = config.models;
  await startBatch(
    session.gate,
    {
      ...{ batchId, concurrency, pages, total: entries.length, eventsPerRun: EVENTS_PER_RUN, resume: null },
      ...(retry && { only: [...pending] }),
      ...(config.webhooks.some(({ events }) => events.includes('batch.ended')) && { tells: true }),
      question: { settings, modelTimeoutMs, modelOutageMs, iterationsPerRun: ITERATIONS_PER_RUN },
    },
    queues.batch,
    cut(`batch ${name}: ${counted(entries.length, 'question')}`, 60),
    queues.serving,
  );
  return 'started';
}

export async function followBatch(follow: FollowBatch): Promise<FollowEnd> {
  const { ready, session, index, pending, broken, ended } = follow;
  const { stopping, tell } = ready.run;
  const { batchId } = ready.arm.batch;
  await Promise.race([untilCancelled(follow), aborted(stopping.asked), broken]);
  if (isOver(stopping.asked)) return 'interrupted';
  let concurrency = follow.concurrency();
  if ((await startOrJoin(follow, concurrency)) === 'joined') ready.note(`continuing ${batchId}`);
  const over = new AbortController();
  const state: { end: Ended<BatchProgress> | null; failure: unknown } = { end: null, failure: null };
  const fail = (error: unknown): void => {
    state.failure ??= error;
    over.abort();
  };
  awaitBatch(session.gate, batchId).then((end) => {
    state.end = end;
    over.abort();
  }, fail);
  void aborted(stopping.asked).then(() => over.abort());
  broken.catch(fail);
  const stopWatching = new AbortController();
  watchBatch(follow, stopWatching.signal).catch(fail);
  tell({ kind: 'started', arm: index });
  const seen = new Set<number>();
  const sweep = async (): Promise<void> => {
    for (const { n, outcome } of await resultsOf(ready, pending, seen)) {
      seen.add(n);
      ended(n, outcome);
    }
  };
  try {
    for (;;) {
      await pause(POLL_MS, over.signal);
      const { end } = state;
      await sweep();
      if (isOver(stopping.asked)) return 'interrupted';
      if (state.failure !== null) throw state.failure as Error;
      if (end?.kind === 'failed') throw new GateError(`${end.message}; run the same command again to continue`);
      if (end?.kind === 'completed') return endOfBatch(end.value, pending.size - seen.size, ready.note);
      if (follow.spent()) {
        const open = await stopStarting(follow);
        await sweep();
        const finishing = finishInFlight(
          follow,
          open.filter(({ n }) => !seen.has(n)),
        );
        await Promise.race([finishing, aborted(stopping.asked), broken]);
        return isOver(stopping.asked) ? 'interrupted' : 'ceiling';
      }
      if (concurrency === follow.concurrency()) continue;
      concurrency = follow.concurrency();
      await signalBatch(session.gate, batchId, 'concurrency', { concurrency });
    }
  } finally {
    stopWatching.abort();
  }
}

/** `left`: questions of this run without a result. */
export function endOfBatch(
  { stopping, held }: Pick<BatchProgress, 'stopping' | 'held'>,
  left: number,
  note: (line: string) => void,
): FollowEnd {
  if (held !== undefined && left > 0 && !stopping)
    note(`${counted(left, 'question')} not started, because the model does not answer: ${held}`);
  return stopping ? 'cancelled' : 'completed';
}

/** Results that the workflow has written of pending questions which nobody has seen. */
async function resultsOf({ run, arm }: ReadyArm, pending: ReadonlySet<number>, seen: ReadonlySet<number>) {
  const { store } = run.services;
  const found: { readonly n: number; readonly outcome: BatchOutcome }[] = [];
  for (const { n, key } of await resultsIn(store, arm.batch.batchId)) {
    if (!pending.has(n) || seen.has(n)) continue;
    const text = await store.get(key);
    const outcome = text === null ? null : (JSON.parse(text) as BatchResult).outcome;
    if (outcome !== null) found.push({ n, outcome });
  }
  return found;
}

async function resultsIn(store: ObjectStore, batchId: string): Promise<{ readonly n: number; readonly key: string }[]> {
  const keys = await store.list(`batches/${batchId}/results/`);
  return keys.map((key) => ({ n: Number(/(\d+)\.json$/.exec(key)?.[1] ?? Number.NaN), key }));
}

type Open = BatchProgress['inFlight'][number] & { readonly isPaused: boolean };

/** Gives the questions in flight. They are partly paid for, so they finish, also where they were paused. */
async function stopStarting({ session, ready }: FollowBatch): Promise<Open[]> {
  const { batchId } = ready.arm.batch;
  await session.gate.client.workflow.getHandle(batchWorkflowId(batchId)).terminate('the batch has cost what it may');
  const pause = await batchPause(session.gate, batchId);
  const { inFlight } = await batchProgress(session.gate, batchId);
  return inFlight.map((one) => ({ ...one, isPaused: pause?.now === true }));
}

async function finishInFlight({ session, ready, ended }: FollowBatch, open: readonly Open[]): Promise<void> {
  const { store } = ready.run.services;
  ready.note(`the batch has reached --max-total-cost: no further question starts, ${open.length} in flight may finish`);
  const finish = async ({ n, searchId, isPaused }: Open): Promise<void> => {
    if (isPaused) await steerQuestion(session.gate, searchId, { kind: 'resume', author: '--max-total-cost' });
    const outcome = await endOf({ session, ready }, searchId);
    if (outcome === null) return;
    await putBatchResult(store, ready.arm.batch.batchId, { n, searchId, outcome });
    ended(n, outcome);
  };
  await Promise.all(open.map(finish));
}

/** Null: it had not begun. */
async function endOf(
  { session, ready }: Pick<FollowBatch, 'session' | 'ready'>,
  searchId: string,
): Promise<BatchOutcome | null> {
  const end = await unlessGone(awaitQuestion(session.gate, searchId));
  if (end === null) return null;
  if (end.kind === 'completed') return { kind: 'answer', status: end.value.status };
  const record = await recordOf(ready.run.services.store, searchId);
  if (record?.status === 'failed') return outcomeOf(record);
  return { kind: 'infrastructure-failure', type: 'QuestionFailed', message: end.message };
}

const ROUND_MS = 1_500;
/** Retries are looked up every this many rounds. */
const OUTAGES_EVERY = 6;
/** Rounds in a row: a server under load answers late at times. */
const MOST_MISSED = 3;

/** Ends when the signal aborts; rejects when Temporal is gone. */
async function watchBatch({ ready, session, index: arm }: FollowBatch, end: AbortSignal): Promise<void> {
  const { tell } = ready.run;
  let held: string | undefined;
  const look = async (looksForOutages: boolean): Promise<void> => {
    const progress = await session.batchProgress(ready.arm.batch.batchId);
    if (progress === null || isOver(end)) return;
    const searches = progress.inFlight.map(({ searchId }) => searchId);
    tell({ kind: 'in-flight', arm, searches, paused: progress.paused ?? false });
    if (progress.held !== undefined && held === undefined)
      ready.note(`no further question starts until the model answers: ${progress.held}`);
    if (progress.held === undefined && held !== undefined) ready.note('the model answers: further questions start');
    held = progress.held;
    if (!looksForOutages) return;
    const outage = await outageOf(session, searches);
    if (!isOver(end)) tell({ kind: 'retried', arm, outage });
  };
  let missed = 0;
  for (let round = 1; ; round += 1) {
    await pause(ROUND_MS, end);
    if (isOver(end)) return;
    const looksForOutages = round % OUTAGES_EVERY === 0;
    try {
      await look(looksForOutages);
      missed = 0;
    } catch (error) {
      missed += 1;
      if (missed >= MOST_MISSED) throw error;
    }
  }
}

/** The commonest failure among the steps that are being retried: the one of them that gives up first. */
async function outageOf(session: TemporalSession, searches: readonly string[]): Promise<Outage | null> {
  const nowMs = Date.now();
  const found = await each(searches, (searchId) => session.describe(searchId));
  const outages = found.flatMap((live) => (live === null ? [] : outagesOf(live, nowMs).slice(0, 1)));
  const byReason = groupBy(outages, ({ reason }) => reason);
  const [commonest = []] = [...byReason.values()].sort((a, b) => b.length - a.length);
  const [first] = [...commonest].sort((a, b) => (a.givesUpAt ?? '9').localeCompare(b.givesUpAt ?? '9'));
  if (first === undefined) return null;
  return { ...first, step: `${first.step} (${counted(commonest.length, 'question')})` };
}
