/** One connection to Temporal for all looks of a long-lived process; where it breaks, the next look opens another one. */
import { loadConfig } from '../config';
import type { App } from './app';
import { openRunning } from './open-temporal';
import type { TemporalSession } from './temporal-session';

/** After none answered. */
const AGAIN_MS = 500;

export class SharedTemporal {
  /** Open, or being opened. */
  #session: Promise<TemporalSession | null> | null = null;
  #noneMs = -Infinity;

  constructor(private readonly app: App) {}

  /** Null: no Temporal answers. */
  async asking<T>(work: (session: TemporalSession) => Promise<T>): Promise<T | null> {
    // A session that has gone shows it by an error: once more with another one.
    for (let tries = 0; tries < 2; tries += 1) {
      const opened = this.#open();
      const session = await opened;
      if (session === null) return null;
      try {
        return await work(session);
      } catch {
        if (this.#session === opened) this.#session = null;
        await session.close().catch(() => undefined);
      }
    }
    return null;
  }

  /** One for all who ask meanwhile. */
  #open(): Promise<TemporalSession | null> {
    if (this.app.now() - this.#noneMs < AGAIN_MS) return Promise.resolve(null);
    this.#session ??= this.#opened();
    return this.#session;
  }

  async #opened(): Promise<TemporalSession | null> {
    const session = await openRunning(loadConfig(this.app), this.app.env).catch(() => null);
    if (session !== null) return session;
    this.#session = null;
    this.#noneMs = this.app.now();
    return null;
  }

  async close(): Promise<void> {
    const session = await this.#session;
    this.#session = null;
    await session?.close();
  }
}
