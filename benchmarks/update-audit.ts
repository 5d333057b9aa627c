/**
 * The audit of grounding updates (paper, Update Consistency and Scale): how many updates searches made, how often they were
 * used again, and which pairs of one search could contradict each other because their SQL reads a common table.
 *
 * 1. Tables are what the parser finds in the probe as it ran and in the SQL of the update and of its inputs.
 * 2. Only updates that are active at the end count; withdrawn ones are told apart, because the search itself took them back.
 * 3. An update is reused when another plan of the search took it over (rule S3).
 */
import * as z from 'zod';
import type { TestOutcome, Update, UpdateView } from '../src/domain';
import { type ObjectStore, type SqlInspector, StoreError } from '../src/domain/ports';
import { readStored, writeStored } from '../src/record/envelope';
import type { Trace } from '../src/report/trace';
import { sha256 } from '../src/sha256';
import { CLOCK } from '../src/sql/clock';
import { resultTexts } from '../src/text/result-text';

export const FlaggedPair = z.object({
  schemaVersion: z.literal(1),
  pairId: z.string(),
  searchId: z.string(),
  updates: z.tuple([z.string(), z.string()]),
});
export type FlaggedPair = z.infer<typeof FlaggedPair>;

export const DECISIONS = ['contradiction', 'consistent'] as const;
export const Decision = z.object({
  schemaVersion: z.literal(1),
  pairId: z.string(),
  decision: z.enum(DECISIONS),
  note: z.string().nullable(),
  author: z.string(),
  at: z.string(),
});
export type Decision = z.infer<typeof Decision>;

const PAIRS = 'audits/pairs/';
const pairAt = (id: string) => ({ key: `${PAIRS}${id}.json`, kind: 'flagged-pair' });
const decisionAt = (id: string) => ({ key: `audits/decisions/${id}.json`, kind: 'pair-decision' });

export function storeFlagged(store: ObjectStore, pair: FlaggedPair): Promise<void> {
  return writeStored(store, pairAt(pair.pairId), pair);
}

/** Flagged pairs whose ids begin so. */
export async function flaggedPairs(store: ObjectStore, beginning: string): Promise<FlaggedPair[]> {
  const keys = await store.list(`${PAIRS}${beginning}`);
  const ids = keys.map((key) => key.slice(PAIRS.length, -'.json'.length));
  const pairs = await Promise.all(ids.map((id) => readStored(store, { ...pairAt(id), schema: FlaggedPair })));
  return pairs.filter((pair) => pair !== null);
}

/** The last one counts. */
export function storeDecision(store: ObjectStore, decision: Decision): Promise<void> {
  return writeStored(store, decisionAt(decision.pairId), decision);
}

export function decisionOf(store: ObjectStore, pairId: string): Promise<Decision | null> {
  return readStored(store, { ...decisionAt(pairId), schema: Decision });
}

export const AuditedUpdate = z.object({
  updateId: z.string(),
  operator: z.string(),
  intent: z.string(),
  reading: z.string(),
  summary: z.string(),
  probe: z.string().describe('the SQL that showed it; empty: none ran for it alone'),
  observed: z.string().describe('the rows of the probe as CSV, possibly cut'),
  tables: z.array(z.string()),
  reuses: z.number().int().describe('how often another plan took it over'),
});
export type AuditedUpdate = Readonly<z.infer<typeof AuditedUpdate>>;

export interface UpdatePair {
  readonly pairId: string;
  readonly searchId: string;
  readonly question: string;
  readonly context: string | null;
  /** Tables that both read. */
  readonly tables: readonly string[];
  readonly updates: readonly [AuditedUpdate, AuditedUpdate];
}

export interface AuditedSearch {
  readonly searchId: string;
  readonly question: string;
  readonly updates: readonly AuditedUpdate[];
  readonly withdrawn: number;
  /** Pairs of all updates of the search. */
  readonly possiblePairs: number;
  /** Pairs with a common table. */
  readonly pairs: readonly UpdatePair[];
}

const SHOWN_CHARS = 1_500;

