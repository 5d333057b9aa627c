/**
 * What `cleanStore` removes: searches and batches of the given age, then what nothing refers to any more. It may run beside
 * searches:
 *
 * 1. What Temporal runs is kept, whatever was written to within an hour, the searches of a batch that is kept, what a kept
 *    search started, and what an entry of a layer was proved by. Where Temporal cannot be asked: batches and searches
 *    without an ending, and payloads.
 * 2. A search is looked at again right before it is removed, and its final record goes last: who asks the same question in
 *    between gets the stored answer, and who asks later begins anew.
 * 3. Objects are listed before references are read, and one written to within a day is kept: whoever is about to refer to an
 *    object writes it again (`record/objects.ts`). The deletion looks at the age once more.
 * 4. A reference that cannot be read could be to anything: then no object goes, and the reason is told.
 */
import { z } from 'zod';
import { compareText } from '../domain/canonical';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import { StoreError, type ObjectEntry, type ObjectStore } from '../domain/ports';
import { searchesInLayers } from '../record/layer-store';
import { objectName, OBJECTS } from '../record/objects';
import { createRunStore, JUDGEMENTS, referenceIn } from '../record/run-store';
import { sha256 } from '../sha256';
import type { GateClient } from '../workers/client';
import { PAYLOADS, payloadFolder, payloadOwner, UNKNOWN_OWNER } from '../workers/external-storage';
import { unlessGone } from '../workers/grpc-status';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import { UsageError } from './errors';
import { isPageKey, ManifestPage } from './run/stored-batches';
import { openServices } from './services';
import type { Surroundings } from './surroundings';
import { openRunning } from './temporal-session';

export type WorkflowState = 'running' | 'closed' | 'gone';
/** What Temporal says of a workflow; null: it cannot be asked. */
export type AskTemporal = ((workflowId: string) => Promise<WorkflowState>) | null;

const DAY_MS = 24 * 3_600_000;

/** `olderThanMs`: by default `store.retentionDays` of the configuration. */
export async function cleanStore(
  at: Surroundings,
  { olderThanMs, dryRun }: { readonly olderThanMs?: number; readonly dryRun: boolean },
): Promise<Cleaned> {
  const { config, store } = openServices(at);
  const age = olderThanMs ?? (config.retentionDays === null ? null : config.retentionDays * DAY_MS);
  if (age === null)
    throw new UsageError('say how old: --older-than 30d, or set "store.retentionDays" in the configuration');
  const session = await openRunning(config, at.env);
  try {
    const ask = session === null ? null : askTemporal(session.gate);
    const namespace = session?.namespace ?? '';
    return await collectGarbage(store, ask, { nowMs: at.now(), olderThanMs: age, dryRun, namespace });
  } finally {
    await session?.close();
  }
}

export type Cleaned = Awaited<ReturnType<typeof collectGarbage>>;

export interface GcOptions {
  readonly nowMs: number;
  readonly olderThanMs: number;
  readonly dryRun: boolean;
  /** Of Temporal, for payloads. */
  readonly namespace: string;
}

interface StoredRun {
  readonly id: string;
  readonly entries: readonly ObjectEntry[];
  readonly newestMs: number;
}

export const RUN_GRACE_MS = 3_600_000;
export const OBJECT_GRACE_MS = DAY_MS;
/** References are short, also encrypted; what is longer holds its content itself. */
const LONGEST_REFERENCE_BYTES = 4_096;

export function askTemporal({ listing }: Pick<GateClient, 'listing'>): NonNullable<AskTemporal> {
  return async (workflowId) => {
    const described = await unlessGone(listing.workflow.getHandle(workflowId).describe());
    if (described === null) return 'gone';
    return described.status.name === 'RUNNING' ? 'running' : 'closed';
  };
}

