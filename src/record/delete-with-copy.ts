/**
 * Deletes unneeded contents from a store, such as a bucket, that needs one request to read an object's age and another to
 * delete it. A process that writes the object again in between would lose it, and no condition of S3 detects that on every
 * server, because the text is the same. So a copy is kept first, and a process that misses the object restores it.
 *
 * 1. `swept/<key>` is written before the object is deleted. A later sweep deletes the copy if it is older than the grace
 *    period and still nothing refers to its content (`gc-sweep.ts`). By then a process that wrote the object again also
 *    refers to it.
 * 2. A store that checks and deletes in one step needs no copy and frees the space at once.
 */
import { StoreError, type ObjectStore } from '../ports';

export const COPIES = 'swept/';

export async function deleteWithCopy(store: ObjectStore, key: string, unmodifiedSinceMs: number): Promise<void> {
  if (store.deletesInTwoRequests === true) {
    const text = await readable(store, key);
    if (text !== null) await store.put(`${COPIES}${key}`, text, { overwrite: true });
  }
  await store.delete(key, { unmodifiedSinceMs });
}

/** Restores a missing object from its copy and returns its text; null if there is no copy. */
export async function restored(store: ObjectStore, key: string): Promise<string | null> {
  if (store.deletesInTwoRequests !== true) return null;
  const text = await store.get(`${COPIES}${key}`);
  // A sweep may just have restored the object and deleted the copy.
  if (text === null) return store.get(key);
  await store.put(key, text, { overwrite: true });
  return text;
}

/** The text; null if it is damaged or its encryption key is missing. */
async function readable(store: ObjectStore, key: string): Promise<string | null> {
  try {
    return await store.get(key);
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'corrupt' || error.code === 'wrong-key')) return null;
    throw error;
  }
}
