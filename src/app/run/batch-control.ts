/**
 * Pausing, resuming and cancelling a batch. A pause and its end are signals: they wait for the worker if none works on the batch.
 * Each function gives false where the batch does not run.
 */
import { signalBatch } from '../../workers/client';
import { runningWorkflow } from '../../workers/workflow-views';
import type { BatchPause } from '../../workflows/batch-progress';
import { batchWorkflowId } from '../../workflows/ids';
import type { TemporalSession } from '../temporal-session';

/** No further question starts; with `now`, those in flight are paused as well. */
export function pauseBatch(session: TemporalSession, batchId: string, pause: BatchPause): Promise<boolean> {
  return signalled(session, batchId, 'pause', pause);
}

export function resumeBatch(
  session: TemporalSession,
  batchId: string,
  { author }: Pick<BatchPause, 'author'>,
): Promise<boolean> {
  return signalled(session, batchId, 'resume', { author });
}

/** The questions in flight are cancelled as well; the same command as before goes on with all of them. */
export function cancelBatch(session: TemporalSession, batchId: string): Promise<boolean> {
  return session.cancelBatch(batchId);
}

async function signalled(
  { gate }: TemporalSession,
  batchId: string,
  kind: 'pause' | 'resume',
  value: Partial<BatchPause>,
): Promise<boolean> {
  const running = await runningWorkflow(gate, batchWorkflowId(batchId));
  return running !== null && (await signalBatch(gate, batchId, kind, value));
}
