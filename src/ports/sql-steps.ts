/** The steps that ask the database, and the one that asks the web: what each one runs, and what the loop reads of the result. */
import type { CandidateView, PlanView, UpdateView } from '../domain';
import type { MemoryRef, PlanRef, StepBase, StepOptions, UsageDelta, WebTool } from './step-parts';

/** Reads the schema, profiles columns that the question likely needs, recalls what the layer of the database knows. */
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
}
export interface Checked {
  readonly failures: readonly { readonly operator: string; readonly error: string }[];
  readonly usage: UsageDelta;
}

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
      /** Claims; left out: none. */
      readonly proved?: number;
      /** A claim of its own is established, which the layer may keep; left out: none is. */
      readonly establishes?: boolean;
      /** Nothing goes back to the model. */
      readonly settled: boolean;
      /** Too little is covered, and the commit said that it should then be declined: what is covered. */
      readonly declined: string | null;
      readonly learned: string | null;
      readonly usage: UsageDelta;
    }
  | { readonly kind: 'decline'; readonly settled: boolean; readonly reason: string; readonly usage: UsageDelta };

/** Runs the queries of a lesson and counts its claims. */
export interface ProveInput extends StepBase {
  readonly purpose: 'prove';
  readonly turnId: string;
}
export interface Prove {
  /** How many of its claims hold. */
  readonly proved: number;
  readonly usage: UsageDelta;
}

/** Writes the groundings of a candidate as claims, each with one check, and runs these. */
export interface RestateInput extends StepBase {
  readonly purpose: 'restate';
  readonly candidateId: string;
}
export interface Restated {
  /** How many of them their checks prove; they are stored under the position. */
  readonly proved: number;
  readonly usage: UsageDelta;
}

/** Runs the checks of entries of the layer again, and says there which no longer hold. */
export interface RecountInput extends StepBase {
  readonly purpose: 'recount';
  readonly entries: readonly string[];
}
export interface Recount {
  /** How many no longer hold. */
  readonly broken: number;
  readonly usage: UsageDelta;
}

/** Runs the queries of an action of the method `react`, or reads what the helpers of an action that delegates found. */
export interface ToolInput extends StepBase {
  readonly purpose: 'tool';
  readonly actionId: string;
  /** By subtask; null: refused. */
  readonly helpers?: readonly (HelperRun | null)[];
}
export type HelperRun =
  | { readonly helper: string; readonly calls: number }
  /** It ended with this error. */
  | { readonly failed: string };
export interface ToolRun {
  readonly observationId: string;
  readonly outcome: 'rows' | 'empty' | 'sql-error' | 'timeout' | 'refused';
  readonly usage: UsageDelta;
}

/** Runs the final SQL of an `end` action and stores it as the candidate. */
export interface FinalInput extends StepBase {
  readonly purpose: 'final';
  readonly actionId: string;
  readonly candidateId: string;
}
export interface FinalRun extends CandidateRun {
  readonly error: string | null;
}

/** Makes the schema text of `reforce-…`; with `linked`, of the tables and columns that these replies keep. */
export interface CompressInput extends StepBase {
  readonly purpose: 'compress';
  readonly linked: readonly string[];
}
export interface Compressed {
  readonly schemaId: string;
  /** How many tables are to be linked; 0: the text is short enough. */
  readonly tables: number;
  /** The question wants its answer in words. */
  readonly worded: boolean;
  readonly usage: UsageDelta;
}

/** Runs queries of an exploration in their order, until one fails or returns nothing, or `most` have run. */
export interface ExploreRunInput extends StepBase {
  readonly purpose: 'explore';
  readonly actionId: string;
  readonly from: number;
  readonly most: number;
}
export interface Explored {
  readonly observationId: string;
  readonly succeeded: number;
  /** One failed, or returned nothing. */
  readonly failed: boolean;
  readonly usage: UsageDelta;
}

/** Runs the SQL of a vote and stores it as the vote's candidate. */
export interface RefineInput extends StepBase {
  readonly purpose: 'refine';
  readonly actionId: string;
  readonly candidateId: string;
  /** Results of the same conversation that count, to compare with. */
  readonly earlier: readonly string[];
}
export interface Refined extends CandidateRun {
  readonly observationId: string;
  /** One of the earlier results is the same. */
  readonly repeats: boolean;
  /** A column holds nothing but NULL, empty text and zeros, or a value several lines. */
  readonly flawed: boolean;
}

/** Compares the results of candidates. */
export interface AgreeInput extends StepBase {
  readonly purpose: 'agree';
  readonly candidates: readonly string[];
  /** Then an empty column does not exclude a result. */
  readonly explored: boolean;
}
export interface Agreement {
  /** For each candidate that counts and has any: the others that count and have an equal result. */
  readonly agreeing: Readonly<Record<string, readonly string[]>>;
  readonly usage: UsageDelta;
}

interface Inputs {
  readonly prepare: PrepareInput;
  readonly queries: QueriesInput;
  readonly commit: CommitInput;
  readonly prove: ProveInput;
  readonly restate: RestateInput;
  readonly recount: RecountInput;
  readonly check: CheckInput;
  readonly probe: ProbeInput;
  readonly settle: SettleInput;
  readonly candidate: CandidateInput;
  readonly tool: ToolInput;
  readonly final: FinalInput;
  readonly compress: CompressInput;
  readonly explore: ExploreRunInput;
  readonly refine: RefineInput;
  readonly agree: AgreeInput;
}
interface Values {
  readonly prepare: Prepared;
  readonly queries: Queried;
  readonly commit: Committed;
  readonly prove: Prove;
  readonly restate: Restated;
  readonly recount: Recount;
  readonly check: Checked;
  readonly probe: Probed;
  readonly settle: Settled;
  readonly candidate: CandidateRun;
  readonly tool: ToolRun;
  readonly final: FinalRun;
  readonly compress: Compressed;
  readonly explore: Explored;
  readonly refine: Refined;
  readonly agree: Agreement;
}

export type SqlPurpose = keyof Inputs;
/** The same function under the name of every purpose. */
export function byPurpose<F>(step: F): Readonly<Record<SqlPurpose, F>> {
  return {
    ...{ prepare: step, queries: step, commit: step, prove: step, restate: step, recount: step },
    ...{ check: step, probe: step, settle: step, candidate: step, tool: step, final: step },
    ...{ compress: step, explore: step, refine: step, agree: step },
  };
}

/** What the step of this purpose is given. */
export type SqlInput<P extends SqlPurpose = SqlPurpose> = Inputs[P] & { readonly purpose: P };
/** What the loop reads of its result. */
export type SqlValue<P extends SqlPurpose = SqlPurpose> = Values[P];
export type SqlSteps = {
  readonly [P in SqlPurpose]: (input: SqlInput<P>, options?: StepOptions) => Promise<SqlValue<P>>;
};

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
