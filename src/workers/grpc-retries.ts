/**
 * The client's own retries, until it closes. The SDK retries from a timer, and a retry on a closed channel throws where nobody
 * can catch it. That happens whenever a long poll is open while the client and then its server are closed. So nothing is
 * retried any more once the client closes, and it waits for the retry that is already due (at most 6 s, and only where
 * Temporal did not answer).
 */
import { setImmediate as afterTimers, setTimeout as sleep } from 'node:timers/promises';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor, type ConnectionOptions } from '@temporalio/client';

interface GrpcRetries {
  readonly interceptors: NonNullable<ConnectionOptions['interceptors']>;
  /** Resolves when no retry can come any more. */
  end(): Promise<void>;
}

/** Timers of the same length may fire a moment apart. */
const SLACK_MS = 20;

export function retriesUntilClosed(): GrpcRetries {
  const usual = defaultGrpcRetryOptions();
  const due = new Set<Promise<void>>();
  let closing = false;
  const interceptor = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !closing && usual.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const delayMs = usual.delayFunction(attempt, status);
      const retried = sleep(delayMs + SLACK_MS)
        .then(() => afterTimers())
        .then(() => void due.delete(retried));
      due.add(retried);
      return delayMs;
    },
  });
  return {
    interceptors: [interceptor],
    async end() {
      closing = true;
      await Promise.all(due);
    },
  };
}
