/**
 * For how long workers have had nothing to do. Steps are counted as they begin and end, by an interceptor; workflow tasks are
 * seen when somebody looks: one in flight, or another number of workflows in memory. One that comes and goes between two looks
 * without any step is overlooked (a query, a timer): nothing is lost by it, because a task that arrives while a worker stops is
 * still worked on.
 */
import type { ActivityInterceptorsFactory, Worker } from '@temporalio/worker';

export interface LoadMeter {
  readonly interceptor: ActivityInterceptorsFactory;
  /** 0 while something runs. */
  idleMs(workers: readonly Pick<Worker, 'getStatus'>[]): number;
}

/** `now` in milliseconds, of a clock that nobody sets. */
export function createLoadMeter(now: () => number = () => performance.now()): LoadMeter {
  let running = 0;
  let lastAt = now();
  let cachedBefore = 0;
  return {
    interceptor: () => ({
      inbound: {
        execute: async (input, next) => {
          running += 1;
          try {
            return await next(input);
          } finally {
            running -= 1;
            lastAt = now();
          }
        },
      },
    }),
    idleMs: (workers) => {
      const status = workers.map((worker) => worker.getStatus());
      const cached = sum(status.map(({ numCachedWorkflows }) => numCachedWorkflows));
      const inFlight = sum(status.map((one) => one.numInFlightWorkflowActivations + one.numInFlightActivities));
      const at = now();
      if (running > 0 || inFlight > 0 || cached !== cachedBefore) lastAt = at;
      cachedBefore = cached;
      return at - lastAt;
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
