/** The same change without asking for the patch: what must not be deployed while searches run. */
import { runSearch as search } from '../../../src/search/search';
import type { SearchHooks, SearchOutcome, SearchStart } from '../../../src/search/run';
import type { SearchSteps } from '../../../src/ports/search-steps';

export * from '../../../src/search/search';

export async function runSearch(start: SearchStart, steps: SearchSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  await steps.prepare({ purpose: 'prepare', searchId: start.searchId, position: 'look-twice' });
  return search(start, steps, hooks);
}
