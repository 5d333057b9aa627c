/**
 * The port between the control loop and the contents (design D1). A step is one model call or one SQL round trip. It gets a
 * structural position, ids and scalars, loads the contents from the store, applies the pure functions, stores
 * new contents under ids derived from the position, and returns only what the control loop reads. Each step stands with its
 * role (`src/roles`); here is what several of them share.
 *
 * 1. A step is idempotent: the same position gives the same ids, and a journalled model call is not paid again (D2).
 * 2. Failures that the search can learn from are values; only infrastructure errors are thrown (D5).
 * 3. Everything in and out is plain JSON and small: it becomes Temporal history (D3).
 */
import type { Question, SearchInput, SearchState, Settings, Usage } from '..';
import type { AnswerRecord, Standing } from '../answer';
import type { SqlPurpose, StepRole } from '../role-names';

export interface StepBase {
  readonly searchId: string;
  /** Structural position, unique in the search and stable over retries and continue-as-new, e.g. `i2.t3.a1.ground`. */
  readonly position: string;
  /** The process that has run all steps of the workflow so far: it need not look for what others stored. */
  readonly heldBy?: string;
}

export interface StepOptions {
  /** Aborted when the search is cancelled; a step passes it on to the model or the database. */
  readonly signal?: AbortSignal;
  /** Its line in the timeline of the Temporal UI: names, ids and counters, no text of a model and no values (D7). */
  readonly label?: string;
  /** The caller tries once more if a site does not answer. */
  readonly mayRetry?: boolean;
  /** Left out: other processes may have run steps of the search. */
  readonly holding?: Holding;
}

export interface Holding {
  /** Of the workflow. */
  readonly runId: string;
  /** This process has run all steps of that run so far, and no other try of this one has begun. */
  readonly holdsAll: boolean;
}

export interface ModelStepInput extends StepBase {
  /** 0 for the first try; a later one repeats the conversation with the error of the try before (paper, App. B.4). */
  readonly tryNumber: number;
  /** For a later try: the exact error and hint, if it came from execution and not from parsing. */
  readonly executionError?: string;
  readonly memory: MemoryRef;
  /** Added to the seed of the settings, so that concurrent calls with the same words differ. */
  readonly seedShift?: number;
}

export type ModelInput<Role extends StepRole> = ModelStepInput & { readonly role: Role };
export type ModelCall = ModelInput<StepRole>;
/** `checkpoint`: the state after the iteration before, which is stored with the step. */
export type SqlInput<Purpose extends SqlPurpose> = StepBase & {
  readonly purpose: Purpose;
  readonly checkpoint?: SearchState;
};
export type SqlCall = SqlInput<SqlPurpose>;

/** Every model step is charged, parsed or not. */
export type ModelOutcome<T> =
  | { readonly kind: 'ok'; readonly value: T; readonly usage: UsageDelta }
  | {
      readonly kind: 'invalid';
      readonly error: string;
      readonly usage: UsageDelta;
      /** What was wrong with the reply, in one line for a person. */
      readonly cause?: string;
      /** Its key in the journal. */
      readonly reply?: string;
      /** The reply has its format, but its SQL cannot be used. */
      readonly badSql?: true;
    };

/** A plan by reference: for each operator, its current body and the update that proved it. */
export interface PlanRef {
  readonly planId: string;
  /** `[operator, bodyId, updateId]`, in plan order. */
  readonly bodies: readonly (readonly [string, string | null, string | null])[];
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

export type WebTool = Exclude<Question['tools'][number], 'execute_sql'>;

/** A web lookup that a reply wants first (docs/web.md). The model is then asked again with its result. */
export interface Lookup {
  readonly actionId: string;
  readonly tool: WebTool;
}

/** The id of the update that a settlement gives an operator. */
export function updateIdOf(position: string, operator: string): string {
  return `${position}.${operator}`;
}

/** The workflow's result. The full record is in the store under the search id (D3, D4). */
export type AnswerSummary = Pick<AnswerRecord, 'id' | 'status' | 'endedBy' | 'answer' | 'sql' | 'reason' | 'usage'> & {
  /** Absent: there is no answer. */
  readonly standing?: Standing;
  /** Short lines on what is proved and what is open; absent if there are none. */
  readonly proof?: readonly string[];
  /** Of an agent that may have helpers: its tool calls and theirs. */
  readonly toolCalls?: number;
  /** How much of it the semantic layer keeps; absent: nothing. */
  readonly kept?: number;
  /** What was proved is being read, to be kept, by a workflow of its own. Absent: no. */
  readonly keeping?: true;
};

/**
 * A search that another one starts: it has an id, a history, a record and budgets of its own. What is left out is as the
 * parent's. `settings.budgets`: what the parent hands down of its own.
 */
export interface ChildInput extends StepBase {
  readonly question?: Partial<Question>;
  readonly settings: Partial<Settings>;
  /** Added to the parent's seed. */
  readonly seedOffset?: number;
}

/** Its input is stored; the id follows from the parent's id and the position. */
export interface OpenedChild extends Pick<SearchInput, 'searchId' | 'settings'> {
  /** What it came to, if it has a final record. */
  readonly ended: { readonly summary: AnswerSummary; readonly isConclusive: boolean } | null;
}

/** Also of a child that failed, if it has a record: the parent is charged for it. */
export interface ChildRun {
  readonly id: string;
  readonly summary: AnswerSummary;
  readonly usage: Usage;
}

export function childRun(summary: AnswerSummary): ChildRun {
  return { id: summary.id, summary, usage: summary.usage };
}

export interface ChildSteps {
  /** Runs it to its end. It is cancelled with its parent, and then ends with its best so far (D6). */
  child(input: ChildInput): Promise<ChildRun>;
}