export async function collectGarbage(store: ObjectStore, ask: AskTemporal, options: GcOptions) {
  const { nowMs, dryRun, olderThanMs } = options;
  const cutoffMs = nowMs - Math.max(olderThanMs, RUN_GRACE_MS);
  const batches = grouped(await store.entries('batches/')).filter(({ id }) => id !== 'generations');
  const goneBatches = await filtered(batches, async (batch) => {
    if (batch.newestMs > cutoffMs) return false;
    return ask === null ? isFinished(store, batch) : (await ask(batchWorkflowId(batch.id))) !== 'running';
  });
  const keptBatches = batches.filter((batch) => !goneBatches.includes(batch));
  const { going, kept } = await dividedRuns(store, ask, await searchesOf(store, keptBatches), cutoffMs);
  const removed: StoredRun[] = [];
  for (const run of going) {
    if (dryRun || (await removeRun(store, ask, run, nowMs))) removed.push(run);
    else kept.set(run.id, 'it was used again meanwhile');
  }
  const entriesOfRuns = removed.flatMap(({ entries }) => entries);
  const entriesOfBatches = goneBatches.flatMap(({ entries }) => entries);
  if (!dryRun) await deleteAll(store, entriesOfBatches, cutoffMs);

  const { objects, problem } = await unneededObjects(store, new Set(entriesOfRuns.map(({ key }) => key)));
  const payloads = await forgottenPayloads(store, ask, options.namespace);
  const sweep = async (
    unneeded: readonly ObjectEntry[],
    graceMs = OBJECT_GRACE_MS,
  ): Promise<readonly ObjectEntry[]> => {
    const old = unneeded.filter(({ modifiedMs }) => modifiedMs <= nowMs - graceMs);
    if (!dryRun) await deleteAll(store, old, nowMs - graceMs);
    return old;
  };
  const swept = {
    objects: await sweep(objects),
    payloads: await sweep(payloads),
    judgements: await sweep(await store.entries(JUDGEMENTS), Math.max(olderThanMs, OBJECT_GRACE_MS)),
  };
  const counts = Object.fromEntries(Object.entries(swept).map(([what, entries]) => [what, entries.length]));
  const all = [entriesOfRuns, entriesOfBatches, ...Object.values(swept)].flat();
  return {
    dryRun,
    searches: removed.map(({ id }) => id),
    batches: goneBatches.map(({ id }) => id),
    ...(counts as Record<keyof typeof swept, number>),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    kept: [...kept].map(([id, why]) => ({ id, why })).sort((a, b) => compareText(a.id, b.id)),
    // Unneeded objects and payloads of less than a day.
    young: objects.length + payloads.length - swept.objects.length - swept.payloads.length,
    problems: [
      ...(ask === null
        ? ['Temporal does not answer: batches and searches without an ending and all payloads were kept']
        : []),
      ...(problem === null ? [] : [problem]),
    ],
  };
}

/** Of the old searches, those that go, and why the others are kept. */
async function dividedRuns(
  store: ObjectStore,
  ask: AskTemporal,
  batchOf: ReadonlyMap<string, string>,
  cutoffMs: number,
): Promise<{ readonly going: Iterable<StoredRun>; readonly kept: Map<string, string> }> {
  const runs = grouped(await store.entries('runs/'));
  const old = runs.filter(({ newestMs }) => newestMs <= cutoffMs);
  const proved = await searchesInLayers(store);
  const kept = new Map<string, string>();
  await each(old, async ({ id, entries }) => {
    const batch = batchOf.get(id);
    if (batch !== undefined) kept.set(id, `batch ${batch} is in use`);
    else if (proved.has(id)) kept.set(id, 'its proofs are in the layer of a database');
    else if (ask === null && !entries.some(({ key }) => kindOf(key) === 'result'))
      kept.set(id, 'it has no final record, and Temporal cannot be asked whether it runs');
    else if (ask !== null && (await ask(questionWorkflowId(id))) === 'running') kept.set(id, 'it is running');
  });
  const going = new Map(old.flatMap((run) => (kept.has(run.id) ? [] : [[run.id, run]])));
  const stored = new Set(runs.map(({ id }) => id));
  const starters = await each([...going.keys()], async (id) => [id, await starterOf(store, id)] as const);
  for (let before = Infinity; going.size < before;) {
    before = going.size;
    for (const [id, starter] of starters) {
      if (starter === null || !going.has(id) || going.has(starter) || !stored.has(starter)) continue;
      going.delete(id);
      kept.set(id, `it is a part of ${starter}`);
    }
  }
  return { going: going.values(), kept };
}

async function isFinished(store: ObjectStore, { id, entries }: StoredRun): Promise<boolean> {
  const manifest = z.object({ total: z.number() }).safeParse(parsed(await store.get(`batches/${id}/manifest.json`)));
  const results = entries.filter(({ key }) => key.startsWith(`batches/${id}/results/`));
  if (!manifest.success || results.length < manifest.data.total) return false;
  return (await filtered(results, async ({ key }) => hasOutcome(await store.get(key)))).length === results.length;
}

function hasOutcome(text: string | null): boolean {
  return (z.object({ outcome: z.unknown() }).safeParse(parsed(text)).data?.outcome ?? null) !== null;
}

function parsed(text: string | null): unknown {
  return JSON.parse(text ?? 'null');
}

