/**
 * The steps as activities (design D1): `callModel` for every role of the model, `executeSql` for every purpose of SQL, and the
 * writes of the store that are activities of their own: checkpoints, final records, and what passes between a search and its
 * children (D4).
 */
import { activityInfo } from '@temporalio/activity';
import type { SearchState } from '../domain';
import { SQL_PURPOSES, type SqlPurpose, type StepRole } from '../domain/roles';
import type {
  AnswerSummary,
  ChildInput,
  ModelOutcome,
  ModelStepInput,
  OpenedChild,
  StepBase,
  StepOptions,
  UsageDelta,
} from '../domain/ports/step-parts';
import type {
  AdoptInput,
  AllSteps,
  AmendInput,
  CandidateRun,
  FinishInput,
  KeptAfter,
  NewRemark,
  RemarkStep,
  WebInput,
  WebRun,
} from '../roles';
import type { WatchFound, WatchRun, WatchSteps } from '../roles/layer/verify';
import { runStep } from './run-step';

export type { WatchFound, WatchRun };

/** A site that does not answer is tried so often; then the failure is an observation. */
const TRIES_OF_A_SITE = 3;

export type ModelCall = ModelStepInput & { readonly role: StepRole };
export type SqlCall = StepBase & { readonly purpose: SqlPurpose };

export interface ModelActivities {
  callModel(input: ModelCall): Promise<ModelOutcome<unknown>>;
}

/** The UI's timeline shows the type of a local activity, not its summary. So each purpose is also an activity type. */
export type SqlActivities = Readonly<
  Record<'executeSql' | SqlPurpose, (input: SqlCall) => Promise<{ readonly usage: UsageDelta }>>
>;

export interface StoreActivities {
  saveCheckpoint(state: SearchState): Promise<void>;
  saveRemark(searchId: string, remark: NewRemark): Promise<void>;
  /** Returns only what the workflow does not know: the rest of the summary would be in its history twice (D3). */
  finishSearch(input: FinishInput): Promise<Pick<AnswerSummary, 'answer' | 'sql' | 'proof'>>;
  amendRecord(input: AmendInput): Promise<KeptAfter>;
  openChild(input: ChildInput): Promise<OpenedChild>;
  adoptAnswer(input: AdoptInput): Promise<CandidateRun>;
}

export interface WebActivities {
  /** A site that does not answer is an observation after a few tries; an outage of the search provider is retried. */
  useWeb(input: WebInput): Promise<WebRun>;
}

/** One function of the table, whatever it is given. */
type AnyStep<Output> = (input: StepBase, options: StepOptions) => Promise<Output>;

export function createModelActivities(steps: AllSteps): ModelActivities {
  return {
    callModel: (input) =>
      runStep((options) => (steps[input.role] as unknown as AnyStep<ModelOutcome<unknown>>)(input, options)),
  };
}

export function createStepActivities(
  steps: AllSteps & RemarkStep,
): ModelActivities & SqlActivities & StoreActivities & WebActivities {
  const executeSql = (input: SqlCall) =>
    runStep((options) => (steps[input.purpose] as unknown as AnyStep<{ readonly usage: UsageDelta }>)(input, options));
  const byPurpose = Object.fromEntries(SQL_PURPOSES.map((purpose) => [purpose, executeSql]));
  return {
    ...createModelActivities(steps),
    ...(byPurpose as Omit<SqlActivities, 'executeSql'>),
    executeSql,
    useWeb: (input) =>
      runStep((options) => steps.web(input, { ...options, mayRetry: activityInfo().attempt < TRIES_OF_A_SITE })),
    saveCheckpoint: (state) => runStep((options) => steps.checkpoint(state, options)),
    saveRemark: (searchId, remark) => runStep(() => steps.keepRemark(searchId, remark)),
    finishSearch: (input) =>
      runStep(async (options) => {
        const { answer, sql, proof } = await steps.finish(input, options);
        return { answer, sql, proof };
      }),
    amendRecord: (input) => runStep((options) => steps.amend(input, options)),
    openChild: (input) => runStep((options) => steps.openChild(input, options)),
    adoptAnswer: (input) => runStep((options) => steps.adopt(input, options)),
  };
}

export interface WatchActivities {
  verifyLayer(run: WatchRun): Promise<WatchFound>;
}

export function createWatchActivities(steps: WatchSteps): WatchActivities {
  return { verifyLayer: (run) => runStep((options) => steps.verifyLayer(run, options)) };
}
