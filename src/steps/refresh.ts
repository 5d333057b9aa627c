/**
 * Refreshes a stored answer that is asked for again (docs/freshness.md): its final SQL runs again with everything that proved
 * it, in one read-only snapshot and without a model call.
 *
 * 1. If the schema changed, a proof no longer holds, or the SQL no longer runs, the answer is stale, with the reason. The
 *    caller then starts a new search.
 * 2. Otherwise the current rows are returned. Equal rows (rule S5) leave the record unchanged; others make a new version.
 * 3. An unanswerable result holds as long as the database can tell that no row has changed. An abstained one has nothing to
 *    run and keeps the date of its decision.
 * 4. Coverage and claims are counted again, so that what is told of them belongs to the rows beside it.
 * 5. A clock that the SQL reads is set to the time of this request (`sql/clock.ts`).
 * 6. An answer that rests on an entry of the layer which was rejected or suspended since is stale, whatever the rows say and
 *    whether or not the layer is on. One whose check no longer holds is among the claims, and counted with them.
 * 7. Of what it left aside (`notUsed`), only what is still in use is told.
 * 8. An answer that was not told what a person has said of its question or tables since is stale where the layer is on.
 */
import type { AnswerRecord, Dialect, Evidence, SqlResult } from '../domain';
import { canonical, compareText } from '../domain/canonical';
import { withClock } from '../sql/clock';
import { equalResults, type Digest } from '../sql/equal';
import { rulesFor, ruleText } from '../layer/rules';
import { allHeld, layerOf } from '../layer/state';
import { resultPreview } from '../text/preview';
import { visibleLine } from '../text/visible';
import { updateIdOf } from '../ports/search-steps';
import { runError } from './body-errors';
import { coverageStatement, digestOf, extraStatements, type Extras } from './candidate';
import { now, openEngine, openParser, runSql, type StepContext } from './context';
import { claimRecheck, type RecheckedClaims } from './claim-recheck';
import { SCHEMA_ID, type CandidateContent, type Contents } from '../record/contents';
import { wordingOf } from './evidence-record';
import { answerOf, stillOpen } from './finish';
import { LAST, shownAs } from '../record/freshness';
import { readLayer } from '../record/layer-store';
import { currentLayer, layerPlace, visibleLayer } from './layer-entries';
import { stillUnused } from './left-aside';
import { loadPlan, type LoadedPlan } from './load-plan';
import type { RunStore } from '../record/run-store';
import { materialityRecheck, proofRecheck, sameAnswerRecheck, type Recheck } from './recheck';
import { single, together, type Statements } from './statements';

export type Refreshed =
  | { readonly kind: 'current'; readonly record: AnswerRecord }
  /** `revision` is equal for the same state of the database, so that the new search is found again. */
  | { readonly kind: 'stale'; readonly reason: string; readonly revision: string }
  /** The SQL took too long, which says nothing about the answer. */
  | { readonly kind: 'timeout'; readonly afterMs: number };

/** `first`: the record at the end of the search. */
export async function refresh(context: StepContext, first: AnswerRecord): Promise<Refreshed> {
  const { engine } = await openEngine(context);
  const schema = await context.run.find('schema', SCHEMA_ID);
  const { fingerprint } = await engine.describe({ signal: context.signal });
  if (schema === null) return { kind: 'stale', reason: 'the schema that it saw is not stored', revision: fingerprint };
  if (schema.description.fingerprint !== fingerprint)
    return { kind: 'stale', reason: 'the schema changed', revision: `schema ${fingerprint}` };
  const distrusted = (await distrustedEntry(context, first)) ?? (await newRule(context, first, schema));
  if (distrusted !== null) return { kind: 'stale', ...distrusted };
  const before = await context.run.find('refresh', LAST);
  if (first.status === 'abstained')
    return keep(context, first, { ...standing(first, before), reused: true, rowsChanged: false, rowsBefore: null });
  const chosen = first.candidates.find((candidate) => candidate.chosen);
  const content = chosen === undefined ? null : await context.run.find('candidate', chosen.id);
  if (first.status !== 'answered' || content === null) {
    const current = (await engine.dataRevision?.({ signal: context.signal })) ?? null;
    if (current === null || current !== schema.dataRevision)
      return {
        kind: 'stale',
        reason: `rows may have changed since it was found ${first.status}`,
        revision: `data ${current ?? fingerprint}`,
      };
    return keep(context, first, {
      ...standing(first, before),
      asOf: now(context),
      reused: true,
      rowsChanged: false,
      rowsBefore: null,
    });
  }
  return runAgain(context, first, content, before);
}

