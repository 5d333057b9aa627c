/**
 * What `cleanStore` removes: searches and batches of the given age, then shared objects that nothing refers to any more. It may run
 * beside searches. Its work is that of what is old, however much is stored:
 *
 * 1. What Temporal runs is kept, whatever was written to within an hour, the searches of a batch that is kept, what a kept
 *    search started, and what an entry of a layer was proved by. Where Temporal cannot be asked: all batches, and searches without an
 *    ending.
 * 2. A search is old only if the index has it among the old ones (`record/search-index.ts`: before its first object). It is looked at
 *    again right before it is removed, and its final record goes last: who asks the same question in between gets the stored
 *    answer, and who asks later begins anew. Its entries of the index go when nothing of it is left.
 * 3. Whoever starts a batch writes to each of its searches: one that was started lately needs no other protection for them.
 * 4. Whoever is about to refer to an object writes it again (`record/objects.ts`). So one that was last written to a day before
 *    the age given is referred to by searches of that age alone, and of these, the references of those that are kept are read.
 *    Objects are listed before references are read, and the deletion looks at the age once more.
 * 5. A reference that cannot be read could be to anything: then no object goes, and the reason is told.
 */
import { compareText } from '../domain/canonical';
import { STARTED } from '../domain/ports/batch';
import { each } from '../limiter';
import { StoreError, type ObjectEntry, type ObjectStore } from '../domain/ports';
import { searchesInLayers } from '../record/layer-store';
import { objectName, OBJECTS } from '../record/objects';
import { JUDGEMENTS } from '../record/run-store';
import { mayRefer, referencesIn } from '../record/stored-contents';
import { askedUntil, followers, type Follower } from '../record/search-index';
import type { GateClient } from '../workers/client';
import { unlessGone } from '../workers/grpc-status';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import { TOLD } from '../roles/answer/repeat';
import { UsageError } from './errors';
import { ASKED, listedBy } from './run/stored-batches';
import { inputOf, openServices } from './services';
import type { Surroundings } from './surroundings';
import { withRunning } from './open-temporal';

/** `unknown`: Temporal cannot be asked. */
export type WorkflowState = 'running' | 'closed' | 'gone' | 'unknown';
export type AskTemporal = (workflowId: string) => Promise<WorkflowState>;

export const UNREACHABLE: AskTemporal = () => Promise.resolve('unknown');

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const OBJECT_GRACE_MS = DAY_MS;
/** `olderThanMs`: by default `store.retentionDays` of the configuration. */
export async function cleanStore(
  at: Surroundings,
  { olderThanMs, dryRun }: { readonly olderThanMs?: number; readonly dryRun: boolean },
): Promise<Cleaned> {
  const { config, store } = openServices(at);
  const age = olderThanMs ?? (config.retentionDays === null ? null : config.retentionDays * DAY_MS);
  if (age === null)
    throw new UsageError('say how old: --older-than 30d, or set "store.retentionDays" in the configuration');
  return withRunning({ config, env: at.env }, async (session) => {
    const ask = session === null ? UNREACHABLE : askTemporal(session.gate);
    const options = { nowMs: at.now(), olderThanMs: age, dryRun };
    return { ...(await collectGarbage(store, ask, options)), imports: await oldImports(config.folders.cache, options) };
  });
}

export function askTemporal({ listing }: Pick<GateClient, 'listing'>): AskTemporal {
  return async (workflowId) => {
    const described = await unlessGone(listing.workflow.getHandle(workflowId).describe());
    if (described === null) return 'gone';
    return described.status.name === 'RUNNING' ? 'running' : 'closed';
  };
}

