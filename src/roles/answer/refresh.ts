/**
 * A stored answer asked for again (docs/freshness.md): its SQL runs again with the claims and probes that proved it, in one
 * read-only snapshot and without a model call. If all of it holds, the record gets the rows and counts of now and a new `asOf`.
 * Otherwise the answer is stale, for a reason of one line, and the caller searches the question afresh.
 *
 * 1. A clock that the SQL reads is set to the time of this request (`sql/clock.ts`).
 * 2. An answer that rests on an entry of the layer which was rejected or suspended since is stale, whether or not the layer is
 *    on. With the layer on, so is one that was not told what a person has said of its tables since.
 * 3. An unanswerable result has nothing that could run again, so the question is searched afresh. An abstained one keeps its
 *    `asOf`.
 */
import type { AnswerRecord, Dialect, Evidence } from '../../domain';
import { compareText } from '../../domain/canonical';
import { withClock } from '../../sql/clock';
import { rulesFor, ruleText } from '../../layer/rules';
import { allHeld, layerOf } from '../../layer/state';
import { resultPreview } from '../../text/result-text';
import { visibleLine } from '../../clip';
import { updateIdOf } from '../../domain/ports/step-parts';
import { runError } from '../shared/bodies';
import { coverageStatement, digestOf, extraStatements } from '../sql/candidate';
import { openEngine, openParser, openStep, runSql, type StepContext, type StepDeps } from '../shared/context';
import { claimRecheck } from './claim-recheck';
import { SCHEMA_ID, type CandidateContent, type Contents } from '../../record/contents';
import { wordingOf } from './evidence-record';
import { filesRead } from './files';
import { answerOf, stillOpen } from './finish';
import { readLayer } from '../../record/layer-store';
import { currentLayer, layerPlace, visibleLayer } from '../layer/entries';
import { stillUnused } from '../layer/left-aside';
import { loadPlan, type LoadedPlan } from '../shared/load-plan';
import { materialityRecheck, proofRecheck, sameAnswerRecheck, type Recheck } from './recheck';
import { single, together, type Statements } from '../shared/statements';

export type Refreshed =
  | { readonly kind: 'current'; readonly record: AnswerRecord }
  | { readonly kind: 'stale'; readonly reason: string }
  /** The SQL took too long, which says nothing about the answer. */
  | { readonly kind: 'timeout'; readonly afterMs: number };

