/**
 * A trace: all that the store keeps about one search, as one plain JSON value. The report and `gate trace` are pure
 * functions of it. A search that still runs has a trace too: its last checkpoint and the contents written so far.
 */
import type {
  AnswerRecord,
  Body,
  Fact,
  Grounding,
  Observation,
  Plan,
  Proposal,
  SearchInput,
  SearchState,
  Update,
} from '../domain';

type ById<T> = Readonly<Record<string, T>>;

export interface Trace {
  readonly searchId: string;
  readonly input: SearchInput | null;
  /** The last checkpoint: the control view of the whole search. */
  readonly state: SearchState | null;
  /** Null while the search runs. */
  readonly record: AnswerRecord | null;
  readonly plans: ById<Plan>;
  readonly bodies: ById<Body>;
  readonly proposals: ById<Proposal>;
  readonly observations: ById<Observation>;
  readonly groundings: ById<Grounding>;
  readonly updates: ById<Update>;
  readonly facts: ById<Fact>;
}
