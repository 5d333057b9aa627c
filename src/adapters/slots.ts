/** A counting semaphore: callers wait in the order in which they came; an abort ends the wait. */

export interface Slots {
  /** Rejects only with the signal's reason. */
  take(signal: AbortSignal): Promise<void>;
  /** Releases the place that `take` gave; the next waiting caller gets it. */
  give(): void;
}

export function createSlots(size: number): Slots {
  const waiting: (() => void)[] = [];
  let free = size;
  return {
    take(signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (free > 0) {
        free -= 1;
        return Promise.resolve();
      }
      return new Promise<void>((resolve, reject) => {
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(next), 1);
          reject(signal.reason as Error);
        };
        const next = (): void => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        waiting.push(next);
        signal.addEventListener('abort', onAbort, { once: true });
      });
    },
    give() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
