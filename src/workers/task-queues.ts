/**
 * Task queues (design D7). Everything of a question, its workflow, SQL, store writes and model calls, runs on one queue per
 * database and serving fingerprint (`serving.ts`), polled only by processes that answer with the same model endpoint,
 * database, store and access lists: `gate ask` for its own, `gate ops worker` for those that it is configured for. Only models
 * with limits have a queue of their own (`model-queues.ts`), and batches theirs. Why not one for SQL besides:
 * docs/decisions/2026-11-21-one-queue-per-database.md; why the fingerprint: 2026-11-22-what-a-worker-serves.md.
 */
import { servedName, type Serving } from './serving';

export interface QuestionQueues {
  /** Where the workflow and its activities run. */
  readonly workflow: string;
  /** By model name: queues of models with limits (`model-queues.ts`). */
  readonly models?: Readonly<Record<string, string>> | undefined;
}

const DATABASE_QUEUE_PREFIX = 'gate-db-';

/** `served`: the database's name with the fingerprint (`servedName`). */
export function databaseQueue(served: string): string {
  return DATABASE_QUEUE_PREFIX + served;
}

export function questionQueues(served: string, models?: QuestionQueues['models']): QuestionQueues {
  return { workflow: databaseQueue(served), ...(models && { models }) };
}

/** A batch's own queues: an interrupted batch goes on in a process that runs it again with the same configuration, and in no other. */
export function batchQueue(id: string, serving: Pick<Serving, 'fingerprint'>): string {
  return `gate-batch-${servedName(id, serving)}`;
}

/** The name of the database whose questions run there; null for another kind of queue. */
export function servedBy(taskQueue: string): string | null {
  return taskQueue.startsWith(DATABASE_QUEUE_PREFIX) ? taskQueue.slice(DATABASE_QUEUE_PREFIX.length) : null;
}
