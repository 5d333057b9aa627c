/** A pool of sessions, each used by one run at a time: opened on demand, kept for later runs, closed after an error. */
import type { Session } from './session';

export interface Pool {
  acquire(signal: AbortSignal): Promise<Session>;
  /** `drop`: the session is closed instead of kept. */
  release(session: Session, drop: boolean): void;
  close(): Promise<void>;
}

export function createPool(size: number, open: (signal: AbortSignal) => Promise<Session>): Pool {
  const idle: Session[] = [];
  const closing = new Set<Promise<void>>();
  const waiting: (() => void)[] = [];
  let count = 0;

  const discard = (session: Session): void => {
    count -= 1;
    const closed = session.close().finally(() => closing.delete(closed));
    closing.add(closed);
  };

  const released = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal.reason as Error);
      };
      const go = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.push(go);
    });

  return {
    async acquire(signal) {
      signal.throwIfAborted();
      for (;;) {
        const kept = idle.pop();
        if (kept?.isUp()) return kept;
        if (kept !== undefined) discard(kept);
        else if (count < size) break;
        else await released(signal);
      }
      // Counted without an await after the check, because several callers may acquire at the same time.
      count += 1;
      try {
        return await open(signal);
      } catch (error) {
        count -= 1;
        waiting.shift()?.();
        throw error;
      }
    },
    release(session, drop) {
      if (drop || !session.isUp()) discard(session);
      else idle.push(session);
      waiting.shift()?.();
    },
    async close() {
      for (const session of idle.splice(0)) discard(session);
      await Promise.all(closing);
    },
  };
}
