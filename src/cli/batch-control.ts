/**
 * `gate batch pause`, `resume`, `cancel` and `retry`. A pause and its end are signals: they wait for the worker if none
 * works on the batch. A retry is the command that began the batch, for its failures alone.
 */
import { cancelBatch, pauseBatch, resumeBatch } from '../app/run/batch-control';
import { asksOnly, runningWorkflow } from '../workers/workflow-views';
import { batchWorkflowId } from '../workflows/ids';
import { isServed } from './batch-queues';
import { GateError } from '../app/errors';
import type { Io } from './io';
import { openServices, type Services } from '../app/services';
import { authorOf, onRunningBatch, type SteerFlags } from './steer';
import { findBatch, isCancelled, isToRetry, storedBatch, type BatchCommand } from '../app/run/stored-batches';
import { openRunning, sayStoreOnly, type TemporalSession } from '../app/temporal-session';

export interface ControlFlags extends SteerFlags {
  readonly now?: boolean;
}

const DONE = {
  pause: 'starts no further question until gate batch resume; those in flight finish',
  now: 'is paused, with its questions in flight, until gate batch resume',
  resume: 'goes on',
  cancel: 'is being cancelled',
};

export async function controlBatch(
  wanted: string,
  kind: 'pause' | 'resume' | 'cancel',
  flags: ControlFlags,
  io: Io,
): Promise<void> {
  const author = authorOf(flags, io);
  const { id } = await findBatch(openServices(io).store, wanted);
  await onRunningBatch(id, io, async (session) => {
    const now = flags.now === true;
    const told = await {
      pause: () => pauseBatch(session, id, { author, now }),
      resume: () => resumeBatch(session, id, { author }),
      cancel: () => cancelBatch(session, id),
    }[kind]();
    if (told) io.out(flags.json ? `${JSON.stringify({ id, kind, author })}\n` : `${id} ${DONE[now ? 'now' : kind]}\n`);
    return told;
  });
}

/** Null: no question is to be asked again, which is told. */
export async function retryCommand(
  wanted: string,
  { undecided = false }: { readonly undecided?: boolean },
  io: Io,
): Promise<BatchCommand | null> {
  const services = openServices(io);
  const { config, store } = services;
  const batch = await storedBatch(store, await findBatch(store, wanted));
  const { id, command, questions } = batch;
  const session = await openRunning(config, io.env, sayStoreOnly(io));
  try {
    if (session !== null) await checkEnded(id, session, { services, io });
  } finally {
    await session?.close();
  }
  if (!questions.some((question) => isToRetry(question, undecided))) {
    const isOpen = questions.some(({ outcome }) => outcome === null || isCancelled(outcome));
    io.err(
      isOpen
        ? `no question of ${id} failed: run the same command again, which asks all that is open\n`
        : `no question of ${id} is to be asked again\n`,
    );
    return null;
  }
  const again = 'run the same command again, which asks the failures and all that is open';
  if (command === null) throw new GateError(`the command of ${id} is not in the store: ${again}`);
  if (command.isMasked) throw new GateError(`the command of ${id} held a password, which is not kept: ${again}`);
  return { ...command, args: [...command.args, '--retry-of', id, ...(undecided ? ['--undecided'] : [])] };
}

/** A retry that was interrupted is taken up by the next one. */
async function checkEnded(
  id: string,
  session: TemporalSession,
  at: { readonly services: Services; readonly io: Io },
): Promise<void> {
  const running = await runningWorkflow(session.gate, batchWorkflowId(id));
  if (running === null) return;
  if (await isServed(at, session, running.taskQueue))
    throw new GateError(`${id} has not ended: retry its failures once it has (gate batch status ${id})`);
  if (!(await asksOnly(session.gate, id)))
    throw new GateError(`${id} was interrupted: run the same command again, which asks its failures, too`);
}
