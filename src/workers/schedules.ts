/** Schedules of Temporal: one for each watched layer, by the identity of its database, and one for each repeated question. */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleDescription,
  type ScheduleSpec,
} from '@temporalio/client';
import type { Repeated, RepeatQuestionInput } from '../workflows/repeat-question';
import type { WatchFound } from '../domain/ports/steps';
import type { WatchLayerInput } from '../workflows/watch-layer';
import { REPEAT_PREFIX, repeatScheduleId, WATCH_PREFIX, watchScheduleId } from '../workflows/ids';
import { each } from '../limiter';
import { awaitWorkflow, type GateClient } from './client';
import { unlessGone } from './grpc-status';

interface Kinds {
  readonly watchLayer: { readonly input: WatchLayerInput; readonly result: WatchFound };
  readonly repeatQuestion: { readonly input: RepeatQuestionInput; readonly result: Repeated };
}
type Kind = keyof Kinds;

const PREFIXES: Readonly<Record<Kind, string>> = { watchLayer: WATCH_PREFIX, repeatQuestion: REPEAT_PREFIX };

export interface Scheduled<K extends Kind> {
  readonly scheduleId: string;
  readonly input: Kinds[K]['input'];
  /** Of an interval; 0: at times of a calendar. */
  readonly everyMs: number;
  readonly nextAt: Date | null;
  readonly paused: boolean;
  /** Newest first, three at most. */
  readonly runs: readonly RunState<Kinds[K]['result']>[];
}

export type Watch = Scheduled<'watchLayer'>;
export type Repetition = Scheduled<'repeatQuestion'>;

export interface RunState<Result> {
  readonly startedAt: Date;
  readonly workflowId: string;
  readonly outcome:
    | { readonly kind: 'ended'; readonly result: Result }
    | { readonly kind: 'failed'; readonly message: string }
    | { readonly kind: 'running' }
    /** Temporal has forgotten it. */
    | { readonly kind: 'unknown' };
}

export type When = { readonly everyMs: number } | { readonly cron: string };

const SHOWN_RUNS = 3;
/** A server that was away starts at most what was due within this time: the next run comes soon anyway. */
const CATCH_UP = '1 minute';

interface Put<K extends Kind> {
  readonly scheduleId: string;
  readonly workflow: K;
  readonly input: Kinds[K]['input'];
  readonly when: When;
  readonly taskQueue: string;
  readonly summary: string;
}

export function putWatch(
  gate: GateClient,
  { input, ...more }: Pick<Put<'watchLayer'>, 'input' | 'when' | 'taskQueue'>,
) {
  const summary = `${input.database}: checks of the layer`;
  return putSchedule(gate, {
    scheduleId: watchScheduleId(input.identity),
    workflow: 'watchLayer',
    input,
    summary,
    ...more,
  });
}

export function putRepetition(
  gate: GateClient,
  { input, ...more }: Pick<Put<'repeatQuestion'>, 'input' | 'when' | 'taskQueue'>,
) {
  const scheduleId = repeatScheduleId(input.question.searchId);
  return putSchedule(gate, { scheduleId, workflow: 'repeatQuestion', input, summary: input.label, ...more });
}

/** Makes the schedule, or changes the one that there is. Gives the next run. */
async function putSchedule<K extends Kind>({ client }: GateClient, put: Put<K>): Promise<Date | null> {
  const { scheduleId, workflow: workflowType, input, when, taskQueue, summary: staticSummary } = put;
  const spec: ScheduleSpec =
    'cron' in when ? { cronExpressions: [when.cron] } : { intervals: [{ every: when.everyMs }] };
  const options = {
    spec,
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP },
    action: {
      type: 'startWorkflow' as const,
      ...{ workflowType, workflowId: scheduleId, taskQueue, args: [input], staticSummary },
    },
  };
  const handle = client.schedule.getHandle(scheduleId);
  try {
    await client.schedule.create({ scheduleId, ...options });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await handle.update(({ state: { paused, note } }) => ({ ...options, state: { paused, note } }));
  }
  return (await handle.describe()).info.nextActionTimes[0] ?? null;
}

/** False: there was none. */
export async function removeSchedule({ client }: GateClient, scheduleId: string): Promise<boolean> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/** Those of a kind, or of both, in the whole namespace. A new one is there after a moment. */
export async function scheduleIds({ client }: GateClient, kind?: Kind): Promise<readonly string[]> {
  const prefixes = kind === undefined ? Object.values(PREFIXES) : [PREFIXES[kind]];
  const ids: string[] = [];
  for await (const { scheduleId } of client.schedule.list())
    if (prefixes.some((prefix) => scheduleId.startsWith(prefix))) ids.push(scheduleId);
  return ids;
}

/** By the name of the database. `known` are asked for although the list may not have them yet. */
export async function listSchedules<K extends Kind>(
  gate: GateClient,
  kind: K,
  known: readonly string[] = [],
): Promise<readonly Scheduled<K>[]> {
  const ids = new Set([...known, ...(await scheduleIds(gate, kind))]);
  const found = await each([...ids], (id) => described<K>(gate, id));
  return found.flatMap((one) => one ?? []).sort((a, b) => (a.input.database < b.input.database ? -1 : 1));
}

async function described<K extends Kind>(gate: GateClient, scheduleId: string): Promise<Scheduled<K> | null> {
  let description: ScheduleDescription;
  try {
    description = await gate.client.schedule.getHandle(scheduleId).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
  const { spec, action, info, state } = description;
  const [input] = (action.args ?? []) as readonly Kinds[K]['input'][];
  if (input === undefined) throw new TypeError(`the schedule ${scheduleId} has no input`);
  const recent = info.recentActions.slice(-SHOWN_RUNS).reverse();
  const runs = await each(recent, async ({ takenAt, action: { workflow } }) => ({
    startedAt: takenAt,
    workflowId: workflow.workflowId,
    outcome: await outcomeOf<Kinds[K]['result']>(gate, workflow.workflowId, workflow.firstExecutionRunId),
  }));
  const everyMs = spec.intervals?.[0]?.every ?? 0;
  return { scheduleId, input, everyMs, nextAt: info.nextActionTimes[0] ?? null, paused: state.paused, runs };
}

async function outcomeOf<Result>(
  gate: GateClient,
  workflowId: string,
  runId: string,
): Promise<RunState<Result>['outcome']> {
  const description = await unlessGone(gate.client.workflow.getHandle(workflowId, runId).describe());
  if (description === null) return { kind: 'unknown' };
  if (description.status.name === 'RUNNING') return { kind: 'running' };
  const ended = await awaitWorkflow<Result>(gate, workflowId, runId);
  return ended.kind === 'completed' ? { kind: 'ended', result: ended.value } : ended;
}
