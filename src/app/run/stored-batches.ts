/** Batches as the store has them: which there are, what each asks, how its questions ended, and the command that began it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { BatchOutcome, BatchResult } from '../../activities/batch';
import { groupBy } from '../../group-by';
import { parsedJson } from '../../json';
import { each } from '../../limiter';
import type { ObjectStore } from '../../ports';
import { GateError, UsageError, withoutSecrets } from '../errors';

/** The file of results in the folder that `--out` names. */
export const RESULTS = 'results.jsonl';

const Header = z.object({ total: z.number() });
/** A page of a manifest, which `activities/batch.ts` writes. */
export const ManifestPage = z.array(z.object({ searchId: z.string() }));

export function isPageKey(key: string): boolean {
  return /\/manifest-\d+\.json$/.test(key);
}

/** How `gate batch run` was called; batches of `gate-bench compare` have none. */
const BatchCommand = z.object({
  name: z.string(),
  /** From `batch` on, without `--fresh`, `--json` and `--events`. */
  args: z.array(z.string()).readonly(),
  /** An argument held a password, which is not kept. */
  isMasked: z.boolean(),
  cwd: z.string(),
  /** Where its results go; null: it was started detached. */
  out: z.string().nullable(),
});
export type BatchCommand = z.infer<typeof BatchCommand>;

const ONCE = new Set(['--fresh', '--json', '--events', '--undecided']);

export async function keepCommand(
  store: ObjectStore,
  batchId: string,
  { args, ...told }: Pick<BatchCommand, 'name' | 'cwd' | 'out' | 'args'>,
): Promise<void> {
  const own = args.filter((argument, at) => !ONCE.has(argument) && ![argument, args[at - 1]].includes('--retry-of'));
  const shown = own.map(withoutSecrets);
  const isMasked = shown.some((argument, at) => argument !== own[at]);
  const command: BatchCommand = { ...told, args: shown, isMasked };
  await store.put(commandKey(batchId), JSON.stringify(command), { overwrite: true });
}

const commandKey = (batchId: string): string => `batches/${batchId}/command.json`;

/** Which part of a run, or of `gate-bench compare`, a batch is. */
const BatchArm = z.object({
  /** Null: of `gate-bench compare`. */
  run: z.string().nullable(),
  method: z.string(),
  questions: z.string(),
  seed: z.number().int(),
});
export type BatchArm = z.infer<typeof BatchArm>;

export async function keepArm(store: ObjectStore, batchId: string, told: BatchArm): Promise<void> {
  const arm: BatchArm = { ...told };
  await store.put(armKey(batchId), JSON.stringify(arm), { overwrite: true });
}

const armKey = (batchId: string): string => `batches/${batchId}/arm.json`;

export interface ListedBatch {
  readonly id: string;
  /** When it was last started. */
  readonly startedMs: number;
}

/** Newest first. */
export async function listBatches(store: ObjectStore): Promise<ListedBatch[]> {
  const headers = (await store.entries('batches/')).filter(({ key }) => key.endsWith('/manifest.json'));
  return headers
    .map(({ key, modifiedMs }) => ({ id: key.split('/')[1] ?? '', startedMs: modifiedMs }))
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
  if (found[0] === undefined)
    throw new GateError(`no batch ${wanted} in the store; gate batch status shows the known ones`);
  return found[0];
}

export interface StoredQuestion {
  readonly searchId: string;
  /** Null: it has not ended. */
  readonly outcome: BatchOutcome | null;
  /** It ended badly, was begun again, and has not ended since. */
  readonly isAskedAgain: boolean;
}

export interface StoredBatch extends ListedBatch {
  /** By position. */
  readonly questions: readonly StoredQuestion[];
  readonly command: BatchCommand | null;
  /** Null: it was begun alone, or by an earlier version. */
  readonly arm: BatchArm | null;
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
  const command = BatchCommand.nullable().parse(await storedJson(store, commandKey(id)));
  const arm = BatchArm.nullable().parse(await storedJson(store, armKey(id)));
  return { ...listed, questions, command, arm };
}

/** By position. */
export async function searchesOfBatch(store: ObjectStore, id: string): Promise<readonly string[]> {
  const { total } = Header.parse(await storedJson(store, `batches/${id}/manifest.json`));
  const keys = (await store.list(`batches/${id}/manifest-`)).filter(isPageKey).sort();
  const pages = await each(keys, async (key) => ManifestPage.parse(await storedJson(store, key)));
  // Pages beyond the total are of an earlier start.
  return pages.flatMap((page) => page.map(({ searchId }) => searchId)).slice(0, total);
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
export function resultFolder({ command }: StoredBatch): string | null {
  const out = command?.out ?? null;
  return out !== null && existsSync(join(out, RESULTS)) ? out : null;
}
