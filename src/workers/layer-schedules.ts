/**
 * Schedules that watch layers: one for each database, by its identity. What a schedule does stands in the input of the workflow
 * that it starts, so the schedule has nothing that could differ from it.
 */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  WorkflowFailedError,
  type ScheduleDescription,
  type ScheduleHandle,
} from '@temporalio/client';
import type { watchLayer, WatchedLayer, WatchLayerInput } from '../workflows/watch-layer';
import { WATCH_PREFIX, watchScheduleId } from '../workflows/ids';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow';
import { each } from '../limiter';
import type { GateClient } from './client';
import { unlessGone } from './grpc-status';
import type { Serving, ServingParts } from './serving';

export interface WatchPlan {
  readonly input: WatchLayerInput;
  readonly everyMs: number;
  readonly taskQueue: string;
  /** What it is asked for with. */
  readonly serving: ServingParts | null;
}

export interface Watch extends WatchPlan {
  readonly nextAt: Date | null;
  readonly paused: boolean;
  /** Newest first; Temporal keeps ten. */
  readonly runs: readonly WatchRunState[];
}

export interface WatchRunState {
  readonly startedAt: Date;
  readonly workflowId: string;
  readonly outcome:
    | { readonly kind: 'checked'; readonly result: WatchedLayer }
    | { readonly kind: 'failed'; readonly message: string }
    /** `waitsFor`: why its last try failed. */
    | { readonly kind: 'running'; readonly waitsFor: string | null }
    /** Temporal has forgotten it. */
    | { readonly kind: 'unknown' };
}

/** A server that was away starts at most what was due within this time: the next check comes soon anyway. */
const CATCH_UP = '1 minute';

/** Gives what was scheduled before; null: nothing. */
export async function putWatch(
  { client }: GateClient,
  { input, everyMs, taskQueue }: Omit<WatchPlan, 'serving'>,
  serving: Serving,
): Promise<WatchPlan | null> {
  const scheduleId = watchScheduleId(input.identity);
  const options = {
    spec: { intervals: [{ every: everyMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP },
    action: {
      ...{ type: 'startWorkflow' as const, workflowType: 'watchLayer' as const, workflowId: scheduleId, taskQueue },
      ...{ args: [input] as [WatchLayerInput], staticSummary: `${input.database}: checks of the layer` },
      memo: { serving: serving.parts },
    },
  };
  try {
    await client.schedule.create<typeof watchLayer>({ scheduleId, ...options });
    return null;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  const handle = client.schedule.getHandle(scheduleId);
  const before = planOf(await handle.describe());
  await handle.update<typeof watchLayer>(({ state: { paused, note } }) => ({
    ...options,
    state: { paused, ...(note === undefined ? {} : { note }) },
  }));
  return before;
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

export async function findWatch(gate: GateClient, identity: string): Promise<Watch | null> {
  return describeWatch(gate, gate.client.schedule.getHandle(watchScheduleId(identity)));
}

/** Of the whole namespace, by the name of the database. A new one is listed after a moment: `identities` are asked for. */
export async function listWatches(gate: GateClient, identities: readonly string[]): Promise<readonly Watch[]> {
  const { schedule } = gate.client;
  const ids = new Set(identities.map(watchScheduleId));
  for await (const { scheduleId } of schedule.list()) if (scheduleId.startsWith(WATCH_PREFIX)) ids.add(scheduleId);
  const found = await each([...ids], (id) => describeWatch(gate, schedule.getHandle(id)));
  return found.flatMap((watch) => watch ?? []).sort((a, b) => (a.input.database < b.input.database ? -1 : 1));
}

/** Runs the checks now and waits for them; null: nothing watches this database. */
export async function runWatch(
  { client }: GateClient,
  identity: string,
  signal: AbortSignal,
): Promise<WatchedLayer | null> {
  const handle = client.schedule.getHandle(watchScheduleId(identity));
  const stopped = aborted(signal);
  try {
    const known = new Set(startsOf(await handle.describe()).map(({ runId }) => runId));
    // One that runs already may have begun before what the caller wants to know.
    await handle.trigger(ScheduleOverlapPolicy.ALLOW_ALL);
    const started = await startedBesides(handle, known, stopped);
    const result = client.workflow.getHandle<typeof watchLayer>(started.workflowId, started.runId).result();
    return await Promise.race([result, stopped]);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

const LOOK_EVERY_MS = 100;

async function startedBesides(handle: ScheduleHandle, known: ReadonlySet<string>, stopped: Promise<never>) {
  for (;;) {
    const started = startsOf(await handle.describe()).find(({ runId }) => !known.has(runId));
    if (started !== undefined) return started;
    await Promise.race([new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS)), stopped]);
  }
}

/** Listens once. Whoever waits for nothing any more need not catch it. */
function aborted(signal: AbortSignal): Promise<never> {
  const stopped = new Promise<never>((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
  });
  stopped.catch(() => undefined);
  return stopped;
}

function startsOf({ info }: ScheduleDescription) {
  return info.recentActions
    .map(({ takenAt, action: { workflow } }) => ({
      ...{ takenAt, workflowId: workflow.workflowId, runId: workflow.firstExecutionRunId },
    }))
    .reverse();
}

async function describeWatch(gate: GateClient, handle: ScheduleHandle): Promise<Watch | null> {
  let description: ScheduleDescription;
  try {
    description = await handle.describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
  const runs = await each(startsOf(description), async ({ takenAt, workflowId, runId }) => ({
    ...{ startedAt: takenAt, workflowId, outcome: await outcomeOf(gate, workflowId, runId) },
  }));
  const { info, state } = description;
  return { ...planOf(description), nextAt: info.nextActionTimes[0] ?? null, paused: state.paused, runs };
}

function planOf({ spec, action }: ScheduleDescription): WatchPlan {
  const [input] = (action.args ?? []) as readonly WatchLayerInput[];
  if (input === undefined) throw new TypeError('the schedule of a watch has no input');
  return {
    ...{ input, everyMs: spec.intervals?.[0]?.every ?? 0, taskQueue: action.taskQueue },
    serving: (action.memo?.['serving'] as ServingParts | undefined) ?? null,
  };
}

async function outcomeOf({ client }: GateClient, workflowId: string, runId: string): Promise<WatchRunState['outcome']> {
  const handle = client.workflow.getHandle<typeof watchLayer>(workflowId, runId);
  const description = await unlessGone(handle.describe());
  if (description === null) return { kind: 'unknown' };
  if (description.status.name === 'RUNNING') {
    const pending = description.raw.pendingActivities ?? [];
    const failed = pending.find(({ lastFailure }) => lastFailure);
    const { loadedDataConverter } = client.options;
    const failure = await decodeOptionalFailureToOptionalError(loadedDataConverter, failed?.lastFailure);
    return { kind: 'running', waitsFor: failure?.message ?? null };
  }
  try {
    return { kind: 'checked', result: await handle.result() };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    let cause: Error = error;
    while (cause.cause instanceof Error) cause = cause.cause;
    return { kind: 'failed', message: cause.message };
  }
}
