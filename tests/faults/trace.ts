/**
 * Everything that one search left in the store, and the same with what may differ between two runs taken out: ids, times
 * and durations. Two runs of one question are the same search when the rest is equal, object by object.
 */
import type { AnswerRecord } from '../../src/domain';
import type { ObjectStore } from '../../src/domain/ports';
import { contentHashOf } from '../../simulated-model/reply';
import { canonical } from '../../src/domain/canonical';
import { createRunStore } from '../../src/record/run-store';
import { CONTENTS, type Contents, type Kind } from '../../src/record/contents';

export interface Trace {
  readonly searchId: string;
  readonly record: AnswerRecord | null;
  /** `<kind>/<id>` to the canonical text of what is comparable. */
  readonly objects: ReadonlyMap<string, string>;
  readonly damaged: readonly string[];
  readonly calls: readonly JournalledCall[];
}

/** A model call as the journal has it; the hash is that of the simulated model's ledger. */
export interface JournalledCall {
  readonly id: string;
  readonly contentHash: string;
  readonly reply: Contents['reply'] | null;
}

export async function loadTrace(store: ObjectStore, searchId: string): Promise<Trace> {
  const damaged: string[] = [];
  const read = async <T>(what: Promise<T>): Promise<T | null> =>
    what.catch((error: unknown) => {
      damaged.push(error instanceof Error ? error.message : String(error));
      return null;
    });
  const run = createRunStore(store, searchId);
  const found = new Map<string, unknown>();
  for (const kind of Object.keys(CONTENTS) as Kind[])
    for (const [id, content] of (await read(run.all(kind))) ?? [])
      found.set(`${kind}/${id.replaceAll(searchId, 'ID')}`, content);
  for (const [position, output] of (await read(run.outputs())) ?? []) found.set(`step/${position}`, output);
  const objects = new Map(
    [...found].map(([name, data]) => [name, canonical(comparable(data)).replaceAll(searchId, 'ID')]),
  );
  const calls = [...found].flatMap(([name, intent]) => {
    if (!name.startsWith('intent/')) return [];
    const id = name.slice('intent/'.length);
    const reply = (found.get(`reply/${id}`) ?? null) as Contents['reply'] | null;
    return [{ id, contentHash: hashOf(id, intent as Contents['intent']), reply }];
  });
  return { searchId, record: (found.get('result/ID') ?? null) as AnswerRecord | null, objects, damaged, calls };
}

function hashOf(callId: string, { model, messages }: Contents['intent']): string {
  const seed = Number(/\.seed(-?\d+)$/.exec(callId)?.[1] ?? Number.NaN);
  return contentHashOf({ model, seed, messages });
}

/** Times, durations, and what counts how often something had to be repeated. */
const MAY_DIFFER: ReadonlySet<string> = new Set([
  ...['searchId', 'namespace', 'startedAt', 'endedAt', 'startedAtMs', 'endedAtMs', 'takenAt', 'snapshotAt', 'asOf'],
  ...['elapsedMs', 'afterMs', 'sqlMs', 'sqlExecutions', 'possiblyBilledCalls', 'unanswered'],
]);

function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !MAY_DIFFER.has(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, comparable(inner)]));
}
