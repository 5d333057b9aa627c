/**
 * Temporal and the workers of a batch: this process serves the batch's own queue while it is followed. A batch that runs
 * detached, on workers elsewhere or on one in the background, is only started or followed.
 */
import { counted } from '../../counted';
import { createGateWorkers, installLogger } from '../../workers/run-worker';
import { readingsOn, runningWorkflow } from '../../workers/workflow-views';
import { batchWorkflowId } from '../../workflows/ids';
import { servedDetached } from '../background';
import { GateError } from '../errors';
import { openTemporal } from '../open-temporal';
import type { TemporalSession } from '../temporal-session';
import type { ReadyArm } from './arms';
import { databaseQueues, isServed, ownQueues, takeOverBatch, type BatchQueues } from './batch-queues';
import type { Stopping } from './events';
import { startOrJoin, untilCancelled, type FollowBatch, type FollowEnd } from './follow-batch';
import { aborted, overAfter, pause } from '../waiting';

/** How long a model call in flight, which is paid for, may take to finish. */
const GRACE_MS = 60_000;
/** How long the workers stay for what the last questions proved, and how often they look. */
const KEEPING_MS = 60_000;
const KEEPING_POLL_MS = 500;

type Follow = (served: Pick<FollowBatch, 'session' | 'queues' | 'broken'>) => Promise<FollowEnd>;

/** `detached`: others work on it, so it goes on after an interrupt. */
export async function withBatchServed(
  ready: ReadyArm,
  pending: ReadonlySet<number>,
  follow: Follow,
): Promise<{ readonly end: FollowEnd; readonly detached: boolean }> {
  const { run, arm, note } = ready;
  const { services, surroundings, debug } = run;
  const { batchId } = arm.batch;
  const endLog = installLogger('WARN', (line) => debug && note(line));
  const session = await openTemporal(services.config, surroundings.env, { onProgress: note });
  try {
    const ui = session.uiOfWorkflow(batchWorkflowId(batchId));
    if (ui !== null) note(`Temporal UI ${ui}`);
    const queues = databaseQueues(ready);
    const own = await runningWorkflow(session.gate, batchWorkflowId(batchId));
    const at = { services, now: () => surroundings.now() };
    const runsDetached = own?.taskQueue === queues.batch && (await isServed(at, session, queues.batch));
    if (!runsDetached)
      return { end: await served(ready, { session, pending, other: queues, follow }), detached: false };
    note(`${batchId} runs detached: an interrupt ends this command alone`);
    const broken = new Promise<never>(() => undefined);
    return { end: await follow({ session, queues, broken }), detached: true };
  } finally {
    endLog();
    await session.close();
  }
}

interface Serving {
  readonly session: TemporalSession;
  readonly pending: ReadonlySet<number>;
  /** Where it would run detached. */
  readonly other: BatchQueues;
  readonly follow: Follow;
}

async function served(ready: ReadyArm, { session, pending, other, follow }: Serving): Promise<FollowEnd> {
  const { run, arm, composition, note } = ready;
  const { settings } = arm.batch;
  const { stopping, concurrency, surroundings } = run;
  const queues = ownQueues(ready);
  await takeOverBatch({ ready, session, pending, queues, other: { ...other, difference: 'detached', joins: true } });
  const workers = await createGateWorkers({
    ...session.target,
    ...{ steps: composition.steps, batch: composition.batch, scheduled: composition.scheduled, databases: [] },
    ownQueue: queues.batch,
    modelQueues: queues.limited,
    bundle: surroundings.bundle,
    maxModelCalls: Math.max(64, concurrency + 16),
    graceMs: GRACE_MS,
  });
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
    else if (settings.layer === 'on')
      await Promise.race([lastReadings(session, queues.batch, { stopping, note }), broken]);
    return end;
  } finally {
    workers.stop();
    await Promise.race([stopped, aborted(stopping.quit)]);
  }
}

/** The answers are stored; what the last of them proved is read by the workers that are about to stop. */
async function lastReadings(
  { gate }: TemporalSession,
  queue: string,
  { stopping, note }: { readonly stopping: Stopping; readonly note: (line: string) => void },
): Promise<void> {
  const over = overAfter(KEEPING_MS, stopping.asked);
  let left = await readingsOn(gate, queue);
  if (left > 0) note(`reading what the last questions proved: at most ${KEEPING_MS / 1000} s, or interrupt`);
  while (left > 0 && !over.aborted) {
    await pause(KEEPING_POLL_MS, over);
    left = await readingsOn(gate, queue);
  }
  if (left > 0) note(`not kept: what ${counted(left, 'question')} proved was not read in time`);
}

/** Begins a batch that others work on; `who` says who. */
export async function startDetached(
  ready: ReadyArm,
  session: TemporalSession,
  pending: ReadonlySet<number>,
): Promise<{ readonly who: string; readonly joined: boolean }> {
  const { run, arm } = ready;
  const queues = databaseQueues(ready);
  const other = { ...ownQueues(ready), difference: 'in a process of its own', joins: false };
  await takeOverBatch({ ready, session, pending, queues, other });
  // The first database has the batch's own workflow.
  const needed = new Set(
    arm.batch.searches.filter((_, n) => n === 0 || pending.has(n)).map(({ question }) => question.database),
  );
  const toServe = [...queues.toServe].flatMap(([name, one]) => (needed.has(name) ? [one] : []));
  const who = await servedDetached(run.services.config, toServe, session, run.surroundings);
  const start = { ready, session, pending, queues };
  await untilCancelled(start);
  return { who, joined: (await startOrJoin(start, run.concurrency)) === 'joined' };
}
