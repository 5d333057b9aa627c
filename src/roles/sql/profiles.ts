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
import { readTables, sharedCells } from '../../database/profile/table-rows';
import { Link } from '../../database/wide/links';
import { isSmall, isWide, overviewOf, readingOrder, type OverviewContent } from '../../database/wide/overview';
import type { Overview } from '../../database/wide/schema-text';
import { Everywhere, TableKind } from '../../database/wide/table-kinds';
import { IndexedColumn, valueIndex } from '../../database/wide/value-index';
import type { SqlEngine } from '../../domain/ports';
import type { UsageDelta } from '../../domain/ports/step-parts';
import { identityKey } from '../../record/search-id';
import { sha256 } from '../../sha256';
import { addDeltas, openBill, openEngine, sqlUsage, type StepContext } from '../shared/context';
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
  if (isWide(description)) {
    const wanted = new Set(names);
    const { overview, usage } = await overviewShown(context, description);
    return { profiles: overview.profiles.filter(({ table }) => wanted.has(table)), usage };
  }
  const revision = await revisionOf(context);
  const shown = names.slice(0, MOST_TABLES);
  const key = cacheKey(context, description, shown);
  const { store, clock } = context.deps;
  const isCurrent = (kept: Kept | null | undefined): kept is Kept =>
    kept?.revision === revision && clock.now() - kept.takenAtMs < KEPT_MS;
  const read = keptFrom(store);
  const before = read.get(key);
  if (isCurrent(before)) return { profiles: before.profiles, usage: {} };
  return shareProfile(context, key, async () => {
    const stored = await readStored(store, { key, kind: KIND, schema: Kept });
    if (!isCurrent(stored)) return take(context, description, shown, { key, revision });
    read.set(key, stored, stored.profiles.length);
    return { profiles: stored.profiles, usage: {} };
  });
}

/** What the work spent counts for the search that began it. */
async function shareProfile<T extends { readonly usage: UsageDelta }>(
  { deps: { store }, signal, run: { searchId } }: StepContext,
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  const { by, made } = await shareWork(store, key, signal, async () => ({ by: searchId, made: await work() }));
  return by === searchId ? made : { ...made, usage: {} };
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
  const { store } = context.deps;
  const kept: Kept = { revision, takenAtMs, profiles: [...taken.profiles] };
  await writeStored(store, { key, kind: KIND }, kept);
  keptFrom(store).set(key, kept, kept.profiles.length);
  return taken;
}

async function revisionOf(context: StepContext): Promise<string> {
  const { engine } = await openEngine(context);
  return (await engine.revision?.({ signal: context.signal })) ?? '';
}

/** The overview of a wide database, made once for all of its questions; this process keeps the latest ones made up. */
export async function overviewShown(
  context: StepContext,
  description: DatabaseDescription,
): Promise<{ readonly overview: Overview; readonly usage: UsageDelta }> {
  const { store, clock } = context.deps;
  const revision = await revisionOf(context);
  const key = cacheKey(context, description, ['wide']);
  const isFresh = (of: { readonly revision: string; readonly takenAtMs: number } | null | undefined): boolean =>
    of !== null && of !== undefined && of.revision === revision && clock.now() - of.takenAtMs < KEPT_MS;
  const latest = latestOn(store);
  const known = latest.get(key);
  if (known !== undefined && isFresh(known)) return { overview: known.overview, usage: {} };
  return shareProfile(context, key, async () => {
    const kept = await readStored(store, { key, kind: WIDE_KIND, schema: KeptWide });
    if (kept !== null && isFresh(kept)) return { overview: remember(kept), usage: {} };
    const { engine } = await openEngine(context);
    const takenAtMs = clock.now();
    const tag = `gate ${context.run.searchId} profile`;
    const { content, usage } = await takeOverview(engine, description, { tag, values: showsValues(context) });
    const made = { revision, takenAtMs, ...content };
    await writeStored(store, { key, kind: WIDE_KIND }, made);
    return { overview: remember(made), usage };
  });

  function remember(kept: OverviewContent & { readonly takenAtMs: number }): Overview {
    const overview = indexed(kept);
    latest.set(key, { revision, takenAtMs: kept.takenAtMs, overview }, 1);
    return overview;
  }
}

