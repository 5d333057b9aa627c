/**
 * The second half of `gate gc`: shared objects that nothing refers to any more, neither a search nor the vectors of a
 * schema, and payloads of workflows that Temporal has forgotten.
 *
 * 1. Only what was not written to for a day goes. Whoever is about to refer to an object writes it again (`objects.ts`),
 *    so an object that is needed soon is young; the age is looked at once more by the deletion itself.
 * 2. Objects are listed before references are read, so that a reference written meanwhile is seen or its object is young.
 * 3. A reference that cannot be read could be to anything: then no object goes, and the reason is told.
 */
import type { ObjectEntry, ObjectStore } from '../ports';
import { StoreError } from '../ports';
import { referenceIn } from '../steps';
import { objectName, OBJECTS } from '../steps/objects';
import { EMBEDDINGS, vectorsReference } from '../steps/vector-store';
import { PAYLOADS, payloadFolder, payloadOwner, UNKNOWN_OWNER } from '../workers/external-storage';
import type { AskTemporal } from './gc-runs';
import { each } from './limiter';

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
  /** Unneeded and too young. */
  readonly young: number;
  /** Why nothing was removed, where that is so. */
  readonly problem: string | null;
}

const NOTHING: Swept = { removed: [], young: 0, problem: null };

export async function sweepObjects(store: ObjectStore, options: SweepOptions): Promise<Swept> {
  const objects = await store.entries(OBJECTS);
  if (objects.length === 0) return NOTHING;
  let needed: ReadonlySet<string>;
  try {
    needed = await neededObjects(store, options.without);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code === 'unavailable') throw error;
    return { ...NOTHING, problem: `no object was removed: ${error.message}` };
  }
  const unneeded = objects.filter(({ key }) => !needed.has(objectName(key) ?? key));
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
  const folders = new Map<string, ObjectEntry[]>();
  for (const entry of await store.entries(PAYLOADS)) {
    const folder = entry.key.replace(/sha256\/[^/]*$/, '');
    folders.set(folder, [...(folders.get(folder) ?? []), entry]);
  }
  const gone: ObjectEntry[] = [];
  await each([...folders], async ([folder, entries]) => {
    const text = entries[0] === undefined ? null : await store.get(entries[0].key);
    const owner = text === null ? null : payloadOwner(text);
    if (owner === null || owner === UNKNOWN_OWNER || payloadFolder(namespace, owner) !== folder) return;
    if ((await ask(owner)) === 'gone') gone.push(...entries);
  });
  return remove(store, gone, options);
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
  // A damaged one is void for its readers, too, and can refer to nothing but vectors.
  await each(await store.entries(EMBEDDINGS), async ({ key }) => {
    const reference = without.has(key) ? null : vectorsReference(await store.get(key));
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
  if (!dryRun) await each(removed, ({ key }) => store.delete(key, { unmodifiedSinceMs }));
  return { removed, young: unneeded.length - removed.length, problem: null };
}
