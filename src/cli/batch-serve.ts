/**
 * Temporal and the workers of a batch: this process serves the batch's own queues while it is followed.
 *
 * An earlier run may have left questions or the batch's own workflow running under another configuration. What nobody works
 * on is ended in Temporal and begun again here, and the store has all that it paid for. Where a process works on it, the
 * command ends with what is different.
 */
import { batchPorts } from '../workers/batch-ports';
import { earlierModelQueues, modelQueues, queuesByModel } from '../workers/model-queues';
import { createGateWorkers, installLogger, type GateWorkers } from '../workers/run-worker';
import { servingOf, type Serving } from '../workers/serving';
import { batchQueue } from '../workers/task-queues';
import type { FollowBatch, FollowEnd } from './batch-follow';
import type { ReadyBatch } from './batch-preflight';
import { CommandFailed } from './errors';
import type { Interrupts } from './interrupts';
import { openTemporal, type TemporalSession } from './temporal-session';
import { runningQuestions, runningWorkflow, type RunningWorkflow } from '../workers/workflow-views';
import { whereItRuns, type Elsewhere } from '../workers/running-elsewhere';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import type { Batch } from './batch-plan';

/** How long a model call in flight, which is paid for, may take to finish. */
const GRACE_MS = 60_000;

type Served = Pick<FollowBatch, 'session' | 'serving' | 'models' | 'broken'>;

export async function withBatchServed(
  ready: ReadyBatch,
  pending: ReadonlySet<number>,
  interrupts: Interrupts,
  note: (line: string) => void,
  follow: (served: Served) => Promise<FollowEnd>,
): Promise<FollowEnd> {
  const { services, composition, batch, flags, io } = ready;
  const { config } = services;
  installLogger('WARN', (line) => flags.debug && note(line));
  const session = await openTemporal(config, io.env, { onProgress: note });
  try {
    if (session.uiUrl !== null)
      note(`Temporal UI ${session.uiUrl}/namespaces/${session.namespace}/workflows/batch-${batch.batchId}`);
    // A recording is written and read by this process alone.
    const limited =
      composition.recording === null ? modelQueues(config, composition, Object.values(batch.settings.models)) : [];
    const serving = servingOf(config, composition, ready.databases);
    const earlier = await takeOverBatch({ session, batch, pending, serving, note, nowMs: io.now() });
    const ownQueues = [batchQueue(batch.batchId, serving), batchQueue(batch.scope, serving), ...earlier];
    const queues = [...limited, ...(earlier.length === 0 ? [] : earlierModelQueues(config))];
    const workers = await batchWorkers(ready, session, ownQueues, queues);
    const working = workers.run();
    // Its error, if it has one, ends the following below.
    const stopped = working.catch(() => undefined);
    const broken = working.then(() =>
      Promise.reject(new CommandFailed('the worker stopped; run the same command again to continue')),
    );
    broken.catch(() => undefined);
    try {
      const end = await follow({ session, serving, models: queuesByModel(limited), broken });
      if (end === 'interrupted')
        note(
          `pausing: running steps may finish (up to ${GRACE_MS / 1000} s), nothing is cancelled; interrupt again to quit at once`,
        );
      return end;
    } finally {
      workers.stop();
      await Promise.race([stopped, interrupts.second]);
    }
  } finally {
    await session.close();
  }
}

function batchWorkers(
  { services, composition, flags, io }: ReadyBatch,
  { target }: TemporalSession,
  ownQueues: readonly string[],
  queues: ReturnType<typeof modelQueues>,
): Promise<GateWorkers> {
  return createGateWorkers({
    ...{ ...target, steps: composition.steps, batch: batchPorts(services.store) },
    ...{ databases: [], ownQueues, modelQueues: queues, bundle: io.bundle },
    maxModelCalls: Math.max(64, flags.concurrency + 16),
    graceMs: GRACE_MS,
  });
}

interface TakeOver {
  readonly session: TemporalSession;
  readonly batch: Batch;
  /** Positions of the searches that have not ended well. */
  readonly pending: ReadonlySet<number>;
  readonly serving: Serving;
  readonly note: (line: string) => void;
  readonly nowMs: number;
}

/** Returns the queues of an earlier version that this process must serve as well, so that what runs there ends. */
async function takeOverBatch({ session, batch, pending, serving, note, nowMs }: TakeOver): Promise<string[]> {
  const { gate } = session;
  const { batchId, scope, searches } = batch;
  const asked = (id: string) => ({ serving, taskQueue: batchQueue(id, serving), earlierQueue: batchQueue(id) });
  const own = await runningWorkflow(gate, batchWorkflowId(batchId));
  const ids = new Set([...pending].map((n) => questionWorkflowId(searches[n]?.searchId ?? '')));
  const questions = (await runningQuestions(gate)).filter(({ workflowId }) => ids.has(workflowId));
  const looked = new Map<string, Elsewhere>();
  const look = async (running: RunningWorkflow, id: string): Promise<Elsewhere> => {
    const known = looked.get(running.taskQueue) ?? (await whereItRuns(gate, running, asked(id), nowMs));
    looked.set(running.taskQueue, known);
    return known;
  };
  const left: RunningWorkflow[] = [];
  let isEarlier = false;
  for (const running of [...(own === null ? [] : [own]), ...questions]) {
    const found = await look(running, running === own ? batchId : scope);
    if (found.kind === 'served')
      throw new CommandFailed(`${batchId} runs ${found.difference}: interrupt it there, then run this again`);
    if (found.kind === 'abandoned') left.push(running);
    isEarlier ||= found.kind === 'earlier-version';
  }
  // The batch first, so that it starts none of its questions again.
  for (const { workflowId, runId } of left)
    await gate.client.workflow.getHandle(workflowId, runId).terminate('run again with another configuration');
  const abandoned = [...looked.values()].find(({ kind }) => kind === 'abandoned');
  if (abandoned?.kind === 'abandoned')
    note(
      `${batchId} ran ${abandoned.difference}. No process works on it any more, so it goes on here; nothing is paid twice.`,
    );
  return isEarlier ? [batchQueue(batchId), batchQueue(scope)] : [];
}
