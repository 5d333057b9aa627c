/**
 * What a batch workflow keeps outside its history: the manifest it works through, page by page, and one result object
 * per question. Keys: `batches/<id>/manifest.json`, `…/manifest-00000.json`, `…/results/000000.json`.
 */
import { activityInfo, Context } from '@temporalio/activity';
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { isDecided, type AnswerStatus } from '../domain/answer';
import { StoreError, type ObjectStore } from '../domain/ports/object-store';
import type { AnswerSummary } from '../domain/ports/step-parts';
import { UNUSABLE_REPLIES } from '../search/select-answer';
import { runStep } from './run-step';

/** One question of a batch, as the workflow sees it: names only. */
export interface BatchEntry {
  /** Position in the batch, from 0. */
  readonly n: number;
  readonly searchId: string;
  /** Title of the question's workflow in the UI, one line of at most 200 bytes. */
  readonly label: string;
  /** The database's name, for a column in the UI. */
  readonly database?: string;
  readonly taskQueues: {
    readonly workflow: string;
    readonly models?: Readonly<Record<string, string>>;
  };
}

/**
 * An infrastructure failure is what the endpoint, the network or a database server did, and never counts as a wrong answer.
 * An answer of status `failed` is a model's whose replies could not be used: that one does.
 */
export type BatchOutcome =
  | { readonly kind: 'answer'; readonly status: AnswerStatus }
  | { readonly kind: 'infrastructure-failure'; readonly type: string; readonly message: string };

export interface BatchResult {
  readonly n: number;
  readonly searchId: string;
  /** Null: it is asked again. */
  readonly outcome: BatchOutcome | null;
}

export interface BatchPage {
  readonly entries: readonly BatchEntry[];
  /** Questions of the page that already have a final record; they are not started. */
  readonly finished: readonly { readonly n: number; readonly status: AnswerStatus }[];
}

export interface BatchActivities {
  loadBatchPage(input: { readonly batchId: string; readonly page: number }): Promise<BatchPage>;
  readAnswer(input: { readonly searchId: string }): Promise<AnswerSummary | null>;
  /** How a question ended that someone else, or an earlier run of the batch, has started; fails as retryable until it has. */
  followQuestion(input: { readonly searchId: string; readonly workflowId: string }): Promise<BatchOutcome>;
  recordResult(input: { readonly batchId: string } & BatchResult): Promise<void>;
}

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
    readAnswer: ({ searchId }) => runStep(() => readAnswer(searchId)),
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
  await store.put(`batches/${batchId}/manifest.json`, JSON.stringify(header), { overwrite: true });
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
