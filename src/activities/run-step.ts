/**
 * The frame around every activity: heartbeats while the step runs, hands it the cancellation signal, and maps what it
 * throws (`failures.ts`). Cancellation reaches an activity only in the reply to a heartbeat, so beats are frequent.
 */
import { activityInfo, ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { toFailure } from './failures';

/** Results are history; contents belong in the store (design D3). */
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
    throw afterAbort(context) ?? toFailure(error, { attempt: activityInfo().attempt });
  } finally {
    stopBeating();
  }
}

/** What a driver throws on abort says nothing; the reason for the abort decides between cancelled and "try elsewhere". */
function afterAbort(context: Context): Error | null {
  if (!context.cancellationSignal.aborted) return null;
  if (context.cancellationDetails?.workerShutdown === true) {
    return ApplicationFailure.retryable('the worker was stopped during this step', 'WorkerStopped');
  }
  return new CancelledFailure('the step was cancelled');
}

/** Most steps end before the first beat, and each is a write of the server: it comes a little later than at once. */
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
