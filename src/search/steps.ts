/**
 * The port between the control loop and the contents (design D1). A step is one model call or one SQL round trip: it
 * gets a structural position, ids and scalars, loads what it needs from the store, applies the pure functions of this
 * folder, stores the contents it made under ids derived from the position, and returns only what control reads.
 *
 * 1. A step is idempotent: the same position gives the same ids, and a journalled model call is not paid again (D2).
 * 2. What the search learns from is a value here; only infrastructure throws (D5).
 * 3. Everything in and out is plain JSON and small: it becomes Temporal history (D3).
 */
import type { CandidateView, FactView, OperatorView, PlanView, SearchState, UpdateView, Usage } from '../domain';
import type { AnswerRecord, AnswerStatus } from '../domain/answer';
import type { EndedBy } from '../domain/state';

/** A plan by reference: which body, proved by which update, each operator has now. */
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
  /** For a later try: the exact error and hint, when it came from execution and not from parsing. */
  readonly executionError?: string;
  readonly memory: MemoryRef;
}

/** The memory as a step sees it: active updates and facts by id, and the remarks of people, if any. */
export interface MemoryRef {
  readonly remarks?: readonly string[];
  /** Observations of the web, where there are any. */
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
      /** Where the journal keeps it. */
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

/** A reply that wants to know more from outside first (docs/web.md); it is asked again with what came of it. */
export interface Lookup {
  readonly actionId: string;
  readonly tool: WebTool;
}

/** Where a question allows the web: how many lookups the reply may still ask for. */
interface MayLookUp {
  readonly lookupsLeft?: number;
}

export interface PlanInput extends ModelStepBase, MayLookUp {
  readonly role: 'plan';
  /** Other plans of the root, so that the new one is a different derivation. */
  readonly otherPlans: readonly PlanRef[];
  /** Why earlier replies said that nothing can be answered: the new one looks again with these in view. */
  readonly unanswerable?: readonly string[];
  /** Several plans are made at the same time, without seeing each other: this is the `index`-th, from 1. */
  readonly variant?: { readonly index: number; readonly of: number };
  /** A plan to revise (replan), with the operators that are blocked. */
  readonly revise: {
    readonly plan: PlanRef;
    readonly blocked: readonly string[];
    readonly attempts: readonly string[];
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
  /** Evidence shown (observation and grounding ids): the trajectory's and that of this expansion. */
  readonly attempts: readonly string[];
  /** Preset `paper`: the observations of this rollout so far. */
  readonly rollout: readonly string[];
  readonly callsLeft: number;
}
export interface Proposed {
  readonly proposalId: string;
  readonly operators: readonly string[];
  readonly done: boolean;
  /** In place of a proposal. */
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
    /** Some hypothesis was kept as supported or refuted: new evidence (rule S7). */
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
  /** Next proposals that came with the judgement. */
  readonly nextProposalId: string | null;
  readonly nextOperators: readonly string[];
}

export interface SelectInput extends ModelStepBase {
  readonly role: 'select';
  /** Best first, one per distinct result, at most 10. */
  readonly candidates: readonly {
    readonly id: string;
    /** How many independent derivations gave this result. */
    readonly agreesWith: number;
    /** Why nothing can be answered, for an unanswerable candidate. */
    readonly unanswerable: string | null;
  }[];
}
export interface Selected {
  /** null: the judge abstains. */
  readonly candidate: string | null;
  readonly reason: string;
}

/** Reads the schema, profiles what the question is likely to touch, takes the memory snapshot of scope `database`. */
export interface PrepareInput extends StepBase {
  readonly purpose: 'prepare';
}
export interface Prepared {
  readonly schemaFingerprint: string;
  readonly knownUpdates: readonly UpdateView[];
  readonly usage: UsageDelta;
}

/** Runs each written body over its inputs and compares its columns with the declared ones; profiles what it touches. */
export interface CheckInput extends StepBase {
  readonly purpose: 'check';
  readonly plan: PlanRef;
  /** Operators whose bodies are new. */
  readonly operators: readonly string[];
  /** What will be asked for next if nothing fails: it runs in the same round trip (D3). */
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
    /** Rule S9, when it ran: the reading does not matter. `bodies` are the other operators' it holds relative to. */
    readonly immaterial: { readonly relativeTo: readonly string[]; readonly bodyId: string } | null;
  }[];
  readonly usage: UsageDelta;
}

/** Rule S1: runs the winners' bodies over their inputs and derives updates from what holds. */
export interface SettleInput extends StepBase {
  readonly purpose: 'settle';
  readonly plan: PlanRef;
  readonly groundingId: string;
  readonly memory: MemoryRef;
  /** What will be asked for next if every winner is proved: it runs in the same round trip (D3). */
  readonly next?: FollowUp;
}
/** The update that a settling gives an operator. */
export function updateIdOf(position: string, operator: string): string {
  return `${position}.${operator}`;
}
export interface Settled {
  readonly results: readonly {
    readonly operator: string;
    readonly bodyId: string | null;
    /** Present when S1 holds (or, with proof `model`, the judge said so and the body runs). */
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

export type WebTool = 'web_search' | 'fetch_url';

/** Runs what an action asks of the web; the URLs that the observations `turns` named may be fetched. */
export interface WebInput extends StepBase {
  readonly purpose: 'web';
  readonly actionId: string;
  readonly tool: WebTool;
  readonly turns: readonly string[];
  /** An outage of the search provider is an observation, too. */
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

export type ModelStepInput = EvaluateInput | PlanInput | ProposeInput | GroundInput | SelectInput;
export type SqlStepInput = PrepareInput | CheckInput | ProbeInput | SettleInput | CandidateInput;

/** The signal is aborted when the search is cancelled; a step passes it on to the model or the database. */
export interface StepOptions {
  readonly signal?: AbortSignal;
}

/** `mayRetry`: the caller tries once more, should a site not answer. */
export interface WebOptions extends StepOptions {
  readonly mayRetry?: boolean;
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

/** What the workflow returns: the record itself is in the store under the search id (D3, D4). */
export type AnswerSummary = Pick<AnswerRecord, 'id' | 'status' | 'endedBy' | 'answer' | 'sql' | 'reason' | 'usage'> & {
  /** What is proved and what is open, in short lines; left out where there is neither. */
  readonly proof?: readonly string[];
};

export type { OperatorView };
