/**
 * Task queues (design D7). Everything of a question, its workflow, SQL, store writes and model calls, runs on one queue per
 * database, polled only by processes that can reach that database: `gate ask` for its own, `gate worker` for those that it
 * is configured for. Only models with limits have a queue of their own (`model-queues.ts`), and batches theirs. Why not one
 * for SQL besides: docs/decisions/2026-11-21-one-queue-per-database.md.
 */
export interface QuestionQueues {
  /** Where the workflow and its activities run. */
  readonly workflow: string;
  /** By model name: queues of models with limits (`model-queues.ts`). */
  readonly models?: Readonly<Record<string, string>> | undefined;
}

export function databaseQueue(database: string): string {
  return `gate-db-${database}`;
}

export function questionQueues(database: string, models?: QuestionQueues['models']): QuestionQueues {
  return { workflow: databaseQueue(database), ...(models && { models }) };
}

/** A batch's own queues: an interrupted batch goes on in a process that runs it again, and in no other. */
export function batchQueue(id: string): string {
  return `gate-batch-${id}`;
}
