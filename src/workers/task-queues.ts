/**
 * Task queues (design D7). Everything of a question, its workflow, SQL, store writes and model calls, runs on one queue per
 * database and serving fingerprint (`serving.ts`), polled only by processes that answer with the same model endpoint,
 * database, store and access lists: `gate ask` for its own, `gate ops worker` for those that it is configured for. Only models
 * with limits have a queue of their own, and batches theirs. Why not one for SQL besides:
 * docs/decisions/2026-11-21-one-queue-per-database.md; why the fingerprint: 2026-11-22-what-a-worker-serves.md.
 */
import type { Config } from '../config';
import { limitedModels, limitsOf, shareOf } from '../config/limits';
import { sha256 } from '../sha256';
import { modelFingerprint, servedName, type ServedModel, type Serving } from './serving';

export interface QuestionQueues {
  /** Where the workflow and its activities run. */
  readonly workflow: string;
  /** By model name: queues of models with limits. */
  readonly models?: Readonly<Record<string, string>> | undefined;
}

const DATABASE_QUEUE_PREFIX = 'gate-db-';
const BATCH_QUEUE_PREFIX = 'gate-batch-';

/** `served`: the database's name with the fingerprint (`servedName`). */
export function databaseQueue(served: string): string {
  return DATABASE_QUEUE_PREFIX + served;
}

export function questionQueues(served: string, models?: QuestionQueues['models']): QuestionQueues {
  return { workflow: databaseQueue(served), ...(models && { models }) };
}

/** A batch's own queue: an interrupted batch goes on in a process that runs it again with the same configuration, and in no other. */
export function batchQueue(id: string, serving: Pick<Serving, 'fingerprint'>): string {
  return BATCH_QUEUE_PREFIX + servedName(id, serving);
}

/** The batch whose own queue it is; null for another kind of queue. */
export function batchOf(taskQueue: string): string | null {
  return taskQueue.startsWith(BATCH_QUEUE_PREFIX)
    ? taskQueue.slice(BATCH_QUEUE_PREFIX.length, taskQueue.lastIndexOf('-'))
    : null;
}

/** The name of the database whose questions run there; null for another kind of queue. */
export function servedBy(taskQueue: string): string | null {
  return taskQueue.startsWith(DATABASE_QUEUE_PREFIX) ? taskQueue.slice(DATABASE_QUEUE_PREFIX.length) : null;
}

export const MODEL_QUEUE_PREFIX = 'gate-model-';

export interface ModelQueue {
  readonly model: string;
  readonly taskQueue: string;
  /** Of the queue, over all workers; null: no limit. */
  readonly requestsPerSecond: number | null;
  /** Calls at the same time in this process; null: no limit of its own. */
  readonly concurrency: number | null;
}

/**
 * Queues of the models that have limits; `models`: those among them that a search uses. Whoever uses the same model at the same
 * endpoint over the same store shares one: the server dispatches its calls at the rate of the model, whichever process makes
 * them, and a process takes no more of them than its part of the concurrency.
 *
 * 1. What the call is made with (endpoint, key, store; `serving.ts`) is in the name: a call must not be made by a process
 *    that would send it elsewhere, at another's cost, or could not find what to send.
 * 2. Model steps need no database, so any process with the same limits may serve the queue.
 * 3. Only models that the configuration (or `GATE_MODEL…`) names have a queue, so that every worker with that
 *    configuration serves it. One given by `--model` alone, under the limits of `*`, keeps to them in its own process.
 * 4. A search stays on the queue that it began with: the entry of a model stays in the configuration until its searches are done.
 */
export function modelQueues(config: Config, served: ServedModel, models?: readonly string[]): ModelQueue[] {
  const fingerprint = modelFingerprint(config, served);
  const wanted = limitedModels(config.models).filter((model) => models === undefined || models.includes(model));
  return wanted.flatMap((model) => {
    const limits = limitsOf(config.models.limits, model);
    if (limits === null) return [];
    const { requestsPerMinute, workers } = limits;
    const perSecond = requestsPerMinute === null ? null : requestsPerMinute / 60;
    const requestsPerSecond = perSecond === null || workers === null ? perSecond : perSecond * BACKSTOP;
    const { concurrency } = shareOf(limits);
    return [{ model, taskQueue: queueName(model, fingerprint), requestsPerSecond, concurrency }];
  });
}

/**
 * Where the number of processes is known, their own paces hold the rate; the server's limiter, which dispatches only two
 * thirds of a low rate (measured), then stands behind them against processes that nobody counted.
 */
const BACKSTOP = 1.5;

/** What a search is told: model name to queue; undefined when none has limits. */
export function queuesByModel(queues: readonly ModelQueue[]): Readonly<Record<string, string>> | undefined {
  if (queues.length === 0) return undefined;
  return Object.fromEntries(queues.map(({ model, taskQueue }) => [model, taskQueue]));
}

function queueName(model: string, fingerprint: string): string {
  const readable = model.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60);
  return `${MODEL_QUEUE_PREFIX}${readable}-${sha256(JSON.stringify([model, fingerprint])).slice(0, 8)}`;
}
