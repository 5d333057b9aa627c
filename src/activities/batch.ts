/**
 * What a batch workflow keeps outside its history: the manifest it works through, page by page, and one result object
 * per question. Keys: `batches/started/<id>.json`, `batches/<id>/manifest-00000.json`, `…/results/000000.json`.
 */
import { activityInfo, Context } from '@temporalio/activity';
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { isDecided } from '../domain/answer';
import type { AnswerStatus } from '../domain/answer-status';
import {
  STARTED,
  type BatchActivities,
  type BatchEntry,
  type BatchOutcome,
  type BatchResult,
} from '../domain/ports/batch';
import { StoreError, type ObjectStore } from '../domain/ports/object-store';
import type { AnswerSummary } from '../domain/ports/step-parts';
import { UNUSABLE_REPLIES } from '../search/select-answer';
import { runStep } from './run-step';

export interface BatchPorts {
  readonly store: ObjectStore;
  /** The final record of a search; null if there is none yet. */
  readonly readAnswer: (searchId: string) => Promise<AnswerSummary | null>;
}

export function createBatchActivities({ store, readAnswer }: BatchPorts): BatchActivities {
  return {
    loadBatchPage: ({ batchId, page }) =>
      runStep(async () => {
        const entries = await readBatchPage(store, batchId, page);
        const finished: { n: number; status: AnswerStatus }[] = [];
        for (const { n, searchId } of entries) {
          const answer = await readAnswer(searchId);
          if (answer === null || !isDecided(answer)) continue;
          const { status } = answer;
          await putBatchResult(store, batchId, { n, searchId, outcome: { kind: 'answer', status } });
          finished.push({ n, status });
        }
        return { entries, finished };
      }),
    followQuestion: ({ searchId, workflowId }) => runStep(() => follow(searchId, workflowId, readAnswer)),
    recordResult: ({ batchId, ...result }) => runStep(() => putBatchResult(store, batchId, result)),
  };
}

/** Of a final record. */
export function outcomeOf({
  status,
  endedBy,
  reason,
}: Pick<AnswerSummary, 'status' | 'endedBy' | 'reason'>): BatchOutcome {
  const isFailure = status === 'failed' && endedBy !== 'unusable';
  return isFailure ? failureOutcome('SearchFailed', reason ?? 'the search failed') : { kind: 'answer', status };
}

/** Writes the manifest: first the pages, then the header, which so never refers to missing pages. */
export async function writeBatchManifest(
  store: ObjectStore,
  batchId: string,
  entries: readonly BatchEntry[],
  pageSize: number,
): Promise<{ readonly pages: number }> {
  const pages = Math.ceil(entries.length / pageSize);
  for (let page = 0; page < pages; page += 1) {
    const items = entries.slice(page * pageSize, (page + 1) * pageSize);
    await store.put(pageKey(batchId, page), JSON.stringify(items), { overwrite: true });
  }
  const header = { batchId, total: entries.length, pageSize, pages };
  await store.put(`${STARTED}${batchId}.json`, JSON.stringify(header), { overwrite: true });
  return { pages };
}

export function putBatchResult(store: ObjectStore, batchId: string, result: BatchResult): Promise<void> {
  return store.put(batchResultKey(batchId, result.n), JSON.stringify(result), { overwrite: true });
}

export function batchResultKey(batchId: string, n: number): string {
  return `batches/${batchId}/results/${String(n).padStart(6, '0')}.json`;
}

function pageKey(batchId: string, page: number): string {
  return `batches/${batchId}/manifest-${String(page).padStart(5, '0')}.json`;
}

async function readBatchPage(store: ObjectStore, batchId: string, page: number): Promise<readonly BatchEntry[]> {
  const text = await store.get(pageKey(batchId, page));
  if (text === null) throw new StoreError('missing', `no page ${String(page)} of batch ${batchId}`);
  return JSON.parse(text) as BatchEntry[];
}

const LONGEST_LOOK_AGAIN_MS = 5_000;

/**
 * Looks once and comes back by a retry. One that waited would keep a place of its worker, and as many of them as the worker has
 * places would leave none for the steps of the questions that they wait for.
 */
async function follow(
  searchId: string,
  workflowId: string,
  readAnswer: BatchPorts['readAnswer'],
): Promise<BatchOutcome> {
  const handle = Context.current().client.workflow.getHandle(workflowId);
  try {
    const { closeTime } = await handle.describe();
    if (closeTime === undefined) throw stillRunning(activityInfo().attempt);
    const summary = (await handle.result()) as AnswerSummary;
    return { kind: 'answer', status: summary.status };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      const record = await readAnswer(searchId);
      if (record !== null) return outcomeOf(record);
      return failureOutcome('NotFound', 'the question is no longer known to Temporal');
    }
    if (!(error instanceof WorkflowFailedError)) throw error;
    const cause = error.cause;
    const type = cause instanceof ApplicationFailure ? cause.type : cause?.name;
    return failureOutcome(type ?? 'WorkflowFailed', cause?.message ?? error.message);
  }
}

function failureOutcome(type: string, message: string): BatchOutcome {
  if (type === UNUSABLE_REPLIES) return { kind: 'answer', status: 'failed' };
  return { kind: 'infrastructure-failure', type, message };
}

function stillRunning(attempt: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'the question is still running',
    type: 'StillRunning',
    nextRetryDelay: Math.min(LONGEST_LOOK_AGAIN_MS, attempt * 500),
    category: ApplicationFailureCategory.BENIGN,
  });
}
