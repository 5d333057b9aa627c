/** Waiting that a signal ends. */
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