export function auditSearch(trace: Trace, inspector: SqlInspector): AuditedSearch {
  const { searchId, input, record, state } = trace;
  const question = record?.question ?? input?.question.text ?? searchId;
  const context = input?.question.context ?? null;
  const views = state?.updates ?? [];
  const active = views.filter(({ status }) => status === 'active');
  const updates = active.map((view) => auditedUpdate(view, trace, inspector));
  const pairs = updates.flatMap((one, at) =>
    updates.slice(at + 1).flatMap((other): UpdatePair[] => {
      const tables = one.tables.filter((table) => other.tables.includes(table));
      if (tables.length === 0) return [];
      const pairId = `p-${sha256(`${searchId} ${one.updateId} ${other.updateId}`).slice(0, 12)}`;
      return [{ pairId, searchId, question, context, tables, updates: [one, other] }];
    }),
  );
  const possiblePairs = (updates.length * (updates.length - 1)) / 2;
  return { searchId, question, updates, withdrawn: views.length - active.length, possiblePairs, pairs };
}

function auditedUpdate(view: UpdateView, trace: Trace, inspector: SqlInspector): AuditedUpdate {
  const update = trace.updates[view.id];
  if (update === undefined)
    throw new StoreError(
      'missing',
      `${trace.searchId} has lost its update ${view.id}: restore it, or ask with --fresh`,
    );
  const observation = update.observationId === null ? undefined : trace.observations[update.observationId];
  const tests = (observation?.tests ?? []).filter(({ operator }) => operator === update.operator);
  const { operator, intent, mapping: reading, summary } = update;
  return {
    ...{ updateId: view.id, operator, intent, reading, summary, reuses: view.reuses },
    probe: tests.map(({ probeSql }) => probeSql).join(';\n'),
    observed: resultTexts(
      tests.map(({ result }) => result),
      SHOWN_CHARS,
    ).join('\n'),
    tables: tablesOf(update, tests, trace, inspector),
  };
}

function tablesOf(update: Update, tests: readonly TestOutcome[], { bodies }: Trace, inspector: SqlInspector): string[] {
  const statements = tests.flatMap(({ probeSql, hypotheses }) => [
    probeSql,
    ...hypotheses.flatMap(({ run }) => run?.probeSql ?? []),
  ]);
  const read = statements.flatMap((sql) => {
    const inspection = inspector.inspect(sql);
    return inspection.kind === 'select' ? inspection.relations : [];
  });
  const ids = [update.bodyId, ...update.inputs.map(({ bodyId }) => bodyId)];
  const written = ids.flatMap((id) => bodies[id]?.relations ?? []);
  const tables = new Set([...read, ...written].map((relation) => relation.toLowerCase()));
  tables.delete(CLOCK);
  return [...tables].sort();
}

const JudgedPair = z.object({
  pairId: z.string().describe('what gate-bench audit decide takes'),
  searchId: z.string(),
  question: z.string(),
  tables: z.array(z.string()).describe('that both read'),
  updates: z.tuple([AuditedUpdate, AuditedUpdate]),
  reason: z.string().describe("the judge's"),
  decision: Decision.nullable().describe("a person's; null: none yet"),
});
export type JudgedPair = Readonly<z.infer<typeof JudgedPair>>;

const Share = z.number().nullable();

