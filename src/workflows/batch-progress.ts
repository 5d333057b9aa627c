/** How far a batch is: what its query and its workflow give. */
import type { AnswerStatus } from '../domain/answer-status';

export type BatchCounts = Readonly<Record<AnswerStatus | 'infrastructure-failure', number>>;

export interface BatchProgress {
  readonly batchId: string;
  readonly total: number;
  readonly done: number;
  readonly counts: BatchCounts;
  readonly inFlight: readonly { readonly n: number; readonly searchId: string }[];
  readonly stopping: boolean;
  /** Left out: it is not. */
  readonly paused?: boolean;
  /** Why no further question starts: what the model endpoint did. Left out: it answers. */
  readonly held?: string;
}

export interface BatchPause {
  readonly author: string;
  /** Whether the questions in flight are paused as well. */
  readonly now: boolean;
}
