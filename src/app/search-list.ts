/** The searches of the store, and how each stands. */
import { newestSearches, type Listed } from '../record/search-index';
import { sha256 } from '../sha256';
import type { App } from './app';
import type { Waiting } from './temporal-session';

export interface SearchRow extends Omit<Listed, 'status'> {
  /** As in `SearchStatus`. */
  readonly status: string;
}

/** The newest first. Temporal is asked only about those that have not ended: asking loads more than all else. */
export async function searches(app: App, limit: number): Promise<readonly SearchRow[]> {
  const newest = await newestSearches({ store: app.store, hash: sha256 }, limit);
  const { livingSearches, statusWithoutRecord } = await import('./open-temporal');
  const live = newest.some(({ status }) => status === null) ? await livingSearches(app, waitingIn(app)) : null;
  const otherwise = (id: string): string =>
    live?.waiting.has(id) === true ? 'waiting' : statusWithoutRecord(app.config, app.env, live !== null);
  return newest.map((entry) => ({
    ...entry,
    status: live?.running.get(entry.id) ?? entry.status ?? otherwise(entry.id),
  }));
}

/** Searches of batches under way that nobody has begun. */
export function waitingIn(app: App): Waiting {
  return async (session) => {
    const { waitingSearches } = await import('./run/batch-queues');
    return waitingSearches({ services: app, now: () => app.now() }, session);
  };
}
