/** Waiting that a signal ends. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined); // its only error is that the signal has ended it
}

/** A function, because the signal changes while a loop awaits. */
export const isOver = (signal: AbortSignal): boolean => signal.aborted;

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Aborts after so long, or when `leave` does. Not `AbortSignal.any` over `AbortSignal.timeout`: nobody holds such a pair, and what
 * waits half a minute for it may find it collected, and wait for ever.
 */
export function overAfter(ms: number, leave?: AbortSignal): AbortSignal {
  const over = new AbortController();
  const end = (): void => over.abort();
  setTimeout(end, ms).unref();
  if (leave?.aborted) end();
  else leave?.addEventListener('abort', end, { once: true, signal: over.signal });
  return over.signal;
}

/** Wakes all who wait, again and again. */
export class News {
  #wake: () => void = () => undefined;
  /** Taken before what it is about is read, so that none is missed. */
  next: Promise<void> = Promise.resolve();

  constructor() {
    this.tell();
  }

  tell(): void {
    this.#wake();
    this.next = new Promise((resolve) => (this.#wake = resolve));
  }
}

export async function untilLeft(news: Promise<void>, leave: AbortSignal): Promise<void> {
  const heard = new AbortController();
  await Promise.race([news, once(leave, 'abort', { signal: heard.signal }).catch(() => undefined)]);
  heard.abort();
}
