/**
 * `candidate`: runs a complete plan in one snapshot, together with its control count and the other readings of the
 * question's words. Its result is compared with earlier candidates, oldest first (rule S5).
 */
import type { Body, Dialect, SqlResult } from '../domain';
import { isClocked, withClock } from '../sql/clock';
import { compilePlan, compileSelect } from '../sql/compile';
import { readCoverage } from '../sql/coverage';
import { equalResults, isTrivial, type Digest } from '../sql/equal';
import type { CandidateInput, CandidateRun, UsageDelta } from '../ports/search-steps';
import { tryCompile } from './body-errors';
import { addDeltas, once, openEngine, openInspector, runSql, sqlOptions, sqlUsage, type StepContext } from './context';
import type { CandidateContent } from '../record/contents';
import { loadPlan, planOperators, withBodies, type LoadedPlan } from './load-plan';

export async function candidate(context: StepContext, step: CandidateInput): Promise<CandidateRun> {
  return once(
    context,
    async () => {
      const plan = await loadPlan(context, step.plan);
      const { dialect } = await openInspector(context);
      const { sql, error } = tryCompile(() => compilePlan(planOperators(plan), dialect));
      if (sql === null) return refused(context, step, plan, error);
      const extras = await extraStatements(context, plan, dialect);
      const run = await runSql(context, [sql, ...extras.statements]);
      const [result = notRun, ...others] = run.results;
      const content: CandidateContent = {
        schemaVersion: 1,
        candidateId: step.candidateId,
        sql,
        result,
        takenAt: run.takenAt,
        ...clockIn(context, sql),
        digest: null,
        ordered: plan.plan.ordered,
        ...extras.read(others),
        plan: {
          planId: step.plan.planId,
          bodies: step.plan.bodies.map(([name, body, update]) => [name, body, update]),
        },
        answer: null,
      };
      return finishCandidate(context, content, step.against, run.usage);
    },
    step,
  );
}

export interface Extras {
  readonly statements: readonly string[];
  readonly read: (
    results: readonly SqlResult[],
  ) => Pick<CandidateContent, 'control' | 'controlSql' | 'coverage' | 'wording'>;
}

/** The statements that run with the whole plan: its control count, its coverage, and the other readings of the question's words. */
export async function extraStatements(context: StepContext, plan: LoadedPlan, dialect: Dialect): Promise<Extras> {
  const { controlBodyId, coverageBodyId = null } = plan.plan;
  const control = await countSql(context, plan, controlBodyId, dialect);
  const coverage = await countSql(context, plan, coverageBodyId, dialect);
  const wording = await Promise.all(plan.plan.wording.map((choice) => otherSql(context, plan, choice, dialect)));
  return {
    statements: [control, coverage, ...wording].filter((each) => each !== null),
    read: (results) => {
      const pending = [...results];
      const controlResult = control === null ? null : (pending.shift() ?? notRun);
      const covered = coverage === null ? null : readCoverage(pending.shift() ?? notRun);
      const others = wording.map((other) => (other === null ? null : (pending.shift() ?? notRun)));
      return {
        control: controlResult === null ? null : singleCount(controlResult),
        ...(control === null ? {} : { controlSql: control }),
        ...(coverage === null || covered === null || typeof covered === 'string'
          ? {}
          : { coverage: { ...covered, sql: coverage } }),
        wording: plan.plan.wording.map(({ operator, taken, other }, index) => ({
          operator,
          taken,
          other,
          result: others[index] ?? null,
        })),
      };
    },
  };
}

/** The same of a candidate without a plan, under the clock of the step: its coverage alone. */
export function coverageStatement({ input }: StepContext, { coverage }: CandidateContent, dialect: Dialect): Extras {
  const none = { control: null, wording: [] };
  if (coverage === undefined) return { statements: [], read: () => none };
  const sql = input.clock === undefined ? coverage.sql : withClock(coverage.sql, input.clock, dialect);
  return {
    statements: [sql],
    read: ([result = notRun]) => {
      const counts = readCoverage(result);
      return typeof counts === 'string' ? none : { ...none, coverage: { ...counts, sql } };
    },
  };
}

/** The clock that a compiled statement reads; empty if it reads none. */
export function clockIn({ input }: StepContext, sql: string): Pick<CandidateContent, 'clock'> {
  return input.clock !== undefined && isClocked(sql) ? { clock: input.clock } : {};
}

const notRun: SqlResult = { kind: 'refused', message: 'the query was not run' };

/** Takes a digest of a result beyond the row cap, stores the candidate, finds the first earlier one with an equal result. */
export async function finishCandidate(
  context: StepContext,
  content: CandidateContent,
  against: readonly string[],
  usage: UsageDelta,
): Promise<CandidateRun> {
  const { digest, usage: digestUsage } = await digestOf(context, content);
  const stored = { ...content, digest };
  await context.run.put('candidate', content.candidateId, stored);
  const { result } = content;
  return {
    outcome: result.kind,
    rowCount: digest?.count ?? (result.kind === 'rows' ? result.rows.length : 0),
    trivial: isTrivial(result),
    control: content.control,
    equalTo: await firstEqual(context, stored, against),
    usage: addDeltas(usage, digestUsage),
  };
}

export async function digestOf(
  context: StepContext,
  { sql, result }: Pick<CandidateContent, 'sql' | 'result'>,
): Promise<{ readonly digest: Digest | null; readonly usage: UsageDelta }> {
  if (result.kind !== 'rows' || !result.truncated) return { digest: null, usage: {} };
  const { engine } = await openEngine(context);
  const startedMs = context.deps.clock.now();
  const digest = await engine.digest(sql, sqlOptions(context));
  if ('kind' in digest) return { digest: null, usage: sqlUsage([digest]) };
  return { digest, usage: { sqlExecutions: 1, sqlMs: context.deps.clock.now() - startedMs } };
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

async function refused(
  context: StepContext,
  step: CandidateInput,
  plan: LoadedPlan,
  message: string,
): Promise<CandidateRun> {
  const content: CandidateContent = {
    schemaVersion: 1,
    candidateId: step.candidateId,
    sql: '',
    result: { kind: 'refused', message },
    digest: null,
    control: null,
    ordered: plan.plan.ordered,
    wording: [],
    plan: { planId: step.plan.planId, bodies: step.plan.bodies.map(([name, body, update]) => [name, body, update]) },
    answer: null,
  };
  return finishCandidate(context, content, [], {});
}

async function countSql(
  context: StepContext,
  plan: LoadedPlan,
  bodyId: string | null,
  dialect: Dialect,
): Promise<string | null> {
  if (bodyId === null) return null;
  const body = await context.run.get('body', bodyId);
  const select = { sql: body.sql, relations: [...body.relations, ...body.reads], hasWith: body.hasWith };
  return tryCompile(() => compileSelect(planOperators(plan), select, dialect)).sql;
}

async function otherSql(
  context: StepContext,
  plan: LoadedPlan,
  choice: { readonly operator: string; readonly otherBodyId: string | null },
  dialect: Dialect,
): Promise<string | null> {
  if (choice.otherBodyId === null) return null;
  const body: Body = await context.run.get('body', choice.otherBodyId);
  return tryCompile(() => compilePlan(planOperators(withBodies(plan, { [choice.operator]: body })), dialect)).sql;
}

/** The value of the control, if it is a single number. */
function singleCount(result: SqlResult): number | null {
  if (result.kind !== 'rows' || result.rows.length !== 1 || result.rows[0]?.length !== 1) return null;
  const value = Number(result.rows[0][0] ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}