/** Why an entry that the answer relied on or brought in, or a rule that it was told, counts no more; null: all of them stand. */
async function distrustedEntry(
  context: StepContext,
  { claims = [], layer, endedAt }: AnswerRecord,
): Promise<{ readonly reason: string; readonly revision: string } | null> {
  const used = new Set(claims.flatMap(({ entry }) => entry?.entryId ?? []));
  for (const { entryId } of (await context.run.find('told', SCHEMA_ID))?.rules ?? []) used.add(entryId);
  const kept = new Set(layer?.kept.map(({ entryId }) => entryId));
  if (used.size + kept.size === 0) return null;
  const place = layerPlace(context);
  const fallen = allHeld(await currentLayer(place)).filter(
    ({ entry: { entryId }, status }) =>
      (status === 'rejected' || status === 'suspended') && (used.has(entryId) || kept.has(entryId)),
  );
  if (fallen.length === 0) return null;
  // One that contradicted another as soon as it was kept has the standing that it had then.
  const then = allHeld(layerOf(await readLayer(place), endedAt));
  const held = fallen.find(
    ({ entry: { entryId }, status }) =>
      used.has(entryId) || then.find(({ entry }) => entry.entryId === entryId)?.status !== status,
  );
  if (held === undefined) return null;
  const { entry, statement, status, why } = held;
  // The words of an entry that contradicts it are left out: this reader may not see that one.
  const since = status === 'rejected' ? `was ${why ?? ''}` : `is suspended, because ${why?.split(': ', 1)[0] ?? ''}`;
  const name = `${entry.entryId.slice(0, 9)} "${visibleLine(statement)}"`;
  return { reason: `it rests on ${name}, which ${visibleLine(since)}`, revision: `layer ${entry.entryId} ${status}` };
}

/** What a person said, or worded anew, after the search began, and it was not told; the earliest first, so that its id is found again. */
async function newRule(
  context: StepContext,
  { question, sql, startedAt }: AnswerRecord,
  { description }: Contents['schema'],
): Promise<{ readonly reason: string; readonly revision: string } | null> {
  if (context.settings.layer === undefined) return null;
  const later = visibleLayer(await currentLayer(layerPlace(context)), description).rules.filter(
    ({ entry: { saidAt } }) => saidAt > startedAt,
  );
  if (later.length === 0) return null;
  const inspection = (await openParser(context, description.dialect)).inspect(sql ?? '');
  const tables = inspection.kind === 'select' ? inspection.relations : [];
  const told = new Set((await context.run.find('told', SCHEMA_ID))?.rules.map(({ text }) => text));
  const [rule] = rulesFor(later, { question, tables })
    .filter((each) => !told.has(ruleText(each)))
    .sort((a, b) => compareText(a.entry.saidAt, b.entry.saidAt));
  if (rule === undefined) return null;
  const { entryId, saidAt } = rule.entry;
  return { reason: `since then ${visibleLine(ruleText(rule))}`, revision: `layer ${entryId} ${saidAt}` };
}

const NO_CLAIMS: Statements<null> = { statements: [], read: () => null };

