/**
 * What `cleanStore` removes: searches and batches of the given age, then what nothing refers to any more. It may run beside
 * searches:
 *
 * 1. What Temporal runs is kept, whatever was written to within an hour, the searches of a batch that is kept, what a kept
 *    search started, and what an entry of a layer was proved by. Where Temporal cannot be asked: all batches, and searches without an
 *    ending.
 * 2. A search is looked at again right before it is removed, and its final record goes last: who asks the same question in
 *    between gets the stored answer, and who asks later begins anew.
 * 3. Objects are listed before references are read, and one written to within a day is kept: whoever is about to refer to an
 *    object writes it again (`record/objects.ts`). The deletion looks at the age once more.
 * 4. A reference that cannot be read could be to anything: then no object goes, and the reason is told.
 */
import { compareText } from '../domain/canonical';
import type { SearchInput } from '../domain';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import { StoreError, type ObjectEntry, type ObjectStore } from '../domain/ports';
import { searchesInLayers } from '../record/layer-store';
import { objectName, OBJECTS } from '../record/objects';
import { JUDGEMENTS } from '../record/run-store';
import { mayRefer, referencesIn } from '../record/stored-contents';
import { removeFromIndex } from '../record/search-index';
import type { GateClient } from '../workers/client';
import { unlessGone } from '../workers/grpc-status';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import { UsageError } from './errors';
import { isPageKey, ManifestPage } from './run/stored-batches';
import { inputOf, openServices, sha256 } from './services';
import type { Surroundings } from './surroundings';
import { openRunning } from './open-temporal';

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
  const session = await openRunning(config, at.env);
  try {
    const ask = session === null ? UNREACHABLE : askTemporal(session.gate);
    return await collectGarbage(store, ask, { nowMs: at.now(), olderThanMs: age, dryRun });
  } finally {
    await session?.close();
  }
}

export function askTemporal({ listing }: Pick<GateClient, 'listing'>): AskTemporal {
  return async (workflowId) => {
    const described = await unlessGone(listing.workflow.getHandle(workflowId).describe());
    if (described === null) return 'gone';
    return described.status.name === 'RUNNING' ? 'running' : 'closed';
  };
}

export type Cleaned = Awaited<ReturnType<typeof collectGarbage>>;

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
  const sweep = async (found: readonly ObjectEntry[], graceMs: number): Promise<readonly ObjectEntry[]> => {
    const old = found.filter(({ modifiedMs }) => modifiedMs <= nowMs - graceMs);
    await remove(old, nowMs - graceMs);
    return old;
  };
  const batches = grouped(await store.entries('batches/')).filter(({ id }) => id !== 'generations');
  const goneBatches: Stored[] = [];
  for (const batch of batches)
    if (batch.newestMs <= cutoffMs && ['closed', 'gone'].includes(await ask(batchWorkflowId(batch.id))))
      goneBatches.push(batch);
  const keptBatches = batches.filter((batch) => !goneBatches.includes(batch));
  const runs = grouped(await store.entries('runs/'));
  const kept = await keptRuns(store, ask, { runs, batchOf: await searchesOf(store, keptBatches), cutoffMs });
  const searches: Stored[] = [];
  for (const run of runs.filter(({ id, newestMs }) => newestMs <= cutoffMs && !kept.has(id))) {
    if (dryRun || (await removeRun(store, ask, run, nowMs))) searches.push(run);
    else kept.set(run.id, 'it was used again meanwhile');
  }
  const goneRuns = searches.flatMap(({ entries }) => entries);
  const goneManifests = goneBatches.flatMap(({ entries }) => entries);
  await remove(goneManifests, cutoffMs);
  const unneeded = await unneededObjects(store, new Set(goneRuns.map(({ key }) => key)));
  const objects = await sweep(unneeded.objects, OBJECT_GRACE_MS);
  const judgements = await sweep(await store.entries(JUDGEMENTS), Math.max(olderThanMs, OBJECT_GRACE_MS));
  const all = [...goneRuns, ...goneManifests, ...objects, ...judgements];
  const unreachable = 'Temporal does not answer: all batches and searches without an ending were kept';
  return {
    dryRun,
    searches: searches.map(({ id }) => id),
    batches: goneBatches.map(({ id }) => id),
    objects: objects.length,
    judgements: judgements.length,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    kept: [...kept].map(([id, why]) => ({ id, why })).sort((a, b) => compareText(a.id, b.id)),
    problems: [ask === UNREACHABLE ? unreachable : null, unneeded.problem].filter((problem) => problem !== null),
  };
}

interface Runs {
  readonly runs: readonly Stored[];
  readonly batchOf: ReadonlyMap<string, string>;
  readonly cutoffMs: number;
}

