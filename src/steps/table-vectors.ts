/**
 * Vectors of all tables of a schema: those in the store, and the rest from the model, in batches.
 *
 * 1. Searches of one process that need the same vectors share one computation. It continues after the step that began it, so
 *    a later try joins it. The first search is charged for it.
 * 2. It has a time limit. Vectors paid until then are kept, so the next search continues where this one ended.
 * 3. Every text has its own vector (`record/vector-store.ts`): after a schema change only changed tables are paid.
 */
import { BoundedMap } from '../bounded-map';
import type { DatabaseDescription } from '../domain';
import { ModelError, type Clock, type Embedder, type ObjectStore } from '../ports';
import type { Hash } from '../sql/body';
import { cosine, textOfTable, unitVector, type Nearness } from '../schema/ranking';
import { embedded, mayBeBilled } from './embed';
import { perStore } from '../record/content-cache';
import { shareWork } from '../record/shared-work';
import { folderOf, readVectors, writeVectors, type KeptVectors, type VectorPlace } from '../record/vector-store';
import { counted } from '../counted';

export interface VectorDeps {
  readonly store: ObjectStore;
  readonly hash: Hash;
  readonly clock: Clock;
  readonly embedder: Embedder;
}

export interface VectorRequest {
  /** As `databaseKey` gives it. */
  readonly database: string;
  readonly description: DatabaseDescription;
  /** The question's vector, of length 1. All vectors have its number of dimensions. */
  readonly question: Float32Array;
  readonly signal: AbortSignal;
}

/** The usage for tables that the caller is charged for. */
export interface Paid {
  readonly texts: number;
  readonly tokens: number;
  readonly costUsd: number;
  /** Number of requested batches without a reply; absent: none. */
  readonly possiblyBilledCalls?: number;
}

export type Near =
  | { readonly kind: 'ok'; readonly nearness: Nearness; readonly paid: Paid }
  | { readonly kind: 'failed'; readonly error: ModelError; readonly paid: Paid };

export const REQUESTS_AT_ONCE = 4;
/** Time limit for all tables together, unless one request may take longer. */
const TIME_LIMIT_MS = 60_000;
const USED_AGAIN_AFTER_MS = 12 * 3_600_000;
/** Limit for the vectors of one schema: reading more takes longer than a question should wait. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Cache limit of this process. */
const MEMORY_BYTES = 256 * 1024 * 1024;
export const NOTHING: Paid = { texts: 0, tokens: 0, costUsd: 0 };

export async function nearnessOf(deps: VectorDeps, request: VectorRequest): Promise<Near> {
  const { database, description, question, signal } = request;
  const { tables, fingerprint } = description;
  if (tables.length * question.byteLength > MAX_BYTES) {
    const fits = Math.floor(MAX_BYTES / 4 / tables.length);
    const fix = `set schema.embeddings.dimensions to ${fits} or less`;
    const message = `the vectors of ${counted(tables.length, 'table')} with ${counted(question.length, 'number')} each are too large: ${fix}`;
    return { kind: 'failed', error: new ModelError('bad-request', message), paid: NOTHING };
  }
  const place = { ...deps, database, fingerprint, model: deps.embedder.model };
  const texts = new Map(tables.map((table) => [table.name, textOfTable(table)]));
  const hashes = new Map([...texts].map(([name, text]) => [name, deps.hash(text).slice(0, 32)]));
  const wanted = new Map([...texts].map(([name, text]) => [hashes.get(name) ?? '', text]));
  const { kept, error, paid } = await vectorsOf(deps, place, { wanted, length: question.length, signal });
  if (error !== null) return { kind: 'failed', error, paid };
  const near = [...hashes].map(([name, hash]): [string, number] => {
    const from = kept.at.get(hash) ?? 0;
    return [name, cosine(question, kept.numbers.subarray(from, from + kept.length))];
  });
  return { kind: 'ok', nearness: new Map(near), paid };
}

interface Wanted {
  /** Texts by their hash. */
  readonly wanted: ReadonlyMap<string, string>;
  readonly length: number;
  readonly signal: AbortSignal;
}

interface Outcome {
  readonly kept: KeptVectors;
  /** null: every text has its vector. */
  readonly error: ModelError | null;
  readonly paid: Paid;
}

const memoryOf = perStore(() => ({
  vectors: new BoundedMap<KeptVectors>(MEMORY_BYTES),
  /** Outcomes that were already charged to a search. */
  charged: new WeakSet<Outcome>(),
}));

async function vectorsOf(deps: VectorDeps, place: VectorPlace, request: Wanted): Promise<Outcome> {
  const { vectors, charged } = memoryOf(deps.store);
  const name = folderOf(place);
  const remembered = vectors.get(name);
  const isInUse = remembered !== undefined && deps.clock.now() - remembered.usedAtMs < USED_AGAIN_AFTER_MS;
  if (isInUse && hasAll(remembered, request)) return { kept: remembered, error: null, paid: NOTHING };
  const key = `vectors ${name} ${request.length} ${deps.hash([...request.wanted.keys()].join())}`;
  const outcome = await shareWork(deps.store, key, request.signal, () => compute(deps, place, request));
  vectors.set(name, outcome.kept, outcome.kept.numbers.byteLength);
  if (charged.has(outcome)) return { ...outcome, paid: NOTHING };
  charged.add(outcome);
  return outcome;
}

