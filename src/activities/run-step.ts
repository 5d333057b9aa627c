/**
 * Runs a step as an activity: sends heartbeats, passes the cancellation signal, and maps errors (`failures.ts`). An activity
 * learns of a cancellation only from the reply to a heartbeat, so heartbeats are frequent.
 */
import { activityInfo, ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { toFailure } from './failures';

/** A result becomes part of the history, so it must be small; contents belong in the store (design D3). */
const LARGEST_RESULT_CHARS = 256 * 1024;
const FIRST_BEAT_MS = 1_000;
const LONGEST_BEAT_MS = 5_000;

export async function runStep<T>(step: (options: { readonly signal: AbortSignal }) => Promise<T>): Promise<T> {
  const context = Context.current();
  const stopBeating = startHeartbeat(context);
  try {
    const result = await step({ signal: context.cancellationSignal });
    const size = result === undefined ? 0 : JSON.stringify(result).length;
    if (size > LARGEST_RESULT_CHARS) {
      throw ApplicationFailure.nonRetryable(
        `a step returned ${String(size)} characters instead of references`,
        'ResultTooLarge',
      );
    }
    return result;
  } catch (error) {
    throw afterAbort(context) ?? toFailure(error, activityInfo().attempt);
  } finally {
    stopBeating();
  }
}

/** The error after an abort. The driver's own error says nothing; the reason of the abort decides: cancelled, or retry elsewhere. */
function afterAbort(context: Context): Error | null {
  if (!context.cancellationSignal.aborted) return null;
  if (context.cancellationDetails?.workerShutdown === true) {
    return ApplicationFailure.create({
      message: 'the worker was stopped during this step',
      type: 'WorkerStopped',
      // Nothing is wrong with the step: another worker takes it at once.
      nextRetryDelay: 1,
    });
  }
  return new CancelledFailure('the step was cancelled');
}

/** The first heartbeat is delayed a little: most steps end before it, and each heartbeat is a write on the server. */
function startHeartbeat(context: Context): () => void {
  const timeoutMs = context.info.heartbeatTimeoutMs;
  if (!timeoutMs) return () => undefined;
  const everyMs = Math.min(LONGEST_BEAT_MS, Math.ceil(timeoutMs / 3));
  let timer: NodeJS.Timeout;
  const beatAfter = (ms: number): void => {
    timer = setTimeout(() => {
      context.heartbeat();
      beatAfter(everyMs);
    }, ms);
  };
  beatAfter(Math.min(FIRST_BEAT_MS, everyMs));
  return () => clearTimeout(timer);
}
