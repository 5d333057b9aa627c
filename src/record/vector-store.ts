/**
 * Vectors of tables in the store: `embeddings/<database>/<model>/<fingerprint>.json` refers to one object with the vectors
 * (32 bits, base64) and, for each, the hash of its text.
 *
 * 1. A vector belongs to a text. After a schema change, unchanged tables keep their vectors. A changed comment gives a new
 *    vector, although the fingerprint, which ignores comments, stays the same.
 * 2. It is a cache: an entry that is damaged or has no object counts as missing. An unreachable store is an error, as
 *    everywhere.
 * 3. An entry in use is written again once a day, so that its age for `gate gc` is the time since its last use.
 */
import { z } from 'zod';
import type { ObjectStore } from '../ports';
import type { Hash } from '../sql/body';
import { objectKey, ObjectReference } from './objects';

export const EMBEDDINGS = 'embeddings/';
const KIND = 'embeddings';

export interface KeptVectors {
  /** Numbers of one vector. */
  readonly length: number;
  /** The start of each vector in `numbers`, by the hash of its text. */
  readonly at: ReadonlyMap<string, number>;
  readonly numbers: Float32Array;
  readonly usedAtMs: number;
}

export interface VectorPlace {
  readonly store: ObjectStore;
  readonly hash: Hash;
  /** As `databaseKey` gives it. */
  readonly database: string;
  readonly model: string;
  readonly fingerprint: string;
}

const Entry = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal(KIND),
  sha256: z.string(),
  object: ObjectReference,
  usedAtMs: z.number(),
});
const Content = z.object({
  schemaVersion: z.literal(1),
  length: z.number().int().positive(),
  texts: z.array(z.string()),
  /** Base64; its hash has been checked, so its eight million characters are not. */
  numbers: z.string(),
});

export function folderOf({ database, model }: Pick<VectorPlace, 'database' | 'model'>): string {
  return `${EMBEDDINGS}${encodeURIComponent(database)}/${encodeURIComponent(model)}/`;
}

/** The entry of this schema, else the newest one of the same database and model. Equal texts have equal vectors anyway. */
export async function readVectors(place: VectorPlace): Promise<KeptVectors | null> {
  const own = await readEntry(place, keyOf(place));
  if (own !== null) return own;
  const others = await place.store.entries(folderOf(place));
  const [youngest] = [...others].sort((a, b) => b.modifiedMs - a.modifiedMs);
  return youngest === undefined ? null : readEntry(place, youngest.key);
}

export async function writeVectors(place: VectorPlace, { length, at, numbers, usedAtMs }: KeptVectors): Promise<void> {
  const { store, hash } = place;
  const texts = [...at.keys()];
  const content: z.infer<typeof Content> = { schemaVersion: 1, length, texts, numbers: toBase64(numbers) };
  const text = JSON.stringify(content);
  const name = (store.nameOf ?? hash)(text);
  // Written before anything refers to it, which also resets its age (`objects.ts`, rules 1 and 2).
  await store.put(objectKey(name), text, { overwrite: true });
  const object = { name, bytes: Buffer.byteLength(text) };
  const entry = { schemaVersion: 1, kind: KIND, sha256: hash(text), object, usedAtMs } as const;
  await store.put(keyOf(place), JSON.stringify(entry satisfies z.infer<typeof Entry>), { overwrite: true });
}

function keyOf(place: VectorPlace): string {
  return `${folderOf(place)}${place.fingerprint}.json`;
}

/** The object that an entry refers to, for `gate gc`; null if it is not an entry. */
export function vectorsReference(text: string | null): ObjectReference | null {
  return Entry.safeParse(parsed(text)).data?.object ?? null;
}

async function readEntry({ store, hash }: VectorPlace, key: string): Promise<KeptVectors | null> {
  const entry = Entry.safeParse(parsed(await store.get(key)));
  if (!entry.success) return null;
  const text = await store.get(objectKey(entry.data.object.name));
  if (text === null || hash(text) !== entry.data.sha256) return null;
  const content = Content.safeParse(parsed(text));
  if (!content.success) return null;
  const { length, texts, numbers } = content.data;
  const floats = fromBase64(numbers);
  if (floats.length !== texts.length * length) return null;
  const at = new Map(texts.map((hashed, index) => [hashed, index * length]));
  return { length, at, numbers: floats, usedAtMs: entry.data.usedAtMs };
}

function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null; // Damaged: the schema that reads it finds no entry.
  }
}

export function toBase64(numbers: Float32Array): string {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString('base64');
}

export function fromBase64(text: string): Float32Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64');
  // Copied, because a small buffer may not be aligned for floats.
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}
