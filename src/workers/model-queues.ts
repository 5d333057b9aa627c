/**
 * Task queues of models with limits (design D7). Whoever uses the same model at the same endpoint over the same store
 * shares one queue: the server dispatches its calls at the rate of the model, whichever process makes them, and a process
 * takes no more of them than its part of the concurrency.
 *
 * 1. What the call is made with (endpoint, key, store; `serving.ts`) is in the name: a call must not be made by a process
 *    that would send it elsewhere, at another's cost, or could not find what to send.
 * 2. Model steps need no database, so any process with the same limits may serve the queue.
 * 3. Only models that the configuration (or `GATE_MODEL…`) names have a queue, so that every worker with that
 *    configuration serves it. One given by `--model` alone, under the limits of `*`, keeps to them in its own process.
 * 4. A search stays on the queue that it began with. If the model's entry is removed from the configuration, no process
 *    serves that queue; `unserved-queues.ts` detects this.
 */
import type { Config } from '../config';
import { limitedModels, limitsOf, shareOf } from '../config/limits';
import { sha256 } from '../sha256';
import { modelFingerprint, type ServedModel } from './serving';

export const MODEL_QUEUE_PREFIX = 'gate-model-';

export interface ModelQueue {
  readonly model: string;
  readonly taskQueue: string;
  /** Of the queue, over all workers; null: no limit. */
  readonly requestsPerSecond: number | null;
  /** Calls at the same time in this process; null: no limit of its own. */
  readonly concurrency: number | null;
}

/** Of the models that have limits; `models`: those among them that a search uses. */
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
