/**
 * `candidate`: runs a complete plan in one snapshot, together with its control count and the other readings of the
 * question's words. Its result is compared with earlier candidates, oldest first (rule S5).
 */
import type { Dialect, SqlResult } from '../../domain';
import { isClocked, withClock } from '../../sql/clock';
import { readCoverage } from '../../sql/coverage';
import { equalResults, isTrivial, type Digest } from '../../sql/equal';
import type { UsageDelta } from '../../domain/ports/step-parts';
import {
  addDeltas,
  now,
  openBill,
  openEngine,
  runSql,
  sqlOptions,
  sqlUsage,
  type StepContext,
} from '../shared/context';
import type { CandidateContent } from '../../record/contents';
import { loadPlan, planSql, planSqlUnder, selectSql, type LoadedPlan } from '../shared/load-plan';
import { refused, single, together, type Statements } from '../shared/statements';
import type { CandidateRun, Given } from '../../domain/ports/steps';

export async function candidate(context: StepContext, step: Given<'candidate'>): Promise<CandidateRun> {
  const plan = await loadPlan(context, step.plan);
  const { sql, error } = planSql(plan);
  const { planId, bodies } = step.plan;
  const content: Omit<CandidateContent, 'sql' | 'result' | 'control' | 'wording'> = {
    candidateId: step.candidateId,
    digest: null,
    ordered: plan.plan.ordered,
    takenAt: now(context),
    plan: { planId, bodies: bodies.map(([name, body, update]) => [name, body, update]) },
    answer: null,
  };
  if (sql === null) {
    const nothing = { sql: '', result: refused(error), control: null, wording: [] };
    return finishCandidate(context, { ...content, ...nothing }, [], {});
  }
  const { statements, read } = together([single(sql), await extraStatements(context, plan)]);
  const { results, takenAt, usage } = await runSql(context, statements);
  const [result, extras] = read(results);
  const found = { ...content, sql, result, takenAt, ...clockIn(context, sql), ...extras };
  return finishCandidate(context, found, step.against, usage);
}

export type Extras = Statements<Pick<CandidateContent, 'control' | 'controlSql' | 'coverage' | 'wording'>>;

/** The statements that run with the whole plan: its control count, its coverage, and the other readings of the question's words. */
export async function extraStatements(context: StepContext, plan: LoadedPlan): Promise<Extras> {
  const { controlBodyId, coverageBodyId = null, wording } = plan.plan;
  const controlSql = await countSql(context, plan, controlBodyId);
  const coverageSql = await countSql(context, plan, coverageBodyId);
  const others = wording.map(async ({ operator, otherBodyId }) =>
    single(otherBodyId === null ? null : planSqlUnder(plan, operator, await context.run.get('body', otherBodyId))),
  );
  const all = together([single(controlSql), coverageOf(coverageSql), together(await Promise.all(others))]);
  return {
    statements: all.statements,
    read: (results) => {
      const [control, coverage, read] = all.read(results);
      return {
        control: control === null ? null : singleCount(control),
        ...(controlSql === null ? {} : { controlSql }),
        ...coverage,
        wording: wording.map(({ operator, taken, other }, at) => ({
          operator,
          taken,
          other,
          result: read[at] ?? null,
        })),
      };
    },
  };
}

/** Left out where it cannot be read. */
function coverageOf(sql: string | null): Statements<Pick<CandidateContent, 'coverage'>> {
  const { statements, read } = single(sql);
  return {
    statements,
    read: (results) => {
      const result = read(results);
      const counts = result === null ? '' : readCoverage(result);
      return sql === null || typeof counts === 'string' ? {} : { coverage: { ...counts, sql } };
    },
  };
}

/** The same of a candidate without a plan, under the clock of the step: its coverage alone. */
export function coverageStatement({ input }: StepContext, { coverage }: CandidateContent, dialect: Dialect): Extras {
  const { statements, read } = coverageOf(coverage ? withClock(coverage.sql, input.clock, dialect) : null);
  return { statements, read: (results) => ({ control: null, wording: [], ...read(results) }) };
}

/** The clock that a compiled statement reads; empty if it reads none. */
export function clockIn({ input }: StepContext, sql: string): Pick<CandidateContent, 'clock'> {
  return input.clock !== undefined && isClocked(sql) ? { clock: input.clock } : {};
}

/** Takes a digest of a result beyond the row cap, stores the candidate, finds the first earlier one with an equal result. */
export async function finishCandidate(
  context: StepContext,
  content: CandidateContent,
  against: readonly string[],
  usage: UsageDelta,
): Promise<CandidateRun> {
  const { digest, usage: digestUsage } = await digestOf(context, content);
  return storeCandidate(context, { ...content, digest }, against, addDeltas(usage, digestUsage));
}

export async function storeCandidate(
  context: StepContext,
  content: CandidateContent,
  against: readonly string[],
  usage: UsageDelta,
): Promise<CandidateRun> {
  await context.run.put('candidate', content.candidateId, content);
  const { result, digest } = content;
  return {
    outcome: result.kind,
    rowCount: digest?.count ?? (result.kind === 'rows' ? result.rows.length : 0),
    trivial: isTrivial(result),
    control: content.control,
    equalTo: await firstEqual(context, content, against),
    usage,
  };
}

export async function digestOf(
  context: StepContext,
  { sql, result }: Pick<CandidateContent, 'sql' | 'result'>,
): Promise<{ readonly digest: Digest | null; readonly usage: UsageDelta }> {
  if (result.kind !== 'rows' || !result.truncated) return { digest: null, usage: {} };
  const { engine } = await openEngine(context);
  const startedMs = context.deps.clock.now();
  const bill = openBill();
  const digest = await engine.digest(sql, { ...sqlOptions(context), ...bill });
  if ('kind' in digest) return { digest: null, usage: addDeltas(sqlUsage([digest]), bill.usage()) };
  const usage = { sqlExecutions: 1, sqlMs: context.deps.clock.now() - startedMs };
  return { digest, usage: addDeltas(usage, bill.usage()) };
}

async function firstEqual(
  context: StepContext,
  mine: CandidateContent,
  against: readonly string[],
): Promise<string | null> {
  for (const id of against) {
    const other = await context.run.get('candidate', id);
    // If either plan says that the question asks for an order, a result in another order does not agree with it.
    const ordered = mine.ordered || other.ordered;
    if (equalResults(mine.result, other.result, { ordered, digests: [mine.digest, other.digest] })) return id;
  }
  return null;
}

async function countSql(context: StepContext, plan: LoadedPlan, bodyId: string | null): Promise<string | null> {
  if (bodyId === null) return null;
  const { sql, relations, reads, hasWith } = await context.run.get('body', bodyId);
  return selectSql(plan, { sql, relations: [...relations, ...reads], hasWith }).sql;
}

/** The value of the control, if it is a single number. */
function singleCount(result: SqlResult): number | null {
  if (result.kind !== 'rows' || result.rows.length !== 1 || result.rows[0]?.length !== 1) return null;
  const value = Number(result.rows[0][0] ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}
