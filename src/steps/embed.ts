/** A request to the embedding model with a few short retries: a ranking is worth seconds of waiting, not a long outage. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelError, type Embedded, type Embedder, type ModelErrorCode } from '../ports';

const AGAIN_AFTER_MS = [500, 2_000];
/** If the endpoint asks for a longer wait, the request fails. */
const LONGEST_WAIT_MS = 10_000;
const PASSING: ReadonlySet<ModelErrorCode> = new Set(['rate-limited', 'server-error', 'connection']);
const MAY_BE_BILLED: ReadonlySet<ModelErrorCode> = new Set(['connection', 'timeout', 'server-error']);

/** Whether a failed request may have been billed, as for model calls: after a lost reply that is unknown. */
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
