/**
 * The second half of `gate gc`: shared objects that nothing refers to any more, neither a search nor the vectors of a
 * schema, and payloads of workflows that Temporal has forgotten.
 *
 * 1. Only what was not written to for a day goes. Whoever is about to refer to an object writes it again (`record/objects.ts`),
 *    so an object that is needed soon is young; the age is looked at once more by the deletion itself.
 * 2. Objects are listed before references are read, so that a reference written meanwhile is seen or its object is young.
 * 3. A reference that cannot be read could be to anything: then no object goes, and the reason is told.
 * 4. In a bucket the age is looked at in another request than the deletion: there a copy is laid aside, which a later sweep
 *    takes away, or puts back where its content is needed after all (`record/delete-with-copy.ts`).
 */
import { compareText } from '../domain/canonical';
import { groupBy } from '../group-by';
import type { ObjectEntry, ObjectStore } from '../ports';
import { StoreError } from '../ports';
import { referenceIn } from '../record/run-store';
import { objectName, OBJECTS } from '../record/objects';
import { COPIES, deleteWithCopy, restored } from '../record/delete-with-copy';
import { SNAPSHOTS } from '../record/layer-store';
import { JUDGEMENTS } from '../steps/judge';
import { DESCRIPTIONS, KEPT_MS } from '../workers/description-cache';
import { PAYLOADS, payloadFolder, payloadOwner, UNKNOWN_OWNER } from '../workers/external-storage';
import type { AskTemporal } from './gc-runs';
import { each } from '../limiter';

export const OBJECT_GRACE_MS = 24 * 3_600_000;
/** References are short, also encrypted; what is longer holds its content itself. */
const LONGEST_REFERENCE_BYTES = 4_096;

export interface SweepOptions {
  readonly nowMs: number;
  readonly dryRun: boolean;
  /** With `dryRun`: keys that would be gone by now. */
  readonly without: ReadonlySet<string>;
  readonly graceMs?: number;
}

export interface Swept {
  readonly removed: readonly ObjectEntry[];
  /** Objects that nothing refers to, but that are too young to remove. */
  readonly young: number;
  /** Why nothing was removed; null when the sweep ran. */
  readonly problem: string | null;
}

const NOTHING: Swept = { removed: [], young: 0, problem: null };

export async function sweepObjects(store: ObjectStore, options: SweepOptions): Promise<Swept> {
  const objects = await store.entries(OBJECTS);
  const aside = await asideOf(store, OBJECTS);
  if (objects.length + aside.length === 0) return NOTHING;
  let needed: ReadonlySet<string>;
  try {
    needed = await neededObjects(store, options.without);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code === 'unavailable') throw error;
    return { ...NOTHING, problem: `no object was removed: ${error.message}` };
  }
  const isNeeded = (key: string): boolean => needed.has(objectName(key) ?? key);
  await clearAside(store, aside, options, (key) => Promise.resolve(isNeeded(key)));
  const unneeded = objects.filter(({ key }) => !isNeeded(key));
  return remove(store, unneeded, options);
}

/** Payloads of workflows of the given namespace that Temporal does not know any more. */
export async function sweepPayloads(
  store: ObjectStore,
  ask: AskTemporal,
  namespace: string,
  options: SweepOptions,
): Promise<Swept> {
  if (ask === null) return NOTHING;
  /** Null for payloads whose workflow cannot be told, or is of another namespace. */
  const isNeeded = async (folder: string, { key }: ObjectEntry): Promise<boolean | null> => {
    const text = await store.get(key);
    const owner = text === null ? null : payloadOwner(text);
    if (owner === null || owner === UNKNOWN_OWNER || payloadFolder(namespace, owner) !== folder) return null;
    return (await ask(owner)) !== 'gone';
  };
  await clearAside(store, await asideOf(store, PAYLOADS), options, (key, entry) => isNeeded(folderOf(key), entry));
  const folders = groupBy(await store.entries(PAYLOADS), ({ key }) => folderOf(key));
  const gone: ObjectEntry[] = [];
  await each([...folders], async ([folder, entries]) => {
    if (entries[0] !== undefined && (await isNeeded(folder, entries[0])) === false) gone.push(...entries);
  });
  return remove(store, gone, options);
}

