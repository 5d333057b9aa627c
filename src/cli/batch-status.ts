/**
 * `gate batch status`: a batch that runs, is paused or has ended, from Temporal and the store. Correct answers are counted in
 * the results that `gate batch run` writes as questions end: the store has no gold.
 */
import { z } from 'zod';
import type { AnswerRecord } from '../domain';
import { each } from '../limiter';
import { cut, utc } from '../report/printable';
import { batchPause, runningWorkflow, wasCancelled } from '../workers/workflow-views';
import { batchWorkflowId } from '../workflows/ids';
import { BatchFigures, figuresText, isCorrect, isJudged, paceOf } from './batch-figures';
import { isServed } from './batch-queues';
import { liveLines } from './follow';
import { isOver, pause, watchInterrupts } from './interrupts';
import { resultsIn } from './batch-results';
import type { Io } from './io';
import { openServices, recordOf, type Services } from '../app/services';
import {
  findBatch,
  isCancelled,
  isFailure,
  listBatches,
  resultFolder,
  storedBatch,
  type ListedBatch,
  type StoredBatch,
} from '../app/run/stored-batches';
import { textTable } from './table';
import { openRunning, sayStoreOnly, statusWithoutRecord, type TemporalSession } from '../app/temporal-session';

export interface BatchStatusFlags {
  readonly json?: boolean;
  readonly watch?: boolean;
  readonly limit: number;
}

const Listed = z.object({
  id: z.string(),
  name: z
    .string()
    .nullable()
    .describe('--name of gate batch run, else that of the questions; null: of an earlier version'),
  run: z
    .object({
      name: z.string().nullable().describe('name in the file of the run; null: of gate-bench compare'),
      method: z.string(),
      questions: z.string().describe('name of the file or benchmark'),
      seed: z.number().int(),
    })
    .nullable()
    .describe('of gate batch run CONFIG.yaml or gate-bench compare; null: it was begun alone'),
  status: z
    .enum(['running', 'paused', 'cancelling', 'ended', 'cancelled', 'interrupted', 'unknown'])
    .describe('interrupted: it is not at its end, and nobody works on it; unknown: no Temporal answers'),
  startedAt: z.string(),
});

/** Its JSON schema is `docs/schemas/batch-status.schema.json`. */
export const BatchStatus = Listed.extend(BatchFigures.shape).extend({
  out: z.string().nullable().describe('the folder of its results; null: not on this machine'),
  inFlight: z.array(z.object({ n: z.number().int(), searchId: z.string() })),
  failures: z.record(z.string(), z.number().int()).describe('why questions failed, and how many each'),
  ui: z.string().nullable(),
  next: z.string().nullable().describe('what to do next; null: nothing'),
});
export type BatchStatus = Readonly<z.infer<typeof BatchStatus>>;
type State = BatchStatus['status'];

const WATCH_MS = 2_000;
const MOVING: readonly State[] = ['running', 'paused', 'cancelling'];

export async function showBatchStatus(wanted: string | undefined, flags: BatchStatusFlags, io: Io): Promise<void> {
  const services = openServices(io);
  const session = await openRunning(services.config, io.env, sayStoreOnly(io));
  try {
    const at = { services, session, io, records: new Map<string, AnswerRecord>() };
    if (wanted === undefined) {
      await showList(at, flags);
      return;
    }
    const batch = await findBatch(services.store, wanted);
    if (flags.watch) {
      await watch(at, batch, flags);
      return;
    }
    const status = await batchStatus(at, batch);
    io.out(flags.json ? `${JSON.stringify(status, null, 2)}\n` : `${statusLines(status).join('\n')}\n`);
  } finally {
    await session?.close();
  }
}

interface Looking {
  readonly services: Services;
  readonly session: TemporalSession | null;
  readonly io: Io;
  /** What has been read of searches that have ended. */
  readonly records: Map<string, AnswerRecord>;
}