/** Its JSON schema is `docs/schemas/update-audit.schema.json`. */
export const UpdateAudit = z.object({
  schemaVersion: z.literal(1),
  searches: z.number().int(),
  withoutUpdates: z.number().int().describe('searches that made none, such as those of method react'),
  updates: z.number().int(),
  withdrawn: z.number().int().describe('updates that a search took back; not among the others'),
  updatesPerSearch: Share,
  reused: z.number().int().describe('updates that another plan took over'),
  reusedShare: Share,
  reuses: z.number().int().describe('how often updates were taken over'),
  reusesPerUpdate: Share,
  possiblePairs: z.number().int().describe('pairs of updates of one search'),
  pairs: z.number().int().describe('those whose SQL reads a common table'),
  pairsShare: Share,
  judge: z
    .object({
      model: z.string(),
      version: z.number().int(),
      judged: z.number().int(),
      undecided: z.number().int().describe('pairs without a usable reply of the judge'),
      notJudged: z.number().int().describe('pairs that were left, for the limit of cost or an interrupt'),
      flagged: z.number().int().describe('pairs that the judge calls contradictory'),
      flaggedShare: Share.describe('of those judged'),
      contradictions: z.number().int().describe('flagged pairs that a person decided to be contradictions'),
      consistent: z.number().int().describe('flagged pairs that a person decided to be none'),
      contradictionRate: Share.describe(
        'of all possible pairs; null until every pair is judged and every flagged one decided',
      ),
      contradictionRateOfJudged: Share.describe('of the pairs judged; null as above'),
    })
    .nullable()
    .describe('null without --judge'),
  flagged: z.array(JudgedPair),
  bySearch: z.array(
    z.object({
      ...{ searchId: z.string(), question: z.string(), updates: z.number().int(), reused: z.number().int() },
      ...{ reuses: z.number().int(), possiblePairs: z.number().int(), pairs: z.number().int() },
      flagged: z.number().int(),
    }),
  ),
});
export type UpdateAudit = Readonly<z.infer<typeof UpdateAudit>>;

export interface Judged {
  readonly model: string;
  readonly version: number;
  /** One for each pair that was judged; null: no usable reply. */
  readonly verdicts: readonly { readonly pairId: string; readonly contradictory: boolean | null }[];
  readonly flagged: readonly JudgedPair[];
}

export function updateAudit(searches: readonly AuditedSearch[], judged: Judged | null): UpdateAudit {
  const sum = (of: (search: AuditedSearch) => number): number =>
    searches.reduce((total, search) => total + of(search), 0);
  const updates = sum((search) => search.updates.length);
  const reused = sum(reusedIn);
  const reuses = sum(reusesIn);
  const [possiblePairs, pairs] = [sum((search) => search.possiblePairs), sum((search) => search.pairs.length)];
  const flagged = judged?.flagged ?? [];
  return {
    schemaVersion: 1,
    searches: searches.length,
    withoutUpdates: searches.filter((search) => search.updates.length === 0).length,
    ...{ updates, withdrawn: sum(({ withdrawn }) => withdrawn), updatesPerSearch: share(updates, searches.length) },
    ...{ reused, reusedShare: share(reused, updates), reuses, reusesPerUpdate: share(reuses, updates) },
    ...{ possiblePairs, pairs, pairsShare: share(pairs, possiblePairs) },
    judge: judged === null ? null : judgeFigures(judged, pairs, possiblePairs),
    flagged: [...flagged],
    bySearch: searches.map((search) => ({
      ...{ searchId: search.searchId, question: search.question, updates: search.updates.length },
      ...{ reused: reusedIn(search), reuses: reusesIn(search) },
      ...{ possiblePairs: search.possiblePairs, pairs: search.pairs.length },
      flagged: flagged.filter(({ searchId }) => searchId === search.searchId).length,
    })),
  };
}

function judgeFigures(
  { model, version, verdicts, flagged }: Judged,
  pairs: number,
  possiblePairs: number,
): NonNullable<UpdateAudit['judge']> {
  const judged = verdicts.filter(({ contradictory }) => contradictory !== null).length;
  const decided = (as: Decision['decision']): number =>
    flagged.filter(({ decision }) => decision?.decision === as).length;
  const [contradictions, consistent] = [decided('contradiction'), decided('consistent')];
  const isDecided = contradictions + consistent === flagged.length && judged === pairs;
  return {
    ...{ model, version, judged, undecided: verdicts.length - judged, notJudged: pairs - verdicts.length },
    ...{ flagged: flagged.length, flaggedShare: share(flagged.length, judged), contradictions, consistent },
    contradictionRate: isDecided ? share(contradictions, possiblePairs) : null,
    contradictionRateOfJudged: isDecided ? share(contradictions, judged) : null,
  };
}

const reusedIn = ({ updates }: AuditedSearch): number => updates.filter(({ reuses }) => reuses > 0).length;
const reusesIn = ({ updates }: AuditedSearch): number => updates.reduce((total, { reuses }) => total + reuses, 0);
const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
