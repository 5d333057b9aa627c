/**
 * Large contents, stored by their hash: once as `objects/sha256/<hh>/<name>`, however many searches refer to them. So a
 * thousand questions about one database share its schema.
 *
 * 1. An object never changes. It is written before anything refers to it, and its text is checked by hash when it is read.
 * 2. Before a step refers to an object, it writes the object again, unless this process did so recently. That resets its
 *    age, and `gate ops gc` keeps young objects (`REWRITE_AFTER_MS` is far below its grace period).
 */
import { BoundedMap } from '../bounded-map';
import { StoreError, type ObjectStore } from '../domain/ports';
import { sha256 } from '../sha256';
import { perStore } from './per-store';

export const OBJECTS = 'objects/sha256/';
/** In characters of JSON. Smaller contents are stored in their envelope, not as objects of their own. */
export const INLINE_LIMIT = 8 * 1024;
export const REWRITE_AFTER_MS = 10 * 60_000;

export interface ObjectReference {
  readonly name: string;
  readonly bytes: number;
}

export function objectKey(name: string): string {
  return `${OBJECTS}${name.slice(0, 2)}/${name}`;
}

/** The name of an object from its key; null for any other key. */
export function objectName(key: string): string | null {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return name !== '' && objectKey(name) === key ? name : null;
}

/** When this process wrote an object, by name. */
const writtenTo = perStore(() => new BoundedMap<number>(10_000));

export async function putObject(store: ObjectStore, text: string, hash: string): Promise<ObjectReference> {
  const name = store.nameOf?.(text) ?? hash;
  const writtenMs = writtenTo(store);
  // By the clock that goes on while a machine sleeps.
  const startedMs = Date.now();
  const agoMs = startedMs - (writtenMs.get(name) ?? -Infinity);
  if (agoMs < 0 || agoMs > REWRITE_AFTER_MS) {
    await store.put(objectKey(name), text, { overwrite: true });
    writtenMs.set(name, startedMs, 1);
  }
  return { name, bytes: Buffer.byteLength(text) };
}

/** The text of an object with this hash. */
export async function readObject(
  store: ObjectStore,
  { name }: ObjectReference,
  { hash, neededBy }: { readonly hash: string; readonly neededBy: string },
): Promise<string> {
  const place = objectKey(name);
  const text = await store.get(place);
  if (text !== null && sha256(text) === hash) return text;
  writtenTo(store).delete(name);
  if (text === null)
    throw new StoreError(
      'missing',
      `${place} is missing from the store (${neededBy} needs it): restore it, or ask with --fresh`,
    );
  throw new StoreError(
    'corrupt',
    `${place} is damaged (its hash does not match; ${neededBy} needs it): restore it, or delete it and ask with --fresh`,
  );
}