function folderOf(key: string): string {
  return key.replace(/sha256\/[^/]*$/, '');
}

/** What earlier sweeps laid aside. */
function asideOf(store: ObjectStore, prefix: string): Promise<readonly ObjectEntry[]> {
  return store.deletesInTwoRequests === true ? store.entries(`${COPIES}${prefix}`) : Promise.resolve([]);
}

/** Copies older than the grace period go; what is needed after all is put back first. `isNeeded` gets the key it had. */
async function clearAside(
  store: ObjectStore,
  aside: readonly ObjectEntry[],
  { nowMs, dryRun, graceMs = OBJECT_GRACE_MS }: SweepOptions,
  isNeeded: (key: string, entry: ObjectEntry) => Promise<boolean | null>,
): Promise<void> {
  if (dryRun) return;
  const old = aside.filter(({ modifiedMs }) => modifiedMs <= nowMs - graceMs);
  await each(old, async (entry) => {
    const key = entry.key.slice(COPIES.length);
    const needed = await isNeeded(key, entry);
    if (needed === null) return;
    if (needed && (await store.get(key)) === null) await restored(store, key);
    await store.delete(entry.key, { unmodifiedSinceMs: nowMs - graceMs });
  });
}

async function neededObjects(store: ObjectStore, without: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  const entries = (await store.entries('runs/')).filter(
    ({ key, bytes }) => bytes <= LONGEST_REFERENCE_BYTES && !without.has(key),
  );
  await each(entries, async ({ key }) => {
    const text = await store.get(key);
    const reference = text === null ? null : referenceIn(text, key);
    if (reference !== null) needed.add(reference.name);
  });
  return needed;
}

export async function remove(
  store: ObjectStore,
  unneeded: readonly ObjectEntry[],
  { nowMs, dryRun, graceMs = OBJECT_GRACE_MS }: Omit<SweepOptions, 'without'>,
): Promise<Swept> {
  const unmodifiedSinceMs = nowMs - graceMs;
  const removed = unneeded.filter(({ modifiedMs }) => modifiedMs <= unmodifiedSinceMs);
  const isContent = (key: string): boolean => key.startsWith(OBJECTS) || key.startsWith(PAYLOADS);
  if (!dryRun)
    await each(removed, ({ key }) =>
      isContent(key) ? deleteWithCopy(store, key, unmodifiedSinceMs) : store.delete(key, { unmodifiedSinceMs }),
    );
  return { removed, young: unneeded.length - removed.length, problem: null };
}

export interface SweptCaches {
  readonly descriptions: Swept;
  readonly layers: Swept;
  readonly judgements: Swept;
}

/**
 * What the store keeps of databases only to be fast. No search needs any of it: each has its own copy of the description that
 * it began with, and vectors can be had again.
 *
 * 1. A description older than a day is never read again (`description-cache.ts`), so it goes whatever age is given.
 * 2. The vectors of a schema go when no question used them for the age that is given, or a day. Their object goes like any
 *    other that nothing refers to.
 * 3. Of the copies of a layer the largest is read, so the others go after a day.
 * 4. What a judge said goes at the age that is given, or a day; to judge the same again is paid again.
 */
export async function sweepCaches(
  store: ObjectStore,
  options: Omit<SweepOptions, 'graceMs' | 'without'> & { readonly olderThanMs: number },
): Promise<SweptCaches> {
  const { nowMs, dryRun, olderThanMs } = options;
  const [descriptions, snapshots, judgements] = await Promise.all([
    store.entries(DESCRIPTIONS),
    store.entries(SNAPSHOTS),
    store.entries(JUDGEMENTS),
  ]);
  const ofLayers = groupBy(snapshots, ({ key }) => key.slice(0, key.lastIndexOf('/')));
  // Their names begin with the number of objects that they hold.
  const smaller = [...ofLayers.values()].flatMap((of) =>
    [...of].sort((a, b) => compareText(a.key, b.key)).slice(0, -1),
  );
  const old = { nowMs, dryRun, graceMs: Math.max(olderThanMs, OBJECT_GRACE_MS) };
  return {
    descriptions: await remove(store, descriptions, { nowMs, dryRun, graceMs: KEPT_MS }),
    layers: await remove(store, smaller, { nowMs, dryRun }),
    judgements: await remove(store, judgements, old),
  };
}
