/** What a batch workflow and its activities pass each other (design D3: names and counters). */
import type { AnswerStatus } from '../answer-status';

/** Where the store has the headers of all manifests (`activities/batch.ts`). */
export const STARTED = 'batches/started/';

/** One question of a batch, as the workflow sees it: names only. */
export interface BatchEntry {
  /** Position in the batch, from 0. */
  readonly n: number;
  readonly searchId: string;
  /** The search that it follows: it starts once that one is no longer in flight. */
  readonly after?: string;
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
  /** How a question ended that someone else, or an earlier run of the batch, has started; fails as retryable until it has. */
  followQuestion(input: { readonly searchId: string; readonly workflowId: string }): Promise<BatchOutcome>;
  recordResult(input: { readonly batchId: string } & BatchResult): Promise<void>;
}