/** Overviews of databases that one process keeps: each is some megabytes. */
const MOST_LATEST = 4;
const latestOn = perStore(
  () =>
    new BoundedMap<{ readonly revision: string; readonly takenAtMs: number; readonly overview: Overview }>(MOST_LATEST),
);

export function indexed({ columns, ...content }: OverviewContent): Overview {
  return { ...content, index: columns.length === 0 ? null : valueIndex(columns) };
}

/** Tables are compared beyond their neighbours for so long. */
const COMPARED_MS = 10_000;

export async function takeOverview(
  engine: SqlEngine,
  description: DatabaseDescription,
  { tag, values = true }: { readonly tag: string; readonly values?: boolean },
): Promise<{ readonly content: OverviewContent; readonly usage: UsageDelta }> {
  const { read, late, usage } = reader(engine, tag);
  const tables = readingOrder(description.tables);
  const rows = await readTables(
    description,
    tables,
    read,
    late,
    isSmall(tables) ? undefined : sharedCells(tables.length),
  );
  let end: AbortSignal | null = null;
  // The time begins when the neighbours are compared.
  const isLate = (): boolean => (end ??= AbortSignal.timeout(COMPARED_MS)).aborted;
  const content = await overviewOf(description, rows, { values, isLate }, () => nextTurn());
  return { content, usage: usage() };
}

/** Reads within the time of a profile. */
function reader(engine: SqlEngine, tag: string) {
  const results: SqlResult[] = [];
  const bill = openBill();
  // The step that began it may end before the work does; others wait for the same.
  const signal = AbortSignal.timeout(TOTAL_MS * 2);
  const late = AbortSignal.timeout(TOTAL_MS);
  return {
    read: async (statement: string, maxRows: number): Promise<SqlResult> => {
      const options = { timeoutMs: STATEMENT_TIMEOUT_MS, maxRows, signal, tag, ...bill };
      const [result] = (await engine.run([statement], options)).results;
      if (result === undefined) throw new Error('the engine gave no result');
      results.push(result);
      return result;
    },
    late: (): boolean => late.aborted,
    // Rows read for a profile are no part of an answer's budget of rows.
    usage: (): UsageDelta => {
      const { sqlRows: _, ...usage } = sqlUsage(results);
      return addDeltas(usage, bill.usage());
    },
  };
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
  const { read, late, usage } = reader(engine, tag);
  const wanted = new Set(names);
  const tables = await readTables(
    description,
    description.tables.filter(({ name }) => wanted.has(name)),
    read,
    late,
  );
  const profiles = await profileTables(tables, { values }, () => nextTurn());
  return { profiles, usage: usage() };
}

const Kept = z.object({
  /** As the engine gave it; empty where it gives none. */
  revision: z.string(),
  takenAtMs: z.number(),
  profiles: z.array(TableProfile),
});
type Kept = z.infer<typeof Kept>;
const KIND = 'table-profiles';

const KeptWide = Kept.extend({
  links: z.array(Link),
  kinds: z.array(TableKind),
  everywhere: z.array(Everywhere),
  columns: z.array(IndexedColumn),
});
const WIDE_KIND = 'wide-overview';

function cacheKey(
  { input, settings }: StepContext,
  { fingerprint }: DatabaseDescription,
  names: readonly string[],
): string {
  const what = `${showsValues({ settings }) ? 'tables' : 'shapes'}${PROFILE_VERSION}`;
  const shown = sha256(names.join('\n')).slice(0, 16);
  return `profiles/${encodeURIComponent(identityKey(input.identity))}/${fingerprint}/${what}-${shown}.json`;
}
