/** One request to the embedding model, tried again a little: a ranking is worth seconds, and not the hour of an outage. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelError, type Embedded, type Embedder, type ModelErrorCode } from '../ports';

const AGAIN_AFTER_MS = [500, 2_000];
/** Who asks for more is not waited for. */
const LONGEST_WAIT_MS = 10_000;
const PASSING: ReadonlySet<ModelErrorCode> = new Set(['rate-limited', 'server-error', 'connection']);
const MAY_BE_BILLED: ReadonlySet<ModelErrorCode> = new Set(['connection', 'timeout', 'server-error']);

/** As for model calls: a lost reply says nothing about the bill. */
export function mayBeBilled({ code }: ModelError): boolean {
  return MAY_BE_BILLED.has(code);
}

export async function embedded(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
  againAfterMs: readonly number[] = AGAIN_AFTER_MS,
): Promise<Embedded> {
  for (const pauseMs of againAfterMs) {
    try {
      return await embedder.embed(texts, { signal });
    } catch (error) {
      const wait = error instanceof ModelError ? (error.options.retryAfterMs ?? pauseMs) : pauseMs;
      if (!(error instanceof ModelError) || !PASSING.has(error.code) || wait > LONGEST_WAIT_MS) throw error;
      await sleep(wait, undefined, { signal });
    }
  }
  return embedder.embed(texts, { signal });
}
