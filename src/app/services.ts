/** What the commands read and write besides the network: configuration, store, the index of questions asked. */
import { z } from 'zod';
import { loadConfig, type Config } from '../config';
import { presetOf, type AnswerRecord, type SearchInput, type SearchState } from '../domain';
import type { ObjectStore } from '../ports';
import { sha256 } from '../sha256';
import { createRunStore, readEnvelope, storeInput, writeEnvelope } from '../record/run-store';
import { openStore } from '../workers/open-store';
import { GateError, UsageError } from './errors';
import type { Surroundings } from './surroundings';

export interface Services {
  readonly config: Config;
  readonly store: ObjectStore;
}

export function openServices(at: Pick<Surroundings, 'env' | 'cwd' | 'platform'>): Services {
  const config = loadConfig(at);
  return { config, store: openStore(config) };
}

export { sha256 };

/** The answer as it was last asked for. */
export async function recordOf(store: ObjectStore, searchId: string): Promise<AnswerRecord | null> {
  return createRunStore(store, searchId, sha256).find('result', searchId);
}

export async function inputOf(store: ObjectStore, searchId: string): Promise<SearchInput | null> {
  return createRunStore(store, searchId, sha256).find('input', searchId);
}

/** Oldest first, by the iteration that runs next. */
export async function checkpointsOf(
  store: ObjectStore,
  searchId: string,
): Promise<readonly { readonly next: number; readonly read: () => Promise<SearchState> }[]> {
  const prefix = `runs/${searchId}/checkpoint/`;
  const run = createRunStore(store, searchId, sha256);
  return (await store.list(prefix))
    .flatMap((key) => {
      const next = /^i(\d+)\.json$/.exec(key.slice(prefix.length))?.[1];
      return next === undefined ? [] : [{ next: Number(next), read: () => run.get('checkpoint', `i${next}`) }];
    })
    .sort((a, b) => a.next - b.next);
}

export async function saveInput(store: ObjectStore, input: SearchInput): Promise<void> {
  await storeInput({ store, hash: sha256 }, input);
}

/** What `gate list` knows of a search without reading its record. */
const Listed = z.object({
  id: z.string(),
  question: z.string(),
  database: z.string(),
  method: z.string(),
  preset: z.string().nullable(),
  startedAt: z.string(),
});
export type Listed = z.infer<typeof Listed>;

/** Written by the final record; a search that has none yet is known from `asked/`, which is written before it starts. */
const FINISHED = 'index/';
const ASKED = 'asked/';

export async function addToIndex(store: ObjectStore, input: SearchInput, nowMs: number): Promise<void> {
  const { question, settings, searchId: id } = input;
  const entry: Listed = {
    id,
    question: question.text,
    database: question.database,
    method: settings.spec,
    preset: presetOf(settings.method),
    startedAt: new Date(nowMs).toISOString(),
  };
  await store.put(`${ASKED}${id}.json`, writeEnvelope('asked', entry, sha256), { overwrite: true });
}

/** Newest first. */
export async function listSearches(store: ObjectStore): Promise<Listed[]> {
  const [asked, finished] = await Promise.all([
    entriesUnder(store, ASKED, 'asked'),
    entriesUnder(store, FINISHED, 'index'),
  ]);
  const entries = new Map([...asked, ...finished].map((entry) => [entry.id, entry]));
  return [...entries.values()].sort((a, b) => (a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : 0));
}

async function entriesUnder(store: ObjectStore, prefix: string, kind: string): Promise<Listed[]> {
  const keys = await store.list(prefix);
  const texts = await Promise.all(keys.map((key) => store.get(key)));
  return keys.flatMap((key, index) => {
    const text = texts[index];
    return text ? [readEnvelope(text, { key, kind, schema: Listed, hash: sha256 })] : [];
  });
}

/** An id, an unambiguous beginning of one, or `last`. */
export async function findSearch(store: ObjectStore, wanted: string): Promise<string> {
  if (/^q-[0-9a-f]{16}$/.test(wanted)) {
    if ((await store.list(`runs/${wanted}/`)).length > 0) return wanted;
    throw unknown(wanted);
  }
  const index = await listSearches(store);
  if (wanted === 'last') {
    const [newest] = index;
    if (newest === undefined) throw new GateError('no question was asked yet; begin with: gate ask "…" --db …');
    return newest.id;
  }
  if (!/^q-[0-9a-f]{2,}$/.test(wanted)) {
    throw new UsageError(`'${wanted}' is not a search id; give q-…, its beginning, or last (gate list shows them)`);
  }
  const found = index.filter(({ id }) => id.startsWith(wanted));
  if (found.length > 1)
    throw new UsageError(`'${wanted}' is the beginning of ${found.length} search ids; give more of the id`);
  if (found[0] === undefined) throw unknown(wanted);
  return found[0].id;
}

function unknown(wanted: string): GateError {
  return new GateError(`no search ${wanted} in the store; gate list shows the known ones`);
}
