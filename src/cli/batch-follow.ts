/**
 * Starts or joins the batch's workflow, hands on each question as it ends, and shows what is in flight and what is being
 * retried.
 *
 * 1. An interrupt cancels nothing, and the same command goes on. Where this process serves the batch, it pauses it.
 * 2. The ceiling of the whole batch ends the batch's own workflow only: questions are workflows of their own, so those in
 *    flight go on and are followed.
 */
import { outcomeOf, putBatchResult, type BatchOutcome, type BatchResult } from '../activities/batch';
import { counted } from '../report/printable';
import { awaitBatch, awaitQuestion, signalBatch, type Ended } from '../workers/client';
import { steerQuestion } from '../workers/steer-question';
import { batchPause, batchProgress } from '../workers/workflow-views';
import { unlessGone } from '../workers/grpc-status';
import { batchWorkflowId } from '../workflows/ids';
import type { BatchProgress } from '../workflows/batch-progress';
import { startOrJoin, untilCancelled, type StartBatch } from './batch-start';
import { pause, type Interrupts, isOver } from './interrupts';
import type { BatchDisplay, InFlight } from './batch-table';
import { GateError } from '../app/errors';
import type { ObjectStore } from '../ports';
import { recordOf } from '../app/services';
import type { TemporalSession } from '../app/temporal-session';
import { outageLines, outagesOf, type Outage } from '../app/outages';
import { groupBy } from '../group-by';
import { each } from '../limiter';

export interface FollowBatch extends Omit<StartBatch, 'concurrency'> {
  /** As it is now. */
  readonly concurrency: () => number;
  readonly interrupts: Interrupts;
  /** Rejects when the workers of this process fail, if it has any. */
  readonly broken: Promise<never>;
  readonly display: BatchDisplay;
  readonly ended: (n: number, outcome: BatchOutcome) => void;
  /** Whether the batch has reached its cost limit. */
  readonly spent: () => boolean;
}

export type FollowEnd = 'completed' | 'interrupted' | 'ceiling' | 'cancelled';

const POLL_MS = 250;

export async function followBatch(follow: FollowBatch): Promise<FollowEnd> {
  const { session, batch, interrupts } = follow;
  const cancelled = untilCancelled(session, batch.batchId, (line) => follow.display.note(line));
  await Promise.race([cancelled, interrupts.first, follow.broken]);
  if (interrupts.count() > 0) return 'interrupted';
  let concurrency = follow.concurrency();
  if ((await startOrJoin({ ...follow, concurrency })) === 'joined') follow.display.note(`continuing ${batch.batchId}`);
  const over = new AbortController();
  const state: { end: Ended<BatchProgress> | null; failure: unknown } = { end: null, failure: null };
  const fail = (error: unknown): void => {
    state.failure ??= error;
    over.abort();
  };
  awaitBatch(session.gate, batch.batchId).then((end) => {
    state.end = end;
    over.abort();
  }, fail);
  void interrupts.first.then(() => over.abort());
  follow.broken.catch(fail);
  const stopWatching = new AbortController();
  watchBatch(session, batch.batchId, follow.display, stopWatching.signal).catch(fail);
  follow.display.started();
  const seen = new Set<number>();
  try {
    for (;;) {
      await pause(POLL_MS, over.signal);
      const { end } = state;
      await sweep(follow, seen);
      if (interrupts.count() > 0) return 'interrupted';
      if (state.failure !== null) throw state.failure as Error;
      if (end?.kind === 'failed') throw new GateError(`${end.message}; run the same command again to continue`);
      if (end?.kind === 'completed') return endOfBatch(end.value, follow.pending.size - seen.size, follow.display);
      if (follow.spent()) return await finishInFlight(follow, seen);
      if (concurrency === follow.concurrency()) continue;
      concurrency = follow.concurrency();
      await signalBatch(session.gate, batch.batchId, 'concurrency', { concurrency });
    }
  } finally {
    stopWatching.abort();
  }
}

/** `left`: questions of this run without a result. */
export function endOfBatch(
  { stopping, held }: Pick<BatchProgress, 'stopping' | 'held'>,
  left: number,
  display: Pick<BatchDisplay, 'note'>,
): FollowEnd {
  if (held !== undefined && left > 0 && !stopping)
    display.note(`${counted(left, 'question')} not started, because the model does not answer: ${held}`);
  return stopping ? 'cancelled' : 'completed';
}

