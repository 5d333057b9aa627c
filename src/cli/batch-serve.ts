/** Temporal and the workers of a batch: this process serves the batch's own queues while it is followed. */
import { earlierModelQueues, modelQueues, queuesByModel } from '../workers/model-queues';
import { createGateWorkers, installLogger, type GateWorkers } from '../workers/run-worker';
import { servingOf } from '../workers/serving';
import { batchQueue } from '../workers/task-queues';
import { takeOverBatch } from './batch-earlier';
import type { FollowBatch, FollowEnd } from './batch-follow';
import type { ReadyBatch } from './batch-preflight';
import { CommandFailed } from './errors';
import type { Interrupts } from './interrupts';
import { batchPorts } from './services';
import { openTemporal, type TemporalSession } from './temporal-session';

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
    const limited = modelQueues(config, composition, Object.values(batch.settings.models));
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
