/**
 * A trace: all that the store keeps about one search, as one plain JSON value. The report and `gate show --trace` are pure
 * functions of it. A search that still runs has a trace too: its last checkpoint and the contents written so far.
 */
import * as z from 'zod';
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
import type { ObjectStore } from '../domain/ports';
import { SCHEMA_ID, type Contents, type Kind } from '../record/contents';
import { createRunStore, type RunStore } from '../record/run-store';
import { compareIds } from './printable';

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
  /** The actions of method `react`, and of single queries, in order. */
  readonly actions: ById<Contents['action']>;
  /** The turns of a search that looked first, and what the database decided about its commits and declines. */
  readonly turns?: ById<Contents['turn']>;
  readonly verdicts?: ById<Contents['verdict']>;
  /** Tables of a schema that was too large to show whole; left out: all were shown. */
  readonly shownTables?: ShownTables;
  /** The last reply of the model that could not be used, of a step that was given up for it. */
  readonly lastBadReply?: BadReply;
  /** Bodies that a judgement wanted and execution refused, oldest first. */
  readonly rejections: readonly Rejection[];
}

/** A trace with all its checkpoints: one side of a comparison. */
export interface Side {
  readonly trace: Trace;
  /** Every checkpoint, by the iteration that it follows. */
  readonly states: ReadonlyMap<number, SearchState>;
}

export interface ShownTables {
  /** The number of tables in the schema. */
  readonly tables: number;
  /** Tables shown with their columns, in the order of the schema. */
  readonly shown: readonly string[];
}

export interface BadReply {
  readonly id: string;
  readonly model: string;
  /** The fault for which it could not be used. */
  readonly cause: string;
  readonly finishReason: string;
  readonly completionTokens: number;
  readonly text: string;
}

export interface Rejection {
  /** Position of the attempt, e.g. `i1.t0.s1.a1`. */
  readonly attempt: string;
  readonly operator: string;
  readonly error: string;
}

/** Null when the store knows no such search. A damaged object is an error that names it (`StoreError`). */
export async function loadTrace(store: ObjectStore, searchId: string): Promise<Trace | null> {
  return (await loadSide(store, searchId))?.trace ?? null;
}

/** Null when the store knows no such search. */
export async function loadSide(store: ObjectStore, searchId: string): Promise<Side | null> {
  const run = createRunStore(store, searchId);
  const all = async <K extends Kind>(kind: K): Promise<Record<string, Contents[K]>> =>
    Object.fromEntries([...(await run.all(kind))].sort(([a], [b]) => compareIds(a, b)));
  const input = await run.find('input', searchId);
  const record = await run.find('result', searchId);
  const checkpoints = Object.values(await all('checkpoint'));
  const state = checkpoints.reduce<SearchState | null>(
    (one, other) => (one === null || other.iteration >= one.iteration ? other : one),
    null,
  );
  if (input === null && record === null && state === null) return null;
  const trace: Trace = {
    ...{ searchId, input, state, record },
    plans: await all('plan'),
    bodies: await all('body'),
    proposals: await all('proposal'),
    observations: await all('observation'),
    groundings: await all('grounding'),
    updates: await all('update'),
    facts: await all('fact'),
    actions: await all('action'),
    turns: await all('turn'),
    verdicts: await all('verdict'),
    shownTables: await shownTables(run),
    lastBadReply: await lastBadReply(run, state),
    rejections: await rejections(run),
  };
  const later = checkpoints.filter(({ iteration }) => iteration > 1);
  return { trace, states: new Map(later.map((each) => [each.iteration - 1, each])) };
}

/** undefined: there was none, or it is asked for anew. */
async function lastBadReply(run: RunStore, state: SearchState | null): Promise<BadReply | undefined> {
  const event = state?.events.filter(({ reply }) => reply !== undefined && reply !== '').at(-1);
  if (event?.reply === undefined) return undefined;
  const kept = await run.find('reply', event.reply);
  if (kept === null) return undefined;
  const { finishReason, completionTokens, text } = kept.reply;
  return { id: event.reply, model: kept.model, cause: event.detail, finishReason, completionTokens, text };
}

async function shownTables(run: RunStore): Promise<ShownTables | undefined> {
  const schema = await run.find('schema', SCHEMA_ID);
  return schema?.shown === undefined ? undefined : { tables: schema.description.tables.length, shown: schema.shown };
}

const SETTLED = z.object({
  results: z.array(z.object({ operator: z.string(), error: z.string().nullable() })),
});

/** Every try to settle a judgement is a step of its own; its error went back to the judge. */
async function rejections(run: RunStore): Promise<Rejection[]> {
  const steps = [...(await run.outputs())].filter(([position]) => /\.settle\d+$/.test(position));
  return steps
    .sort(([a], [b]) => compareIds(a, b))
    .flatMap(([position, output]) => {
      const attempt = position.replace(/\.settle\d+$/, '');
      const { results } = SETTLED.parse(output);
      return results.flatMap(({ operator, error }) => (error === null ? [] : [{ attempt, operator, error }]));
    });
}
