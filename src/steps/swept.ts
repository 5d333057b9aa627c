/**
 * Taking unneeded contents out of a store that looks at an object's age and deletes it in two requests, as a bucket does.
 * Whoever writes the object anew in between would lose it: its text is the same, so that no condition of S3 tells the new
 * one from the old one on every server. So the text is laid aside first, and whoever misses the object brings it back.
 *
 * 1. `swept/<key>` is written before the object is deleted. It goes in a later sweep, when it is older than the grace
 *    period and still nothing refers to its content (`gc-sweep.ts`); by then whoever wrote the object anew refers to it.
 * 2. A store that looks and deletes in one step needs none of this and frees the space at once.
 */
import { StoreError, type ObjectStore } from '../ports';

export const SWEPT = 'swept/';

export async function sweepAway(store: ObjectStore, key: string, unmodifiedSinceMs: number): Promise<void> {
  if (store.deletesInTwoRequests === true) {
    const text = await readable(store, key);
    if (text !== null) await store.put(`${SWEPT}${key}`, text, { overwrite: true });
  }
  await store.delete(key, { unmodifiedSinceMs });
}

/** The text of a missing object, which is then there again; null when it is really gone. */
export async function broughtBack(store: ObjectStore, key: string): Promise<string | null> {
  if (store.deletesInTwoRequests !== true) return null;
  const text = await store.get(`${SWEPT}${key}`);
  // Also where a sweep has just brought it back and taken the copy away.
  if (text === null) return store.get(key);
  await store.put(key, text, { overwrite: true });
  return text;
}

/** Null for what nobody can use: damaged, or of a key that is gone. */
async function readable(store: ObjectStore, key: string): Promise<string | null> {
  try {
    return await store.get(key);
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'corrupt' || error.code === 'wrong-key')) return null;
    throw error;
  }
}