export interface RefreshAsked {
  readonly searchId: string;
  /** The name that the database has now; left out: that of the search. */
  readonly database?: string;
  /** Of this asking; left out: that of the search. */
  readonly clock?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `record`: as it was last asked for. No model is called. */
export async function refreshStored(
  deps: Omit<StepDeps, 'models'>,
  { searchId, database, clock, signal }: RefreshAsked,
  record: AnswerRecord,
): Promise<Refreshed> {
  const models: StepDeps['models'] = () => {
    throw new Error('an answer is brought up to date without a model');
  };
  const { input, ...step } = await openStep({ ...deps, models }, { searchId, position: 'refresh' }, { signal });
  const now = input.clock === undefined || clock === undefined ? {} : { clock };
  const question = { ...input.question, ...(database !== undefined && { database }) };
  return refresh({ ...step, input: { ...input, question, ...now } }, record);
}

/** `record`: as it was last asked for. */
export async function refresh(context: StepContext, record: AnswerRecord): Promise<Refreshed> {
  const refreshed = await recheck(context, record);
  if (refreshed.kind === 'current') await context.run.put('result', record.id, refreshed.record);
  return refreshed;
}

async function recheck(context: StepContext, record: AnswerRecord): Promise<Refreshed> {
  const { engine } = await openEngine(context);
  const schema = await context.run.find('schema', SCHEMA_ID);
  if (schema === null) return stale('the schema that it saw is not stored');
  const { fingerprint } = await engine.describe({ signal: context.signal });
  if (schema.description.fingerprint !== fingerprint) return stale('the schema changed');
  const distrusted = (await distrustedEntry(context, record)) ?? (await newRule(context, record, schema));
  if (distrusted !== null) return stale(distrusted);
  if (record.status === 'abstained') return { kind: 'current', record };
  const chosen = record.candidates.find((candidate) => candidate.chosen);
  const content = chosen === undefined ? null : await context.run.find('candidate', chosen.id);
  if (record.status === 'answered' && content !== null) return runAgain(context, record, content);
  return stale(`rows may have changed since it was found ${record.status}`);
}

function stale(reason: string): Refreshed {
  return { kind: 'stale', reason };
}

/** Why an entry that the answer relied on or brought in, or a rule that it was told, counts no more; null: all of them stand. */
async function distrustedEntry(
  context: StepContext,
  { claims = [], layer, endedAt }: AnswerRecord,
): Promise<string | null> {
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
  return `it rests on ${entry.entryId.slice(0, 9)} "${visibleLine(statement)}", which ${visibleLine(since)}`;
}

/** The earliest of the rules that a person gave, or worded anew, after the search began, and that it was not told. */
async function newRule(
  context: StepContext,
  { question, sql, startedAt }: AnswerRecord,
  { description }: Contents['schema'],
): Promise<string | null> {
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
  return rule === undefined ? null : `since then ${visibleLine(ruleText(rule))}`;
}

const NO_CLAIMS: Statements<null> = { statements: [], read: () => null };

async function runAgain(context: StepContext, before: AnswerRecord, content: CandidateContent): Promise<Refreshed> {
  const { engine } = await openEngine(context);
  const { dialect } = engine;
  const clock = content.clock === undefined ? undefined : context.input.clock;
  const sql = withClock(content.sql, clock, dialect);
  const plan = content.plan === null ? null : await loadPlan(context, content.plan);
  const extras = plan === null ? coverageStatement(context, content, dialect) : await extraStatements(context, plan);
  const rechecks = together(await recheckAll(context, before, plan, dialect));
  const claims =
    plan === null ? NO_CLAIMS : await claimRecheck(context, before.claims ?? [], content.candidateId, plan);
  const all = together([single(sql), extras, rechecks, claims]);
  const { results, takenAt } = await runSql(context, all.statements);
  const late = results.find((result) => result.kind === 'timeout');
  if (late !== undefined) return { kind: 'timeout', afterMs: late.afterMs };
  const [result, besides, proofs, recount] = all.read(results);
  if (result.kind !== 'rows') return stale(`its SQL no longer runs: ${runError(result) ?? ''}`);
  const { control, controlSql, coverage, wording } = besides;
  if (content.coverage !== undefined && coverage === undefined)
    return stale('how much of the question it covers can no longer be counted');
  const rechecked = proofs.map((read) => read(result));
  const counted = recount?.(result) ?? null;
  const fallen = counted?.why ?? rechecked.find(({ why }) => why !== null)?.why ?? null;
  if (fallen !== null) return stale(fallen);
  const { digest } = await digestOf(context, { sql, result });
  const evidence = before.evidence.map((entry) => {
    const proved = { ...entry, ...rechecked.find(({ operator }) => operator === entry.operator)?.evidence };
    return counted === null ? proved : counted.evidence(proved);
  });
  const open = [
    ...before.openAssumptions.filter(({ kind }) => kind !== 'open-by-wording'),
    ...wordingOf({ wording, result }),
  ];
  const notUsed = await stillUnused(context, before);
  const { columns, rows, truncated } = result;
  const again: AnswerRecord = {
    ...before,
    sql,
    columns: [...columns],
    rows: [...rows],
    truncated,
    evidence,
    coverage,
    claims: before.claims && counted ? [...counted.claims] : before.claims,
    openAssumptions: before.claims && counted ? stillOpen(open, counted.claims) : open,
    notUsed: notUsed.length === 0 ? undefined : notUsed,
    examined:
      before.examined && control !== null && controlSql !== undefined ? { sql: controlSql, count: control } : undefined,
    candidates: before.candidates.map((each) =>
      each.chosen ? { ...each, sql, rowCount: digest?.count ?? rows.length, preview: resultPreview(result) } : each,
    ),
    asOf: takenAt,
    // They may have been read anew since.
    ...(await filesRead(context, await engine.describe({ signal: context.signal }), sql)),
    clock,
  };
  return { kind: 'current', record: { ...again, answer: answerOf(context.input, again) } };
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
async function attemptsOf({ run }: StepContext, candidate: string | undefined): Promise<readonly string[]> {
  const states = [...(await run.all('checkpoint')).values()];
  const state = states.reduce((one, other) => (other.iteration > one.iteration ? other : one));
  const trajectory = state.candidates.find(({ id }) => id === candidate)?.trajectory;
  return state.trajectories.find(({ id }) => id === trajectory)?.attempts ?? [];
}
