/** Connections, each used by one run at a time: opened on demand, kept for later runs, closed after an error. */
import { limiter, type Limiter } from '../limiter';

interface Pooled {
  isUp(): boolean;
  close(): Promise<void>;
}

export class Pool<T extends Pooled> {
  readonly #places: Limiter;
  readonly #idle: T[] = [];
  readonly #all = new Set<T>();
  readonly #closing = new Set<Promise<void>>();

  constructor(
    size: number,
    private readonly open: (signal: AbortSignal) => Promise<T>,
  ) {
    this.#places = limiter(size);
  }

  /** `drop`: the connection is closed afterwards, as it is after an error. */
  async use<R>(signal: AbortSignal, work: (connection: T, drop: () => void) => Promise<R>): Promise<R> {
    return this.#places.run(async () => this.#useOne(this.#kept() ?? (await this.#opened(signal)), work), signal);
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
