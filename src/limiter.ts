/** So many jobs at the same time, over p-limit: it begins them in the order in which they came. */
import pLimit from 'p-limit';

export interface Limiter {
  /** The job's own result; an abort ends the wait for a place with the signal's reason, and leaves a job that runs to itself. */
  run<T>(job: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** A job that nobody awaits by itself: `idle` tells of its failure. */
  add(job: () => Promise<void>): void;
  /** Resolves when nothing added runs or waits; rejects with what the first of them that failed threw. */
  idle(): Promise<void>;
}

export function limiter(atOnce: number): Limiter {
  const limit = pLimit(atOnce);
  const added = new Set<Promise<void>>();
  const failures: unknown[] = [];
  return {
    run(job, signal) {
      if (signal === undefined) return limit(job);
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      return new Promise((resolve, reject) => {
        const leave = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', leave, { once: true });
        limit(() => {
          signal.removeEventListener('abort', leave);
          return signal.aborted ? Promise.reject(signal.reason as Error) : job();
        }).then(resolve, reject);
      });
    },
    add(job) {
      const one: Promise<void> = limit(job)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => added.delete(one));
      added.add(one);
    },
    async idle() {
      while (added.size > 0) await Promise.all(added);
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** What `work` gives for every item, in their order. A failure is thrown only when nothing runs any more. */
export async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>, atOnce = 16): Promise<R[]> {
  const limit = pLimit(atOnce);
  const settled = await Promise.allSettled(items.map((item) => limit(work, item)));
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** The result of `work`; an abort ends the wait for it with the signal's reason. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
  // Both are raced even then: nobody else would hear of a failure of the work, which would end the process.
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener('abort', abort));
}
