/** What the ReAct agent asks for: one action, a tool, the final SQL; the rest as the search does. */
import type { CandidateRun, MemoryRef, ModelOutcome, SearchSteps, UsageDelta, WebTool } from './search-steps';

export interface ActInput {
  readonly role: 'react';
  readonly searchId: string;
  readonly position: string;
  readonly tryNumber: number;
  readonly executionError?: string;
  readonly memory: MemoryRef;
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

export interface ToolInput {
  readonly purpose: 'tool';
  readonly searchId: string;
  readonly position: string;
  readonly actionId: string;
}

export interface ToolRun {
  readonly observationId: string;
  readonly outcome: 'rows' | 'empty' | 'sql-error' | 'timeout' | 'refused';
  readonly usage: UsageDelta;
}

/** Runs the final SQL of an `end` action and stores it as the candidate. */
export interface FinalInput {
  readonly purpose: 'final';
  readonly searchId: string;
  readonly position: string;
  readonly actionId: string;
  readonly candidateId: string;
}

export interface FinalRun extends CandidateRun {
  readonly error: string | null;
}

export interface ReactSteps extends Pick<SearchSteps, 'prepare' | 'web' | 'checkpoint' | 'finish'> {
  act(input: ActInput): Promise<ModelOutcome<Acted>>;
  tool(input: ToolInput): Promise<ToolRun>;
  final(input: FinalInput): Promise<FinalRun>;
}
