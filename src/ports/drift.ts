/** What a watch of a layer asks for, and where it tells of drift. JSON-safe in and out; adapters throw `OutletError`. */
import type { StepOptions } from './step-parts';

/** One run of the checks. */
export interface WatchRun {
  readonly database: string;
  /** Which database it is, whatever its name. */
  readonly identity: string;
  /** When the run began (ISO): its events have this time, so that a retried step finds what it wrote before. */
  readonly at: string;
}

/** Names and counts only: what broke is in the layer. */
export interface WatchFound {
  readonly checked: number;
  /** Hidden, or no answer in time. */
  readonly unseen: number;
  /** Do not hold now. */
  readonly broken: number;
  /** Of these, held before this run. */
  readonly broke: number;
  /** Hold for a smaller share of the rows than is kept. */
  readonly lower: number;
  /** Of these, for a smaller one than before this run. */
  readonly fell: number;
  readonly heldAgain: number;
}

export type Outlet =
  /** `variable`: of the worker's environment, with the URL. */
  | { readonly kind: 'webhook'; readonly variable: string }
  /** An absolute path on the worker's machine. */
  | { readonly kind: 'file'; readonly path: string };

export interface WatchSteps {
  verifyLayer(run: WatchRun & { readonly timeoutMs: number }, options: StepOptions): Promise<WatchFound>;
  reportDrift(run: WatchRun & { readonly found: WatchFound; readonly to: Outlet }, options: StepOptions): Promise<void>;
}

/** Tells somebody outside; `json` is one line. */
export type Tell = (to: Outlet, json: string, signal: AbortSignal) => Promise<void>;

export type OutletErrorCode =
  /** Another worker may have what is missing here: worth another try. */
  | 'not-here'
  /** May pass. */
  | 'unavailable'
  /** Its message says what a person has to change. */
  | 'refused';

export class OutletError extends Error {
  constructor(
    readonly code: OutletErrorCode,
    message: string,
    readonly options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'OutletError';
  }
}
