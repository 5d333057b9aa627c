/**
 * Where a search stands, and what it knows (its plan, what is proved, its candidates): from Temporal while it runs, else from
 * the final record, else from the last checkpoint.
 */
import type {
  SearchInput,
  Usage,
  CandidateView,
  FactView,
  OperatorView,
  PlanView,
  SearchState,
  UpdateView,
} from '../domain';
import { searchIdOf } from '../record/search-id';
import { endpointText, type ServingParts } from '../workers/serving';
import type { Io } from './io';
import { outagesOf, outageText, type Outage } from '../app/outages';
import { checkpointsOf, inputOf, recordOf, type Services, sha256 } from '../app/services';
import { openRunning, sayStoreOnly, statusWithoutRecord, type TemporalSession } from '../app/temporal-session';
import { cut } from '../report/printable';
import { STATE_WORDS, STEP_STATES } from '../report/words';
import { waitingSearches } from '../app/run/batch-queues';
import { progressText } from '../search/progress';
import { createRunStore } from '../record/run-store';
import { textTable } from './table';

interface SearchStatus {
  readonly id: string;
  readonly question: string | null;
  /**
   * A final status, `running`, `paused`, `waiting` (its batch has not begun it), `interrupted` (nobody works on it), or
   * `unknown`: no Temporal answers.
   */
  readonly status: string;
  /** Why it ended without an answer. */
  readonly reason: string | null;
  readonly iteration: number | null;
  readonly bottleneck: string | null;
  /** What is waited for and how long, and what is done. */
  readonly doing: string | null;
  readonly learned: string | null;
  readonly usage: Usage | null;
  /** Steps whose last attempt failed and that are tried again, in words. */
  readonly retrying: readonly string[];
  /** The same for programs: attempt, next try, when it gives up. */
  readonly outages: readonly Outage[];
  readonly ui: string | null;
  /** Of its trace (docs/telemetry.md); null: it is not traced, or Temporal has forgotten it. */
  readonly traceId: string | null;
  /** What to do next. */
  readonly next: string | null;
}

export async function searchStatus(services: Services, io: Io, id: string): Promise<SearchStatus> {
  const { config, store } = services;
  const input = await inputOf(store, id);
  const base = {
    id,
    question: input?.question.text ?? null,
    reason: null,
    bottleneck: null,
    doing: null,
    learned: null,
    retrying: [],
    outages: [],
    ui: null,
    traceId: null as string | null,
  };
  const session = await openRunning(config, io.env, sayStoreOnly(io));
  let isWaiting = false;
  try {
    const live = session === null ? null : await session.describe(id);
    base.traceId = live?.traceId ?? null;
    if (session !== null && live?.status === 'RUNNING') {
      const progress = await session.progress(id);
      const attended = progress !== null;
      const paused = await session.isPaused(id);
      const nowMs = Date.now();
      const outages = outagesOf(live, nowMs);
      return {
        ...base,
        status: paused ? 'paused' : 'running',
        iteration: progress?.iteration ?? null,
        bottleneck: progress?.bottleneck ?? null,
        doing: progress === null ? null : progressText(progress, nowMs),
        learned: progress?.learned ?? null,
        usage: progress?.usage ?? (await lastUsage(store, id)),
        retrying: outages.map((outage) => outageText(outage, nowMs)),
        outages,
        ui: session.uiOf(id),
        next: !attended ? noWorker(live.serving, input) : paused ? `gate resume ${id}` : null,
      };
    }
    isWaiting = session !== null && (await waitingSearches({ services, now: () => io.now() }, session)).has(id);
  } finally {
    await session?.close();
  }
  const record = await recordOf(store, id);
  if (record !== null) {
    return {
      ...base,
      status: record.status,
      reason: record.reason,
      iteration: null,
      usage: record.usage,
      next: `gate result ${id}`,
    };
  }
  if (isWaiting) return { ...base, status: 'waiting', iteration: null, usage: null, next: null };
  const status = statusWithoutRecord(config, io.env, session !== null);
  const next = status === 'unknown' ? 'no Temporal answers: see gate doctor' : howToGoOn(input);
  return { ...base, status, iteration: null, usage: await lastUsage(store, id), next };
}

function noWorker(serving: ServingParts | null, input: SearchInput | null): string {
  const asked = serving === null ? '' : ` (it was asked with ${endpointText(serving)})`;
  return `no worker answers${asked}; ${howToGoOn(input)}`;
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
  return input.namespace === 'user' ? 'ask the same question again' : 'run the same command again';
}

async function lastUsage(store: Services['store'], id: string): Promise<Usage | null> {
  const last = (await checkpointsOf(store, id)).at(-1);
  return last === undefined ? null : (await last.read()).usage;
}

export interface ViewFlags {
  readonly plan?: boolean;
  readonly memory?: boolean;
  readonly candidates?: boolean;
  readonly json?: boolean;
}

