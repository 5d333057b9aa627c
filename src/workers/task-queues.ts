/**
 * Task queues (design D7). A long-lived worker serves `gate` (workflows, store, model calls) and one queue per database
 * that it is configured for; models with limits have a queue of their own (`model-queues.ts`). A process that serves one database by itself
 * (`ask` on the embedded server) uses a single queue named after it: an ad-hoc path means nothing to other workers, and
 * steps on the workflow's own queue skip a hand-over (measured: 11 ms a step instead of 14).
 */
export const MAIN_QUEUE = 'gate';

export interface QuestionQueues {
  /** Where the workflow and its store activities run. */
  readonly workflow: string;
  /** null: the workflow's own. */
  readonly model: string | null;
  readonly sql: string | null;
  /** By model name: queues of models with limits (`model-queues.ts`). */
  readonly models?: Readonly<Record<string, string>> | undefined;
}

export function sqlQueue(database: string): string {
  return `gate-sql-${database}`;
}

export function sharedQueues(database: string, modelQueue: string | null = null): QuestionQueues {
  return { workflow: MAIN_QUEUE, model: modelQueue, sql: sqlQueue(database) };
}

export function localQueues(database: string, models?: QuestionQueues['models']): QuestionQueues {
  return { workflow: `gate-local-${database}`, model: null, sql: null, ...(models && { models }) };
}

/** A batch's own queues: an interrupted batch goes on in a process that runs it again, and in no other. */
export function batchQueue(id: string): string {
  return `gate-batch-${id}`;
}
