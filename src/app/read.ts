/**
 * Reading a search: its answer, where it stands, and what it knows (plan, what is proved, candidates). All of it comes from
 * Temporal while the search runs, else from the final record, else from the last checkpoint.
 */
import * as z from 'zod';
import {
  AnswerRecord,
  type CandidateView,
  type FactView,
  type PlanView,
  type SearchInput,
  type UpdateView,
} from '../domain';
import { Usage } from '../domain/state';
import { createRunStore } from '../record/run-store';
import { searchIdOf } from '../record/search-id';
import { TOKEN_NAMESPACE } from '../record/search-index';
import { progressText } from '../search/progress';
import { each } from '../limiter';
import { endpointText } from '../workers/serving';
import { isPaused, type QuestionDescription } from '../workers/workflow-views';
import type { App, Patience } from './app';
import { codeOf } from './errors';
import { Outage, outagesOf } from './outages';
import { waitingIn } from './search-list';
import { findSearch } from './searches';
import { checkpointsOf, inputOf, recordOf } from './services';
import { openRunning, statusWithoutRecord, storeOnly, withRunning } from './open-temporal';
import type { TemporalSession } from './temporal-session';
import { overAfter } from './waiting';

export const SearchStatus = z
  .object({
    id: z.string(),
    question: z.string().nullable(),
    status: z
      .string()
      .describe(
        'answered, unanswerable, abstained, cancelled or failed; running, paused, waiting (its batch has not begun it); interrupted: nobody works on it; unknown: no Temporal answers',
      ),
    reason: z.string().nullable().describe('why it ended without an answer'),
    iteration: z.number().nullable(),
    bottleneck: z.string().nullable(),
    doing: z.string().nullable().describe('what is waited for and how long, and what is done'),
    learned: z.string().nullable(),
    usage: Usage.nullable(),
    outages: z.array(Outage).readonly().describe('steps that are tried again'),
    ui: z.string().nullable(),
    traceId: z.string().nullable().describe('null: it is not traced, or Temporal has forgotten it'),
    next: z.string().nullable().describe('what to do next'),
    record: AnswerRecord.nullable().describe('once it has ended'),
  })
  .readonly()
  .describe('where a question stands');
export type SearchStatus = z.infer<typeof SearchStatus>;

/** Where a search stands. `patience`: it is waited for while it runs. */
export async function standing(wanted: string, app: App, patience?: Patience): Promise<SearchStatus> {
  const { config, env, store } = app;
  const id = await findSearch(store, wanted);
  const input = await inputOf(store, id);
  const session = await openRunning(config, env, storeOnly(app));
  let base: Omit<SearchStatus, 'status'>;
  let isWaiting = false;
  try {
    const live = session === null ? null : await session.describe(id);
    const places = { ui: session?.uiOf(id) ?? null, traceId: live?.traceId ?? null };
    base = { ...NOTHING, id, question: input?.question.text ?? null, ...places };
    if (session !== null && live?.status === 'RUNNING') {
      if (patience === undefined) return await running(app, session, live, input, base);
      const { followSearch } = await import('./follow');
      await followSearch(session, id, app, patience);
    }
    isWaiting = session !== null && (await waitingIn(app)(session)).has(id);
  } finally {
    await session?.close();
  }
  const record = await recordOf(store, id);
  if (record !== null) return { ...base, status: record.status, reason: record.reason, usage: record.usage, record };
  if (isWaiting) return { ...base, status: 'waiting' };
  const status = statusWithoutRecord(config, env, session !== null);
  const next = status === 'unknown' ? 'no Temporal answers: see gate doctor' : howToGoOn(input);
  return { ...base, status, usage: await lastUsage(store, id), next };
}

/** The same, waited for at most so long while it runs. `leave`: ends the waiting before. */
export async function standingWithin(
  wanted: string,
  app: App,
  { waitMs, leave }: { readonly waitMs: number; readonly leave: AbortSignal },
): Promise<SearchStatus> {
  const over = overAfter(waitMs, leave);
  try {
    if (waitMs > 0) return await standing(wanted, app, { leave: over });
  } catch (error) {
    if (!over.aborted || codeOf(error) !== 'cancelled') throw error;
  }
  return standing(wanted, app);
}

