/**
 * `candidate`: a complete plan runs whole, with its control count and the other readings of the question's words, in one
 * snapshot; its result is compared with earlier candidates, oldest first (rule S5).
 */
import type { Body, Dialect, SqlResult } from '../domain';
import { compilePlan, compileSelect } from '../search/compile';
import { equalResults, isTrivial, type Digest } from '../search/equal';
import type { CandidateInput, CandidateRun, UsageDelta } from '../search/steps';
import { tryCompile } from './body-errors';
import { addDeltas, once, openEngine, openInspector, runSql, sqlOptions, sqlUsage, type StepContext } from './context';
import type { CandidateContent } from './contents';
import { loadPlan, planOperators, withBodies, type LoadedPlan } from './load-plan';

export async function candidate(context: StepContext, step: CandidateInput): Promise<CandidateRun> {
  return once(
    context,
    async () => {
      const plan = await loadPlan(context, step.plan);
      const { dialect } = await openInspector(context);
      const { sql, error } = tryCompile(() => compilePlan(planOperators(plan), dialect));
      if (sql === null) return refused(context, step, plan, error);
      const control = await controlSql(context, plan, dialect);
      const wording = await Promise.all(plan.plan.wording.map((choice) => otherSql(context, plan, choice, dialect)));
      const run = await runSql(context, [sql, ...[control, ...wording].filter((each) => each !== null)]);
      const [result = notRun, ...extras] = run.results;
      const controlResult = control === null ? null : (extras.shift() ?? notRun);
      const others = wording.map((other) => (other === null ? null : (extras.shift() ?? notRun)));
      const content: CandidateContent = {
        schemaVersion: 1,
        candidateId: step.candidateId,
        sql,
        result,
        digest: null,
        control: controlResult === null ? null : singleCount(controlResult),
        ...(control === null ? {} : { controlSql: control }),
        ordered: plan.plan.ordered,
        wording: plan.plan.wording.map(({ operator, taken, other }, index) => ({
          operator,
          taken,
          other,
          result: others[index] ?? null,
        })),
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

const notRun: SqlResult = { kind: 'refused', message: 'the query was not run' };

/** Digests what is too long to compare, stores the candidate and finds the first earlier one with an equal result. */
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

async function digestOf(
  context: StepContext,
  { sql, result }: CandidateContent,
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
    // The question orders or it does not: where one plan says so, a result in another order is no second vote for it.
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

async function controlSql(context: StepContext, plan: LoadedPlan, dialect: Dialect): Promise<string | null> {
  const { controlBodyId } = plan.plan;
  if (controlBodyId === null) return null;
  const body = await context.run.get('body', controlBodyId);
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

/** A control counts only when it is one number. */
function singleCount(result: SqlResult): number | null {
  if (result.kind !== 'rows' || result.rows.length !== 1 || result.rows[0]?.length !== 1) return null;
  const value = Number(result.rows[0][0] ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}
