/** The activities as workflows call them (design D1). `workers/run-worker.ts` checks that those of `src/activities` are these. */
import type { SqlPurpose } from '../domain/role-names';
import type {
  AnswerSummary,
  ChildInput,
  ModelCall,
  ModelOutcome,
  OpenedChild,
  SqlCall,
  UsageDelta,
} from '../domain/ports/step-parts';
import type { ScheduledSteps } from '../domain/ports/notices';
import type {
  AdoptInput,
  AmendInput,
  CandidateRun,
  FinishInput,
  KeptAfter,
  NewRemark,
  WebInput,
  WebRun,
} from '../domain/ports/steps';

/** `by`: the process that ran the step (`StepBase.heldBy`). */
export type Held<Output> = Output & { readonly by: string };

export interface ModelActivities {
  callModel(input: ModelCall): Promise<Held<ModelOutcome<unknown>>>;
}

/** The UI's timeline shows the type of a local activity, not its summary. So each purpose is also an activity type. */
export type SqlActivities = Readonly<
  Record<'executeSql' | SqlPurpose, (input: SqlCall) => Promise<Held<{ readonly usage: UsageDelta }>>>
>;

export interface StoreActivities {
  saveRemark(searchId: string, remark: NewRemark): Promise<void>;
  /** Returns only what the workflow does not know: the rest of the summary would be in its history twice (D3). */
  finishSearch(input: FinishInput): Promise<Held<Pick<AnswerSummary, 'answer' | 'sql' | 'proof'>>>;
  amendRecord(input: AmendInput): Promise<KeptAfter>;
  openChild(input: ChildInput): Promise<OpenedChild>;
  adoptAnswer(input: AdoptInput): Promise<Held<CandidateRun>>;
}

export interface WebActivities {
  /** A site that does not answer is an observation after a few tries; an outage of the search provider is retried. */
  useWeb(input: WebInput): Promise<Held<WebRun>>;
}

export type ScheduledActivities = {
  readonly [Step in keyof ScheduledSteps]: (
    input: Parameters<ScheduledSteps[Step]>[0],
  ) => ReturnType<ScheduledSteps[Step]>;
};
