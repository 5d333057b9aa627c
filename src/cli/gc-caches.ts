/**
 * The part of `gate gc` that looks after what the store keeps of databases only to be fast. No search needs any of it: each
 * has its own copy of the description that it began with, and vectors can be had again.
 *
 * 1. A description older than a day is never read again (`description-cache.ts`), so it goes whatever age is given.
 * 2. The vectors of a schema go when no question used them for the age that is given, or a day. Their object goes like any
 *    other that nothing refers to.
 */
import type { ObjectStore } from '../ports';
import { EMBEDDINGS } from '../record/vector-store';
import { DESCRIPTIONS, KEPT_MS } from '../workers/description-cache';
import { remove, type SweepOptions, type Swept } from './gc-sweep';

const LEAST_AGE_MS = 24 * 3_600_000;

export interface SweptCaches {
  readonly descriptions: Swept;
  readonly vectors: Swept;
}

export async function sweepCaches(
  store: ObjectStore,
  options: Omit<SweepOptions, 'graceMs' | 'without'> & { readonly olderThanMs: number },
): Promise<SweptCaches> {
  const { nowMs, dryRun, olderThanMs } = options;
  const [descriptions, vectors] = await Promise.all([store.entries(DESCRIPTIONS), store.entries(EMBEDDINGS)]);
  return {
    descriptions: await remove(store, descriptions, { nowMs, dryRun, graceMs: KEPT_MS }),
    vectors: await remove(store, vectors, { nowMs, dryRun, graceMs: Math.max(olderThanMs, LEAST_AGE_MS) }),
  };
}