type Plans = readonly { readonly trajectory: string; readonly plan: PlanView | null }[];
interface Memory {
  readonly updates: readonly UpdateView[];
  readonly facts: readonly FactView[];
}

interface Views {
  readonly plan?: Plans;
  readonly memory?: Memory;
  readonly candidates?: readonly CandidateView[];
}

export async function searchViews(
  services: Services,
  io: Pick<Io, 'env' | 'err' | 'columns'>,
  id: string,
  flags: ViewFlags,
): Promise<string> {
  const session = await openRunning(services.config, io.env, sayStoreOnly(io));
  try {
    const isRunning = session !== null && (await session.describe(id))?.status === 'RUNNING';
    const views = await viewsOf(services, isRunning ? session : null, id, flags);
    if (flags.json) return `${JSON.stringify({ id, ...views }, null, 2)}\n`;
    const parts = [
      ...(views.plan === undefined ? [] : [planText(views.plan, io.columns)]),
      ...(views.memory === undefined ? [] : [await memoryText(services, id, views.memory, io.columns)]),
      ...(views.candidates === undefined ? [] : [candidatesText(views.candidates, io.columns)]),
    ];
    return `${parts.join('\n\n')}\n`;
  } finally {
    await session?.close();
  }
}

async function viewsOf(
  { store }: Services,
  session: TemporalSession | null,
  id: string,
  flags: ViewFlags,
): Promise<Views> {
  const stored = async (): Promise<SearchState | null> => (await checkpointsOf(store, id)).at(-1)?.read() ?? null;
  const view = async <T>(query: 'plan' | 'memory' | 'candidates', of: (state: SearchState | null) => T): Promise<T> =>
    (await session?.view<T>(id, query)) ?? of(await stored());
  return {
    ...(flags.plan ? { plan: await view<Plans>('plan', plansOf) } : {}),
    ...(flags.memory
      ? { memory: await view<Memory>('memory', (s) => ({ updates: s?.updates ?? [], facts: s?.facts ?? [] })) }
      : {}),
    ...(flags.candidates ? { candidates: await view('candidates', (s) => s?.candidates ?? []) } : {}),
  };
}

function plansOf(state: SearchState | null): Plans {
  return (state?.trajectories ?? []).map(({ id, plan }) => ({ trajectory: id, plan }));
}

function planText(plans: Plans, width: number): string {
  const made = plans.filter(({ plan }) => plan !== null);
  const newest = made.at(-1);
  if (!newest?.plan) return 'No plan yet';
  const others = made.length === 1 ? '' : ` (the newest of ${made.length}; --json shows all)`;
  const rows = newest.plan.operators.map((operator) => [
    operator.name,
    stateOf(operator),
    operator.updateId ?? '',
    operator.intent,
  ]);
  return `Plan of ${newest.trajectory}${others}\n${textTable(['operator', 'state', 'update', 'intent'], rows, { width, indent: '  ', whole: 3 })}`;
}

function stateOf({ state, risk, immaterial }: OperatorView): string {
  if (immaterial !== null) return STATE_WORDS.immaterial.says;
  const { says } = STEP_STATES[state];
  return state === 'assumed' ? `${says}, risk ${Math.round(risk * 100)} %` : says;
}

async function memoryText({ store }: Services, id: string, memory: Memory, width: number): Promise<string> {
  const run = createRunStore(store, id, sha256);
  const updates = await Promise.all(
    memory.updates.map(async (update) => [
      update.id,
      update.status,
      (await run.find('update', update.id))?.mapping ?? update.intent,
    ]),
  );
  const facts = await Promise.all(
    memory.facts.map(async (fact) => [fact.id, fact.status, (await run.find('fact', fact.id))?.statement ?? '']),
  );
  const table = (title: string, rows: string[][]): string =>
    rows.length === 0
      ? `No ${title.toLowerCase()} yet`
      : `${title}\n${textTable(
          ['id', 'status', 'says'],
          rows.map(([one = '', status = '', says = '']) => [one, status, cut(says, 200)]),
          { width, indent: '  ', whole: 2 },
        )}`;
  return `${table('Updates', updates)}\n\n${table('Facts', facts)}`;
}

function candidatesText(candidates: readonly CandidateView[], width: number): string {
  if (candidates.length === 0) return 'No candidates yet';
  const rows = candidates.map((candidate) => [
    candidate.id,
    candidate.status,
    candidate.kind === 'rows' ? candidate.outcome : candidate.kind,
    candidate.rowCount,
    candidate.resultClass === candidate.id ? '' : candidate.resultClass,
    `${Math.round(candidate.openRisk * 100)} %`,
    candidate.trajectory,
  ]);
  const head = ['id', 'status', 'outcome', 'rows', 'equal to', 'open risk', 'trajectory'];
  return `Candidates\n${textTable(head, rows, { width, indent: '  ', whole: 2 })}`;
}
