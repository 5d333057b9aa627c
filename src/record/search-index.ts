/**
 * The index of searches: small objects whose keys begin with the time of an asking, the newest first. So a page of `gate list` is
 * the beginning of a folder, and what `gate ops gc` looks at is its end, however many there are.
 *
 * 1. An entry is written before the first object of its search. Asked again, a search gets another entry; all of them stay until
 *    nothing of the search is stored.
 * 2. An entry is replaced when its search has ended.
 * 3. A question that follows another has an entry whose key names both, so that nobody reads inputs to find who needs a search.
 * 4. Parts of another search have their entries in a folder of their own, by the time at which that one was asked.
 * 5. The key of a search of a token says whose it is: others' entries are not read to list one's own.
 */
import * as z from 'zod';
import { oneLine } from '../clip';
import type { SearchInput } from '../domain';
import { AnswerStatus } from '../domain/answer-status';
import { presetOf } from '../domain/question';
import type { ObjectStore } from '../domain/ports';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import { sha256 } from '../sha256';
import { readStored, writeStored } from './envelope';
import { storeInput } from './run-store';

const ASKED = 'index/asked/';
const PARTS = 'index/parts/';
const AFTER = 'index/after/';
const KIND = 'index';
const TEXT_CHARS = 300;

/** What is known of a search without reading its record. */
export const Listed = z.object({
  id: z.string(),
  question: z.string(),
  /** The search that it follows. Left out: none. */
  after: z.string().optional(),
  database: z.string(),
  method: z.string(),
  preset: z.string().nullable(),
  /** When it was asked. */
  startedAt: z.string(),
  /** null: it has not ended. */
  status: AnswerStatus.nullable(),
  /** In one line; else the reason why there is none. */
  answer: z.string().nullable(),
  costUsd: z.number().nullable(),
});
export type Listed = z.infer<typeof Listed>;

type Ended = Pick<Listed, 'status' | 'answer' | 'costUsd'>;

/** `ended`: how it did, if it has. */
export async function writeIndex(store: ObjectStore, input: SearchInput, ended: Ended | null = null): Promise<void> {
  const isPart = input.childOf !== undefined;
  if (isPart && ended !== null) return;
  const { question, settings, searchId: id, askedAt: startedAt = new Date(0).toISOString() } = input;
  const { status, answer, costUsd } = ended ?? { status: null, answer: null, costUsd: null };
  const entry: Listed = {
    id,
    question: oneLine(question.text, TEXT_CHARS),
    ...(question.after === undefined ? {} : { after: question.after }),
    database: question.database,
    method: settings.spec,
    preset: presetOf(settings.method),
    startedAt,
    ...{ status, costUsd, answer: answer === null ? null : oneLine(answer, TEXT_CHARS) },
  };
  const key = `${isPart ? PARTS : ASKED}${placeOf(Date.parse(startedAt))}-${id}${markOf(input.namespace)}.json`;
  if (question.after !== undefined && ended === null)
    await writeStored(store, { key: `${AFTER}${question.after}-${id}.json`, kind: KIND }, entry);
  await writeStored(store, { key, kind: KIND }, entry);
}

export interface Follower {
  readonly key: string;
  /** The search that is followed, and the one that follows it. */
  readonly earlier: string;
  readonly later: string;
}

/** Of one search, or all. */
export async function followers(store: ObjectStore, of?: string): Promise<readonly Follower[]> {
  return (await store.list(of === undefined ? AFTER : `${AFTER}${of}-`)).flatMap((key) => {
    const [, earlier, later] = /(q-[0-9a-f]+)-(q-[0-9a-f]+)\.json$/.exec(key) ?? [];
    return earlier === undefined || later === undefined ? [] : [{ key, earlier, later }];
  });
}

/** Lists a search and stores its input, which every step loads first. */
export async function writeAsked(store: ObjectStore, input: SearchInput): Promise<void> {
  await writeIndex(store, input);
  await storeInput(store, input);
}

/** The newest searches, each once. */
export async function newestSearches(store: ObjectStore, limit: number): Promise<readonly Listed[]> {
  return (await searchPage(store, { limit })).searches;
}

/** Keys at once, where most may be those of others. */
const LOOKED_AT = 1_000;

export interface Page {
  readonly searches: readonly Listed[];
  /** Where the next page begins; null: there is none. */
  readonly next: string | null;
}

/** `namespace`: those of a token alone. `after`: `next` of the page before. */
export async function searchPage(
  store: ObjectStore,
  {
    limit,
    after: begin = '',
    namespace,
  }: { readonly limit: number; readonly after?: string; readonly namespace?: string },
): Promise<Page> {
  const own = namespace === undefined ? '' : `${markOf(namespace)}.json`;
  const most = own === '' ? limit : LOOKED_AT;
  const newest = new Map<string, string>();
  let last = ASKED + begin;
  for (let isMore = true; isMore && newest.size < limit;) {
    const keys = await store.list(ASKED, { limit: most, after: last });
    isMore = keys.length === most;
    for (const key of keys) {
      if (newest.size >= limit) break;
      if (key.endsWith(own) && !newest.has(idOf(key))) newest.set(idOf(key), key);
      last = key;
    }
  }
  const found = await each([...newest.values()], (key) => readIndex(store, key));
  // One may have been removed meanwhile.
  const searches = found.filter((entry) => entry !== null);
  return { searches, next: newest.size < limit ? null : last.slice(ASKED.length) };
}

/** The keys of the entries of a token's searches that were asked since then, by search. */
export async function askedSince(
  store: ObjectStore,
  ms: number,
  namespace: string,
): Promise<ReadonlyMap<string, string>> {
  const own = `${markOf(namespace)}.json`;
  const until = ASKED + placeOf(ms);
  const found = new Map<string, string>();
  for (let after = ASKED; ;) {
    const keys = await store.list(ASKED, { limit: LOOKED_AT, after });
    for (const key of keys) {
      if (key > `${until}-~`) return found;
      if (key.endsWith(own) && !found.has(idOf(key))) found.set(idOf(key), key);
      after = key;
    }
    if (keys.length < LOOKED_AT) return found;
  }
}

/** null: it was removed meanwhile. */
export function readIndex(store: ObjectStore, key: string): Promise<Listed | null> {
  return readStored(store, { key, kind: KIND, schema: Listed });
}

/** Who has a token has a mark; people at this machine and batches have none. */
export const TOKEN_NAMESPACE = 'token:';
function markOf(namespace: string): string {
  return namespace.startsWith(TOKEN_NAMESPACE) ? `.${sha256(namespace).slice(0, 12)}` : '';
}

/** The keys of entries of that time or before, by search. */
export async function askedUntil(store: ObjectStore, ms: number): Promise<ReadonlyMap<string, readonly string[]>> {
  const keys = await each([ASKED, PARTS], (folder) => store.list(folder, { after: folder + placeOf(ms) }));
  return groupBy(keys.flat(), idOf);
}

function idOf(key: string): string {
  return key.slice(key.indexOf('-') + 1).split('.', 1)[0] ?? '';
}

const LAST_MS = 9_999_999_999_999;
/** Leading digits of the time that name a folder: one for 28 hours. */
const FOLDER_DIGITS = 5;

/** Of a time below the folder; later times have smaller ones. */
function placeOf(ms: number): string {
  const left = String(LAST_MS - Math.floor(ms)).padStart(13, '0');
  return `${left.slice(0, FOLDER_DIGITS)}/${left.slice(FOLDER_DIGITS)}`;
}
