/** Checkpoints and the final record: the only store writes that are activities of their own (design D1, D4). */
import type { Remark, SearchState } from '../domain';
import type { AllSteps, AnswerSummary, FinishInput } from '../ports/search-steps';
import type { RemarkStep } from '../steps';
import { runStep } from './run-step';

export type StoreSteps = Pick<AllSteps, 'checkpoint' | 'finish'> & RemarkStep;
/** A remark without its time, which the activity sets. */
export type NewRemark = Omit<Remark, 'schemaVersion' | 'at'>;

export interface StoreActivities {
  saveCheckpoint(state: SearchState): Promise<void>;
  saveRemark(searchId: string, remark: NewRemark): Promise<void>;
  /** Returns only what the workflow does not know: the rest of the summary would be in its history twice (D3). */
  finishSearch(input: FinishInput): Promise<Pick<AnswerSummary, 'answer' | 'sql' | 'proof'>>;
}

export function createStoreActivities(steps: StoreSteps): StoreActivities {
  return {
    saveCheckpoint: (state) => runStep((options) => steps.checkpoint(state, options)),
    saveRemark: (searchId, remark) => runStep(() => steps.keepRemark(searchId, remark)),
    finishSearch: (input) =>
      runStep(async (options) => {
        const { answer, sql, proof } = await steps.finish(input, options);
        return { answer, sql, ...(proof && { proof }) };
      }),
  };
}
