/** The web behind a search provider, and any public page. */
import type { Web } from '../../domain/ports';
import { createPages, type PagesOptions } from './pages';
import { createSearch, type ProviderOptions } from './providers';

export { checkedUrl, isPublicAddress } from './connection';
export type { ProviderName } from './providers';

/** `pages` is for tests: limits, a resolver, ports of this machine. */
export function createWeb(provider: ProviderOptions, pages: PagesOptions = {}): Web {
  return { search: createSearch(provider), fetch: createPages(pages) };
}
