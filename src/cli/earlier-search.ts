/**
 * The id under which a question was asked before its database was known as it is now: before it was adopted, or by a version
 * that knew databases by their names alone. What was answered or begun under it is not paid again.
 *
 * A name says nothing of which database it was. Of an ad-hoc one it holds a hash of the address. Of a configured one the
 * description that the search began with has to be the one of today, structure and sample values.
 */
import type { ResolvedDatabase } from '../config/databases';
import type { DatabaseDescription, SearchInput } from '../domain';
import type { ObjectStore } from '../ports';
import { earlierSettings } from '../config/presets';
import { idByName, searchIdOf } from '../record/search-id';
import { createRunStore } from '../record/run-store';
import { SCHEMA_ID } from '../record/contents';
import { sha256 } from './services';

export interface Asked {
  readonly store: ObjectStore;
  readonly database: ResolvedDatabase;
  /** Its identity, what that stands for, and so on (`database-aliases.ts`). */
  readonly chain: readonly string[];
  /** Of the database as it is; asked for only when it decides. */
  readonly describe: () => Promise<DatabaseDescription>;
  /** Of the batch's generation. */
  readonly nonce?: string | null;
  /** Why what was asked before is not taken. */
  readonly tell: (anew: AskedAnew) => void;
}

export interface AskedAnew {
  readonly searchId: string;
  readonly database: string;
  readonly why: string;
}

export function askedAnewLine({ searchId, database, why }: AskedAnew): string {
  return `asked before as ${searchId} of a database called '${database}', which may be another one (${why}): asked again`;
}

/** The same input, under the id that the question has in the store. */
export async function asAskedBefore(input: SearchInput, asked: Asked): Promise<SearchInput> {
  const found = await underAnEarlierName(input, asked);
  if (found !== input || (await wasAsked(asked.store, input.searchId))) return found;
  // The same choices in an earlier version.
  for (const settings of earlierSettings(input.settings)) {
    const then = { ...input, settings };
    const earlier = { ...then, searchId: searchIdOf(then, asked.nonce ?? undefined) };
    if (await wasAsked(asked.store, earlier.searchId)) return earlier;
    const renamed = await underAnEarlierName(earlier, asked);
    if (renamed !== earlier) return renamed;
  }
  return input;
}

async function underAnEarlierName(input: SearchInput, asked: Asked): Promise<SearchInput> {
  const { store, chain } = asked;
  const nonce = asked.nonce ?? undefined;
  for (const identity of [...chain].reverse()) {
    const searchId = searchIdOf({ ...input, identity }, nonce);
    if (await wasAsked(store, searchId)) return { ...input, searchId };
  }
  const searchId = idByName(input, nonce);
  return (await wasAsked(store, searchId)) && (await wasThisDatabase(searchId, asked)) ? { ...input, searchId } : input;
}

async function wasAsked(store: ObjectStore, searchId: string): Promise<boolean> {
  const run = createRunStore(store, searchId, sha256);
  return (await run.find('input', searchId)) !== null || (await run.find('result', searchId)) !== null;
}

async function wasThisDatabase(searchId: string, { store, database, describe, tell }: Asked): Promise<boolean> {
  if (database.adHoc) return true;
  const run = createRunStore(store, searchId, sha256);
  const before = await run.find('schema', SCHEMA_ID);
  if (before !== null && isSameDescription(before.description, await describe())) return true;
  // Without a description nothing was paid, unless what was paid is all that is left.
  if (before === null && (await run.find('result', searchId)) === null) return false;
  const why =
    before === null ? 'its earlier schema is no longer stored' : 'its tables or their first rows have changed';
  tell({ searchId, database: database.name, why });
  return false;
}

/** Not the row counts, which grow. */
export function isSameDescription(before: DatabaseDescription, now: DatabaseDescription): boolean {
  return before.fingerprint === now.fingerprint && samplesOf(before) === samplesOf(now);
}

function samplesOf({ tables }: DatabaseDescription): string {
  const columns = tables.flatMap((table) =>
    table.columns.map(({ name, samples }) => JSON.stringify([table.name, name, samples])),
  );
  return columns.sort().join('\n');
}
