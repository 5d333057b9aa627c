/**
 * Starts the batch's workflow on given queues, or joins it.
 *
 * 1. A batch that runs is told the `--concurrency` of who joins it.
 * 2. A result that an earlier run left for a question that is asked again is blanked before the workflow starts.
 */
import { batchResultKey, putBatchResult, writeBatchManifest } from '../activities/batch';
import type { ObjectStore } from '../ports';
import { counted, cut } from '../report/printable';
import { awaitBatch, signalBatch, startBatch } from '../workers/client';
import { runningWorkflow } from '../workers/workflow-views';
import { batchWorkflowId } from '../workflows/ids';
import type { Batch } from './batch-plan';
import type { BatchQueues } from './batch-queues';
import type { TemporalSession } from '../app/temporal-session';

export interface StartBatch {
  readonly session: TemporalSession;
  readonly store: ObjectStore;
  readonly batch: Batch;
  /** Positions of the searches that have not ended well. */
  readonly pending: ReadonlySet<number>;
  /** Whether the pending ones are all that is asked, and what else is open stays so. */
  readonly only: boolean;
  readonly concurrency: number;
  readonly modelTimeoutMs: number;
  readonly modelOutageMs: number;
  readonly queues: BatchQueues;
}

const PAGE_SIZE = 50;
const EVENTS_PER_RUN = 4_000;
const ITERATIONS_PER_RUN = 20;

/** A batch that is being cancelled is begun again only when its questions in flight have ended. */
export async function untilCancelled(
  session: TemporalSession,
  batchId: string,
  note: (line: string) => void,
): Promise<void> {
  const running = await runningWorkflow(session.gate, batchWorkflowId(batchId));
  if (running?.isCancelled !== true) return;
  note(`${batchId} is being cancelled: it goes on once its questions in flight have ended`);
  await awaitBatch(session.gate, batchId);
}

export async function startOrJoin(start: StartBatch): Promise<'started' | 'joined'> {
  const { session, store, batch, pending, concurrency, modelTimeoutMs, modelOutageMs, queues } = start;
  const { batchId, settings, searches } = batch;
  const isRunning = (await runningWorkflow(session.gate, batchWorkflowId(batchId))) !== null;
  if (isRunning && (await signalBatch(session.gate, batchId, 'concurrency', { concurrency }))) return 'joined';
  const entries = searches.map(({ searchId, question }, n) => ({
    ...{ n, searchId, database: question.database, label: cut(`${question.database}: ${question.text}`, 80) },
    taskQueues: queues.questionOn(question.database),
  }));
  for (const n of pending) {
    const searchId = entries[n]?.searchId;
    if (searchId === undefined || (await store.get(batchResultKey(batchId, n))) === null) continue;
    await putBatchResult(store, batchId, { n, searchId, outcome: null });
  }
  const { pages } = await writeBatchManifest(store, batchId, entries, PAGE_SIZE);
  await startBatch(
    session.gate,
    {
      ...{ batchId, concurrency, pages, total: entries.length, eventsPerRun: EVENTS_PER_RUN, resume: null },
      ...(start.only && { only: [...pending] }),
      question: { settings, modelTimeoutMs, modelOutageMs, iterationsPerRun: ITERATIONS_PER_RUN },
    },
    queues.batch,
    cut(`batch ${batch.name}: ${counted(entries.length, 'question')}`, 60),
    queues.serving,
  );
  return 'started';
}