/** The batch of each search that a kept batch lists. */
async function searchesOf(store: ObjectStore, batches: readonly StoredRun[]): Promise<ReadonlyMap<string, string>> {
  const found = await each(batches, async ({ id, entries }) => {
    const pages = await each(
      entries.filter(({ key }) => isPageKey(key)),
      async ({ key }) => ManifestPage.safeParse(parsed(await store.get(key))).data ?? [],
    );
    return pages.flat().map(({ searchId }): [string, string] => [searchId, id]);
  });
  return new Map(found.flat());
}

/** The search that started this one; null: a person asked it, or it has no readable input and cannot go on. */
async function starterOf(store: ObjectStore, id: string): Promise<string | null> {
  try {
    return (await createRunStore(store, id, sha256).find('input', id))?.childOf ?? null;
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'corrupt' || error.code === 'missing')) return null;
    throw error;
  }
}

/** False: the search was used again meanwhile, so it stays. */
async function removeRun(store: ObjectStore, ask: AskTemporal, run: StoredRun, nowMs: number): Promise<boolean> {
  const [now] = grouped(await store.entries(`runs/${run.id}/`));
  if (now === undefined || now.newestMs > run.newestMs) return false;
  if (ask !== null && (await ask(questionWorkflowId(run.id))) === 'running') return false;
  const lastOf = ({ key }: ObjectEntry): number => ['input', 'result'].indexOf(kindOf(key));
  await deleteAll(
    store,
    run.entries.filter((entry) => lastOf(entry) < 0),
    run.newestMs,
  );
  for (const entry of run.entries.filter((each) => lastOf(each) >= 0).sort((a, b) => lastOf(a) - lastOf(b)))
    await deleteAll(store, [entry], run.newestMs);
  // Written a moment after the record; asked anew, they are young.
  for (const folder of ['index', 'asked'])
    await store.delete(`${folder}/${run.id}.json`, { unmodifiedSinceMs: nowMs - RUN_GRACE_MS });
  return true;
}

/** `without`: keys that are gone by now, also with `--dry-run`. */
async function unneededObjects(
  store: ObjectStore,
  without: ReadonlySet<string>,
): Promise<{ readonly objects: readonly ObjectEntry[]; readonly problem: string | null }> {
  const objects = await store.entries(OBJECTS);
  if (objects.length === 0) return { objects, problem: null };
  const entries = await store.entries('runs/');
  try {
    const names = await each(
      entries.filter(({ key, bytes }) => bytes <= LONGEST_REFERENCE_BYTES && !without.has(key)),
      async ({ key }) => {
        const text = await store.get(key);
        return text === null ? null : (referenceIn(text, key)?.name ?? null);
      },
    );
    const needed = new Set(names);
    return { objects: objects.filter(({ key }) => !needed.has(objectName(key) ?? key)), problem: null };
  } catch (error) {
    if (!(error instanceof StoreError) || error.code === 'unavailable') throw error;
    return { objects: [], problem: `no object was removed: ${error.message}` };
  }
}

/** Payloads of workflows of the namespace that Temporal does not know any more. */
async function forgottenPayloads(
  store: ObjectStore,
  ask: AskTemporal,
  namespace: string,
): Promise<readonly ObjectEntry[]> {
  if (ask === null) return [];
  const folders = groupBy(await store.entries(PAYLOADS), ({ key }) => key.replace(/sha256\/[^/]*$/, ''));
  const gone = await filtered([...folders], async ([folder, [first]]) => {
    const text = first === undefined ? null : await store.get(first.key);
    const owner = text === null ? null : payloadOwner(text);
    if (owner === null || owner === UNKNOWN_OWNER || payloadFolder(namespace, owner) !== folder) return false;
    return (await ask(owner)) === 'gone';
  });
  return gone.flatMap(([, entries]) => entries);
}

async function deleteAll(
  store: ObjectStore,
  entries: readonly ObjectEntry[],
  unmodifiedSinceMs: number,
): Promise<void> {
  await each(entries, ({ key }) => store.delete(key, { unmodifiedSinceMs }));
}

async function filtered<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<readonly T[]> {
  const kept = await each(items, holds);
  return items.filter((_, at) => kept[at]);
}

/** Of `runs/<id>/<kind>/…`. */
function kindOf(key: string): string {
  return key.split('/')[2] ?? '';
}

/** Entries below `<folder>/<id>/`, by the id. */
function grouped(entries: readonly ObjectEntry[]): readonly StoredRun[] {
  const groups = groupBy(entries, ({ key }) => key.split('/')[1] ?? '');
  return [...groups].map(([id, of]) => ({
    id,
    entries: of,
    newestMs: of.reduce((newest, { modifiedMs }) => Math.max(newest, modifiedMs), 0),
  }));
}
