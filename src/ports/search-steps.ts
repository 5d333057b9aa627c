/**
 * The port between the control loop and the contents (design D1). A step is one model call or one SQL round trip. It gets a
 * structural position, ids and scalars, loads the contents from the store, applies the pure functions of this folder, stores
 * new contents under ids derived from the position, and returns only what the control loop reads.
 *
 * 1. A step is idempotent: the same position gives the same ids, and a journalled model call is not paid again (D2).
 * 2. Failures that the search can learn from are values; only infrastructure errors are thrown (D5).
 * 3. Everything in and out is plain JSON and small: it becomes Temporal history (D3), without fields that have their
 *    usual value (`brief-steps.ts`).
 */
import type { CandidateView, FactView, OperatorView, PlanView, SearchState, UpdateView, Usage } from '../domain';
import type { AnswerRecord, AnswerStatus } from '../domain/answer';
import type { EndedBy } from '../domain/state';

/** A plan by reference: for each operator, its current body and the update that proved it. */
export interface PlanRef {
  readonly planId: string;
  /** `[operator, bodyId, updateId]`, in plan order. */
  readonly bodies: readonly (readonly [string, string | null, string | null])[];
}

interface StepBase {
  readonly searchId: string;
  /** Structural position, unique in the search and stable over retries and continue-as-new, e.g. `i2.t3.a1.ground`. */
  readonly position: string;
}

interface ModelStepBase extends StepBase {
  /** 0 for the first try; a later one repeats the conversation with the error of the try before (paper, App. B.4). */
  readonly tryNumber: number;
  /** For a later try: the exact error and hint, if it came from execution and not from parsing. */
  readonly executionError?: string;
  readonly memory: MemoryRef;
}

/** The memory as a step sees it: active updates and facts by id, and the remarks of people, if any. */
export interface MemoryRef {
  readonly remarks?: readonly string[];
  /** Ids of web observations, if there are any. */
  readonly web?: readonly string[];
  readonly updates: readonly string[];
  readonly facts: readonly string[];
}

export type UsageDelta = Partial<Usage>;

/** Every model step is charged, parsed or not. */
export type ModelOutcome<T> =
  | { readonly kind: 'ok'; readonly value: T; readonly usage: UsageDelta }
  | {
      readonly kind: 'invalid';
      readonly error: string;
      readonly usage: UsageDelta;
      /** What was wrong with the reply, in one line for a person; histories from before have none. */
      readonly cause?: string;
      /** Its key in the journal. */
      readonly reply?: string;
    };

export interface TrajectoryRef {
  readonly id: string;
  readonly depth: number;
  readonly plan: PlanRef | null;
  readonly distance: number;
  readonly density: number;
  /** Its evidence: ids of observations and of the groundings that judged them, oldest first. */
  readonly attempts: readonly string[];
}

export interface EvaluateInput extends ModelStepBase {
  readonly role: 'evaluate';
  readonly trajectories: readonly TrajectoryRef[];
}
export interface Evaluation {
  readonly scores: readonly {
    readonly trajectory: string;
    readonly progress: number;
    readonly potential: number;
    readonly bottleneck: string | null;
  }[];
}

/** A web lookup that a reply wants first (docs/web.md). The model is then asked again with its result. */
export interface Lookup {
  readonly actionId: string;
  readonly tool: WebTool;
}

/** How many lookups the reply may still ask for; absent if the question does not allow the web. */
interface MayLookUp {
  readonly lookupsLeft?: number;
}

/** One turn of the conversation of `look-then-prove`. */
export interface LookInput extends ModelStepBase {
  readonly role: 'look';
  /** Ids of the turns so far. */
  readonly turns: readonly string[];
}
export interface Looked {
  readonly turnId: string;
  readonly action: 'look' | 'commit' | 'unanswerable';
}

