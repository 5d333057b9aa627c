/** Waiting for something to become true, by looking. Every wait has an end: a suite that hangs proves nothing. */
import { setTimeout as sleep } from 'node:timers/promises';

export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  options: { readonly everyMs?: number; readonly timeoutMs?: number } = {},
): Promise<void> {
  const { everyMs = 20, timeoutMs = 120_000 } = options;
  for (const deadline = Date.now() + timeoutMs; !(await isTrue());) {
    if (Date.now() > deadline) throw new TookTooLong(`${what}: not within ${String(timeoutMs / 1000)} s`);
    await sleep(everyMs);
  }
}
