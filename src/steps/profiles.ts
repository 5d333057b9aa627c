/**
 * Column profiles for a search (design §3, Profiles): computed by SQL without a model call, within a budget of columns and
 * time. They are cached per database and schema until the database changes (if the engine can tell), and for a day at most.
 * Profiles that fail or are too slow are left out: they help the planner and are no part of a proof.
 */
import { z } from 'zod';
import { ColumnProfile, type DatabaseDescription, type TableDescription } from '../domain';
import {
  DEFAULT_PROFILE_BUDGET,
  interpretProfile,
  joinCandidates,
  profileQueries,
  selectProfileTargets,
  type ProfileTarget,
} from '../search/profile';
import type { UsageDelta } from '../search/steps';
import { sameRelation } from '../search/validate';
import { addDeltas, databaseKey, openEngine, sqlOptions, sqlUsage, type StepContext } from './context';
import type { LoadedPlan } from './load-plan';
import { SCHEMA_ID } from './prompt-context';
import { readEnvelope, writeEnvelope } from './run-store';

const LIKELY_COLUMNS = 60;
const TOUCHED_COLUMNS = 40;
const STATEMENT_TIMEOUT_MS = 5_000;
/** After this time no further table is profiled. */
const TOTAL_MS = 15_000;
/** How long a profile is kept: rows may change without any sign. */
const KEPT_MS = 24 * 3_600_000;

export interface Profiled {
  readonly profiles: readonly ColumnProfile[];
  readonly usage: UsageDelta;
}

/** Profiles the columns that the question's words make likely. */
export async function profileLikely(context: StepContext, description: DatabaseDescription): Promise<Profiled> {
  if (!context.settings.profiles) return { profiles: [], usage: {} };
  const { text, context: told, instructions } = context.input.question;
  const words = [text, told, instructions].filter((each) => each !== null).join('\n');
  return profile(context, description, selectProfileTargets(description, words, LIKELY_COLUMNS));
}

/** Profiles the columns that a new plan reads and that have no profile yet; once per plan, so that its prompts stay the same. */
export async function profileTouched(context: StepContext, planId: string, plan: LoadedPlan): Promise<UsageDelta> {
  if (!context.settings.profiles || (await context.run.find('profile', planId)) !== null) return {};
  const { description, profiles: known } = await context.run.get('schema', SCHEMA_ID);
  const { profiles, usage } = await profile(context, description, touchedColumns(description, plan, known));
  await context.run.put('profile', planId, { schemaVersion: 1, profiles: [...profiles] });
  return usage;
}

function touchedColumns(
  description: DatabaseDescription,
  plan: LoadedPlan,
  known: readonly ColumnProfile[],
): ProfileTarget[] {
  const relations = plan.operators.flatMap(({ operator }) => operator.relations);
  const text = plan.operators.flatMap(({ operator, body }) => [
    body?.sql ?? '',
    operator.body.kind === 'unresolved' ? operator.body.mapping : '',
  ]);
  const words = new Set(
    text
      .join(' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}_$]+/gu) ?? [],
  );
  let left = TOUCHED_COLUMNS;
  return description.tables
    .filter((table) => relations.some((relation) => sameRelation(relation, table.name)))
    .map((table) => {
      const columns = table.columns
        .map(({ name }) => name)
        .filter(
          (name) => isNamed(name, words) && !known.some((each) => each.table === table.name && each.column === name),
        )
        .slice(0, Math.max(0, left));
      left -= columns.length;
      return { table, columns };
    })
    .filter(({ columns }) => columns.length > 0);
}

/** Whether the words name the column. For a quoted name of several words, all must occur. */
function isNamed(column: string, words: ReadonlySet<string>): boolean {
  return (column.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? []).every((word) => words.has(word));
}

async function profile(
  context: StepContext,
  description: DatabaseDescription,
  targets: readonly ProfileTarget[],
): Promise<Profiled> {
  const startedMs = context.deps.clock.now();
  const profiles: ColumnProfile[] = [];
  let usage: UsageDelta = {};
  if (targets.length === 0) return { profiles, usage };
  const { engine } = await openEngine(context);
  const revision = (await engine.revision?.({ signal: context.signal })) ?? '';
  for (const { table, columns } of targets) {
    const kept = await readCache(context, description, table);
    const cached = isValid(kept, revision, startedMs) ? kept.profiles : [];
    const found = cached.filter(({ column }) => columns.includes(column));
    const missing = columns.filter((column) => !found.some((each) => each.column === column));
    const isLate = context.deps.clock.now() - startedMs > TOTAL_MS;
    const fresh = missing.length === 0 || isLate ? null : await profileTable(context, description, table, missing);
    if (fresh !== null) {
      usage = addDeltas(usage, fresh.usage);
      const takenAtMs = cached.length > 0 ? (kept?.takenAtMs ?? startedMs) : startedMs;
      await writeCache(context, description, table, { revision, takenAtMs, profiles: [...cached, ...fresh.profiles] });
    }
    profiles.push(...found, ...(fresh?.profiles ?? []));
  }
  return { profiles, usage };
}

async function profileTable(
  context: StepContext,
  description: DatabaseDescription,
  table: TableDescription,
  columns: readonly string[],
): Promise<Profiled> {
  const { engine } = await openEngine(context);
  const joins = joinCandidates(description, table, columns);
  const queries = profileQueries(table, columns, description.dialect, DEFAULT_PROFILE_BUDGET, joins);
  if (queries.statements.length === 0) return { profiles: [], usage: {} };
  const options = sqlOptions(context);
  const timeoutMs = Math.min(STATEMENT_TIMEOUT_MS, options.timeoutMs);
  const { results } = await engine.run(queries.statements, { ...options, timeoutMs });
  return { profiles: interpretProfile(queries, results), usage: sqlUsage(results) };
}

const Cached = z.object({
  schemaVersion: z.literal(1),
  /** The engine's revision; empty if it gives none. */
  revision: z.string().default(''),
  /** Time of the oldest profile. */
  takenAtMs: z.number().default(0),
  profiles: z.array(ColumnProfile),
});
type Cached = z.infer<typeof Cached>;

function isValid(kept: Cached | null, revision: string, nowMs: number): kept is Cached {
  return kept !== null && kept.revision === revision && nowMs - kept.takenAtMs < KEPT_MS;
}

/** The cache key: readable if possible, a hash if a database name is too long for a store's key. */
function cacheKey(
  { input, deps }: StepContext,
  { fingerprint }: DatabaseDescription,
  { name }: TableDescription,
): string {
  const written = encodeURIComponent(name);
  const file = written.length <= 120 ? written : deps.hash(name);
  return `profiles/${encodeURIComponent(databaseKey(input))}/${fingerprint}/${file}.json`;
}

async function readCache(
  context: StepContext,
  description: DatabaseDescription,
  table: TableDescription,
): Promise<Cached | null> {
  const key = cacheKey(context, description, table);
  const text = await context.deps.store.get(key);
  if (text === null) return null;
  return readEnvelope(text, { key, kind: 'profiles', schema: Cached, hash: context.deps.hash });
}

async function writeCache(
  context: StepContext,
  description: DatabaseDescription,
  table: TableDescription,
  kept: Omit<Cached, 'schemaVersion'>,
): Promise<void> {
  const text = writeEnvelope('profiles', { schemaVersion: 1, ...kept }, context.deps.hash);
  await context.deps.store.put(cacheKey(context, description, table), text, { overwrite: true });
}