export interface PlanInput extends ModelStepBase, MayLookUp {
  readonly role: 'plan';
  /** Other plans of the root. The new plan should be a different derivation. */
  readonly otherPlans: readonly PlanRef[];
  /** Reasons of earlier replies that the question is unanswerable. The new reply considers them. */
  readonly unanswerable?: readonly string[];
  /** Turns of the conversation before the search, for a plan that is made from nothing. */
  readonly seen?: readonly string[];
  /** If several plans are made at the same time without knowing each other: this is the `index`-th, from 1. */
  readonly variant?: { readonly index: number; readonly of: number };
  /** A plan to revise (replan), with the operators that are blocked. */
  readonly revise: {
    readonly plan: PlanRef;
    readonly blocked: readonly string[];
    readonly attempts: readonly string[];
    /** The grounding that says which interfaces do not fit the rows. */
    readonly refit?: string;
  } | null;
}
export type Planned =
  | {
      readonly kind: 'plan';
      readonly plan: PlanView;
      readonly potential: number;
      readonly bottleneck: string | null;
      /** First proposals that came with the plan. */
      readonly proposalId: string | null;
      readonly proposed: readonly string[];
    }
  | { readonly kind: 'unanswerable'; readonly reason: string; readonly potential: number }
  | { readonly kind: 'lookup'; readonly lookups: readonly Lookup[] };

export interface ProposeInput extends ModelStepBase, MayLookUp {
  readonly role: 'propose';
  readonly plan: PlanRef;
  readonly targets: readonly string[];
  /** Ids of observations and groundings to show: of the trajectory and of this expansion. */
  readonly attempts: readonly string[];
  /** Preset `paper`: the observations of this rollout so far. */
  readonly rollout: readonly string[];
  readonly callsLeft: number;
}
export interface Proposed {
  readonly proposalId: string;
  readonly operators: readonly string[];
  readonly done: boolean;
  /** Present if the reply wants lookups first; then there is no proposal. */
  readonly lookups?: readonly Lookup[];
}

export interface GroundInput extends ModelStepBase {
  readonly role: 'ground';
  readonly plan: PlanRef;
  readonly observations: readonly string[];
  readonly attempts: readonly string[];
}
export interface Grounded {
  readonly groundingId: string;
  readonly operators: readonly {
    readonly operator: string;
    readonly winner: string | null;
    readonly bodyId: string | null;
    /** A hypothesis was supported or refuted, which is new evidence (rule S7). */
    readonly decided: boolean;
  }[];
  /** One sentence for the progress line, at most 160 characters. */
  readonly learned: string | null;
  /** Bodies that the reply wrote for other unresolved operators: they become assumed. */
  readonly written: readonly {
    readonly operator: string;
    readonly bodyId: string;
    readonly risk: number;
    readonly assumptions: number;
  }[];
  readonly facts: readonly FactView[];
  readonly delta: number | null;
  readonly impossible: string | null;
  /** Set if counts beside a positive control show that what is asked for is not stored (rule S1). */
  readonly absenceShown?: boolean;
  /** Operators whose declared columns or grain the rows contradict: the plan is revised at once. */
  readonly refit?: readonly string[];
  /** Next proposals that came with the judgement. */
  readonly nextProposalId: string | null;
  readonly nextOperators: readonly string[];
}

export interface SelectInput extends ModelStepBase {
  readonly role: 'select';
  /** Best first, one per distinct result, at most 10. */
  readonly candidates: readonly {
    readonly id: string;
    /** How many independent derivations have this result. */
    readonly agreesWith: number;
    /** The reason, if the candidate is that the question is unanswerable. */
    readonly unanswerable: string | null;
  }[];
}
export interface Selected {
  /** null: the judge abstains. */
  readonly candidate: string | null;
  readonly reason: string;
}

/** Reads the schema, profiles columns that the question likely needs, takes the memory snapshot of scope `database`. */
export interface PrepareInput extends StepBase {
  readonly purpose: 'prepare';
}
export interface Prepared {
  readonly knownUpdates: readonly UpdateView[];
  readonly usage: UsageDelta;
}

/** Runs each written body over its inputs, compares its columns with the declared ones, and profiles the columns it reads. */
export interface CheckInput extends StepBase {
  readonly purpose: 'check';
  readonly plan: PlanRef;
  /** Operators whose bodies are new. */
  readonly operators: readonly string[];
  /** The next step if nothing fails: it runs in the same round trip (D3). */
  readonly next?: FollowUp;
}
export interface Checked {
  readonly failures: readonly { readonly operator: string; readonly error: string }[];
  readonly usage: UsageDelta;
  /** The output of `next`, when it ran. */
  readonly next?: Probed | CandidateRun;
}
export type FollowUp = ProbeInput | CandidateInput;

export interface ProbeInput extends StepBase {
  readonly purpose: 'probe';
  readonly plan: PlanRef;
  readonly proposalId: string;
}
export interface Probed {
  readonly observationId: string;
  readonly tests: readonly {
    readonly operator: string;
    readonly outcome: 'rows' | 'empty' | 'sql-error' | 'timeout' | 'refused';
    /** Set if the reading was found immaterial (rule S9), relative to the bodies of the other operators. */
    readonly immaterial: { readonly relativeTo: readonly string[]; readonly bodyId: string } | null;
  }[];
  readonly usage: UsageDelta;
}

