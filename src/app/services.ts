/** What use cases read and write besides the network: the configuration, and what the store holds of a search. */
import { loadConfig, type Config } from '../config';
import type { AnswerRecord, SearchInput, SearchState } from '../domain';
import type { ObjectStore } from '../domain/ports';
import { createRunStore } from '../record/run-store';
import { writeAsked } from '../record/search-index';
import { openStore } from '../workers/open-store';
import type { Surroundings } from './surroundings';

export interface Services {
  readonly config: Config;
  readonly store: ObjectStore;
}

export function openServices(at: Pick<Surroundings, 'env' | 'cwd' | 'platform' | 'configuration'>): Services {
  const config = loadConfig(at);
  return { config, store: openStore(config) };
}

/** The answer as it was last asked for. */
export async function recordOf(store: ObjectStore, searchId: string): Promise<AnswerRecord | null> {
  return createRunStore(store, searchId).find('result', searchId);
}

export async function inputOf(store: ObjectStore, searchId: string): Promise<SearchInput | null> {
  return createRunStore(store, searchId).find('input', searchId);
}

/** The states after each iteration, oldest first. */
export async function checkpointsOf(store: ObjectStore, searchId: string): Promise<readonly SearchState[]> {
  const states = await createRunStore(store, searchId).all('checkpoint');
  return [...states.values()].sort((a, b) => a.iteration - b.iteration);
}

/** Lists a search that somebody asks for now, and stores its input. */
export async function saveAsked(store: ObjectStore, input: SearchInput, nowMs: number): Promise<SearchInput> {
  const asked = { ...input, askedAt: new Date(nowMs).toISOString() };
  await writeAsked(store, asked);
  return asked;
}
