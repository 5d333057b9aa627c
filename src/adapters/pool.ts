/** Connections, each used by one run at a time: opened on demand, kept for later runs, closed after an error. */

interface Pooled {
  isUp(): boolean;
  close(): Promise<void>;
}

export class Pool<T extends Pooled> {
  readonly #slots: Slots;
  readonly #idle: T[] = [];
  readonly #all = new Set<T>();
  readonly #closing = new Set<Promise<void>>();

  constructor(
    size: number,
    private readonly open: (signal: AbortSignal) => Promise<T>,
  ) {
    this.#slots = createSlots(size);
  }

  /** `drop`: the connection is closed afterwards, as it is after an error. */
  async use<R>(signal: AbortSignal, work: (connection: T, drop: () => void) => Promise<R>): Promise<R> {
    await this.#slots.take(signal);
    try {
      signal.throwIfAborted();
      return await this.#useOne(this.#kept() ?? (await this.#opened(signal)), work);
    } finally {
      this.#slots.give();
    }
  }

  /** Also closes those in use. */
  async close(): Promise<void> {
    for (const connection of this.#all) this.#discard(connection);
    await Promise.all(this.#closing);
  }

  async #useOne<R>(connection: T, work: (connection: T, drop: () => void) => Promise<R>): Promise<R> {
    const state = { isKept: true };
    const drop = (): void => void (state.isKept = false);
    try {
      return await work(connection, drop);
    } catch (error) {
      drop();
      throw error;
    } finally {
      if (state.isKept && this.#all.has(connection) && connection.isUp()) this.#idle.push(connection);
      else this.#discard(connection);
    }
  }

  async #opened(signal: AbortSignal): Promise<T> {
    const connection = await this.open(signal);
    this.#all.add(connection);
    return connection;
  }

  #kept(): T | undefined {
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (kept.isUp()) return kept;
      this.#discard(kept);
    }
    return undefined;
  }

  #discard(connection: T): void {
    if (!this.#all.delete(connection)) return;
    const closed = connection.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

export interface Slots {
  /** Rejects only with the signal's reason. */
  take(signal: AbortSignal): Promise<void>;
  /** Releases the place that `take` gave; the next waiting caller gets it. */
  give(): void;
}

/** A counting semaphore: callers wait in the order in which they came; an abort ends the wait. */
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
