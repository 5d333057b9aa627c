/**
 * What a search knows, for who wants to steer it: its plan, what is proved, its candidates. From the workflow while it
 * runs and a worker answers, else from the last checkpoint.
 */
import type { CandidateView, FactView, OperatorView, PlanView, SearchState, UpdateView } from '../domain';
import { cut } from '../report/printable';
import { STATE_WORDS, STEP_STATES } from '../report/words';
import { createRunStore } from '../record/run-store';
import type { Io } from './io';
import { checkpointsOf, sha256, type Services } from './services';
import { textTable } from './table';
import { openRunning, sayStoreOnly, type TemporalSession } from './temporal-session';

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
