/** One stored text: data with its kind and the hash of its JSON, which is checked on every read. */
import * as z from 'zod';
import { StoreError, type ObjectStore } from '../domain/ports';
import { sha256 } from '../sha256';

const HEAD = /^\{"kind":"([^"]+)","sha256":"([^"]+)","data":/;

interface Reading<S extends z.ZodType = z.ZodType> {
  readonly key: string;
  readonly kind: string;
  readonly schema: S;
}

export function writeEnvelope(kind: string, data: unknown): string {
  return envelopeOf(kind, JSON.stringify(data));
}

/** `json`: of the data. */
export function envelopeOf(kind: string, json: string): string {
  return `{"kind":"${kind}","sha256":"${sha256(json)}","data":${json}}`;
}

/** Data whose shape the hash vouches for: this program wrote it, in a store of this format. */
export function openEnvelope(text: string, { key, kind }: Omit<Reading, 'schema'>): unknown {
  const [head = '', foundKind, hash] = HEAD.exec(text) ?? [];
  if (foundKind !== kind) throw corrupt(key, `it is no ${kind}`);
  const json = text.slice(head.length, -1);
  if (sha256(json) !== hash) throw corrupt(key, 'its hash does not match');
  return JSON.parse(json);
}

export function readEnvelope<S extends z.ZodType>(text: string, reading: Reading<S>): z.infer<S> {
  const parsed = reading.schema.safeParse(openEnvelope(text, reading));
  if (parsed.success) return parsed.data;
  throw corrupt(reading.key, z.prettifyError(parsed.error).split('\n').slice(0, 2).join(' '));
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
  { key, kind }: Omit<Reading, 'schema'>,
  data: unknown,
): Promise<void> {
  await store.put(key, writeEnvelope(kind, data), { overwrite: true });
}

function corrupt(key: string, why: string): StoreError {
  return new StoreError('corrupt', `${key} is damaged (${why}): restore it, or delete it and ask with --fresh`);
}
