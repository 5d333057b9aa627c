/**
 * Caches database descriptions, by database and revision, because describing a large database takes seconds. The cache is in
 * the store, so it serves later searches and other processes; a change of the database makes an entry invalid.
 *
 * 1. Callers within a few seconds share one description: the check before a search, and the search's first step. A search
 *    uses one description from beginning to end, because its first step stores it.
 * 2. After that the revision is read by one cheap query (`SqlEngine.revision`). Without a revision nothing is cached longer.
 * 3. An entry is used for a day at most, because samples and row counts may change without a new revision.
 * 4. Only the newest revision of a database is kept. If the store cannot be read or written, the only cost is time.
 */
import { z } from 'zod';
import type { DatabaseDescription } from '../domain';
import { StoreError, type ObjectStore, type SqlEngine } from '../ports';
import type { Hash } from '../sql/body';
import { readStored, writeStored } from '../record/run-store';

const SHARED_MS = 5_000;
export const KEPT_MS = 24 * 3_600_000;
export const DESCRIPTIONS = 'schemas/';
const KIND = 'description';

/** The hash says that it is what was written, and the version what was written: ten thousand columns are not read twice. */
const Kept = z.object({
  describedAtMs: z.number(),
  description: z.custom<DatabaseDescription>((value) => typeof value === 'object' && value !== null),
});
type Kept = z.infer<typeof Kept>;

export interface DescriptionCache {
  /** As `identityKey` gives it: the database itself, and not what it stands for. */
  readonly database: string;
  readonly store: () => ObjectStore;
  readonly hash: Hash;
  readonly nowMs?: () => number;
}

export function withDescriptionCache<T extends { readonly engine: SqlEngine }>(opened: T, cache: DescriptionCache): T {
  const { engine } = opened;
  const { nowMs = Date.now } = cache;
  let last: { readonly revision: string | null; readonly kept: Kept; readonly checkedAtMs: number } | null = null;
  const isFresh = (kept: Kept): boolean => nowMs() - kept.describedAtMs < KEPT_MS;
  async function current(options: Parameters<SqlEngine['describe']>[0]): Promise<Kept> {
    const revision = (await engine.revision?.(options)) ?? null;
    const known = revision !== null && last?.revision === revision ? last.kept : null;
    const stored = known ?? (revision === null ? null : await unlessStoreFails(() => read(cache, revision)));
    if (stored !== null && isFresh(stored)) return remember(stored, revision);
    const kept: Kept = { describedAtMs: nowMs(), description: await engine.describe(options) };
    if (revision !== null) await unlessStoreFails(() => write(cache, revision, kept));
    return remember(kept, revision);
  }
  function remember(kept: Kept, revision: string | null): Kept {
    last = { revision, kept, checkedAtMs: nowMs() };
    return kept;
  }
  return {
    ...opened,
    engine: {
      ...engine,
      async describe(options) {
        if (last !== null && nowMs() - last.checkedAtMs < SHARED_MS) return last.kept.description;
        return (await current(options)).description;
      },
    },
  };
}

const folderOf = ({ database }: DescriptionCache): string => `${DESCRIPTIONS}${encodeURIComponent(database)}/`;
const keyOf = (cache: DescriptionCache, revision: string): string => `${folderOf(cache)}${revision}.json`;

function read(cache: DescriptionCache, revision: string): Promise<Kept | null> {
  return readStored(cache.store(), { key: keyOf(cache, revision), kind: KIND, schema: Kept, hash: cache.hash });
}

async function write(cache: DescriptionCache, revision: string, kept: Kept): Promise<null> {
  const store = cache.store();
  const key = keyOf(cache, revision);
  await writeStored(store, { key, kind: KIND, hash: cache.hash }, kept);
  const older = (await store.list(folderOf(cache))).filter((other) => other !== key);
  await Promise.all(older.map((other) => store.delete(other)));
  return null;
}

async function unlessStoreFails<T>(use: () => Promise<T | null>): Promise<T | null> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof StoreError) return null;
    throw error;
  }
}
