/**
 * Which searches `gate gc` may remove, and their removal. Searches still in use are kept, and so is everything in doubt:
 *
 * 1. Whatever was written to within an hour, and whatever Temporal runs. Where Temporal cannot be asked, every search
 *    without a final record.
 * 2. Searches of a batch that is not finished, until nobody has gone on with it for a week.
 * 3. What a remaining search was forked from, however far back, and what it started; and searches whose proofs are in the
 *    layer of a database.
 *
 * A search is looked at again right before it is removed, and its final record goes last: who asks the same question in
 * between gets the stored answer, and who asks later begins anew.
 */
import { z } from 'zod';
import { groupBy } from '../group-by';
import type { ObjectEntry, ObjectStore } from '../ports';
import { StoreError } from '../ports';
import { sha256 } from '../sha256';
import { isPageKey, ManifestPage } from './batch-pages';
import { searchesInLayers } from '../record/layer-store';
import { readAsStored } from '../record/run-store';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import { each } from '../limiter';

export type WorkflowState = 'running' | 'closed' | 'gone';
/** What Temporal says of a workflow; null: it cannot be asked. */
export type AskTemporal = ((workflowId: string) => Promise<WorkflowState>) | null;

export interface RunsOptions {
  readonly nowMs: number;
  readonly olderThanMs: number;
  /** Leave what was asked and the final record. */
  readonly keepAnswers: boolean;
}

export interface StoredRun {
  readonly id: string;
  readonly entries: readonly ObjectEntry[];
  readonly newestMs: number;
}

export interface Kept {
  readonly id: string;
  readonly why: string;
}

export interface RunsPlan {
  readonly remove: readonly StoredRun[];
  /** Old enough, and kept for a reason. */
  readonly kept: readonly Kept[];
  readonly batches: readonly StoredRun[];
}

const HOUR_MS = 3_600_000;
export const RUN_GRACE_MS = HOUR_MS;
export const BATCH_GRACE_MS = 7 * 24 * HOUR_MS;

export async function planRuns(store: ObjectStore, ask: AskTemporal, options: RunsOptions): Promise<RunsPlan> {
  const cutoffMs = options.nowMs - Math.max(options.olderThanMs, RUN_GRACE_MS);
  const runs = grouped(await store.entries('runs/'), 'runs/');
  const old = runs.filter((run) => run.newestMs <= cutoffMs && removable(run, options).length > 0);
  const batches = grouped(await store.entries('batches/'), 'batches/').filter(({ id }) => id !== 'generations');
  const live = await liveBatches(store, ask, batches, options);
  const published = await searchesInLayers(store);
  const kept = new Map<string, string>();
  await each(old, async (run) => {
    const why = await whyKept(run, { ask, live, published });
    if (why !== null) kept.set(run.id, why);
  });
  const going = new Map(old.filter(({ id }) => !kept.has(id)).map((run) => [run.id, run]));
  await keepRelated(store, runs, going, kept);
  return {
    remove: [...going.values()],
    kept: [...kept].map(([id, why]) => ({ id, why })).sort((a, b) => (a.id < b.id ? -1 : 1)),
    batches: batches.filter(({ id, newestMs }) => newestMs <= cutoffMs && !live.ids.has(id)),
  };
}

/** False: the search was used again meanwhile, so it stays. */
export async function removeRun(
  store: ObjectStore,
  ask: AskTemporal,
  run: StoredRun,
  options: RunsOptions,
): Promise<boolean> {
  const [now] = grouped(await store.entries(`runs/${run.id}/`), 'runs/');
  if (now === undefined || now.newestMs > run.newestMs) return false;
  if (ask !== null && (await ask(questionWorkflowId(run.id))) === 'running') return false;
  const unmodified = { unmodifiedSinceMs: run.newestMs };
  const keys = removable(run, options);
  const last = (key: string): boolean => kindOf(key) === 'result' || kindOf(key) === 'input';
  await each(
    keys.filter((key) => !last(key)),
    (key) => store.delete(key, unmodified),
  );
  for (const kind of ['input', 'result']) {
    for (const key of keys.filter((one) => kindOf(one) === kind)) await store.delete(key, unmodified);
  }
  if (options.keepAnswers) return true;
  // Written a moment after the record; asked anew, they are young.
  const listed = { unmodifiedSinceMs: options.nowMs - RUN_GRACE_MS };
  for (const folder of ['index', 'asked']) await store.delete(`${folder}/${run.id}.json`, listed);
  return true;
}

export async function removeBatch(store: ObjectStore, { entries, newestMs }: StoredRun): Promise<void> {
  await each(entries, ({ key }) => store.delete(key, { unmodifiedSinceMs: newestMs }));
}