async function runAgain(
  context: StepContext,
  first: AnswerRecord,
  content: CandidateContent,
  before: Contents['refresh'] | null,
): Promise<Refreshed> {
  const { dialect } = (await openEngine(context)).engine;
  const { clock } = context.input;
  const sql = content.clock === undefined || clock === undefined ? content.sql : withClock(content.sql, clock, dialect);
  const plan = content.plan === null ? null : await loadPlan(context, content.plan);
  const extras = plan === null ? coverageStatement(context, content, dialect) : await extraStatements(context, plan);
  const rechecks = together(await recheckAll(context, first, plan, dialect));
  const claims = plan === null ? NO_CLAIMS : await claimRecheck(context, first.claims ?? [], content.candidateId, plan);
  const all = together([single(sql), extras, rechecks, claims]);
  const { results, takenAt } = await runSql(context, all.statements);
  const late = results.find((result) => result.kind === 'timeout');
  if (late !== undefined) return { kind: 'timeout', afterMs: late.afterMs };
  const [result, besides, proofs, recount] = all.read(results);
  const revision = context.deps.hash(JSON.stringify(results.map(withoutTime)));
  if (result.kind !== 'rows')
    return { kind: 'stale', reason: `its SQL no longer runs: ${runError(result) ?? ''}`, revision };
  const around = beside(first, besides);
  if (content.coverage !== undefined && around.coverage === undefined)
    return { kind: 'stale', reason: 'how much of the question it covers can no longer be counted', revision };
  const rechecked = proofs.map((read) => read(result));
  const counted = recount?.(result) ?? null;
  const fallen = counted?.why ?? rechecked.find(({ why }) => why !== null)?.why ?? null;
  if (fallen !== null) return { kind: 'stale', reason: fallen, revision };
  const { digest } = await digestOf(context, { sql, result });
  const shown = await shownNow(context, first, content, before);
  const previous: SqlResult = { ...shown.record, kind: 'rows', elapsedMs: 0 };
  const isEqual = equalResults(previous, result, { ordered: content.ordered, digests: [shown.digest, digest] });
  const { columns, rows, truncated } = isEqual ? shown.record : result;
  const evidence = first.evidence.map((entry) => {
    const now = { ...entry, ...rechecked.find(({ operator }) => operator === entry.operator)?.evidence };
    return counted === null ? now : counted.evidence(now);
  });
  const { notUsed: _, ...rest } = first;
  const notUsed = await stillUnused(context, first);
  const again: AnswerRecord = {
    ...rest,
    ...(notUsed.length === 0 ? {} : { notUsed }),
    ...{ sql, columns: [...columns], rows: [...rows], truncated, evidence },
    ...around,
    ...recounted(first, around.openAssumptions, counted),
    candidates: first.candidates.map((each) =>
      each.chosen ? { ...each, sql, rowCount: digest?.count ?? rows.length, preview: resultPreview(result) } : each,
    ),
  };
  const record = { ...again, answer: answerOf(context.input, again) };
  const was = standing(first, before);
  const state = {
    ...{ ...was, asOf: takenAt, reused: true, rowsChanged: !isEqual, rowsBefore: isEqual ? null : was.asOf },
    ...(content.clock === undefined || clock === undefined ? {} : { clock }),
  };
  // Also compare the words, which include counts besides the rows, and the counts that are told without words too.
  const isTold = canonical(countsOf(record)) === canonical(countsOf(shown.record));
  if (isEqual && isTold && record.answer === answerOf(context.input, shown.record))
    return keep(context, shown.record, state);
  const version = `v${Number((before?.version ?? 'v0').slice(1)) + 1}`;
  await context.run.put('version', version, { schemaVersion: 1, record, digest: isEqual ? shown.digest : digest });
  return keep(context, record, { ...state, version });
}

/** The current results of the other readings, the coverage, and the control count for the sentence. */
function beside(
  first: AnswerRecord,
  { control, controlSql, coverage, wording }: ReturnType<Extras['read']>,
): Pick<AnswerRecord, 'openAssumptions' | 'examined' | 'coverage'> {
  const counted = control === null || controlSql === undefined ? undefined : { sql: controlSql, count: control };
  return {
    openAssumptions: [
      ...first.openAssumptions.filter(({ kind }) => kind !== 'open-by-wording'),
      ...wordingOf({ wording }),
    ],
    ...(coverage === undefined ? {} : { coverage }),
    ...(first.examined === undefined ? {} : { examined: counted }),
  };
}

