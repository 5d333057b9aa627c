/** What use cases read and write besides the network: the configuration, and what the store holds of a search. */
import { loadConfig, type Config } from '../config';
import type { AnswerRecord, SearchInput, SearchState } from '../domain';
import type { ObjectStore } from '../domain/ports';
import { sha256 } from '../sha256';
import { createRunStore, storeInput } from '../record/run-store';
import { openStore } from '../workers/open-store';
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
