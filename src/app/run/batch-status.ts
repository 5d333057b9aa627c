/**
 * Where a batch stands that runs, is paused or has ended, from Temporal and the store. Correct answers are counted in the results
 * that a run writes as questions end: the store has no gold.
 */
import * as z from 'zod';
import type { AnswerRecord } from '../../domain';
import { each } from '../../limiter';
import { batchPause, runningWorkflow, wasCancelled } from '../../workers/workflow-views';
import { batchWorkflowId } from '../../workflows/ids';
import { recordOf, type Services } from '../services';
import type { Surroundings } from '../surroundings';
import type { App } from '../app';
import { statusWithoutRecord, storeOnly, withRunning } from '../open-temporal';
import type { TemporalSession } from '../temporal-session';
import { isServed } from './batch-queues';
import { paceOf, RunFigures, scoredOf, spentOf } from './events';
import { resultsIn } from './results';
import {
  isCancelled,
  isFailure,
  listBatches,
  resultFolder,
  storedBatch,
  type ListedBatch,
  type StoredBatch,
} from './stored-batches';

const Named = z.object({
  id: z.string(),
  name: z.string().nullable().describe('name of the run, --name or that of its file; null: it is being started'),
  questions: z.string().nullable().describe('name of the set of questions'),
  method: z.string().nullable(),
  seed: z.number().int().nullable(),
  status: z
    .enum(['running', 'paused', 'cancelling', 'ended', 'cancelled', 'interrupted', 'unknown'])
    .describe('interrupted: it is not at its end, and nobody works on it; unknown: no Temporal answers'),
  startedAt: z.string(),
});

/** Its JSON schema is `docs/schemas/batch-status.schema.json`. */
export const BatchStatus = Named.extend(RunFigures.shape).extend({
  out: z.string().nullable().describe('the folder of its results; null: not on this machine'),
  inFlight: z.array(z.object({ n: z.number().int(), searchId: z.string() })),
  failures: z.record(z.string(), z.number().int()).describe('why questions failed, and how many each'),
  ui: z.string().nullable(),
  next: z.string().nullable().describe('what to do next; null: nothing'),
});
export type BatchStatus = Readonly<z.infer<typeof BatchStatus>>;
export type ListedStatus = Readonly<z.infer<typeof Named>> & Pick<BatchStatus, 'total' | 'done' | 'failed'>;
type State = BatchStatus['status'];

const MOVING: readonly State[] = ['running', 'paused', 'cancelling'];

export interface Looking {
  readonly services: Services;
  /** Null: no Temporal answers. */
  readonly session: TemporalSession | null;
  readonly surroundings: Surroundings;
  /** Records that have been read of searches that have ended. */
  readonly records: Map<string, AnswerRecord>;
}

/** Looks with what is up already. */
export function lookedAt<T>(app: App, work: (at: Looking) => Promise<T>): Promise<T> {
  const look = (session: TemporalSession | null) =>
    work({ services: app, session, surroundings: app, records: new Map() });
  return withRunning(app, look, storeOnly(app));
}

/** Newest first. */
export async function listStatuses(at: Looking, limit: number): Promise<ListedStatus[]> {
  const { store } = at.services;
  const look = async (listed: ListedBatch): Promise<ListedStatus> => {
    const batch = await storedBatch(store, listed);
    const { status } = await liveOf(at, batch);
    const outcomes = batch.questions.map(({ outcome }) => outcome);
    const done = outcomes.filter((one) => one !== null).length;
    return { ...named(batch), status, total: batch.questions.length, done, failed: outcomes.filter(isFailure).length };
  };
  return each((await listBatches(store)).slice(0, limit), look, 4);
}

