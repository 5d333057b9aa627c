/**
 * Checkpoints, final records and what passes between a search and its children: the only store writes that are activities of
 * their own (design D1, D4).
 */
import type { Remark, SearchState } from '../domain';
import type {
  AdoptInput,
  AllSteps,
  AmendInput,
  AnswerSummary,
  CandidateRun,
  ChildInput,
  FinishInput,
  KeptAfter,
  OpenChildStep,
  OpenedChild,
} from '../ports/search-steps';
import type { RemarkStep } from '../roles';
import { runStep } from './run-step';

export type StoreSteps = Pick<AllSteps, 'checkpoint' | 'finish' | 'amend' | 'adopt'> & OpenChildStep & RemarkStep;
/** A remark without its time, which the activity sets. */
export type NewRemark = Omit<Remark, 'at'>;

export interface StoreActivities {
  saveCheckpoint(state: SearchState): Promise<void>;
  saveRemark(searchId: string, remark: NewRemark): Promise<void>;
  /** Returns only what the workflow does not know: the rest of the summary would be in its history twice (D3). */
  finishSearch(input: FinishInput): Promise<Pick<AnswerSummary, 'answer' | 'sql' | 'proof'>>;
  amendRecord(input: AmendInput): Promise<KeptAfter>;
  openChild(input: ChildInput): Promise<OpenedChild>;
  adoptAnswer(input: AdoptInput): Promise<CandidateRun>;
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
    amendRecord: (input) => runStep((options) => steps.amend(input, options)),
    openChild: (input) => runStep((options) => steps.openChild(input, options)),
    adoptAnswer: (input) => runStep((options) => steps.adopt(input, options)),
  };
}
