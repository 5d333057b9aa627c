/**
 * Follows a running question until it ends: live progress, outages that are being retried, and interrupts. The first
 * interrupt asks the search to end with its best answer so far (design D6); the second leaves it where it is.
 */
import { awaitQuestion, type Ended } from '../workers/client';
import type { AnswerSummary } from '../ports/search-steps';
import { CommandFailed, EXIT } from './errors';
import type { Io } from './io';
import { outagesOf } from './outages';
import { progressDisplay, type ProgressDisplay } from './progress';
import { isOver, pause } from './pause';
import type { TemporalSession } from './temporal-session';

const POLL_MS = 400;
const OUTAGES_EVERY = 10;

export async function followSearch(
  session: TemporalSession,
  searchId: string,
  io: Io,
  options: { readonly cancelOnInterrupt: boolean },
): Promise<Ended<AnswerSummary>> {
  const display = progressDisplay(io);
  const ending = new AbortController();
  const interrupted = new Promise<never>((_, reject) => {
    let interrupts = 0;
    const stopListening = io.onInterrupt(() => {
      interrupts += 1;
      if (interrupts > 1 || !options.cancelOnInterrupt) {
        const line = `stopped waiting; gate status ${searchId} shows where it stands`;
        reject(new CommandFailed(line, EXIT.cancelled));
        return;
      }
      display.note('ending with the best answer so far; interrupt again to quit at once');
      session.cancel(searchId).catch(reject);
    });
    ending.signal.addEventListener('abort', stopListening, { once: true });
  });
  const watching = watch(session, searchId, display, ending.signal);
  try {
    return await Promise.race([awaitQuestion(session.gate, searchId), interrupted, watching]);
  } finally {
    ending.abort();
    display.stop();
    // Its only error is the one that the race has thrown already.
    await watching.catch(() => undefined);
  }
}

/** Never resolves on its own while the search runs; rejects when Temporal is gone. */
async function watch(
  session: TemporalSession,
  searchId: string,
  display: ProgressDisplay,
  end: AbortSignal,
): Promise<never> {
  for (let round = 1; !end.aborted; round += 1) {
    await pause(POLL_MS, end);
    if (isOver(end)) break;
    const progress = await session.progress(searchId);
    if (progress !== null && !isOver(end)) display.show(progress);
    if (round % OUTAGES_EVERY !== 0) continue;
    const live = await session.describe(searchId);
    if (live !== null && !isOver(end)) display.retried(outagesOf(live, Date.now())[0] ?? null);
  }
  return new Promise<never>((_, reject) => reject(new Error('no longer watched')));
}