export async function batchStatus(at: Looking, listed: ListedBatch): Promise<BatchStatus> {
  const { services, session, surroundings, records } = at;
  const batch = await storedBatch(services.store, listed);
  const { id, questions } = batch;
  const { status, progress } = await liveOf(at, batch);
  const ended = questions.filter(({ outcome }) => outcome !== null);
  await each(ended, async ({ searchId }) => {
    const record = records.get(searchId) ?? (await recordOf(services.store, searchId));
    if (record !== null) records.set(searchId, record);
  });
  const own = ended.flatMap(({ searchId }) => records.get(searchId) ?? []);
  const out = resultFolder(batch);
  const ids = new Set(ended.map(({ searchId }) => searchId));
  const lines = out === null ? [] : resultsIn(out, out).filter(({ searchId }) => ids.has(searchId));
  return {
    ...{ ...named(batch), status, total: questions.length, out },
    done: ended.length,
    running: progress?.inFlight.length ?? (MOVING.includes(status) ? null : 0),
    ...{ ...scoredOf(lines), failed: ended.filter(({ outcome }) => isFailure(outcome)).length },
    ...spentOf(own.map(({ usage }) => usage)),
    ...(status === 'running' ? recentPace(own, batch, surroundings.now()) : paceOf(0, 0, 0)),
    inFlight: [...(progress?.inFlight ?? [])],
    failures: failuresOf(batch),
    ui: session?.uiOfWorkflow(batchWorkflowId(id)) ?? null,
    next: nextOf(status, batch),
  };
}

function named({ id, asked, startedMs }: StoredBatch): Omit<z.infer<typeof Named>, 'status'> {
  const { name = null, questions = null, method = null, seed = null } = asked ?? {};
  return { id, name, questions, method, seed, startedAt: new Date(startedMs).toISOString() };
}

/** State that Temporal tells, or else that of the outcomes. */
async function liveOf({ session, services, surroundings }: Looking, { id, questions }: StoredBatch) {
  const running = session === null ? null : await runningWorkflow(session.gate, batchWorkflowId(id));
  if (session === null || running === null) {
    const isOpen = questions.some(({ outcome }) => outcome === null);
    // One of them may have been cancelled by itself.
    const isCut = questions.some(({ outcome }) => isCancelled(outcome));
    const wasTold = session !== null && (isOpen || isCut) && (await wasCancelled(session.gate, batchWorkflowId(id)));
    const otherwise = isOpen ? statusWithoutRecord(services.config, surroundings.env, session !== null) : 'ended';
    return { status: wasTold || (isOpen && isCut) ? 'cancelled' : otherwise, progress: null } as const;
  }
  const progress = await session.batchProgress(id);
  const paused = progress === null ? (await batchPause(session.gate, id)) !== undefined : progress.paused === true;
  // One that is too busy to answer in time has polled not long ago.
  const at = { services, now: () => surroundings.now() };
  const isWorkedOn = progress !== null || (await isServed(at, session, running.taskQueue));
  const otherwise = isWorkedOn ? 'running' : 'interrupted';
  return { status: running.isCancelled ? 'cancelling' : paused ? 'paused' : otherwise, progress } as const;
}

const PACE_OVER_MS = 10 * 60_000;

/** Pace of the last ten minutes, or since it was started. */
function recentPace(own: readonly AnswerRecord[], { startedMs, questions }: StoredBatch, nowMs: number) {
  const sinceMs = Math.max(startedMs, nowMs - PACE_OVER_MS);
  const recent = own.filter(({ endedAt }) => Date.parse(endedAt) >= sinceMs);
  const done = questions.filter(({ outcome }) => outcome !== null).length;
  return paceOf(recent.length, nowMs - sinceMs, questions.length - done);
}

function failuresOf({ questions }: StoredBatch): Record<string, number> {
  const failures: Record<string, number> = {};
  for (const { outcome } of questions) {
    if (isFailure(outcome)) failures[outcome.message] = (failures[outcome.message] ?? 0) + 1;
  }
  return failures;
}

function nextOf(status: State, { id, questions }: StoredBatch): string | null {
  const again = 'run the same command again';
  switch (status) {
    case 'paused':
      return `gate resume ${id}`;
    case 'interrupted':
      return `no worker answers: ${again}; it goes on and pays nothing twice`;
    case 'cancelled':
      return `${again} to continue`;
    case 'unknown':
      return 'no Temporal answers: see gate doctor';
    case 'ended':
      if (questions.some(({ outcome }) => isFailure(outcome))) return `gate batch retry ${id}`;
      if (questions.some(({ outcome }) => isCancelled(outcome))) return `gate batch retry ${id} --undecided`;
      return null;
    case 'running':
    case 'cancelling':
      return null;
    default:
      return status satisfies never;
  }
}
