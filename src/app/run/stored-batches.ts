/**
 * Batches as the store has them: which there are, what each asks, how its questions ended, and the command that began it. The
 * command is stored first, and with the headers of manifests beside the batches: lists do not look into them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { STARTED, type BatchOutcome, type BatchResult } from '../../domain/ports/batch';
import { groupBy } from '../../group-by';
import { parsedJson } from '../../json';
import { each } from '../../limiter';
import type { ObjectStore } from '../../domain/ports';
import { UsageError, withoutSecrets } from '../errors';
import { unknownBatch } from '../searches';

/** The file of results in the folder that `--out` names. */
export const RESULTS = 'results.jsonl';

const Header = z.object({ total: z.number() });
/** A page of a manifest, which `activities/batch.ts` writes. */
const ManifestPage = z.array(z.object({ searchId: z.string() }));

/** How a batch was asked for, as data from which it can be asked again. */
const Asked = z.object({
  /** Name of the run; of a file alone, that of the file. */
  name: z.string(),
  /** Name of its set of questions. */
  questions: z.string(),
  method: z.string(),
  seed: z.number().int(),
  /** The plan of the run as plain data (`run-config.ts`), and what was typed beside it. */
  options: z.unknown(),
  overrides: z.record(z.string(), z.unknown()),
  /** A text among them held a password, which is not kept. */
  isMasked: z.boolean(),
  /** Where relative paths of the plan begin, and those that were typed. */
  base: z.string(),
  cwd: z.string(),
  /** Where its results go; null: it was started detached. */
  out: z.string().nullable(),
});
export type Asked = Readonly<z.infer<typeof Asked>>;

export async function keepAsked(store: ObjectStore, batchId: string, asked: Omit<Asked, 'isMasked'>): Promise<void> {
  const shown = masked(asked) as typeof asked;
  const kept: Asked = { ...shown, isMasked: JSON.stringify(shown) !== JSON.stringify(asked) };
  await store.put(askedKey(batchId), JSON.stringify(kept), { overwrite: true });
}

/** Every text of plain data, without passwords. */
function masked(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, masked(one)]));
}

/** The commands of all batches. */
export const ASKED = 'batches/asked/';
const askedKey = (batchId: string): string => `${ASKED}${batchId}.json`;

export interface ListedBatch {
  readonly id: string;
  /** When it was last started. */
  readonly startedMs: number;
}

/** Newest first. */
export async function listBatches(store: ObjectStore): Promise<ListedBatch[]> {
  const headers = await store.entries(STARTED);
  return headers
    .map(({ key, modifiedMs }) => ({ id: key.slice(STARTED.length, -'.json'.length), startedMs: modifiedMs }))
    .sort((a, b) => b.startedMs - a.startedMs);
}

/** Its id, the beginning of it, or `last`. */
export function namesBatch(wanted: string): boolean {
  return wanted === 'last' || /^b-[0-9a-f]{0,16}$/.test(wanted);
}

export async function findBatch(store: ObjectStore, wanted: string): Promise<ListedBatch> {
  if (!namesBatch(wanted))
    throw new UsageError(
      `'${wanted}' is not a batch id; give b-…, its beginning, or last (gate batch status shows them)`,
    );
  const batches = await listBatches(store);
  const found = wanted === 'last' ? batches.slice(0, 1) : batches.filter(({ id }) => id.startsWith(wanted));
  if (found.length > 1)
    throw new UsageError(`'${wanted}' is the beginning of ${found.length} batch ids; give more of the id`);
  if (found[0] === undefined) throw unknownBatch(wanted);
  return found[0];
}

interface StoredQuestion {
  readonly searchId: string;
  /** Null: it has not ended. */
  readonly outcome: BatchOutcome | null;
  /** It ended badly, was begun again, and has not ended since. */
  readonly isAskedAgain: boolean;
}

export interface StoredBatch extends ListedBatch {
  /** By position. */
  readonly questions: readonly StoredQuestion[];
  /** Null: it is being started. */
  readonly asked: Asked | null;
}

export async function storedBatch(store: ObjectStore, listed: ListedBatch): Promise<StoredBatch> {
  const { id } = listed;
  const searchIds = await searchesOfBatch(store, id);
  const results = await each(
    await store.list(`batches/${id}/results/`),
    async (key) => (await storedJson(store, key)) as BatchResult,
  );
  const outcomes = groupBy(results, ({ n }) => n);
  const questions = searchIds.map((searchId, n) => {
    const result = outcomes.get(n)?.find((one) => one.searchId === searchId);
    return { searchId, outcome: result?.outcome ?? null, isAskedAgain: result?.outcome === null };
  });
  const asked = Asked.nullable().parse(await storedJson(store, askedKey(id)));
  return { ...listed, questions, asked };
}

/** By position. */
export async function searchesOfBatch(store: ObjectStore, id: string): Promise<readonly string[]> {
  const { total } = Header.parse(await storedJson(store, `${STARTED}${id}.json`));
  // Pages beyond the total are of an earlier start.
  return (await listedBy(store, id)).slice(0, total);
}

/** The searches that its pages list, also where its header is not there. */
export async function listedBy(store: ObjectStore, id: string): Promise<readonly string[]> {
  const keys = await store.list(`batches/${id}/manifest-`);
  const pages = await each(keys, async (key) => ManifestPage.parse((await storedJson(store, key)) ?? []));
  return pages.flatMap((page) => page.map(({ searchId }) => searchId));
}

async function storedJson(store: ObjectStore, key: string): Promise<unknown> {
  return parsedJson((await store.get(key)) ?? 'null');
}

export function isFailure(
  outcome: BatchOutcome | null,
): outcome is Extract<BatchOutcome, { kind: 'infrastructure-failure' }> {
  return outcome?.kind === 'infrastructure-failure';
}

export function isCancelled(outcome: BatchOutcome | null): boolean {
  return outcome?.kind === 'answer' && outcome.status === 'cancelled';
}

/** Whether `gate batch retry` asks it; `undecided`: also what was cancelled. */
export function isToRetry({ outcome, isAskedAgain }: StoredQuestion, undecided = false): boolean {
  return isAskedAgain || isFailure(outcome) || (undecided && isCancelled(outcome));
}

/** Null: nothing is there, or on another machine. */
export function resultFolder({ asked }: StoredBatch): string | null {
  const out = asked?.out ?? null;
  return out !== null && existsSync(join(out, RESULTS)) ? out : null;
}
