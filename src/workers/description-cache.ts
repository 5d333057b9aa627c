/**
 * A database's description, made once for each revision in a process, because describing a large database takes seconds.
 *
 * 1. Callers within a few seconds share one description: the check before a search, and the search's first step. A search
 *    uses one description from beginning to end, because its first step stores it.
 * 2. After that the revision is read by one cheap query (`SqlEngine.revision`). Without a revision nothing is kept longer.
 * 3. A description is used for a day at most, because samples and row counts may change without a new revision.
 */
import type { DatabaseDescription } from '../domain';
import type { SqlEngine } from '../domain/ports';

const SHARED_MS = 5_000;
const KEPT_MS = 24 * 3_600_000;

interface Kept {
  readonly revision: string | null;
  readonly description: DatabaseDescription;
  readonly describedAtMs: number;
}

export function withDescriptionCache(engine: SqlEngine, nowMs: () => number = Date.now): SqlEngine {
  let last: Kept | null = null;
  let checkedAtMs = -Infinity;
  return {
    ...engine,
    async describe(options) {
      if (last !== null && nowMs() - checkedAtMs < SHARED_MS) return last.description;
      const revision = (await engine.revision?.(options)) ?? null;
      const isKept = revision !== null && last?.revision === revision && nowMs() - last.describedAtMs < KEPT_MS;
      if (last === null || !isKept)
        last = { revision, description: await engine.describe(options), describedAtMs: nowMs() };
      checkedAtMs = nowMs();
      return last.description;
    },
  };
}
