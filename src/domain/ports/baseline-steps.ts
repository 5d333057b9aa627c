/** What goes into each step of the baselines (react, redel, reforce), and what control reads of what came out. */
import type { CandidateRun } from './search-steps';
import type { WebTool } from './step-parts';

export type HelperRun =
  | { readonly helper: string; readonly calls: number }
  /** It ended with this error. */
  | { readonly failed: string };

/** One action of an agent; by role `redel` it may have helpers. */
interface Act {
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
  | { readonly kind: 'unanswerable'; readonly reason: string }
  /** The subtasks; null: refused, no helper gets it. */
  | { readonly kind: 'delegate'; readonly actionId: string; readonly tasks: readonly (string | null)[] }
  /** How a helper ends. */
  | { readonly kind: 'report'; readonly actionId: string };

/** The schema text that a prompt of `reforce` shows. */
interface Shown {
  readonly schemaId: string;
}

/** One exchange of an exploration. */
export interface ExploreTurn {
  readonly actionId: string;
  /** What its queries gave; null where none of them was run. */
  readonly observationId: string | null;
  /** Queries that were left when the next message was written: of this action, from this one on. */
  readonly rest: readonly [string, number];
}

/** What a model is asked in each role of a baseline, and what comes of it. */
export interface BaselineRoles {
  readonly react: [Act, Acted];
  readonly redel: [Act, Acted];
  /** Schema linking: is the table at this place of the schema text, from 0, needed? The reply; null: it is not. */
  readonly 'reforce-link': [Shown & { readonly table: number }, { readonly linkId: string | null }];
  /** Format restriction: the header of the answer. */
  readonly 'reforce-format': [Shown, { readonly formatId: string }];
  /** Column exploration: queries to look with, one to correct, or those that are left, corrected in the same way. */
  readonly 'reforce-explore': [
    Shown & { readonly turns: readonly ExploreTurn[]; readonly asks: 'queries' | 'correction' | 'rest' },
    { readonly actionId: string; readonly queries: number },
  ];
  /** One SQL of a vote: with observations of its exploration, and of its SQL so far. */
  readonly 'reforce-generate': [
    Shown & {
      readonly formatId: string | null;
      readonly explored: readonly string[];
      readonly turns: readonly string[];
    },
    { readonly actionId: string },
  ];
  /** The choice where votes do not decide. */
  readonly 'reforce-choose': [Shown & { readonly candidates: readonly string[] }, { readonly candidate: string }];
  /** Output mode `answer`: the result in words. */
  readonly 'reforce-answer': [Shown & { readonly candidateId: string }, { readonly candidateId: string }];
}

/** What the database is asked by a baseline. */
export interface BaselinePurposes {
  /** Runs the queries of an action of the method `react`, or reads what the helpers of an action that delegates found. */
  readonly tool: [
    {
      readonly actionId: string;
      /** By subtask; null: refused. */
      readonly helpers?: readonly (HelperRun | null)[];
    },
    { readonly observationId: string; readonly outcome: CandidateRun['outcome'] | 'empty' },
  ];
  /** Runs the final SQL of an `end` action and stores it as the candidate. */
  readonly final: [
    { readonly actionId: string; readonly candidateId: string },
    CandidateRun & { readonly error: string | null },
  ];
  /** Makes the schema text of `reforce-…`; with `linked`, of the tables and columns that these replies keep. */
  readonly compress: [
    { readonly linked: readonly string[] },
    Shown & {
      /** How many tables are to be linked; 0: the text is short enough. */
      readonly tables: number;
      /** The question wants its answer in words. */
      readonly worded: boolean;
    },
  ];
  /** Runs queries of an exploration in their order, until one fails or returns nothing, or `most` have run. */
  readonly explore: [
    { readonly actionId: string; readonly from: number; readonly most: number },
    {
      readonly observationId: string;
      readonly succeeded: number;
      /** One failed, or returned nothing. */
      readonly failed: boolean;
    },
  ];
  /** Runs the SQL of a vote and stores it as the vote's candidate. */
  readonly refine: [
    {
      readonly actionId: string;
      readonly candidateId: string;
      /** Results of the same conversation that count, to compare with. */
      readonly earlier: readonly string[];
    },
    CandidateRun & {
      readonly observationId: string;
      /** One of the earlier results is the same. */
      readonly repeats: boolean;
      /** A column holds nothing but NULL, empty text and zeros, or a value several lines. */
      readonly flawed: boolean;
    },
  ];
  /** Compares the results of candidates; `explored`: then an empty column does not exclude a result. */
  readonly agree: [
    { readonly candidates: readonly string[]; readonly explored: boolean },
    /** For each candidate that counts and has any: the others that count and have an equal result. */
    { readonly agreeing: Readonly<Record<string, readonly string[]>> },
  ];
}
