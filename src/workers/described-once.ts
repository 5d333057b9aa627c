/**
 * Shares one description of a database between callers within a few seconds: the check before a search, and the search's
 * first step. A search uses one description from beginning to end, because its first step stores it.
 */
import type { DatabaseDescription } from '../domain';
import type { SqlEngine } from '../ports';

const FRESH_MS = 5_000;

export function describedOnce<T extends { readonly engine: SqlEngine }>(
  opened: T,
  now: () => number = () => performance.now(),
): T {
  let last: { readonly description: DatabaseDescription; readonly atMs: number } | null = null;
  const { engine } = opened;
  return {
    ...opened,
    engine: {
      ...engine,
      async describe(options) {
        if (last !== null && now() - last.atMs < FRESH_MS) return last.description;
        const description = await engine.describe(options);
        last = { description, atMs: now() };
        return description;
      },
    },
  };
}