/** What was made of data files that no question has read for as long, and what is left of imports that failed. Who reads one keeps it. */
async function oldImports(cacheFolder: string, { nowMs, olderThanMs, dryRun }: GcOptions): Promise<OldImports> {
  const { cacheEntries, removeEntry } = await import('../adapters/duckdb/files');
  const old = (await cacheEntries(cacheFolder)).filter(({ usedAt }) => Date.parse(usedAt) <= nowMs - olderThanMs);
  if (!dryRun) await each(old, removeEntry);
  return {
    files: old.filter(({ source }) => source !== null).length,
    bytes: old.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

interface OldImports {
  readonly files: number;
  readonly bytes: number;
}

export type Cleaned = Awaited<ReturnType<typeof collectGarbage>> & { readonly imports: OldImports };

export interface GcOptions {
  readonly nowMs: number;
  readonly olderThanMs: number;
  readonly dryRun: boolean;
}

export async function collectGarbage(store: ObjectStore, ask: AskTemporal, options: GcOptions) {
  const { nowMs, dryRun, olderThanMs } = options;
  const cutoffMs = nowMs - Math.max(olderThanMs, HOUR_MS);
  const remove = async (entries: readonly ObjectEntry[], unmodifiedSinceMs: number): Promise<void> => {
    if (!dryRun) await each(entries, ({ key }) => store.delete(key, { unmodifiedSinceMs }));
  };
  const unwritten = async (prefix: string, sinceMs: number): Promise<readonly ObjectEntry[]> =>
    (await store.entries(prefix)).filter(({ modifiedMs }) => modifiedMs <= sinceMs);
  const objectsMs = cutoffMs - OBJECT_GRACE_MS;
  const oldObjects = await unwritten(OBJECTS, objectsMs);
  const oldBatches = await batchesStartedUntil(store, cutoffMs + DAY_MS);
  const goneBatches: Stored[] = [];
  for (const batch of oldBatches)
    if (batch.newestMs <= cutoffMs && ['closed', 'gone'].includes(await ask(batchWorkflowId(batch.id))))
      goneBatches.push(batch);
  const keptBatches = oldBatches.filter((batch) => !goneBatches.includes(batch));
  const asked = await askedUntil(store, cutoffMs);
  const runs = await each([...asked.keys()], (id) => storedUnder(store, id, [`runs/${id}/`]));
  const old = runs.filter(({ newestMs }) => newestMs <= cutoffMs);
  const there = old.filter(({ entries }) => entries.length > 0);
  const following = await followers(store);
  const kept = await keptRuns(store, ask, there, { batchOf: await searchesOf(store, keptBatches), following });
  const searches: Stored[] = [];
  for (const run of old.filter(({ id }) => !kept.has(id))) {
    if (dryRun || (await removeRun(store, ask, run, [...(asked.get(run.id) ?? []), ...ownEntries(run, following)])))
      searches.push(run);
    else kept.set(run.id, 'it was used again meanwhile');
  }
  const goneManifests = goneBatches.flatMap(({ entries }) => entries);
  // The header and the command, by which a batch is found, are the last ones.
  for (const isFound of [false, true])
    await remove(
      goneManifests.filter(({ key }) => FOUND_BY.some((folder) => key.startsWith(folder)) === isFound),
      cutoffMs,
    );
  const left = runs.filter((run) => !searches.includes(run));
  const { objects, problem } = await unneededObjects(store, oldObjects, left);
  await remove(objects, objectsMs);
  const judgementsMs = nowMs - Math.max(olderThanMs, OBJECT_GRACE_MS);
  const judgements = await unwritten(JUDGEMENTS, judgementsMs);
  await remove(judgements, judgementsMs);
  const told = await unwritten(TOLD, cutoffMs);
  await remove(told, cutoffMs);
  const gone = searches.filter((run) => there.includes(run));
  const all = [...told, ...gone.flatMap(({ entries }) => entries), ...goneManifests, ...objects, ...judgements];
  const unreachable = 'Temporal does not answer: all batches and searches without an ending were kept';
  return {
    dryRun,
    searches: gone.map(({ id }) => id),
    batches: goneBatches.map(({ id }) => id),
    objects: objects.length,
    judgements: judgements.length,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    kept: [...kept].map(([id, why]) => ({ id, why })).sort((a, b) => compareText(a.id, b.id)),
    problems: [ask === UNREACHABLE ? unreachable : null, problem].filter((one) => one !== null),
  };
}

/** Of the old searches, those that are kept, and why. */
async function keptRuns(
  store: ObjectStore,
  ask: AskTemporal,
  old: readonly Stored[],
  { batchOf, following }: { readonly batchOf: ReadonlyMap<string, string>; readonly following: readonly Follower[] },
): Promise<Map<string, string>> {
  const kept = new Map<string, string>();
  if (old.length === 0) return kept;
  const proved = await searchesInLayers(store);
  /** Of those that may go. */
  const starters = new Map<string, string | null>();
  await each(old, async ({ id, entries }) => {
    const batch = batchOf.get(id);
    const state = batch !== undefined || proved.has(id) ? null : await ask(questionWorkflowId(id));
    if (batch !== undefined) kept.set(id, `batch ${batch} is in use`);
    else if (proved.has(id)) kept.set(id, 'its proofs are in the layer of a database');
    else if (state === 'running') kept.set(id, 'it is running');
    else if (state === 'unknown' && !entries.some(({ key }) => kindOf(key) === 'result'))
      kept.set(id, 'it has no final record, and Temporal cannot be asked whether it runs');
    else starters.set(id, await starterOf(store, id));
  });
  const isThere = async (id: string): Promise<boolean> => (await store.list(`runs/${id}/`, { limit: 1 })).length > 0;
  // Each search that is kept keeps those before it in its chain.
  for (let isMore = true; isMore;) {
    isMore = false;
    for (const { earlier, later } of following) {
      if (!starters.has(earlier) || starters.has(later) || !(await isThere(later))) continue;
      starters.delete(earlier);
      kept.set(earlier, `${later} follows it`);
      isMore = true;
    }
  }
  for (const id of starters.keys()) {
    let starter = starters.get(id) ?? null;
    while (starter !== null && starters.has(starter)) starter = starters.get(starter) ?? null;
    if (starter !== null && (await isThere(starter))) kept.set(id, `it is a part of ${starter}`);
  }
  return kept;
}

/** Entries of the index that say what it follows. */
function ownEntries({ id }: Stored, following: readonly Follower[]): readonly string[] {
  return following.filter(({ later }) => later === id).map(({ key }) => key);
}

/** Each batch has one of these, and is found by it. */
const FOUND_BY = [STARTED, ASKED];

/** Batches that were last started until then, and those that never were. */
async function batchesStartedUntil(store: ObjectStore, ms: number): Promise<readonly Stored[]> {
  const found = (await each(FOUND_BY, (folder) => store.entries(folder))).flat();
  const idOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1, -'.json'.length);
  const late = new Set(
    found.flatMap(({ key, modifiedMs }) => (key.startsWith(STARTED) && modifiedMs > ms ? idOf(key) : [])),
  );
  const ids = new Set(found.map(({ key }) => idOf(key)).filter((id) => !late.has(id)));
  return each([...ids], (id) =>
    storedUnder(store, id, [`batches/${id}/`, ...FOUND_BY.map((folder) => `${folder}${id}.json`)]),
  );
}

/** The batch of each search that a kept batch lists. */
async function searchesOf(store: ObjectStore, batches: readonly Stored[]): Promise<ReadonlyMap<string, string>> {
  const found = await each(batches, async ({ id }) =>
    (await listedBy(store, id)).map((searchId): [string, string] => [searchId, id]),
  );
  return new Map(found.flat());
}

/** The search that started this one; null: a person asked it, or it has no readable input and cannot go on. */
async function starterOf(store: ObjectStore, id: string): Promise<string | null> {
  try {
    return (await inputOf(store, id))?.childOf ?? null;
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'corrupt' || error.code === 'missing')) return null;
    throw error;
  }
}

