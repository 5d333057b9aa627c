/**
 * Caches database descriptions in the store, by database and revision, because describing a large database takes seconds. The
 * cache serves later searches and other processes; a change of the database makes an entry invalid.
 *
 * 1. The revision is read each time by one cheap query (`SqlEngine.revision`). Without a revision nothing is cached.
 * 2. An entry is used for a day at most, because samples and row counts may change without a new revision.
 * 3. Only the newest revision of a database is kept. If the store cannot be read or written, the only cost is time.
 */
import { z } from 'zod';
import type { DatabaseDescription } from '../domain';
import { StoreError, type ObjectStore, type SqlEngine } from '../ports';
import type { Hash } from '../sql/body';
import { readEnvelope, writeEnvelope } from '../steps';

export const KEPT_MS = 24 * 3_600_000;
export const DESCRIPTIONS = 'schemas/';
const KIND = 'description';

/** The hash says that it is what was written, and the version what was written: ten thousand columns are not read twice. */
const Kept = z.object({
  schemaVersion: z.literal(1),
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

export function describedFromStore<T extends { readonly engine: SqlEngine }>(opened: T, cache: DescriptionCache): T {
  const { engine } = opened;
  if (engine.revision === undefined) return opened;
  const { nowMs = Date.now } = cache;
  let last: { readonly revision: string; readonly kept: Kept } | null = null;
  const isFresh = (kept: Kept): boolean => nowMs() - kept.describedAtMs < KEPT_MS;
  return {
    ...opened,
    engine: {
      ...engine,
      async describe(options) {
        const revision = (await engine.revision?.(options)) ?? '';
        if (last?.revision === revision && isFresh(last.kept)) return last.kept.description;
        const stored = await unlessStoreFails(() => read(cache, revision));
        if (stored !== null && isFresh(stored)) {
          last = { revision, kept: stored };
          return stored.description;
        }
        const kept: Kept = { schemaVersion: 1, describedAtMs: nowMs(), description: await engine.describe(options) };
        last = { revision, kept };
        await unlessStoreFails(() => write(cache, revision, kept));
        return kept.description;
      },
    },
  };
}

const folderOf = ({ database }: DescriptionCache): string => `${DESCRIPTIONS}${encodeURIComponent(database)}/`;
const keyOf = (cache: DescriptionCache, revision: string): string => `${folderOf(cache)}${revision}.json`;

async function read(cache: DescriptionCache, revision: string): Promise<Kept | null> {
  const key = keyOf(cache, revision);
  const text = await cache.store().get(key);
  return text === null ? null : readEnvelope(text, { key, kind: KIND, schema: Kept, hash: cache.hash });
}

async function write(cache: DescriptionCache, revision: string, kept: Kept): Promise<null> {
  const store = cache.store();
  const key = keyOf(cache, revision);
  await store.put(key, writeEnvelope(KIND, kept, cache.hash), { overwrite: true });
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
