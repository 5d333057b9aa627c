/** Every step of a search, by name: what it is given and what control reads of what came out (`src/roles` has the steps themselves). */
import type { Remark, SearchState } from '..';
import type { SqlPurpose, StepRole } from '../role-names';
import type { BaselinePurposes, BaselineRoles } from './baseline-steps';
import type {
  AdoptInput,
  AmendInput,
  CandidateRun,
  FinishInput,
  KeptAfter,
  SearchPurposes,
  SearchRoles,
  WebInput,
  WebRun,
} from './search-steps';
import type {
  AnswerSummary,
  ChildInput,
  ChildSteps,
  ModelInput,
  ModelOutcome,
  OpenedChild,
  SqlInput,
  StepOptions,
  UsageDelta,
} from './step-parts';

export type * from './baseline-steps';
export type * from './search-steps';

type Asked = SearchRoles & BaselineRoles;
type Executed = SearchPurposes & BaselinePurposes;

/** What the step of a role or purpose is given. */
export type Given<Name extends StepRole | SqlPurpose> = Name extends StepRole
  ? ModelInput<Name> & Asked[Name][0]
  : Name extends SqlPurpose
    ? SqlInput<Name> & Executed[Name][0]
    : never;
/** What control reads of what came out; of a role, where the reply could be used. */
export type Gives<Name extends StepRole | SqlPurpose> = Name extends StepRole
  ? Asked[Name][1]
  : Name extends SqlPurpose
    ? Executed[Name][1] & { readonly usage: UsageDelta }
    : never;

type Step<Input, Output> = (input: Input, options?: StepOptions) => Promise<Output>;
export type ModelSteps = {
  readonly [Role in StepRole]: Step<Given<Role>, ModelOutcome<Gives<Role>>>;
};
export type SqlSteps = {
  readonly [Purpose in SqlPurpose]: Step<Given<Purpose>, Gives<Purpose>>;
};

export interface OtherSteps {
  readonly web: Step<WebInput, WebRun>;
  readonly openChild: Step<ChildInput, OpenedChild>;
  readonly adopt: Step<AdoptInput, CandidateRun>;
  readonly finish: Step<FinishInput, AnswerSummary>;
  readonly amend: Step<AmendInput, KeptAfter>;
}

export interface StoredSteps extends ModelSteps, SqlSteps, OtherSteps {}

/** What the control loop asks for; `methods/checkpoints.ts` adds the checkpoint. */
export interface AllSteps extends StoredSteps {
  readonly checkpoint: (state: SearchState) => void;
}

/** With the one that the caller runs: as a workflow of its own, or within this process. */
export type MethodSteps = StoredSteps & ChildSteps;

/** What every way of searching asks for. */
type Common = 'prepare' | 'web' | 'checkpoint' | 'finish';
type Judging = 'evaluate' | 'plan' | 'propose' | 'ground' | 'select';
/** The search (Algorithm 1). */
export type SearchSteps = Pick<AllSteps, Common | Judging | 'check' | 'probe' | 'settle' | 'candidate'>;
/** The conversation with which a search by `look-then-prove` begins. */
export type LookSteps = Pick<AllSteps, 'look' | 'queries' | 'commit'>;
/** Learning a database without a question. */
export type LearnSteps = Pick<AllSteps, Common | 'learn' | 'prove' | 'keep' | 'recount'>;
/** Keeping what was proved. */
export type KeepSteps = Pick<AllSteps, 'keep' | 'recount' | 'restate' | 'amend'>;
/** The baseline agents; one that may have helpers begins them as children. */
export type AgentSteps = Pick<AllSteps, Common | 'react' | 'redel' | 'tool' | 'final'> & Partial<ChildSteps>;
/** The votes of `reforce`. */
export type ReforceSteps = Pick<
  AllSteps,
  Common | (`reforce-${string}` & StepRole) | 'compress' | 'explore' | 'refine' | 'agree'
>;

/** A person's remark, without its time. */
export type NewRemark = Omit<Remark, 'at'>;
/** Stores a remark for later prompts. */
export interface RemarkStep {
  keepRemark(searchId: string, remark: NewRemark): Promise<void>;
}
