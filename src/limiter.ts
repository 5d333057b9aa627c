/** At most so many jobs at the same time, begun in the order in which they were added. */
export interface Limiter {
  add(job: () => Promise<void>): void;
  /** Resolves when nothing runs or waits; rejects with what the first job that failed threw. */
  idle(): Promise<void>;
}

export function limiter(atOnce: number): Limiter {
  const waiting: (() => Promise<void>)[] = [];
  const listeners: (() => void)[] = [];
  const failures: unknown[] = [];
  let running = 0;
  const next = (): void => {
    while (running < atOnce) {
      const job = waiting.shift();
      if (job === undefined) break;
      running += 1;
      job()
        .catch((error: unknown) => failures.push(error))
        .finally(() => {
          running -= 1;
          next();
        });
    }
    if (running === 0) for (const listener of listeners.splice(0)) listener();
  };
  return {
    add(job) {
      waiting.push(job);
      next();
    },
    async idle() {
      if (running > 0) await new Promise<void>((resolve) => listeners.push(resolve));
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** What `work` gives for every item, in their order; at most so many at the same time. */
export async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>, atOnce = 16): Promise<R[]> {
  const jobs = limiter(atOnce);
  const results: R[] = [];
  items.forEach((item, index) => {
    jobs.add(async () => {
      results[index] = await work(item);
    });
  });
  await jobs.idle();
  return results;
}
