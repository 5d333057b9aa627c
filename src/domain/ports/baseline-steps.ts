/** What goes into each step of the baselines (react, redel, reforce), and what control reads of what came out. */
import type { CandidateRun } from './search-steps';
import type { ModelStepInput, StepBase, UsageDelta, WebTool } from './step-parts';

/** One action of the method `react`. */
export interface ActInput extends ModelStepInput {
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

export interface ReforceBase extends ModelStepInput {
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

/** What a model is asked in each role of a baseline, and what comes of it. */
export interface BaselineRoles {
  readonly react: [ActInput, Acted];
  readonly redel: [RedelInput, RedelActed];
  readonly 'reforce-link': [LinkInput, Linked];
  readonly 'reforce-format': [FormatInput, Formatted];
  readonly 'reforce-explore': [ExploreInput, ExplorationAsked];
  readonly 'reforce-generate': [GenerateInput, Generated];
  readonly 'reforce-choose': [ChooseInput, Chosen];
  readonly 'reforce-answer': [PhraseInput, Phrased];
}

/** What the database is asked by a baseline. */
export interface BaselinePurposes {
  readonly tool: [ToolInput, ToolRun];
  readonly final: [FinalInput, FinalRun];
  readonly compress: [CompressInput, Compressed];
  readonly explore: [ExploreRunInput, Explored];
  readonly refine: [RefineInput, Refined];
  readonly agree: [AgreeInput, Agreement];
}