const NOTHING = {
  reason: null,
  iteration: null,
  bottleneck: null,
  doing: null,
  learned: null,
  usage: null,
  outages: [],
  next: null,
  record: null,
};

async function running(
  app: App,
  session: TemporalSession,
  live: QuestionDescription,
  input: SearchInput | null,
  base: Omit<SearchStatus, 'status'>,
): Promise<SearchStatus> {
  const { id } = base;
  const progress = await session.progress(id);
  const paused = await isPaused(session.gate, id);
  const nowMs = app.now();
  const asked = live.serving === null ? '' : ` (it was asked with ${endpointText(live.serving)})`;
  const noWorker = progress === null ? `no worker answers${asked}; ${howToGoOn(input)}` : null;
  return {
    ...base,
    status: paused ? 'paused' : 'running',
    iteration: progress?.iteration ?? null,
    bottleneck: progress?.bottleneck ?? null,
    doing: progress && progressText(progress, nowMs),
    learned: progress?.learned ?? null,
    usage: progress?.usage ?? (await lastUsage(app.store, id)),
    outages: outagesOf(live, nowMs),
    next: noWorker ?? (paused ? `gate resume ${id}` : null),
  };
}

/** A search of `--fresh` has an id that no later question finds; a worker goes on with any that Temporal knows. */
export function howToGoOn(input: SearchInput | null): string {
  return `${wayOn(input)}: the search continues where it was and pays nothing twice`;
}

function wayOn(input: SearchInput | null): string {
  if (input?.parent !== undefined)
    return 'fork again the same way, or start gate ops worker with the same configuration and --db';
  if (input === null || searchIdOf(input) !== input.searchId)
    return 'start gate ops worker with the same configuration and --db';
  return input.namespace === 'user' || input.namespace.startsWith(TOKEN_NAMESPACE)
    ? 'ask the same question again'
    : 'run the same command again';
}

async function lastUsage(store: App['store'], id: string): Promise<Usage | null> {
  return (await checkpointsOf(store, id)).at(-1)?.usage ?? null;
}

export type Plans = readonly { readonly trajectory: string; readonly plan: PlanView | null }[];

/** What a search knows. */
export interface Knowledge {
  readonly plan: Plans;
  /** What is proved; `says`: each in words. */
  readonly updates: readonly (UpdateView & { readonly says: string })[];
  readonly facts: readonly (FactView & { readonly says: string })[];
  readonly candidates: readonly CandidateView[];
}

export async function knowledge(wanted: string, app: App): Promise<Knowledge & { readonly id: string }> {
  const id = await findSearch(app.store, wanted);
  const run = createRunStore(app.store, id);
  const look = async (session: TemporalSession | null): Promise<Knowledge> => {
    const isRunning = session !== null && (await session.describe(id))?.status === 'RUNNING';
    const state = (await checkpointsOf(app.store, id)).at(-1);
    const view = async <T>(query: 'plan' | 'memory' | 'candidates', stored: T): Promise<T> =>
      (isRunning ? await session.view<T>(id, query) : null) ?? stored;
    const { trajectories = [], updates = [], facts = [], candidates = [] } = state ?? {};
    const memory = await view('memory', { updates, facts });
    return {
      plan: await view<Plans>(
        'plan',
        trajectories.map((one) => ({ trajectory: one.id, plan: one.plan })),
      ),
      updates: await each(memory.updates, async (update) => {
        return { ...update, says: (await run.find('update', update.id))?.mapping ?? update.intent };
      }),
      facts: await each(memory.facts, async (fact) => {
        return { ...fact, says: (await run.find('fact', fact.id))?.statement ?? '' };
      }),
      candidates: await view('candidates', candidates),
    };
  };
  return { id, ...(await withRunning(app, look, storeOnly(app))) };
}
