/** What a schedule finds, and what receivers (webhooks) are told of it. Histories hold names and counts: the words are in the store. */
import type { AnswerStatus } from '../answer-status';
import type { StepOptions } from './step-parts';
import type { WatchFound, WatchRun } from './search-steps';

export const EVENTS = ['answer.changed', 'claim.failed', 'layer.drift', 'batch.ended'] as const;
export type EventType = (typeof EVENTS)[number];

/** `id`: a receiver that is told twice knows it by this. `at`: ISO. */
export type Notice = { readonly id: string; readonly at: string } & (
  | {
      readonly type: 'answer.changed' | 'claim.failed';
      /** The run of the schedule: what stood before it is stored under this name. */
      readonly runId: string;
      /** The search whose record has the answer of now; of a failed claim: the one whose answer fell. */
      readonly searchId: string;
    }
  | {
      readonly type: 'layer.drift';
      readonly database: string;
      readonly found: Pick<WatchFound, 'broke' | 'fell'>;
    }
  | {
      readonly type: 'batch.ended';
      readonly batchId: string;
      readonly total: number;
      readonly counts: Readonly<Record<string, number>>;
      readonly stopped: boolean;
    }
);

/** The body that is posted: no rows, no SQL. */
export interface EventBody {
  readonly schemaVersion: 1;
  readonly type: EventType;
  readonly at: string;
  readonly id: string;
  /** null: a batch, which may ask several. */
  readonly database: string | null;
  readonly question: string | null;
  /** What changed, in one sentence. */
  readonly summary: string;
  readonly before: ToldAnswer | null;
  readonly after: ToldAnswer | null;
}

export interface ToldAnswer {
  readonly searchId: string;
  readonly status: AnswerStatus;
  /** One line; where there is no answer, why. */
  readonly answer: string | null;
}

/** Who is told, as this process is configured. */
export interface Receivers {
  wanting(type: EventType): readonly Receiver[];
}

export interface Receiver {
  /** Stays the same, and holds no secret. */
  readonly name: string;
  /** Throws `WebError`. */
  post(message: { readonly id: string; readonly json: string }, signal: AbortSignal): Promise<void>;
}

export interface RepeatRun {
  /** The search that the schedule began with. */
  readonly searchId: string;
  /** Of the workflow: a retried step finds what it stored before. */
  readonly runId: string;
}

/** `tells`: whether somebody wants to know of it; left out: nobody. */
export type BroughtUp =
  | { readonly kind: 'current'; readonly searchId: string; readonly isChanged: boolean; readonly tells?: true }
  /** What stood no longer holds, and this search takes its place. `fallen`: whose answer fell in this run; null: none did. */
  | { readonly kind: 'search'; readonly searchId: string; readonly fallen: string | null; readonly tells?: true }
  | { readonly kind: 'timeout'; readonly searchId: string; readonly afterMs: number };

/** What schedules and notices ask for. */
export interface ScheduledSteps {
  verifyLayer(run: WatchRun, options: StepOptions): Promise<WatchFound & { readonly tells?: true }>;
  bringUpToDate(run: RepeatRun, options: StepOptions): Promise<BroughtUp>;
  /** Returns the receivers that are given up, each with the reason. Throws while another try may reach one. */
  notify(notice: Notice, options: StepOptions): Promise<readonly string[]>;
}