async function showList(at: Looking, { json, limit }: BatchStatusFlags): Promise<void> {
  const { services, io } = at;
  const batches = (await listBatches(services.store)).slice(0, limit);
  const rows = await each(
    batches,
    async (listed) => {
      const batch = await storedBatch(services.store, listed);
      const { status } = await liveOf(at, batch);
      const outcomes = batch.questions.map(({ outcome }) => outcome);
      const [done, failed] = [outcomes.filter((one) => one !== null).length, outcomes.filter(isFailure).length];
      return { ...named(batch), status, total: batch.questions.length, done, failed };
    },
    4,
  );
  if (json) {
    io.out(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  if (rows.length === 0) {
    io.err('no batch was run yet; begin with: gate batch run QUESTIONS --db … --out …\n');
    return;
  }
  const cells = rows.map(({ id, status, startedAt, name, run, total, done, failed }) => [
    ...[id, status, utc(startedAt), cut(titleOf({ name, run }), 60), total, done, failed],
  ]);
  const head = ['id', 'status', 'started', 'name', 'questions', 'done', 'failed'];
  io.out(`${textTable(head, cells, { width: io.columns, whole: 4 })}\n`);
}

function named({ id, command, arm, startedMs }: StoredBatch): Omit<z.infer<typeof Listed>, 'status'> {
  return {
    ...{ id, name: command?.name ?? arm?.questions ?? null },
    run: arm && { name: arm.run, method: arm.method, questions: arm.questions, seed: arm.seed },
    startedAt: new Date(startedMs).toISOString(),
  };
}

/** A batch of a run has its part in it: `paper: react · bird dev · seed 1`. */
function titleOf({ name, run }: Pick<BatchStatus, 'name' | 'run'>): string {
  if (run === null) return name ?? '';
  const part = `${run.method} · ${run.questions} · seed ${run.seed}`;
  return run.name === null ? part : `${run.name}: ${part}`;
}

/** What Temporal says of it, or else what its outcomes do. */
async function liveOf({ session, services, io }: Looking, { id, questions }: StoredBatch) {
  const running = session === null ? null : await runningWorkflow(session.gate, batchWorkflowId(id));
  if (session === null || running === null) {
    const isOpen = questions.some(({ outcome }) => outcome === null);
    // One of them may have been cancelled by itself.
    const isCut = questions.some(({ outcome }) => isCancelled(outcome));
    const wasTold = session !== null && (isOpen || isCut) && (await wasCancelled(session.gate, batchWorkflowId(id)));
    const otherwise = isOpen ? statusWithoutRecord(services.config, io.env, session !== null) : 'ended';
    return { status: wasTold || (isOpen && isCut) ? 'cancelled' : otherwise, progress: null } as const;
  }
  const progress = await session.batchProgress(id);
  const paused = progress === null ? (await batchPause(session.gate, id)) !== undefined : progress.paused === true;
  // One that is too busy to answer in time has polled not long ago.
  const isWorkedOn = progress !== null || (await isServed({ services, io }, session, running.taskQueue));
  const otherwise = isWorkedOn ? 'running' : 'interrupted';
  return { status: running.isCancelled ? 'cancelling' : paused ? 'paused' : otherwise, progress } as const;
}

async function batchStatus(at: Looking, listed: ListedBatch): Promise<BatchStatus> {
  const { services, session, io, records } = at;
  const batch = await storedBatch(services.store, listed);
  const { id, questions, command } = batch;
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
  const isRunning = status === 'running';
  return {
    ...{ ...named(batch), status, total: questions.length, out },
    done: ended.length,
    running: progress?.inFlight.length ?? (MOVING.includes(status) ? null : 0),
    failed: ended.filter(({ outcome }) => isFailure(outcome)).length,
    judged: lines.filter(isJudged).length,
    correct: lines.filter(isCorrect).length,
    calls: own.reduce((sum, { usage }) => sum + usage.llmCalls, 0),
    costUsd: own.reduce((sum, { usage }) => sum + usage.costUsd, 0),
    ...(isRunning ? recentPace(own, batch, io.now()) : paceOf(0, 0, 0)),
    inFlight: [...(progress?.inFlight ?? [])],
    failures: failuresOf(batch),
    ui: session?.uiOfWorkflow(batchWorkflowId(id)) ?? null,
    next: nextOf(status, batch, command !== null),
  };
}

const PACE_OVER_MS = 10 * 60_000;

/** Of the last ten minutes, or since it was started. */
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

function nextOf(status: State, { id, questions }: StoredBatch, hasCommand: boolean): string | null {
  const again = 'run the same command again';
  switch (status) {
    case 'paused':
      return `gate batch resume ${id}`;
    case 'interrupted':
      return `no worker answers: ${again}; it goes on and pays nothing twice`;
    case 'cancelled':
      return `${again} to continue`;
    case 'unknown':
      return 'no Temporal answers: see gate doctor';
    case 'ended':
      if (questions.some(({ outcome }) => isFailure(outcome))) return hasCommand ? `gate batch retry ${id}` : again;
      if (questions.some(({ outcome }) => isCancelled(outcome)))
        return hasCommand ? `gate batch retry ${id} --undecided` : again;
      return null;
    case 'running':
    case 'cancelling':
      return null;
  }
}

function statusLines(status: BatchStatus): string[] {
  const { id, startedAt, out, failures, ui, next } = status;
  return [
    `${id}  ${status.status}  ${titleOf(status)}  (started ${utc(startedAt)})`,
    figuresText(status),
    ...Object.entries(failures).map(([reason, count]) => `infrastructure failure (${count}): ${cut(reason, 160)}`),
    ...(out === null ? [] : [`results ${out}`]),
    ...(ui === null ? [] : [`UI ${ui}`]),
    ...(next === null ? [] : [next]),
  ];
}

/** Until it moves no more: redrawn for a person, else a line whenever something changes. */
async function watch(at: Looking, batch: ListedBatch, { json }: BatchStatusFlags): Promise<void> {
  const { io } = at;
  const interrupts = watchInterrupts(io);
  const over = new AbortController();
  void interrupts.first.then(() => over.abort());
  let status = await batchStatus(at, batch);
  const live = io.live && !json ? liveLines(io, 1_000, () => statusLines(status)) : null;
  let shown = '';
  try {
    for (;;) {
      const { perMinute: _, secondsLeft: __, ...news } = status;
      if (live === null && JSON.stringify(news) !== shown)
        io.out(json ? `${JSON.stringify(status)}\n` : `${status.status}: ${figuresText(status)}\n`);
      shown = JSON.stringify(news);
      if (!MOVING.includes(status.status) || isOver(over.signal)) break;
      await pause(WATCH_MS, over.signal);
      status = await batchStatus(at, await findBatch(at.services.store, batch.id));
    }
  } finally {
    live?.stop();
    interrupts.stopListening();
  }
  if (live !== null) io.out(`${statusLines(status).join('\n')}\n`);
}