async function sweep({ store, batch, pending, ended }: FollowBatch, seen: Set<number>): Promise<void> {
  for (const key of await store.list(`batches/${batch.batchId}/results/`)) {
    const n = Number(/(\d+)\.json$/.exec(key)?.[1] ?? Number.NaN);
    if (!pending.has(n) || seen.has(n)) continue;
    const text = await store.get(key);
    const outcome = text === null ? null : (JSON.parse(text) as BatchResult).outcome;
    if (outcome === null) continue;
    seen.add(n);
    ended(n, outcome);
  }
}

/** Starts no further question. Those in flight are partly paid for, so they finish first, also where they were paused. */
async function finishInFlight(follow: FollowBatch, seen: Set<number>): Promise<FollowEnd> {
  const { session, store, batch, interrupts, broken, display, ended } = follow;
  await session.gate.client.workflow
    .getHandle(batchWorkflowId(batch.batchId))
    .terminate('the batch has cost what it may');
  const pause = await batchPause(session.gate, batch.batchId);
  const { inFlight } = await batchProgress(session.gate, batch.batchId);
  await sweep(follow, seen);
  const open = inFlight.filter(({ n }) => !seen.has(n));
  display.note(
    `the batch has reached --max-total-cost: no further question starts, ${open.length} in flight may finish`,
  );
  const finish = async ({ n, searchId }: (typeof open)[number]): Promise<void> => {
    if (pause?.now === true)
      await steerQuestion(session.gate, searchId, { kind: 'resume', author: '--max-total-cost' });
    const outcome = await endOf(session, store, searchId);
    if (outcome === null) return;
    await putBatchResult(store, batch.batchId, { n, searchId, outcome });
    ended(n, outcome);
  };
  const all = Promise.all(open.map(finish));
  await Promise.race([all, interrupts.first, broken]);
  return interrupts.count() > 0 ? 'interrupted' : 'ceiling';
}

/** Null: it had not begun. */
async function endOf(session: TemporalSession, store: ObjectStore, searchId: string): Promise<BatchOutcome | null> {
  const end = await unlessGone(awaitQuestion(session.gate, searchId));
  if (end === null) return null;
  if (end.kind === 'completed') return { kind: 'answer', status: end.value.status };
  const record = await recordOf(store, searchId);
  if (record?.status === 'failed') return outcomeOf(record);
  return { kind: 'infrastructure-failure', type: 'QuestionFailed', message: end.message };
}

const ROUND_MS = 1_500;
/** Retries are looked up every this many rounds. */
const OUTAGES_EVERY = 6;

/** Rounds in a row: a server under load answers late at times. */
const MOST_MISSED = 3;

/** Ends when the signal aborts; rejects when Temporal is gone. */
async function watchBatch(
  session: TemporalSession,
  batchId: string,
  display: BatchDisplay,
  end: AbortSignal,
): Promise<void> {
  const outages = display.live ? null : outageLines((line) => display.note(line), Date.now);
  let held: string | undefined;
  const look = async (looks: boolean): Promise<void> => {
    const progress = await session.batchProgress(batchId);
    if (progress === null || isOver(end)) return;
    const searches = progress.inFlight.map(({ searchId }) => searchId);
    const shown = await Promise.all(searches.map((id, at) => inFlight(session, id, at < display.rows)));
    display.inFlight(shown, progress.paused);
    if (progress.held !== undefined && held === undefined)
      display.note(`no further question starts until the model answers: ${progress.held}`);
    if (progress.held === undefined && held !== undefined) display.note('the model answers: further questions start');
    held = progress.held;
    if (!looks) return;
    const outage = await outageOf(session, searches);
    if (isOver(end)) return;
    display.retried(outage);
    outages?.seen(outage);
  };
  let missed = 0;
  for (let round = 1; ; round += 1) {
    await pause(ROUND_MS, end);
    if (isOver(end)) return;
    const looks = round % OUTAGES_EVERY === 0;
    if (!display.live && !looks) continue;
    try {
      await look(looks);
      missed = 0;
    } catch (error) {
      missed += 1;
      if (missed >= MOST_MISSED) throw error;
    }
  }
}

async function inFlight(session: TemporalSession, searchId: string, looked: boolean): Promise<InFlight> {
  return { searchId, progress: looked ? await session.progress(searchId) : null };
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