/** The claims with their counts of now, and what they leave open. */
function recounted(
  first: AnswerRecord,
  open: AnswerRecord['openAssumptions'],
  counted: RecheckedClaims | null,
): Pick<AnswerRecord, 'claims' | 'openAssumptions'> {
  if (first.claims === undefined || counted === null) return { openAssumptions: open };
  return { claims: [...counted.claims], openAssumptions: stillOpen(open, counted.claims) };
}

function countsOf({ coverage, claims, openAssumptions, notUsed = [] }: AnswerRecord): unknown {
  return [
    openAssumptions.map(({ alternative }) => alternative),
    notUsed,
    coverage === undefined ? null : [coverage.asked, coverage.used],
    (claims ?? []).map(({ state, matching, examined, rivals }) => ({ state, matching, examined, rivals })),
  ];
}

/** Everything that the answer rests on and the database can decide. */
async function recheckAll(
  context: StepContext,
  { evidence, candidates, claims = [] }: AnswerRecord,
  plan: LoadedPlan | null,
  dialect: Dialect,
): Promise<Recheck[]> {
  // What the claims of the commit proved is proved again by their counts.
  const isClaimed = ({ operator, updateId }: Evidence): boolean =>
    claims.some((claim) => claim.operator === operator) && updateId === updateIdOf(plan?.plan.planId ?? '', operator);
  const proofs = evidence
    .filter((entry) => !isClaimed(entry))
    .map(({ updateId }) => (updateId === null ? null : proofRecheck(context, updateId, dialect)));
  const beside = evidence.map(({ operator, updateId }) =>
    plan === null || updateId === null ? null : sameAnswerRecheck(context, plan, operator, updateId),
  );
  const immaterial = evidence.filter(({ state }) => state === 'immaterial');
  const attempts =
    immaterial.length === 0 ? [] : await attemptsOf(context, candidates.find(({ chosen }) => chosen)?.id);
  const others = immaterial.map(({ operator }) =>
    plan === null ? null : materialityRecheck(context, plan, operator, attempts),
  );
  return (await Promise.all([...proofs, ...beside, ...others])).filter((each) => each !== null);
}

/** The attempts of the candidate's trajectory, from the last checkpoint. */
async function attemptsOf({ deps, run }: StepContext, candidate: string | undefined): Promise<readonly string[]> {
  const prefix = `runs/${run.searchId}/checkpoint/i`;
  const iterations = (await deps.store.list(prefix)).map((key) => Number.parseInt(key.slice(prefix.length), 10));
  const state = await run.get('checkpoint', `i${Math.max(...iterations)}`);
  const trajectory = state.candidates.find(({ id }) => id === candidate)?.trajectory;
  return state.trajectories.find(({ id }) => id === trajectory)?.attempts ?? [];
}

/** The record that was shown last. */
async function shownNow(
  { run }: StepContext,
  first: AnswerRecord,
  content: CandidateContent,
  before: Contents['refresh'] | null,
): Promise<{ readonly record: AnswerRecord; readonly digest: Digest | null }> {
  const version = before?.version ?? null;
  return version === null ? { record: first, digest: content.digest } : run.get('version', version);
}

function standing(first: AnswerRecord, before: Contents['refresh'] | null): Contents['refresh'] {
  if (before !== null) return { ...before, next: null };
  const asOf = first.asOf ?? first.endedAt;
  const state = { asOf, version: null, reused: false, rowsChanged: false, rowsBefore: null, next: null };
  return { schemaVersion: 1, ...state, ...(first.clock === undefined ? {} : { clock: first.clock }) };
}

async function keep(context: StepContext, record: AnswerRecord, state: Contents['refresh']): Promise<Refreshed> {
  await context.run.put('refresh', LAST, state);
  return { kind: 'current', record: shownAs(record, state) };
}

/** Stores which search replaces a stale one, so that asking again finds it. */
export async function supersede(
  run: RunStore,
  first: AnswerRecord,
  next: NonNullable<Contents['refresh']['next']>,
): Promise<void> {
  await run.put('refresh', LAST, { ...standing(first, await run.find('refresh', LAST)), next });
}

function withoutTime(result: SqlResult): unknown {
  return result.kind === 'rows' ? [result.columns, result.rows, result.truncated] : [result.kind];
}
