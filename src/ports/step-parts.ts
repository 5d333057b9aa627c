/** What the inputs and outputs of several steps share. */
import type { Usage } from '../domain';

/** A plan by reference: for each operator, its current body and the update that proved it. */
export interface PlanRef {
  readonly planId: string;
  /** `[operator, bodyId, updateId]`, in plan order. */
  readonly bodies: readonly (readonly [string, string | null, string | null])[];
}

export interface StepBase {
  readonly searchId: string;
  /** Structural position, unique in the search and stable over retries and continue-as-new, e.g. `i2.t3.a1.ground`. */
  readonly position: string;
}

/** The signal is aborted when the search is cancelled; a step passes it on to the model or the database. */
export interface StepOptions {
  readonly signal?: AbortSignal;
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

export type WebTool = 'web_search' | 'fetch_url';

/** A web lookup that a reply wants first (docs/web.md). The model is then asked again with its result. */
export interface Lookup {
  readonly actionId: string;
  readonly tool: WebTool;
}