/** Runs the winners' bodies over their inputs and makes updates of those that rule S1 proves. */
export interface SettleInput extends StepBase {
  readonly purpose: 'settle';
  readonly plan: PlanRef;
  readonly groundingId: string;
  readonly memory: MemoryRef;
  /** The next step if every winner is proved: it runs in the same round trip (D3). */
  readonly next?: FollowUp;
}
/** The id of the update that a settlement gives an operator. */
export function updateIdOf(position: string, operator: string): string {
  return `${position}.${operator}`;
}
export interface Settled {
  readonly results: readonly {
    readonly operator: string;
    readonly bodyId: string | null;
    /** Set if rule S1 holds (or, with proof `model`, if the judge supports it and the body runs). */
    readonly update: UpdateView | null;
    /** The body ran but fell short of S1: the operator is assumed, with its verdict attached. */
    readonly assumed: boolean;
    readonly error: string | null;
  }[];
  readonly usage: UsageDelta;
  /** The output of `next`, when it ran. */
  readonly next?: Probed | CandidateRun;
}

export interface CandidateInput extends StepBase {
  readonly purpose: 'candidate';
  readonly candidateId: string;
  readonly trajectory: string;
  readonly plan: PlanRef;
  /** Earlier candidates to compare the result with, oldest first (rule S5). */
  readonly against: readonly string[];
}
export interface CandidateRun {
  readonly outcome: CandidateView['outcome'];
  readonly rowCount: number;
  readonly trivial: boolean;
  readonly control: number | null;
  readonly equalTo: string | null;
  readonly usage: UsageDelta;
}

/** Runs the queries of a look in one snapshot. */
export interface QueriesInput extends StepBase {
  readonly purpose: 'queries';
  readonly turnId: string;
}
export interface Queried {
  readonly observationId: string;
  readonly usage: UsageDelta;
}

/** Lets the database decide a commit or a decline. */
export interface CommitInput extends StepBase {
  readonly purpose: 'commit';
  readonly turnId: string;
  readonly candidateId: string;
  readonly trajectory: string;
  /** How many commits and declines went back before. */
  readonly returned: number;
  /** Earlier candidates to compare the result with, oldest first (rule S5). */
  readonly against: readonly string[];
}
export type Committed =
  /** It did not run as written; the error goes back like one of execution. */
  | { readonly kind: 'invalid'; readonly error: string; readonly usage: UsageDelta }
  | {
      readonly kind: 'answer';
      readonly plan: PlanView;
      readonly run: CandidateRun;
      /** Of operators whose claims are all proved. */
      readonly updates: readonly UpdateView[];
      /** Of the observation and the grounding of its claims; null without claims. */
      readonly evidenceId: string | null;
      /** Nothing goes back to the model. */
      readonly settled: boolean;
      /** Too little is covered, and the commit said that it should then be declined: what is covered. */
      readonly declined: string | null;
      readonly learned: string | null;
      readonly usage: UsageDelta;
    }
  | { readonly kind: 'decline'; readonly settled: boolean; readonly reason: string; readonly usage: UsageDelta };

export type WebTool = 'web_search' | 'fetch_url';

/** Runs a web search or fetch. Only URLs that the observations in `turns` named may be fetched. */
export interface WebInput extends StepBase {
  readonly purpose: 'web';
  readonly actionId: string;
  readonly tool: WebTool;
  readonly turns: readonly string[];
  /** An outage of the search provider is recorded as an observation instead of thrown. */
  readonly mayFail?: boolean;
}
export interface WebRun {
  readonly observationId: string;
  readonly outcome: 'found' | 'nothing' | 'failed' | 'refused';
  readonly usage: UsageDelta;
}

export interface FinishInput {
  readonly searchId: string;
  readonly state: SearchState;
  readonly status: AnswerStatus;
  readonly endedBy: EndedBy;
  readonly chosen: string | null;
  readonly reason: string | null;
}

export type ModelStepInput = LookInput | EvaluateInput | PlanInput | ProposeInput | GroundInput | SelectInput;
export type SqlStepInput =
  QueriesInput | CommitInput | PrepareInput | CheckInput | ProbeInput | SettleInput | CandidateInput;

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

export type { OperatorView };
