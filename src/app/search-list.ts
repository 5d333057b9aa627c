/** The searches of the store, and how each stands. */
import { searchPage, type Listed } from '../record/search-index';
import type { App } from './app';
import type { Living, Waiting } from './temporal-session';

export interface SearchRow extends Omit<Listed, 'status'> {
  /** As in `SearchStatus`. */
  readonly status: string;
}

export interface RowPage {
  readonly rows: readonly SearchRow[];
  /** `after` of the next page; null: there is none. */
  readonly next: string | null;
}

export async function searches(app: App, limit: number): Promise<readonly SearchRow[]> {
  return (await searchRows(app, { limit })).rows;
}

/**
 * The newest first. Temporal is asked only about those that have not ended: asking loads more than all else. `namespace`: those of
 * a token alone. `living`: how Temporal is asked, of who is connected to it.
 */
export async function searchRows(
  app: App,
  of: Parameters<typeof searchPage>[1],
  living?: () => Promise<Living | null>,
): Promise<RowPage> {
  const { searches: newest, next } = await searchPage(app.store, of);
  const { livingSearches, statusWithoutRecord } = await import('./open-temporal');
  const ask = living ?? ((): Promise<Living | null> => livingSearches(app, waitingIn(app)));
  const live = newest.some(({ status }) => status === null) ? await ask() : null;
  const otherwise = (id: string): string =>
    live?.waiting.has(id) === true ? 'waiting' : statusWithoutRecord(app.config, app.env, live !== null);
  const statusOf = ({ id, status }: Listed): string => live?.running.get(id) ?? status ?? otherwise(id);
  return { next, rows: newest.map((entry) => ({ ...entry, status: statusOf(entry) })) };
}

/** Searches of batches under way that nobody has begun. */
export function waitingIn(app: App): Waiting {
  return async (session) => {
    const { waitingSearches } = await import('./run/batch-queues');
    return waitingSearches({ services: app, now: () => app.now() }, session);
  };
}
