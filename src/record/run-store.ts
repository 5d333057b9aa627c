/**
 * Typed contents of one search over the object store.
 *
 * 1. An envelope has a hash of its data, which is checked on every read: a damaged object is always an error.
 * 2. Ids are structural, so a repeated step writes the same keys again; readers never see half an object (`put`).
 * 3. Large contents are stored once for all searches (`objects.ts`): the readable key then holds a reference.
 * 4. Contents are parsed once per process (`content-cache.ts`), because every step loads much of what earlier steps wrote.
 */
import { z } from 'zod';
import type { SearchInput } from '../domain';
import { StoreError, type ObjectStore } from '../domain/ports';
import type { Hash } from '../sql/body';
import { CONTENTS, type Contents, type Kind } from './contents';
import { cachedObject, putCached, readCached } from './content-cache';
import { INLINE_LIMIT, ObjectReference, putObject, readObject } from './objects';

/** Where `gate-bench` keeps what judges said. */
export const JUDGEMENTS = 'judgements/';

export interface RunStore {
  readonly searchId: string;
  /** Of another search. */
  of(searchId: string): RunStore;
  get<K extends Kind>(kind: K, id: string): Promise<Contents[K]>;
  find<K extends Kind>(kind: K, id: string): Promise<Contents[K] | null>;
  /** Replaces an existing content by default. With `overwrite: false`, a different content is a conflict. */
  put<K extends Kind>(kind: K, id: string, data: Contents[K], options?: { readonly overwrite: boolean }): Promise<void>;
  delete(kind: 'reply', id: string): Promise<void>;
}

const Envelope = z.object({
  kind: z.string(),
  /** Hash of the data's JSON, in the envelope or in an object of its own. */
  sha256: z.string(),
  data: z.unknown().optional(),
  object: ObjectReference.optional(),
});
type Envelope = z.infer<typeof Envelope>;

/** Kinds that many searches may share or that are read often. The journal and checkpoints belong to one search. */
const SHARED: ReadonlySet<Kind> = new Set(['input', 'schema', 'profile', 'observation', 'candidate', 'result']);

/** `folder`: of contents that belong to no search. */
export function createRunStore(
  store: ObjectStore,
  searchId: string,
  hash: Hash,
  folder = `runs/${searchId}`,
): RunStore {
  const keyOf = (kind: Kind, id: string): string => `${folder}/${kind}/${id}.json`;
  async function find<K extends Kind>(kind: K, id: string): Promise<Contents[K] | null> {
    const key = keyOf(kind, id);
    return readCached(store, kind, key, (text) => {
      const reading = { key, kind, schema: CONTENTS[kind], hash };
      return readContent(store, text, reading) as Promise<Contents[K]>;
    });
  }
  return {
    searchId,
    of: (other) => createRunStore(store, other, hash),
    find,
    async get(kind, id) {
      const found = await find(kind, id);
      if (found !== null) return found;
      throw new StoreError('missing', `${keyOf(kind, id)} is missing from the store: restore it, or ask with --fresh`);
    },
    put: async (kind, id, data, options = { overwrite: true }) =>
      putCached(store, kind, keyOf(kind, id), await writeContent(store, kind, data, hash), options),
    delete: (kind, id) => store.delete(keyOf(kind, id)),
  };
}

/** Stores the input of a search, which every step loads first. */
export async function storeInput(
  { store, hash }: { readonly store: ObjectStore; readonly hash: Hash },
  input: SearchInput,
): Promise<void> {
  await createRunStore(store, input.searchId, hash).put('input', input.searchId, input);
}

/** Uses the same JSON for the hash and the envelope, because states and prompts are long. */
export function writeEnvelope(kind: string, data: unknown, hash: Hash, json = JSON.stringify(data)): string {
  const head = JSON.stringify({ kind, sha256: hash(json) });
  return `${head.slice(0, -1)},"data":${json}}`;
}

interface Reading<S extends z.ZodType = z.ZodType> {
  readonly key: string;
  readonly kind: string;
  readonly schema: S;
  readonly hash: Hash;
}

/** Reads an envelope whose data is never large enough for an object of its own. */
export function readEnvelope<S extends z.ZodType>(text: string, reading: Reading<S>): z.infer<S> {
  return readInline(openEnvelope(text, reading), reading);
}

/** An object of its own beside the contents of searches; null if it is not stored. */
export async function readStored<S extends z.ZodType>(
  store: ObjectStore,
  reading: Reading<S>,
): Promise<z.infer<S> | null> {
  const text = await store.get(reading.key);
  return text === null ? null : readEnvelope(text, reading);
}

/** Replaces what stands there. */
export async function writeStored(
  store: ObjectStore,
  { key, kind, hash }: Omit<Reading, 'schema'>,
  data: unknown,
): Promise<void> {
  await store.put(key, writeEnvelope(kind, data, hash), { overwrite: true });
}

/** The object that a stored content refers to, if any. */
export function referenceIn(text: string, key: string): ObjectReference | null {
  const envelope = Envelope.safeParse(parseJson(text, key));
  return envelope.data?.object ?? null;
}

async function writeContent(store: ObjectStore, kind: Kind, data: unknown, hash: Hash): Promise<string> {
  const json = JSON.stringify(data);
  if (json.length < INLINE_LIMIT || !SHARED.has(kind)) return writeEnvelope(kind, data, hash, json);
  const object = await putObject(store, json, hash);
  return JSON.stringify({ kind, sha256: hash(json), object } satisfies Envelope);
}

async function readContent(store: ObjectStore, text: string, reading: Reading): Promise<unknown> {
  const envelope = openEnvelope(text, reading);
  const { object, sha256 } = envelope;
  if (object === undefined) return readInline(envelope, reading);
  return cachedObject(store, `${reading.kind} ${sha256}`, async () => {
    const json = await readObject(store, object, { sha256, neededBy: reading.key, hash: reading.hash });
    return { content: parseData(JSON.parse(json), reading), chars: json.length };
  });
}

function openEnvelope(text: string, { key, kind }: Reading): Envelope {
  const envelope = Envelope.safeParse(parseJson(text, key));
  if (!envelope.success || envelope.data.kind !== kind) throw corrupt(key, `it is no ${kind}`);
  return envelope.data;
}

function readInline<S extends z.ZodType>({ data, sha256 }: Envelope, reading: Reading<S>): z.infer<S> {
  if (data === undefined || reading.hash(JSON.stringify(data)) !== sha256)
    throw corrupt(reading.key, 'its hash does not match');
  return parseData(data, reading);
}

function parseData<S extends z.ZodType>(data: unknown, { schema, key }: Reading<S>): z.infer<S> {
  const parsed = schema.safeParse(data);
  if (!parsed.success) throw corrupt(key, z.prettifyError(parsed.error).split('\n').slice(0, 2).join(' '));
  return parsed.data;
}

function parseJson(text: string, key: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw corrupt(key, 'it is no JSON');
  }
}

function corrupt(key: string, why: string): StoreError {
  return new StoreError('corrupt', `${key} is damaged (${why}): restore it, or delete it and ask with --fresh`);
}