/** Of the old searches, those that are kept, and why. */
async function keptRuns(
  store: ObjectStore,
  ask: AskTemporal,
  { runs, batchOf, cutoffMs }: Runs,
): Promise<Map<string, string>> {
  const proved = await searchesInLayers(store);
  const kept = new Map<string, string>();
  /** Of those that may go. */
  const starters = new Map<string, string | null>();
  const old = runs.filter(({ newestMs }) => newestMs <= cutoffMs);
  await each(old, async ({ id, entries }) => {
    const batch = batchOf.get(id);
    const state = await ask(questionWorkflowId(id));
    if (batch !== undefined) kept.set(id, `batch ${batch} is in use`);
    else if (proved.has(id)) kept.set(id, 'its proofs are in the layer of a database');
    else if (state === 'running') kept.set(id, 'it is running');
    else if (state === 'unknown' && !entries.some(({ key }) => kindOf(key) === 'result'))
      kept.set(id, 'it has no final record, and Temporal cannot be asked whether it runs');
    else starters.set(id, await starterOf(store, id));
  });
  const stored = new Set(runs.map(({ id }) => id));
  for (const id of starters.keys()) {
    let starter = starters.get(id) ?? null;
    while (starter !== null && starters.has(starter)) starter = starters.get(starter) ?? null;
    if (starter !== null && stored.has(starter)) kept.set(id, `it is a part of ${starter}`);
  }
  return kept;
}

/** The batch of each search that a kept batch lists. */
async function searchesOf(store: ObjectStore, batches: readonly Stored[]): Promise<ReadonlyMap<string, string>> {
  const pages = batches.flatMap(({ id, entries }) =>
    entries.filter(({ key }) => isPageKey(key)).map(({ key }) => ({ id, key })),
  );
  const found = await each(pages, async ({ id, key }) => {
    const page = ManifestPage.safeParse(JSON.parse((await store.get(key)) ?? 'null')).data ?? [];
    return page.map(({ searchId }): [string, string] => [searchId, id]);
  });
  return new Map(found.flat());
}

/** The search that started this one; null: a person asked it, or it has no readable input and cannot go on. */
async function starterOf(store: ObjectStore, id: string): Promise<string | null> {
  return (await inputThere(store, id))?.childOf ?? null;
}

/** null: it is not there, or cannot be read. */
async function inputThere(store: ObjectStore, id: string): Promise<SearchInput | null> {
  try {
    return await inputOf(store, id);
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'corrupt' || error.code === 'missing')) return null;
    throw error;
  }
}

/** False: the search was used again meanwhile, so it stays. */
async function removeRun(store: ObjectStore, ask: AskTemporal, run: Stored, nowMs: number): Promise<boolean> {
  const [now] = grouped(await store.entries(`runs/${run.id}/`));
  if (now === undefined || now.newestMs > run.newestMs) return false;
  if ((await ask(questionWorkflowId(run.id))) === 'running') return false;
  const input = await inputThere(store, run.id);
  // The input goes after all others, and the record after that.
  const order = ({ key }: ObjectEntry): number => ['input', 'result'].indexOf(kindOf(key));
  for (const place of [-1, 0, 1])
    await each(
      run.entries.filter((entry) => order(entry) === place),
      ({ key }) => store.delete(key, { unmodifiedSinceMs: run.newestMs }),
    );
  // Written a moment after the record; asked anew, it is young.
  if (input !== null) await removeFromIndex(store, input, nowMs - HOUR_MS);
  return true;
}

/** `without`: keys that are gone by now, also with `--dry-run`. */
async function unneededObjects(
  store: ObjectStore,
  without: ReadonlySet<string>,
): Promise<{ readonly objects: readonly ObjectEntry[]; readonly problem: string | null }> {
  const objects = await store.entries(OBJECTS);
  if (objects.length === 0) return { objects, problem: null };
  const referring = (await store.list('runs/')).filter((key) => mayRefer(key) && !without.has(key));
  try {
    const names = await each(referring, async (key) => referencesIn((await store.get(key)) ?? '', key, sha256));
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

interface Stored {
  readonly id: string;
  readonly entries: readonly ObjectEntry[];
  readonly newestMs: number;
}

/** Searches or batches: entries below `<folder>/<id>/`, by the id. */
function grouped(entries: readonly ObjectEntry[]): readonly Stored[] {
  const groups = groupBy(entries, ({ key }) => key.split('/')[1] ?? '');
  return [...groups].map(([id, of]) => ({
    id,
    entries: of,
    newestMs: of.reduce((newest, { modifiedMs }) => Math.max(newest, modifiedMs), 0),
  }));
}
