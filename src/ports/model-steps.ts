/** The model steps: what each one asks of a role, and what the loop reads of its reply. */
import type { FactView, PlanView } from '../domain';
import type { Lookup, MemoryRef, PlanRef, StepBase, StepOptions, UsageDelta, WebTool } from './step-parts';

interface ModelStepBase extends StepBase {
  /** 0 for the first try; a later one repeats the conversation with the error of the try before (paper, App. B.4). */
  readonly tryNumber: number;
  /** For a later try: the exact error and hint, if it came from execution and not from parsing. */
  readonly executionError?: string;
  readonly memory: MemoryRef;
  /** Added to the seed of the settings, so that concurrent calls with the same words differ. */
  readonly seedShift?: number;
}

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

/** How many lookups the reply may still ask for; absent if the question does not allow the web. */
interface MayLookUp {
  readonly lookupsLeft?: number;
}

/** One turn of the conversation of `look-then-prove`. */
export interface LookInput extends ModelStepBase {
  readonly role: 'look';
  /** Ids of the turns so far. */
  readonly turns: readonly string[];
  /** The last turn was settled; this one is for what a person said since. */
  readonly hearsOut?: true;
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

export interface SelectAnswerInput extends ModelStepBase {
  readonly role: 'select';
  /** Best first, one per distinct result, at most 10. */
  readonly candidates: readonly {
    readonly id: string;
    /** How many independent derivations have this result. */
    readonly agreesWith: number;
    /** The reason, if the candidate is that the question is unanswerable. */
    readonly unanswerable: string | null;
    /** By number: grounding updates on the way to it. */
    readonly depth?: number;
  }[];
  /** All candidates, in the order they were found: what they answer is merged, and at most 10 are shown. */
  readonly byNumber?: true;
}
export interface SelectedAnswer {
  /** null: the judge abstains. */
  readonly candidate: string | null;
  readonly reason: string;
}

/** Reads what the commit of a turn proved, before the layer of the database keeps it. */
export interface KeepInput extends ModelStepBase {
  readonly role: 'keep';
  readonly turnId: string;
}
export interface Kept {
  /** How many entries. */
  readonly kept: number;
  /** Entries of before that cannot be right if these are: their checks are to run again (`recount`). */
  readonly contradicted: readonly string[];
}

/** One turn of learning a database (`methods/learn.ts`). */
export interface LearnInput extends ModelStepBase {
  readonly role: 'learn';
  /** Ids of the turns so far, and how many there may be. */
  readonly turns: readonly string[];
  readonly limit: number;
}
export interface Learned {
  readonly turnId: string;
  /** The model says that nothing is left. */
  readonly done: boolean;
}

/** One action of the method `react`. */
export interface ActInput extends ModelStepBase {
  readonly role: 'react';
  /** Observation ids of the turns so far. */
  readonly turns: readonly string[];
  readonly callsUsed: number;
  readonly callsLimit: number;
}
export type Acted =
  | { readonly kind: 'tool'; readonly actionId: string }
  /** Only if the question allows the web. */
  | { readonly kind: 'web'; readonly actionId: string; readonly tool: WebTool }
  | { readonly kind: 'end'; readonly actionId: string }
  | { readonly kind: 'unanswerable'; readonly reason: string };

/** One action of an agent of the methods redel-…. */
export interface RedelInput extends Omit<ActInput, 'role'> {
  readonly role: 'redel';
}
export type RedelActed =
  | Acted
  /** The subtasks; null: refused, no helper gets it. */
  | { readonly kind: 'delegate'; readonly actionId: string; readonly tasks: readonly (string | null)[] }
  /** How a helper ends. */
  | { readonly kind: 'report'; readonly actionId: string };

interface ReforceBase extends ModelStepBase {
  /** The schema text that the prompt shows. */
  readonly schemaId: string;
}

/** Schema linking: is this table needed? */
export interface LinkInput extends ReforceBase {
  readonly role: 'reforce-link';
  /** Its place in the schema text, from 0. */
  readonly table: number;
}
export interface Linked {
  /** The reply; null: the table is not needed. */
  readonly linkId: string | null;
}

/** Format restriction: the header of the answer. */
export interface FormatInput extends ReforceBase {
  readonly role: 'reforce-format';
}
export interface Formatted {
  readonly formatId: string;
}

/** One exchange of an exploration. */
export interface ExploreTurn {
  readonly actionId: string;
  /** What its queries gave; null where none of them was run. */
  readonly observationId: string | null;
  /** Queries that were left when the next message was written: of this action, from this one on. */
  readonly rest: readonly [string, number];
}

/** Column exploration: queries to look with, one to correct, or those that are left, corrected in the same way. */
export interface ExploreInput extends ReforceBase {
  readonly role: 'reforce-explore';
  readonly turns: readonly ExploreTurn[];
  readonly asks: 'queries' | 'correction' | 'rest';
}
export interface ExplorationAsked {
  readonly actionId: string;
  readonly queries: number;
}

/** One SQL of a vote. */
export interface GenerateInput extends ReforceBase {
  readonly role: 'reforce-generate';
  readonly formatId: string | null;
  /** Observations of its exploration. */
  readonly explored: readonly string[];
  /** Observations of its SQL so far. */
  readonly turns: readonly string[];
}
export interface Generated {
  readonly actionId: string;
}

/** The choice where votes do not decide. */
export interface ChooseInput extends ReforceBase {
  readonly role: 'reforce-choose';
  readonly candidates: readonly string[];
}
export interface Chosen {
  readonly candidate: string;
}

/** Output mode `answer`: the result in words. */
export interface PhraseInput extends ReforceBase {
  readonly role: 'reforce-answer';
  readonly candidateId: string;
}
export interface Phrased {
  readonly candidateId: string;
}

interface Inputs {
  readonly look: LookInput;
  readonly evaluate: EvaluateInput;
  readonly plan: PlanInput;
  readonly propose: ProposeInput;
  readonly ground: GroundInput;
  readonly select: SelectAnswerInput;
  readonly keep: KeepInput;
  readonly learn: LearnInput;
  readonly react: ActInput;
  readonly redel: RedelInput;
  readonly 'reforce-link': LinkInput;
  readonly 'reforce-format': FormatInput;
  readonly 'reforce-explore': ExploreInput;
  readonly 'reforce-generate': GenerateInput;
  readonly 'reforce-choose': ChooseInput;
  readonly 'reforce-answer': PhraseInput;
}
interface Values {
  readonly look: Looked;
  readonly evaluate: Evaluation;
  readonly plan: Planned;
  readonly propose: Proposed;
  readonly ground: Grounded;
  readonly select: SelectedAnswer;
  readonly keep: Kept;
  readonly learn: Learned;
  readonly react: Acted;
  readonly redel: RedelActed;
  readonly 'reforce-link': Linked;
  readonly 'reforce-format': Formatted;
  readonly 'reforce-explore': ExplorationAsked;
  readonly 'reforce-generate': Generated;
  readonly 'reforce-choose': Chosen;
  readonly 'reforce-answer': Phrased;
}

export type ModelRole = keyof Inputs;
/** The same function under the name of every role. */
export function byRole<F>(step: F): Readonly<Record<ModelRole, F>> {
  return {
    ...{ look: step, evaluate: step, plan: step, propose: step },
    ...{ ground: step, select: step, keep: step, learn: step, react: step, redel: step },
    ...{ 'reforce-link': step, 'reforce-format': step, 'reforce-explore': step },
    ...{ 'reforce-generate': step, 'reforce-choose': step, 'reforce-answer': step },
  };
}

/** What the step of this role is given. */
export type ModelInput<R extends ModelRole = ModelRole> = Inputs[R] & { readonly role: R };
/** What the loop reads of its reply. */
export type ModelValue<R extends ModelRole = ModelRole> = Values[R];
export type ModelSteps = {
  readonly [R in ModelRole]: (input: ModelInput<R>, options?: StepOptions) => Promise<ModelOutcome<ModelValue<R>>>;
};
