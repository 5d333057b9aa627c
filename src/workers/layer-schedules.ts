/** Schedules that watch layers: one for each database, by its identity. */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  WorkflowFailedError,
  type ScheduleDescription,
  type ScheduleHandle,
} from '@temporalio/client';
import type { WatchFound } from '../domain/ports/steps';
import type { watchLayer, WatchLayerInput } from '../workflows/watch-layer';
import { WATCH_PREFIX, watchScheduleId } from '../workflows/ids';
import { each } from '../limiter';
import type { GateClient } from './client';
import { unlessGone } from './grpc-status';

export interface Watch {
  readonly input: WatchLayerInput;
  readonly everyMs: number;
  readonly nextAt: Date | null;
  readonly paused: boolean;
  /** Newest first, three at most. */
  readonly runs: readonly WatchRunState[];
}

export interface WatchRunState {
  readonly startedAt: Date;
  readonly workflowId: string;
  readonly outcome:
    | { readonly kind: 'checked'; readonly result: WatchFound }
    | { readonly kind: 'failed'; readonly message: string }
    | { readonly kind: 'running' }
    /** Temporal has forgotten it. */
    | { readonly kind: 'unknown' };
}

const SHOWN_RUNS = 3;
/** A server that was away starts at most what was due within this time: the next check comes soon anyway. */
const CATCH_UP = '1 minute';

/** Makes the schedule of this database, or changes the one that there is. */
export async function putWatch(
  { client }: GateClient,
  { input, everyMs, taskQueue }: Pick<Watch, 'input' | 'everyMs'> & { readonly taskQueue: string },
): Promise<void> {
  const scheduleId = watchScheduleId(input.identity);
  const options = {
    spec: { intervals: [{ every: everyMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP },
    action: {
      type: 'startWorkflow' as const,
      workflowType: 'watchLayer' as const,
      workflowId: scheduleId,
      taskQueue,
      args: [input] as [WatchLayerInput],
      staticSummary: `${input.database}: checks of the layer`,
    },
  };
  try {
    await client.schedule.create<typeof watchLayer>({ scheduleId, ...options });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(scheduleId);
    await handle.update<typeof watchLayer>(({ state: { paused, note } }) => ({ ...options, state: { paused, note } }));
  }
}

/** False: there was none. */
export async function stopWatch({ client }: GateClient, identity: string): Promise<boolean> {
  try {
    await client.schedule.getHandle(watchScheduleId(identity)).delete();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/** Of the whole namespace, by the name of the database. A new one is listed after a moment: `identities` are asked for. */
export async function listWatches(gate: GateClient, identities: readonly string[]): Promise<readonly Watch[]> {
  const { schedule } = gate.client;
  const ids = new Set(identities.map(watchScheduleId));
  for await (const { scheduleId } of schedule.list()) if (scheduleId.startsWith(WATCH_PREFIX)) ids.add(scheduleId);
  const found = await each([...ids], (id) => describeWatch(gate, schedule.getHandle(id)));
  return found.flatMap((watch) => watch ?? []).sort((a, b) => (a.input.database < b.input.database ? -1 : 1));
}

async function describeWatch(gate: GateClient, handle: ScheduleHandle): Promise<Watch | null> {
  let description: ScheduleDescription;
  try {
    description = await handle.describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
  const { spec, action, info, state } = description;
  const [input] = (action.args ?? []) as readonly WatchLayerInput[];
  if (input === undefined) throw new TypeError('the schedule of a watch has no input');
  const recent = info.recentActions.slice(-SHOWN_RUNS).reverse();
  const runs = await each(recent, async ({ takenAt, action: { workflow } }) => ({
    startedAt: takenAt,
    workflowId: workflow.workflowId,
    outcome: await outcomeOf(gate, workflow.workflowId, workflow.firstExecutionRunId),
  }));
  const everyMs = spec.intervals?.[0]?.every ?? 0;
  return { input, everyMs, nextAt: info.nextActionTimes[0] ?? null, paused: state.paused, runs };
}

async function outcomeOf({ client }: GateClient, workflowId: string, runId: string): Promise<WatchRunState['outcome']> {
  const handle = client.workflow.getHandle<typeof watchLayer>(workflowId, runId);
  const description = await unlessGone(handle.describe());
  if (description === null) return { kind: 'unknown' };
  if (description.status.name === 'RUNNING') return { kind: 'running' };
  try {
    return { kind: 'checked', result: await handle.result() };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    let cause: Error = error;
    while (cause.cause instanceof Error) cause = cause.cause;
    return { kind: 'failed', message: cause.message };
  }
}
