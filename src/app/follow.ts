/** Follows a running search until it ends: what it does, and which steps are being retried. */
import type { AnswerSummary } from '../domain/ports/step-parts';
import { awaitQuestion, type Ended } from '../workers/client';
import type { App, Patience } from './app';
import { GateError } from './errors';
import { outagesOf } from './outages';
import type { TemporalSession } from './temporal-session';
import { isOver, pause } from './waiting';

const POLL_MS = 400;
const OUTAGES_EVERY = 10;

export async function followSearch(
  session: TemporalSession,
  searchId: string,
  app: Pick<App, 'onEvent' | 'now'>,
  { stop, leave }: Patience,
): Promise<Ended<AnswerSummary>> {
  const ended = new AbortController();
  const listening = { once: true, signal: ended.signal };
  const left = new Promise<never>((_, reject) => {
    const onStop = (): void => {
      void app.onEvent({ kind: 'stopping' });
      session.cancel(searchId).catch(reject);
    };
    const onLeave = (): void =>
      reject(new GateError(`stopped waiting; gate show ${searchId} shows where it stands`, 'cancelled'));
    if (stop?.aborted) onStop();
    if (leave?.aborted) onLeave();
    stop?.addEventListener('abort', onStop, listening);
    leave?.addEventListener('abort', onLeave, listening);
  });
  const watching = watch(session, searchId, app, ended.signal);
  try {
    return await Promise.race([awaitQuestion(session.gate, searchId), left, watching]);
  } finally {
    ended.abort();
    // Its only error is the one that the race has thrown already.
    await watching.catch(() => undefined);
  }
}

/** Never resolves on its own while the search runs; rejects when Temporal is gone. */
async function watch(
  session: TemporalSession,
  searchId: string,
  app: Pick<App, 'onEvent' | 'now'>,
  end: AbortSignal,
): Promise<never> {
  for (let round = 1; !end.aborted; round += 1) {
    await pause(POLL_MS, end);
    if (isOver(end)) break;
    const progress = await session.progress(searchId);
    if (progress !== null && !isOver(end)) void app.onEvent({ kind: 'progress', progress });
    if (round % OUTAGES_EVERY !== 0) continue;
    const live = await session.describe(searchId);
    if (live !== null && !isOver(end))
      void app.onEvent({ kind: 'retrying', outage: outagesOf(live, app.now())[0] ?? null });
  }
  return new Promise<never>((_, reject) => reject(new Error('no longer watched')));
}