function hasAll({ length, at }: KeptVectors, request: Wanted): boolean {
  return length === request.length && [...request.wanted.keys()].every((hash) => at.has(hash));
}

async function compute(deps: VectorDeps, place: VectorPlace, { wanted, length }: Wanted): Promise<Outcome> {
  const stored = await readVectors(place);
  const usable = stored !== null && stored.length === length ? stored : null;
  const found = new Map<string, Float32Array>();
  for (const hash of wanted.keys()) {
    const from = usable?.at.get(hash);
    if (from !== undefined && usable !== null) found.set(hash, usable.numbers.subarray(from, from + length));
  }
  const missing = [...wanted].filter(([hash]) => !found.has(hash));
  const made = await make(deps.embedder, missing, length);
  for (const [hash, vector] of made.vectors) found.set(hash, vector);
  const nowMs = deps.clock.now();
  const kept = packed(found, length, nowMs);
  const isOld = stored !== null && nowMs - stored.usedAtMs > USED_AGAIN_AFTER_MS;
  const isOther = found.size !== usable?.at.size;
  if (found.size > 0 && (made.vectors.size > 0 || isOld || isOther)) await writeVectors(place, kept);
  const { tokens, costUsd, lost } = made;
  const paid = { texts: made.vectors.size, tokens, costUsd, ...(lost === 0 ? {} : { possiblyBilledCalls: lost }) };
  return { kept, error: made.error === null ? null : soFar(made.error, found.size, wanted.size), paid };
}

function soFar(error: ModelError, have: number, all: number): ModelError {
  if (have === 0) return error;
  const message = `${error.message} (${have} of ${counted(all, 'table')} have their vector; the next question goes on from there)`;
  return new ModelError(error.code, message, { cause: error });
}

interface Made {
  readonly vectors: Map<string, Float32Array>;
  tokens: number;
  costUsd: number;
  /** Number of batches that may have been billed without a reply. */
  lost: number;
  error: ModelError | null;
}

/** Requests batches until one fails. Earlier batches are kept. */
async function make(
  embedder: Embedder,
  missing: readonly (readonly [hash: string, text: string])[],
  length: number,
): Promise<Made> {
  const made: Made = { vectors: new Map(), tokens: 0, costUsd: 0, lost: 0, error: null };
  const controller = new AbortController();
  const limitMs = Math.max(TIME_LIMIT_MS, embedder.requestTimeoutMs ?? 0);
  const timer = setTimeout(() => controller.abort(outOfTime(embedder, limitMs)), limitMs);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < missing.length && made.error === null) {
      const batch = missing.slice(next, (next += embedder.batchSize));
      try {
        await makeBatch(embedder, batch, { made, length, signal: controller.signal });
      } catch (error) {
        const failure = modelErrorOf(error, controller.signal);
        // A batch that was aborted by another's failure was in flight, too.
        if (controller.signal.aborted || mayBeBilled(failure)) made.lost += 1;
        made.error ??= failure;
        controller.abort(made.error);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  } finally {
    clearTimeout(timer);
  }
  return made;
}

async function makeBatch(
  embedder: Embedder,
  batch: readonly (readonly [hash: string, text: string])[],
  { made, length, signal }: { readonly made: Made; readonly length: number; readonly signal: AbortSignal },
): Promise<void> {
  const texts = batch.map(([, text]) => text);
  const { vectors, tokens, costUsd } = await embedded(embedder, texts, signal);
  made.tokens += tokens;
  made.costUsd += costUsd;
  for (const [at, [hash]] of batch.entries()) {
    const vector = vectors[at] ?? [];
    if (vector.length !== length) throw unequal(embedder, vector.length, length);
    made.vectors.set(hash, unitVector(vector));
  }
}

/** The error as a `ModelError`. Any other error is a defect of the program and is thrown unchanged. */
function modelErrorOf(error: unknown, signal: AbortSignal): ModelError {
  if (error instanceof ModelError) return error;
  // An aborted pause between two tries has only a generic error; use the signal's reason.
  const reason: unknown = signal.aborted ? signal.reason : null;
  if (reason instanceof ModelError) return reason;
  throw error;
}

function outOfTime({ endpoint }: Embedder, limitMs: number): ModelError {
  return new ModelError('timeout', `${endpoint} did not give all vectors within ${limitMs / 1000} s`);
}

function unequal({ endpoint, model }: Embedder, tables: number, question: number): ModelError {
  const lengths = `${tables} numbers for tables and ${question} for the question`;
  return new ModelError('server-error', `${endpoint} gave vectors of different lengths (model "${model}"): ${lengths}`);
}

function packed(found: ReadonlyMap<string, Float32Array>, length: number, usedAtMs: number): KeptVectors {
  const numbers = new Float32Array(found.size * length);
  const at = new Map<string, number>();
  for (const [hash, vector] of found) {
    numbers.set(vector, at.size * length);
    at.set(hash, at.size * length);
  }
  return { length, at, numbers, usedAtMs };
}
