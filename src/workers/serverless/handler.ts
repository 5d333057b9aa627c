/**
 * The life of a function: what is opened once is kept between invocations; each invocation runs workers until there is
 * nothing to do or its time runs out. Why not `@temporalio/lambda-worker`: docs/decisions/2026-11-23-serverless-worker.md.
 *
 * 1. Workers take no new work when only the drain time is left, so a step that begins has at least that long.
 * 2. A step that still runs shortly before the end is handed back: Temporal gives it to another invocation at once.
 * 3. After an invocation nothing runs: the platform may freeze the process at any moment then.
 * 4. Whatever goes wrong is one line in the log and a failed invocation, and the next one opens everything anew.
 */
import { publicMessage } from '../../activities/failures';
import type { GateWorkers } from '../run-worker';

export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

export interface Times {
  /** For how long work is taken. */
  readonly workMs: number;
  /** For how long running steps may finish after that. */
  readonly graceMs: number;
  /** When steps that do not react are left behind, from the end of `workMs`. */
  readonly forceMs: number;
}

/** What is kept between invocations. */
export interface Kept {
  /** The longest that a step usually takes. */
  readonly stepMs: number;
  readonly idleMs: number;
  /** null: from the time of the invocation. */
  readonly drainMs: number | null;
  /** Workers over connections that answer. */
  workers(times: Times): Promise<Pick<GateWorkers, 'run' | 'stop' | 'idleMs'>>;
  /** Closes what a frozen process must not hold. */
  rest(): Promise<void>;
}

/** Of the invocation's time, for steps that run when no more work is taken. */
const DRAIN_SHARE = 0.35;
/** Cancelled steps end and are reported within this time before the end. */
const HAND_BACK_MS = 2_000;
/** The last answers are sent, and the function returns. */
const MARGIN_MS = 500;
const LEAST_WORK_MS = 1_000;
const LOOK_EVERY_MS = 100;

export function timesOf(remainingMs: number, { stepMs, drainMs }: Pick<Kept, 'stepMs' | 'drainMs'>): Times {
  const drain = Math.max(
    HAND_BACK_MS + MARGIN_MS,
    drainMs ?? Math.min(stepMs + HAND_BACK_MS, remainingMs * DRAIN_SHARE),
  );
  const workMs = remainingMs - drain;
  if (workMs < LEAST_WORK_MS)
    throw new Error(
      `${String(Math.round(remainingMs))} ms are left, ${String(Math.round(drain))} ms of them for draining: give the function a longer Timeout`,
    );
  return { workMs, graceMs: drain - HAND_BACK_MS, forceMs: drain - MARGIN_MS };
}

export function createHandler(
  open: () => Promise<Kept>,
  log: (line: string) => void,
): (event: unknown, context: LambdaContext) => Promise<void> {
  let opened: Promise<Kept> | null = null;
  return async (_event, context) => {
    const isCold = opened === null;
    try {
      const kept = await (opened ??= open());
      const times = timesOf(context.getRemainingTimeInMillis(), kept);
      const workers = await kept.workers(times);
      log(`${isCold ? 'cold' : 'warm'} start; takes work for ${(times.workMs / 1000).toFixed(1)} s`);
      try {
        log(`ends: ${await runUntil(workers, times.workMs, kept.idleMs)}`);
      } finally {
        await kept.rest();
      }
    } catch (error) {
      opened = null;
      const message = publicMessage(error instanceof Error ? error.message : String(error));
      log(`gate: ${message}`);
      // Without the stack, which the platform would print a second time.
      throw Object.assign(new Error(message), { stack: message });
    }
  };
}

async function runUntil(
  workers: Pick<GateWorkers, 'run' | 'stop' | 'idleMs'>,
  workMs: number,
  idleMs: number,
): Promise<'nothing to do' | 'time is up'> {
  let why: 'nothing to do' | 'time is up' = 'nothing to do';
  const end = setTimeout(() => {
    why = 'time is up';
    workers.stop();
  }, workMs);
  // Making workers takes a while in which no task can come.
  const startedAt = Date.now();
  const look = setInterval(() => {
    if (Math.min(workers.idleMs(), Date.now() - startedAt) >= idleMs) workers.stop();
  }, LOOK_EVERY_MS);
  try {
    await workers.run();
    return why;
  } finally {
    clearTimeout(end);
    clearInterval(look);
  }
}
