/** Searches of the store: which there are, which one is meant, and how each stands. */
import { z } from 'zod';
import { presetOf, type SearchInput } from '../domain';
import { compareText } from '../domain/canonical';
import type { ObjectStore } from '../domain/ports';
import { readEnvelope, writeEnvelope } from '../record/envelope';
import { sha256 } from '../sha256';
import { statedText } from '../text/answer-text';
import type { App } from './app';
import { GateError, UsageError } from './errors';
import { recordOf } from './services';
import type { TemporalSession } from './temporal-session';

/** What is known of a search without reading its record. */
const Listed = z.object({
  id: z.string(),
  question: z.string(),
  database: z.string(),
  method: z.string(),
  preset: z.string().nullable(),
  startedAt: z.string(),
});
export type Listed = z.infer<typeof Listed>;

export async function addToIndex(store: ObjectStore, input: SearchInput, nowMs: number): Promise<void> {
  const { question, settings, searchId: id } = input;
  const entry: Listed = {
    id,
    question: question.text,
    database: question.database,
    method: settings.spec,
    preset: presetOf(settings.method),
    startedAt: new Date(nowMs).toISOString(),
  };
  await store.put(`asked/${id}.json`, writeEnvelope('asked', entry, sha256), { overwrite: true });
}

/** Newest first. */
export async function listSearches(store: ObjectStore): Promise<Listed[]> {
  const [asked, finished] = await Promise.all([entriesUnder(store, 'asked'), entriesUnder(store, 'index')]);
  const entries = new Map([...asked, ...finished].map((entry) => [entry.id, entry]));
  return [...entries.values()].sort((a, b) => compareText(b.startedAt, a.startedAt));
}

/** `index`: written by the final record; `asked`: before the search starts. */
async function entriesUnder(store: ObjectStore, kind: 'asked' | 'index'): Promise<Listed[]> {
  const keys = await store.list(`${kind}/`);
  const texts = await Promise.all(keys.map((key) => store.get(key)));
  return keys.flatMap((key, index) => {
    const text = texts[index];
    return text ? [readEnvelope(text, { key, kind, schema: Listed, hash: sha256 })] : [];
  });
}

/** An id, an unambiguous beginning of one, or `last`. */
export async function findSearch(store: ObjectStore, wanted: string): Promise<string> {
  if (/^q-[0-9a-f]{16}$/.test(wanted)) {
    if ((await store.list(`runs/${wanted}/`)).length > 0) return wanted;
    throw unknownSearch(wanted);
  }
  const index = await listSearches(store);
  if (wanted === 'last') {
    const [newest] = index;
    if (newest === undefined) throw new GateError('no question was asked yet; begin with: gate ask "…" --db …');
    return newest.id;
  }
  if (!/^q-[0-9a-f]{2,}$/.test(wanted))
    throw new UsageError(`'${wanted}' is not a search id; give q-…, its beginning, or last (gate list shows them)`);
  const found = index.filter(({ id }) => id.startsWith(wanted));
  if (found.length > 1)
    throw new UsageError(`'${wanted}' is the beginning of ${found.length} search ids; give more of the id`);
  if (found[0] === undefined) throw unknownSearch(wanted);
  return found[0].id;
}

export function unknownSearch(id: string): GateError {
  return new GateError(`no search ${id} in the store; gate list shows the known ones`);
}

export interface SearchRow extends Listed {
  /** As in `SearchStatus`. */
  readonly status: string;
  readonly answer: string | null;
  readonly costUsd: number | null;
}

/** Searches of batches under way that nobody has begun yet. */
export type Waiting = (session: TemporalSession) => Promise<ReadonlySet<string>>;

/** The newest first. */
export async function searches(
  app: App,
  { limit, waiting }: { readonly limit: number; readonly waiting: Waiting },
): Promise<readonly SearchRow[]> {
  const { liveSearches, statusWithoutRecord } = await import('./temporal-session');
  const all = await listSearches(app.store);
  const live = await liveSearches(app, waiting);
  const otherwise = (id: string): string =>
    live?.waiting.has(id) === true ? 'waiting' : statusWithoutRecord(app.config, app.env, live !== null);
  return Promise.all(
    all.slice(0, limit).map(async (entry) => {
      const record = await recordOf(app.store, entry.id);
      return {
        ...entry,
        status: live?.running.get(entry.id) ?? record?.status ?? otherwise(entry.id),
        answer: record === null ? null : (statedText(record) ?? record.reason),
        costUsd: record?.usage.costUsd ?? null,
      };
    }),
  );
}
