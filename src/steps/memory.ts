/**
 * Memory of scope `database`, the semantic layer (design §3): updates proved by earlier searches on the same database and
 * schema. A search reads one snapshot at its start and publishes its own updates, append-only, at its end.
 */
import { z } from 'zod';
import { Body, Update, type UpdateView } from '../domain';
import { databaseKey, type StepContext } from './context';
import { readsClock } from '../sql/clock';
import { spelledOut } from './lookups';
import { readEnvelope, writeEnvelope } from '../record/run-store';

const Entry = z.object({ schemaVersion: z.literal(1), update: Update, body: Body });

/** How the ids of updates from a memory begin. */
const KNOWN = 'known.';

export function isKnown({ updateId }: Pick<Update, 'updateId'>): boolean {
  return updateId.startsWith(KNOWN);
}

/** Copies the snapshot into the search's own contents, so that it does not change, and returns its control view. */
export async function takeMemory(context: StepContext, fingerprint: string): Promise<UpdateView[]> {
  const { deps, run, settings } = context;
  if (settings.memoryScope !== 'database') return [];
  const views: UpdateView[] = [];
  for (const key of await deps.store.list(folder(context, fingerprint))) {
    const text = await deps.store.get(key);
    if (text === null) continue;
    const { update, body } = readEnvelope(text, { key, kind: 'memory', schema: Entry, hash: deps.hash });
    const knownId = (id: string): string => (id.startsWith(KNOWN) ? id : `${KNOWN}${update.searchId}.${id}`);
    const dependsOn = { ...update.dependsOn, updates: update.dependsOn.updates.map(knownId) };
    const known = { ...update, updateId: knownId(update.updateId), dependsOn };
    await run.put('body', body.bodyId, body);
    await run.put('update', known.updateId, known);
    views.push(updateView(known));
  }
  return views;
}

/** Publishes the updates that rest on nothing unproved; other questions may rely only on these. */
export async function publishMemory(context: StepContext, updates: readonly UpdateView[]): Promise<void> {
  const { deps, run, settings } = context;
  if (settings.memoryScope !== 'database') return;
  for (const view of updates) {
    if (view.status !== 'active') continue;
    const own = await run.get('update', view.id);
    const [mapping, summary] = [await spelledOut(context, own.mapping), await spelledOut(context, own.summary)];
    const update = { ...own, mapping, summary };
    if (update.searchId !== run.searchId || update.dependsOn.assumedBodies.length > 0) continue;
    const body = await run.get('body', update.bodyId);
    // A proof that reads the clock holds for one day only.
    if (readsClock(body.relations)) continue;
    const key = `${folder(context, update.dependsOn.schemaFingerprint)}${run.searchId}.${update.updateId}.json`;
    // The same search writes the same entries, so repeating the step changes nothing.
    await deps.store.put(key, writeEnvelope('memory', { schemaVersion: 1, update, body }, deps.hash), {
      overwrite: true,
    });
  }
}

export function updateView(update: Update): UpdateView {
  const { updates, assumedBodies } = update.dependsOn;
  return {
    id: update.updateId,
    shape: update.shape,
    intent: update.intent,
    inputs: update.inputs,
    bodyId: update.bodyId,
    status: 'active',
    dependsOn: [...updates, ...assumedBodies],
    ...(update.sameAnswer === undefined ? {} : { beside: update.sameAnswer.relativeTo }),
    reuses: 0,
  };
}

function folder(context: StepContext, fingerprint: string): string {
  return `memory/${encodeURIComponent(databaseKey(context.input))}/${fingerprint}/`;
}
