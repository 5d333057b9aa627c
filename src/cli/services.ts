/** What the commands read and write besides the network: configuration, store, the index of questions asked. */
import { createHash } from 'node:crypto';
import type { BatchPorts } from '../activities/batch';
import { createLocalStore } from '../adapters/local';
import { loadConfig, type Config } from '../config';
import type { AnswerRecord, SearchInput } from '../domain';
import type { ObjectStore } from '../ports';
import { createRunStore, storeInput } from '../steps';
import { CommandFailed, UsageError } from './errors';
import type { Io } from './io';

export interface Services {
  readonly config: Config;
  readonly store: ObjectStore;
}

export function openServices(io: Pick<Io, 'env' | 'cwd' | 'platform'>): Services {
  const config = loadConfig(io);
  return { config, store: createLocalStore(config.storeDirectory) };
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export async function recordOf(store: ObjectStore, searchId: string): Promise<AnswerRecord | null> {
  return createRunStore(store, searchId, sha256).find('result', searchId);
}

export async function inputOf(store: ObjectStore, searchId: string): Promise<SearchInput | null> {
  return createRunStore(store, searchId, sha256).find('input', searchId);
}

export async function saveInput(store: ObjectStore, input: SearchInput): Promise<void> {
  await storeInput({ store, hash: sha256 }, input);
}

/** The final record without its rows: what a batch needs to know. */
export function batchPorts(store: ObjectStore): BatchPorts {
  return {
    store,
    readAnswer: async (searchId) => {
      const record = await recordOf(store, searchId);
      if (record === null) return null;
      const { id, status, endedBy, answer, sql, reason, usage } = record;
      return { id, status, endedBy, answer, sql, reason, usage };
    },
  };
}

/** One line of `gate list`: what was asked, whatever Temporal still knows about it. */
export interface IndexEntry {
  readonly searchId: string;
  readonly question: string;
  readonly database: string;
  readonly method: string;
  readonly preset: string;
  readonly askedAt: string;
}

/** Not `index/`: there the final step of a search keeps its own summary. */
const INDEX = 'asked/';

/** The first time a question is asked stands. */
export async function addToIndex(store: ObjectStore, input: SearchInput, nowMs: number): Promise<void> {
  const key = `${INDEX}${input.searchId}.json`;
  if ((await store.get(key)) !== null) return;
  const { question, settings } = input;
  const entry: IndexEntry = {
    searchId: input.searchId,
    question: question.text,
    database: question.database,
    method: settings.method,
    preset: settings.preset,
    askedAt: new Date(nowMs).toISOString(),
  };
  await store.put(key, JSON.stringify(entry), { overwrite: true });
}

/** Newest first. */
export async function readIndex(store: ObjectStore): Promise<IndexEntry[]> {
  const keys = await store.list(INDEX);
  const texts = await Promise.all(keys.map((key) => store.get(key)));
  return texts
    .filter((text) => text !== null)
    .map((text) => JSON.parse(text) as IndexEntry)
    .sort((a, b) => (a.askedAt < b.askedAt ? 1 : a.askedAt > b.askedAt ? -1 : 0));
}

/** An id, an unambiguous beginning of one, or `last`. */
export async function findSearch(store: ObjectStore, wanted: string): Promise<string> {
  if (/^q-[0-9a-f]{16}$/.test(wanted)) {
    if ((await store.list(`runs/${wanted}/`)).length > 0) return wanted;
    throw unknown(wanted);
  }
  const index = await readIndex(store);
  if (wanted === 'last') {
    const [newest] = index;
    if (newest === undefined) throw new CommandFailed('no question was asked yet; begin with: gate ask "…" --db …');
    return newest.searchId;
  }
  if (!/^q-[0-9a-f]{2,}$/.test(wanted)) {
    throw new UsageError(`'${wanted}' is no search id; give q-…, its beginning, or last (gate list shows them)`);
  }
  const found = index.filter(({ searchId }) => searchId.startsWith(wanted));
  if (found.length > 1) throw new UsageError(`'${wanted}' fits ${found.length} searches; give more of the id`);
  if (found[0] === undefined) throw unknown(wanted);
  return found[0].searchId;
}

function unknown(wanted: string): CommandFailed {
  return new CommandFailed(`no search ${wanted} in the store; gate list shows the known ones`);
}
