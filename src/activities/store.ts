/** Checkpoints and the final record: the only store writes that are activities of their own (design D1, D4). */
import type { SearchState } from '../domain';
import type { AnswerSummary, FinishInput, SearchSteps } from '../search/steps';
import { runStep } from './run-step';

export type StoreSteps = Pick<SearchSteps, 'checkpoint' | 'finish'>;

export interface StoreActivities {
  saveCheckpoint(state: SearchState): Promise<void>;
  finishSearch(input: FinishInput): Promise<AnswerSummary>;
}

export function createStoreActivities(steps: StoreSteps): StoreActivities {
  return {
    saveCheckpoint: (state) => runStep((options) => steps.checkpoint(state, options)),
    finishSearch: (input) => runStep((options) => steps.finish(input, options)),
  };
}
