/**
 * What a search proved is read and kept once its answer is stored: a workflow of its own, so that nobody waits for it. It goes
 * on where the process that asked is gone, with whoever serves the database next.
 */
import type { Settings } from '../domain';
import { proxiedSteps, type StepQueues } from './proxied-steps';
import { keepAfter, type Keeping } from '../search/keep-proved';
import { asWorkflowFailure } from './ending';
import type { KeptAfter } from '../domain/ports/steps';

export interface KeepProvedInput {
  readonly keeping: Keeping;
  readonly settings: Settings;
  readonly taskQueues: StepQueues;
  /** Upper limit of one model request. */
  readonly modelTimeoutMs: number;
}

/** An answer waits for none of them; a process that ends takes one with it. */
const TRIES = 5;

export async function keepProved({ keeping, ...input }: KeepProvedInput): Promise<KeptAfter> {
  const { settings, taskQueues, modelTimeoutMs } = input;
  const limits = { models: settings.models, modelTimeoutMs, sqlTimeoutMs: settings.sqlTimeoutMs, tries: TRIES };
  try {
    return await keepAfter(keeping, settings, proxiedSteps({ taskQueues, ...limits }));
  } catch (error) {
    throw asWorkflowFailure(error, 'KeepingFailed');
  }
}
