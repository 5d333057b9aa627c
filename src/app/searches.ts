/** Searches of the store: which one is meant. */
import type { ObjectStore } from '../domain/ports';
import { newestSearches } from '../record/search-index';
import type { SearchInput } from '../domain';
import { isConclusive } from '../domain/answer';
import { SEARCH_ID } from '../domain/question';
import { GateError, UsageError } from './errors';
import { inputOf, recordOf } from './services';

/** An id, an unambiguous beginning of one, or `last`. */
export async function findSearch(store: ObjectStore, wanted: string): Promise<string> {
  if (SEARCH_ID.test(wanted)) {
    if ((await store.list(`runs/${wanted}/`, { limit: 1 })).length > 0) return wanted;
    throw unknownSearch(wanted);
  }
  if (wanted === 'last') {
    const [newest] = await newestSearches(store, 1);
    if (newest === undefined) throw new GateError('no question was asked yet; begin with: gate ask "…" --db …');
    return newest.id;
  }
  if (!/^q-[0-9a-f]{2,}$/.test(wanted))
    throw new UsageError(`'${wanted}' is not a search id; give q-…, its beginning, or last (gate list shows them)`);
  const next = async (after = ''): Promise<string | undefined> =>
    (await store.list(`runs/${wanted}`, { limit: 1, after })).map((key) => key.split('/')[1])[0];
  const found = await next();
  if (found === undefined) throw unknownSearch(wanted);
  // The text after all keys of a search.
  if ((await next(`runs/${found}0`)) !== undefined)
    throw new UsageError(`'${wanted}' is the beginning of several search ids; give more of the id`);
  return found;
}

/** The search that a question follows: answered, or found to have no answer. Where another one took its place, that one. */
export async function earlierSearch(
  store: ObjectStore,
  wanted: string,
  said = `--after ${wanted}`,
): Promise<SearchInput> {
  const id = await findSearch(store, wanted);
  const [input, record] = await Promise.all([inputOf(store, id), recordOf(store, id)]);
  if (input === null) throw new GateError(`${said}: the store no longer has the question of ${id}`);
  if (input.settings.method === 'learn') throw new UsageError(`${said}: ${id} is a lesson; give the id of a question`);
  if (record === null)
    throw new GateError(`${said}: ${id} has not ended; gate show ${id} --wait waits for its answer`, 'conflict');
  if (record.replacedBy !== undefined) return earlierSearch(store, record.replacedBy.id, said);
  if (!isConclusive(record))
    throw new GateError(
      `${said}: ${id} ${record.status === 'failed' ? 'failed' : 'was cancelled'}; ask it again first`,
      'conflict',
    );
  return input;
}

export function unknownBatch(id: string): GateError {
  return new GateError(`no batch ${id} in the store; gate batch status shows the known ones`, 'not-found');
}

export function unknownSearch(id: string): GateError {
  return new GateError(`no search ${id} in the store; gate list shows the known ones`, 'not-found');
}
