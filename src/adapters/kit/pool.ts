/** Connections, each used by one run at a time: opened on demand, kept for later runs, closed after an error or when idle. */
import { limiter, type Limiter } from '../../limiter';

interface Pooled {
  isUp(): boolean;
  close(): Promise<void>;
}

const IDLE_MS = 60_000;

export class Pool<T extends Pooled> {
  readonly #places: Limiter;
  readonly #idle: { readonly connection: T; readonly timer: NodeJS.Timeout }[] = [];
  readonly #all = new Set<T>();
  readonly #closing = new Set<Promise<void>>();

  constructor(
    size: number,
    private readonly open: (signal: AbortSignal) => Promise<T>,
  ) {
    this.#places = limiter(size);
  }

  /** `isFresh`: on a new connection; idle ones are closed, since they may be as broken as the one before. */
  use<R>(signal: AbortSignal, work: (connection: T) => Promise<R>, isFresh = false): Promise<R> {
    return this.#places.run(async () => {
      const connection = this.#kept(isFresh) ?? (await this.open(signal));
      this.#all.add(connection);
      let isKept = false;
      try {
        const result = await work(connection);
        isKept = this.#all.has(connection) && connection.isUp();
        return result;
      } finally {
        if (isKept) this.#keep(connection);
        else this.#discard(connection);
      }
    }, signal);
  }

  /** Also closes those in use. */
  async close(): Promise<void> {
    for (const connection of this.#all) this.#discard(connection);
    await Promise.all(this.#closing);
  }

  #keep(connection: T): void {
    this.#idle.push({ connection, timer: setTimeout(() => this.#discard(connection), IDLE_MS).unref() });
  }

  #kept(isFresh: boolean): T | undefined {
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      clearTimeout(kept.timer);
      if (!isFresh && this.#all.has(kept.connection) && kept.connection.isUp()) return kept.connection;
      this.#discard(kept.connection);
    }
    return undefined;
  }

  #discard(connection: T): void {
    if (!this.#all.delete(connection)) return;
    const closed = connection.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}