export function removable({ entries }: StoredRun, { keepAnswers }: Pick<RunsOptions, 'keepAnswers'>): string[] {
  const keys = entries.map(({ key }) => key);
  return keepAnswers ? keys.filter((key) => !ANSWER.includes(kindOf(key))) : keys;
}

/** What was asked and answered, and the rows that the answer has now. */
const ANSWER = ['input', 'result'];

/** Of `runs/<id>/<kind>/…`. */
export function kindOf(key: string): string {
  return key.split('/')[2] ?? '';
}

interface LiveBatches {
  readonly ids: ReadonlySet<string>;
  /** Searches by the batch that needs them. */
  readonly searches: ReadonlyMap<string, string>;
}

async function whyKept(
  { id, entries }: StoredRun,
  { ask, live, published }: { ask: AskTemporal; live: LiveBatches; published: ReadonlySet<string> },
): Promise<string | null> {
  const batch = live.searches.get(id);
  if (batch !== undefined) return `batch ${batch} is not finished`;
  if (published.has(id)) return 'its proofs are in the layer of a database';
  if (ask !== null) return (await ask(questionWorkflowId(id))) === 'running' ? 'it is running' : null;
  return entries.some(({ key }) => kindOf(key) === 'result')
    ? null
    : 'it has no final record, and Temporal cannot be asked whether it runs';
}

const Header = z.object({ total: z.number() });
const Result = z.object({ outcome: z.unknown() });

async function liveBatches(
  store: ObjectStore,
  ask: AskTemporal,
  batches: readonly StoredRun[],
  { nowMs, olderThanMs }: RunsOptions,
): Promise<LiveBatches> {
  const ids = new Set<string>();
  const searches = new Map<string, string>();
  await each(batches, async (batch) => {
    const running = ask === null ? null : (await ask(batchWorkflowId(batch.id))) === 'running';
    const given = running === false && batch.newestMs <= nowMs - Math.max(olderThanMs, BATCH_GRACE_MS);
    if (running !== true && (given || (await isFinished(store, batch)))) return;
    ids.add(batch.id);
    for (const { key } of batch.entries.filter((entry) => isPageKey(entry.key))) {
      const page = ManifestPage.safeParse(JSON.parse((await store.get(key)) ?? '[]'));
      for (const { searchId } of page.data ?? []) searches.set(searchId, batch.id);
    }
  });
  return { ids, searches };
}

async function isFinished(store: ObjectStore, { id, entries }: StoredRun): Promise<boolean> {
  const header = Header.safeParse(JSON.parse((await store.get(`batches/${id}/manifest.json`)) ?? 'null'));
  const results = entries.filter(({ key }) => key.startsWith(`batches/${id}/results/`));
  if (!header.success || results.length < header.data.total) return false;
  const texts = await each(results, ({ key }) => store.get(key));
  return texts.every((text) => (Result.safeParse(JSON.parse(text ?? 'null')).data?.outcome ?? null) !== null);
}

/** What stays keeps what it was forked from, and what it started. */
async function keepRelated(
  store: ObjectStore,
  runs: readonly StoredRun[],
  going: Map<string, StoredRun>,
  kept: Map<string, string>,
): Promise<void> {
  if (going.size === 0) return;
  const stored = new Set(runs.map(({ id }) => id));
  const related = await each(runs, async ({ id }) => ({ id, ...(await relationsOf(store, id)) }));
  const keep = (id: string, why: string): void => {
    going.delete(id);
    kept.set(id, why);
  };
  for (let before = Infinity; going.size < before;) {
    before = going.size;
    for (const { id, parent, childOf } of related) {
      if (parent !== undefined && !going.has(id) && going.has(parent.searchId))
        keep(parent.searchId, `${id} was forked from it`);
      if (childOf !== undefined && going.has(id) && stored.has(childOf) && !going.has(childOf))
        keep(id, `it is a part of ${childOf}`);
    }
  }
}

const Related = z.object({
  parent: z.object({ searchId: z.string() }).optional(),
  childOf: z.string().optional(),
});

async function relationsOf(store: ObjectStore, searchId: string): Promise<z.infer<typeof Related>> {
  try {
    const input = await readAsStored(store, `runs/${searchId}/input/${searchId}.json`, 'input', sha256);
    return Related.safeParse(input).data ?? {};
  } catch (error) {
    // A search without a readable input cannot go on, forked or not.
    if (error instanceof StoreError && (error.code === 'corrupt' || error.code === 'missing')) return {};
    throw error;
  }
}

function grouped(entries: readonly ObjectEntry[], prefix: string): StoredRun[] {
  const groups = groupBy(entries, ({ key }) => key.slice(prefix.length).split('/')[0] ?? '');
  return [...groups].map(([id, group]) => ({
    ...{ id, entries: group },
    newestMs: group.reduce((newest, { modifiedMs }) => Math.max(newest, modifiedMs), 0),
  }));
}
