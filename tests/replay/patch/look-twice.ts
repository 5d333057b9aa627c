/** The loop after a change of its path, as docs/changing-the-search.md says: a second look at the schema comes first. */
import { runSearch as search } from '../../../src/search/search';
import type { SearchHooks, SearchOutcome, SearchStart } from '../../../src/search/run';
import type { SearchSteps } from '../../../src/ports/search-steps';

export * from '../../../src/search/search';

export async function runSearch(start: SearchStart, steps: SearchSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  const looksTwice = hooks.patched?.('look-twice') ?? true;
  if (looksTwice) await steps.prepare({ purpose: 'prepare', searchId: start.searchId, position: 'look-twice' });
  return search(start, steps, hooks);
}
