/** The loop after a change of its path, as docs/changing-the-search.md says: a second look at the schema comes first. */
import {
  runSearch as search,
  type SearchHooks,
  type SearchOutcome,
  type SearchStart,
} from '../../../src/search/control';
import type { SearchSteps } from '../../../src/search/steps';

export * from '../../../src/search/control';

export async function runSearch(start: SearchStart, steps: SearchSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  const looksTwice = hooks.patched?.('look-twice') ?? true;
  if (looksTwice) await steps.prepare({ purpose: 'prepare', searchId: start.searchId, position: 'look-twice' });
  return search(start, steps, hooks);
}
