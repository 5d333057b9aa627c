/**
 * The profile of a database for a search (design §3, Profiles): every table that a prompt shows, read once by SQL without
 * a model call, within a budget of rows and time, and kept for later searches until the database has changed (where the
 * engine can tell) or a day has passed. What cannot be read in time is left out: a profile helps a planner and proves
 * nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod';
import { BoundedMap } from '../../bounded-map';
import type { DatabaseDescription, SqlResult } from '../../domain';
import { PROFILE_VERSION, profileTables, TableProfile } from '../../database/profile';
import { readTables } from '../../database/profile/table-rows';
import type { SqlEngine } from '../../domain/ports';
import type { UsageDelta } from '../../domain/ports/step-parts';
import { identityKey } from '../../record/search-id';
import { openEngine, sqlUsage, type StepContext } from '../shared/context';
import { readStored, writeStored } from '../../record/envelope';
import { perStore } from '../../record/per-store';
import { shareWork } from '../../record/shared-work';

const STATEMENT_TIMEOUT_MS = 5_000;
/** No further table is begun after this much time. */
const TOTAL_MS = 15_000;
/** Rows come and go without a trace. */
const KEPT_MS = 24 * 3_600_000;
/** More than a prompt shows in detail. */
const MOST_TABLES = 60;

export interface Profiled {
  readonly profiles: readonly TableProfile[];
  readonly usage: UsageDelta;
}

const NOTHING: Profiled = { profiles: [], usage: {} };

/** Searches of one process on one database wait for the same work. Empty where the settings want no profiles. */
export async function profileShown(
  context: StepContext,
  description: DatabaseDescription,
  names: readonly string[],
): Promise<Profiled> {
  if (!context.settings.profiles || names.length === 0) return NOTHING;
  const { engine } = await openEngine(context);
  const revision = (await engine.revision?.({ signal: context.signal })) ?? '';
  const shown = names.slice(0, MOST_TABLES);
  const key = cacheKey(context, description, shown);
  const { store, clock, hash } = context.deps;
  const isCurrent = (kept: Kept | null | undefined): kept is Kept =>
    kept?.revision === revision && clock.now() - kept.takenAtMs < KEPT_MS;
  const read = keptFrom(store);
  const before = read.get(key);
  if (isCurrent(before)) return { profiles: before.profiles, usage: {} };
  return shareWork(store, key, context.signal, async () => {
    const stored = await readStored(store, { key, kind: KIND, schema: Kept, hash });
    if (!isCurrent(stored)) return take(context, description, shown, { key, revision });
    read.set(key, stored, stored.profiles.length);
    return { profiles: stored.profiles, usage: {} };
  });
}

/** What this process has read, by key; in tables. */
const keptFrom = perStore(() => new BoundedMap<Kept>(1_000));

async function take(
  context: StepContext,
  description: DatabaseDescription,
  names: readonly string[],
  { key, revision }: { readonly key: string; readonly revision: string },
): Promise<Profiled> {
  const { engine } = await openEngine(context);
  const takenAtMs = context.deps.clock.now();
  const taken = await takeProfiles(engine, description, names, {
    tag: `gate ${context.run.searchId} profile`,
    values: showsValues(context),
  });
  const { store, hash } = context.deps;
  const kept: Kept = { revision, takenAtMs, profiles: [...taken.profiles] };
  await writeStored(store, { key, kind: KIND, hash }, kept);
  keptFrom(store).set(key, kept, kept.profiles.length);
  return taken;
}

/** Whether models see values of rows before they ask for any (`schema.values` of the configuration). */
export function showsValues({ settings }: Pick<StepContext, 'settings'>): boolean {
  return settings.profileValues !== false;
}

/** Reads the tables of these names and says what their rows tell. */
export async function takeProfiles(
  engine: SqlEngine,
  description: DatabaseDescription,
  names: readonly string[],
  { tag, values = true }: { readonly tag: string; readonly values?: boolean },
): Promise<Profiled> {
  const results: SqlResult[] = [];
  // The step that began it may end before the work does; others wait for the same.
  const signal = AbortSignal.timeout(TOTAL_MS * 2);
  const late = AbortSignal.timeout(TOTAL_MS);
  const wanted = new Set(names);
  const tables = await readTables(
    description,
    description.tables.filter(({ name }) => wanted.has(name)),
    async (statement, maxRows) => {
      const options = { timeoutMs: STATEMENT_TIMEOUT_MS, maxRows, signal, tag };
      const [result] = (await engine.run([statement], options)).results;
      if (result === undefined) throw new Error('the engine gave no result');
      results.push(result);
      return result;
    },
    () => late.aborted,
  );
  const profiles = await profileTables(tables, { values }, () => nextTurn());
  // Rows read for a profile are no part of an answer's budget of rows.
  const { sqlRows: _, ...usage } = sqlUsage(results);
  return { profiles, usage };
}

const Kept = z.object({
  /** As the engine gave it; empty where it gives none. */
  revision: z.string(),
  takenAtMs: z.number(),
  profiles: z.array(TableProfile),
});
type Kept = z.infer<typeof Kept>;
const KIND = 'table-profiles';

function cacheKey(
  { input, deps, settings }: StepContext,
  { fingerprint }: DatabaseDescription,
  names: readonly string[],
): string {
  const what = `${showsValues({ settings }) ? 'tables' : 'shapes'}${PROFILE_VERSION}`;
  const shown = deps.hash(names.join('\n')).slice(0, 16);
  return `profiles/${encodeURIComponent(identityKey(input.identity))}/${fingerprint}/${what}-${shown}.json`;
}
