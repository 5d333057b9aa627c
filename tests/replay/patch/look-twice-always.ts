/** The same change without asking for the patch: what must not be deployed while searches run. */
import {
  runSearch as search,
  type SearchHooks,
  type SearchOutcome,
  type SearchStart,
} from '../../../src/search/control';
import type { SearchSteps } from '../../../src/search/steps';

export * from '../../../src/search/control';

export async function runSearch(start: SearchStart, steps: SearchSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  await steps.prepare({ purpose: 'prepare', searchId: start.searchId, position: 'look-twice' });
  return search(start, steps, hooks);
}