/** False: the search was used again meanwhile, so it stays. `listedAs`: its entries in the index. */
async function removeRun(
  store: ObjectStore,
  ask: AskTemporal,
  run: Stored,
  listedAs: readonly string[],
): Promise<boolean> {
  const folder = `runs/${run.id}/`;
  const now = await storedUnder(store, run.id, [folder]);
  if (now.newestMs > run.newestMs) return false;
  if (run.entries.length > 0 && (await ask(questionWorkflowId(run.id))) === 'running') return false;
  // The input goes after all others, and the record after that.
  const order = ({ key }: ObjectEntry): number => ['input', 'result'].indexOf(kindOf(key));
  for (const place of [-1, 0, 1])
    await each(
      now.entries.filter((entry) => order(entry) === place),
      ({ key }) => store.delete(key, { unmodifiedSinceMs: run.newestMs }),
    );
  if ((await store.list(folder, { limit: 1 })).length === 0) await each(listedAs, (key) => store.delete(key));
  return true;
}

/** Of these objects, those that no search refers to. */
async function unneededObjects(
  store: ObjectStore,
  objects: readonly ObjectEntry[],
  searches: readonly Stored[],
): Promise<{ readonly objects: readonly ObjectEntry[]; readonly problem: string | null }> {
  if (objects.length === 0) return { objects, problem: null };
  const referring = searches.flatMap(({ entries }) => entries.map(({ key }) => key).filter(mayRefer));
  try {
    const names = await each(referring, async (key) => referencesIn((await store.get(key)) ?? '', key));
    const needed = new Set(names.flat());
    return { objects: objects.filter(({ key }) => !needed.has(objectName(key) ?? key)), problem: null };
  } catch (error) {
    if (!(error instanceof StoreError) || error.code === 'unavailable') throw error;
    return { objects: [], problem: `no object was removed: ${error.message}` };
  }
}

/** Of `runs/<id>/<kind>/…`. */
function kindOf(key: string): string {
  return key.split('/')[2] ?? '';
}

/** A search or a batch. */
interface Stored {
  readonly id: string;
  readonly entries: readonly ObjectEntry[];
  /** 0: nothing of it is there. */
  readonly newestMs: number;
}

async function storedUnder(store: ObjectStore, id: string, prefixes: readonly string[]): Promise<Stored> {
  const entries = (await each(prefixes, (prefix) => store.entries(prefix))).flat();
  return { id, entries, newestMs: entries.reduce((newest, { modifiedMs }) => Math.max(newest, modifiedMs), 0) };
}
