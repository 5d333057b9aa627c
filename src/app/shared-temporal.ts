/** One connection to Temporal for all looks of a long-lived process; where it breaks, the next look opens another one. */
import { loadConfig } from '../config';
import type { App } from './app';
import { openRunning } from './open-temporal';
import type { TemporalSession } from './temporal-session';

const AGAIN_MS = 500;

export class SharedTemporal {
  #session: Promise<TemporalSession | null> | null = null;
  #triedMs = -Infinity;

  constructor(private readonly app: App) {}

  /** Null: no Temporal answers. */
  async asking<T>(work: (session: TemporalSession) => Promise<T>): Promise<T | null> {
    const session = await this.#open();
    if (session === null) return null;
    try {
      return await work(session);
    } catch {
      // It has gone, or is another one now.
      this.#session = null;
      await session.close().catch(() => undefined);
      return null;
    }
  }

  async #open(): Promise<TemporalSession | null> {
    const found = await this.#session;
    if (found) return found;
    const nowMs = this.app.now();
    if (nowMs - this.#triedMs < AGAIN_MS) return null;
    this.#triedMs = nowMs;
    this.#session = openRunning(loadConfig(this.app), this.app.env).catch(() => null);
    return this.#session;
  }

  async close(): Promise<void> {
    const session = await this.#session;
    this.#session = null;
    await session?.close();
  }
}
