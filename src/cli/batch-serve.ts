/**
 * Temporal and the workers of a batch: this process serves the batch's own queues while it is followed. A batch that runs
 * detached is followed only.
 */
import { batchQueue, type ModelQueue } from '../workers/task-queues';
import { createGateWorkers, installLogger, type GateWorkers } from '../workers/run-worker';
import { batchWorkflowId } from '../workflows/ids';
import type { FollowBatch, FollowEnd } from './batch-follow';
import type { ReadyBatch } from './batch-preflight';
import { databaseQueues, ownQueues, runsDetached, takeOverBatch, type BatchQueues } from './batch-queues';
import { GateError } from '../app/errors';
import { counted } from '../counted';
import { readingsOn } from '../workers/workflow-views';
import { isOver, pause, type Interrupts } from './interrupts';
import { openTemporal, type TemporalSession } from '../app/temporal-session';

/** How long a model call in flight, which is paid for, may take to finish. */
const GRACE_MS = 60_000;
/** How long the workers stay for what the last questions proved, and how often they look. */
const KEEPING_MS = 60_000;
const KEEPING_POLL_MS = 500;

interface Serve {
  readonly ready: ReadyBatch;
  readonly pending: ReadonlySet<number>;
  readonly interrupts: Interrupts;
  readonly note: (line: string) => void;
  readonly follow: (served: Pick<FollowBatch, 'session' | 'queues' | 'broken'>) => Promise<FollowEnd>;
}

/** `detached`: others work on it, so it goes on after an interrupt. */
export async function withBatchServed(serve: Serve): Promise<{ readonly end: FollowEnd; readonly detached: boolean }> {
  const { ready, note, follow } = serve;
  const { services, batch, flags, io } = ready;
  installLogger('WARN', (line) => flags.debug && note(line));
  const session = await openTemporal(services.config, io.env, { onProgress: note });
  try {
    const ui = session.uiOfWorkflow(batchWorkflowId(batch.batchId));
    if (ui !== null) note(`Temporal UI ${ui}`);
    const queues = databaseQueues(ready);
    if (!(await runsDetached(ready, session, queues)))
      return { end: await served(serve, session, queues), detached: false };
    note(`${batch.batchId} runs detached: an interrupt ends this command alone`);
    const broken = new Promise<never>(() => undefined);
    return { end: await follow({ session, queues, broken }), detached: true };
  } finally {
    await session.close();
  }
}

async function served(
  { ready, pending, interrupts, note, follow }: Serve,
  session: TemporalSession,
  ofDatabases: BatchQueues,
): Promise<FollowEnd> {
  const { batchId, scope } = ready.batch;
  const queues = ownQueues(ready);
  const other = { ...ofDatabases, difference: 'detached', joins: true };
  await takeOverBatch({ ready, session, pending, queues, other, note });
  const questions = batchQueue(scope, queues.serving);
  const named = [batchQueue(batchId, queues.serving), questions];
  const workers = await batchWorkers(ready, session, named, queues.limited);
  const working = workers.run();
  // Its error, if it has one, ends the following below.
  const stopped = working.catch(() => undefined);
  const broken = working.then(() =>
    Promise.reject(new GateError('the worker stopped; run the same command again to continue')),
  );
  broken.catch(() => undefined);
  try {
    const end = await follow({ session, queues, broken });
    if (end === 'interrupted')
      note(
        `pausing: running steps may finish (up to ${GRACE_MS / 1000} s), nothing is cancelled; interrupt again to quit at once`,
      );
    else if (ready.batch.settings.layer === 'on')
      await Promise.race([lastReadings(session, questions, { interrupts, note }), broken]);
    return end;
  } finally {
    workers.stop();
    await Promise.race([stopped, interrupts.second]);
  }
}

/** The answers are stored; what the last of them proved is read by the workers that are about to stop. */
async function lastReadings(
  { gate }: TemporalSession,
  queue: string,
  { interrupts, note }: Pick<Serve, 'interrupts' | 'note'>,
): Promise<void> {
  const over = AbortSignal.timeout(KEEPING_MS);
  let left = await readingsOn(gate, queue);
  if (left > 0) note(`reading what the last questions proved: at most ${KEEPING_MS / 1000} s, or interrupt`);
  while (left > 0 && !isOver(over) && interrupts.count() === 0) {
    await pause(KEEPING_POLL_MS, over);
    left = await readingsOn(gate, queue);
  }
  if (left > 0) note(`not kept: what ${counted(left, 'question')} proved was not read in time`);
}

function batchWorkers(
  { services, composition, flags, io }: ReadyBatch,
  { target }: TemporalSession,
  ownQueues: readonly string[],
  queues: readonly ModelQueue[],
): Promise<GateWorkers> {
  return createGateWorkers({
    ...{ ...target, steps: composition.steps, batch: composition.batch },
    ...{ databases: [], ownQueues, modelQueues: queues, bundle: io.bundle },
    maxModelCalls: Math.max(64, flags.concurrency + 16),
    graceMs: GRACE_MS,
  });
}
