/** What a use case works with, and the events that it tells while it runs. Doors (command line, page, library) make one. */
import type { AnswerRecord } from '../domain';
import type { Progress } from '../search/progress';
import type { Outage } from './outages';
import { openServices, type Services } from './services';
import type { Surroundings } from './surroundings';

export type AppEvent =
  /** A line for a person. */
  | { readonly kind: 'note'; readonly text: string }
  /** A warning of the workers. */
  | { readonly kind: 'log'; readonly text: string }
  | { readonly kind: 'begun'; readonly searchId: string; readonly ui: UiPlace }
  | { readonly kind: 'progress'; readonly progress: Progress }
  /** Null: nothing is retried any more. */
  | { readonly kind: 'retrying'; readonly outage: Outage | null }
  /** The search was asked to end with its best answer so far. */
  | { readonly kind: 'stopping' }
  | ({ readonly kind: 'answer' } & Answer);

/** Where the Temporal UI shows a search. */
export interface UiPlace {
  readonly url: string | null;
  /** Whether the UI outlives this process. */
  readonly staysUp: boolean;
  /** Lines that say how encrypted payloads become readable there. */
  readonly decoding: string;
}

export interface Answer {
  readonly record: AnswerRecord;
  /** Address in the Temporal UI; null: no server stays up. */
  readonly ui: string | null;
  /** The address of an unconfigured database without secrets, as commands take it. */
  readonly db?: string;
  /** How many rows were asked for. */
  readonly maxRows?: number;
}

export interface App extends Surroundings, Services {
  /** A promise is waited for: an answer is shown before the use case goes on. */
  onEvent(event: AppEvent): void | Promise<void>;
  /** A search has passed all checks and is known from now on; it is started next. */
  onStored?(searchId: string): void;
}

/** How long a use case waits for a search. Left out: until it ends. */
export interface Patience {
  /** Asks the search to end with its best answer so far. */
  readonly stop?: AbortSignal;
  /** Ends the waiting only: the search goes on where a process works on it, or when it is asked again. */
  readonly leave?: AbortSignal;
}

/**
 * Who works on the search: this process while it waits, or a process in the background, which stays until `gate dev --stop`, or
 * which ends once it is idle.
 */
export type ServedBy = 'background' | 'background-until-idle' | Patience;

export type Asked =
  | ({ readonly kind: 'answer' } & Answer)
  /** `servedBy`: a line that says who works on it. */
  | { readonly kind: 'running'; readonly searchId: string; readonly ui: string | null; readonly servedBy: string };

/** The id of its search. */
export function searchOf(asked: Asked): string {
  return asked.kind === 'answer' ? asked.record.id : asked.searchId;
}

export function openApp(at: Surroundings, onEvent: App['onEvent'] = () => undefined): App {
  return { ...at, ...openServices(at), onEvent };
}

export function note(app: Pick<App, 'onEvent'>, text: string): void {
  void app.onEvent({ kind: 'note', text });
}
