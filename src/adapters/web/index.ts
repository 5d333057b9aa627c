/** The web behind a search provider, and any public page. */
import type { Web } from '../../domain/ports';
import { createPages, type PagesOptions } from './pages';
import { createSearch, type ProviderOptions } from './providers';

export type { ProviderName } from './providers';

/** `pages` is for tests. */
export function createWeb(provider: ProviderOptions, pages: PagesOptions = {}): Web {
  return { search: createSearch(provider), fetch: createPages(pages) };
}
