/**
 * The port between the control loop and the contents (design D1). A step is one model call or one SQL round trip. It gets a
 * structural position, ids and scalars, loads the contents from the store, applies the pure functions, stores
 * new contents under ids derived from the position, and returns only what the control loop reads.
 *
 * 1. A step is idempotent: the same position gives the same ids, and a journalled model call is not paid again (D2).
 * 2. Failures that the search can learn from are values; only infrastructure errors are thrown (D5).
 * 3. Everything in and out is plain JSON and small: it becomes Temporal history (D3), without fields that have their
 *    usual value (`brief-steps.ts`).
 */
import type { SearchState } from '../domain';
import type { AnswerRecord, AnswerStatus } from '../domain/answer';
import type { EndedBy } from '../domain/state';
import type {
  EvaluateInput,
  Evaluation,
  Grounded,
  GroundInput,
  KeepInput,
  Kept,
  Looked,
  LookInput,
  ModelOutcome,
  PlanInput,
  Planned,
  ProposeInput,
  Proposed,
  Selected,
  SelectInput,
} from './model-steps';
import type {
  CandidateInput,
  CandidateRun,
  Checked,
  CheckInput,
  CommitInput,
  Committed,
  Prepared,
  PrepareInput,
  Probed,
  ProbeInput,
  Queried,
  QueriesInput,
  Settled,
  SettleInput,
  WebInput,
  WebRun,
} from './sql-steps';

export * from './model-steps';
export * from './sql-steps';
export type * from './step-parts';

export interface FinishInput {
  readonly searchId: string;
  readonly state: SearchState;
  readonly status: AnswerStatus;
  readonly endedBy: EndedBy;
  readonly chosen: string | null;
  readonly reason: string | null;
}

/** The signal is aborted when the search is cancelled; a step passes it on to the model or the database. */
export interface StepOptions {
  readonly signal?: AbortSignal;
}

/** `mayRetry`: the caller will try once more if a site does not answer. */
export interface WebOptions extends StepOptions {
  readonly mayRetry?: boolean;
}

/** The conversation with which a search by `look-then-prove` begins (`search/look.ts`). */
export interface LookSteps {
  look(input: LookInput, options?: StepOptions): Promise<ModelOutcome<Looked>>;
  queries(input: QueriesInput, options?: StepOptions): Promise<Queried>;
  commit(input: CommitInput, options?: StepOptions): Promise<Committed>;
  keep(input: KeepInput, options?: StepOptions): Promise<ModelOutcome<Kept>>;
}

export interface SearchSteps {
  evaluate(input: EvaluateInput, options?: StepOptions): Promise<ModelOutcome<Evaluation>>;
  plan(input: PlanInput, options?: StepOptions): Promise<ModelOutcome<Planned>>;
  propose(input: ProposeInput, options?: StepOptions): Promise<ModelOutcome<Proposed>>;
  ground(input: GroundInput, options?: StepOptions): Promise<ModelOutcome<Grounded>>;
  select(input: SelectInput, options?: StepOptions): Promise<ModelOutcome<Selected>>;
  prepare(input: PrepareInput, options?: StepOptions): Promise<Prepared>;
  check(input: CheckInput, options?: StepOptions): Promise<Checked>;
  probe(input: ProbeInput, options?: StepOptions): Promise<Probed>;
  settle(input: SettleInput, options?: StepOptions): Promise<Settled>;
  candidate(input: CandidateInput, options?: StepOptions): Promise<CandidateRun>;
  web(input: WebInput, options?: WebOptions): Promise<WebRun>;
  checkpoint(state: SearchState, options?: StepOptions): Promise<void>;
  finish(input: FinishInput, options?: StepOptions): Promise<AnswerSummary>;
}

/** The workflow's result. The full record is in the store under the search id (D3, D4). */
export type AnswerSummary = Pick<AnswerRecord, 'id' | 'status' | 'endedBy' | 'answer' | 'sql' | 'reason' | 'usage'> & {
  /** Short lines on what is proved and what is open; absent if there are none. */
  readonly proof?: readonly string[];
};
