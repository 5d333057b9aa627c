/**
 * `check`: each new body runs over its inputs and returns its declared columns. One row is enough to learn that; the
 * whole plan runs later. Only the first cause is reported: what is built on a failing operator would fail with it.
 */
import type { Operator, SqlResult } from '../domain';
import { CompileError, compilePlan } from '../search/compile';
import type { Checked, CheckInput } from '../search/steps';
import { addDeltas, once, openInspector, runSql, type StepContext } from './context';
import { findLoaded, loadPlan, planOperators, type LoadedPlan } from './load-plan';
import { profileTouched } from './profiles';

type Failure = Checked['failures'][number];

export async function check(context: StepContext, step: CheckInput): Promise<Checked> {
  return once(context, async () => {
    const plan = await loadPlan(context, step.plan);
    const { dialect } = await openInspector(context);
    const runnable = step.operators.filter((name) => isRunnable(plan, name));
    const statements = runnable.map(
      (name) => `SELECT * FROM (\n${compilePlan(planOperators(plan), dialect, name)}\n) AS checked LIMIT 1`,
    );
    const { results, usage } = await runSql(context, statements);
    const failures = runnable.flatMap((name, index): Failure[] => {
      const error = failureOf(plan, name, results[index]);
      return error === null ? [] : [{ operator: name, error }];
    });
    const profiled = await profileTouched(context, step.plan.planId, plan);
    return { failures: firstCauses(plan, failures), usage: addDeltas(usage, profiled) };
  });
}

export function isAnswer(plan: LoadedPlan, name: string): boolean {
  return plan.operators.at(-1)?.operator.name === name;
}

/** An operator over inputs without SQL cannot run yet; that is no failure of its body. */
function isRunnable(plan: LoadedPlan, name: string): boolean {
  const loaded = findLoaded(plan, name);
  if (loaded === undefined || loaded.body === null) return false;
  return loaded.operator.inputs.every((input) => isRunnable(plan, input));
}

function firstCauses(plan: LoadedPlan, failures: readonly Failure[]): Failure[] {
  const failed = new Set(failures.map(({ operator }) => operator));
  const restsOnFailure = (name: string): boolean =>
    findLoaded(plan, name)?.operator.inputs.some((input) => failed.has(input) || restsOnFailure(input)) ?? false;
  return failures.filter(({ operator }) => !restsOnFailure(operator));
}

function failureOf(plan: LoadedPlan, name: string, result: SqlResult | undefined): string | null {
  const operator = findLoaded(plan, name)?.operator;
  if (operator === undefined || result === undefined) return 'it was not run';
  return runError(result) ?? columnDifference(operator, result, isAnswer(plan, name));
}

/** Null when the statement gave rows, even none. */
export function runError(result: SqlResult): string | null {
  switch (result.kind) {
    case 'rows':
      return null;
    case 'timeout':
      return `the query was stopped after ${result.afterMs} ms: make it cheaper`;
    case 'sql-error':
    case 'refused':
      return result.message;
    default:
      return result satisfies never;
  }
}

/**
 * Null when the result carries the declared interface, whatever the case. Operators that others read are read by name, so
 * there the order does not matter; of the answer only its values are read, so there a column may lack its alias.
 */
export function columnDifference(
  operator: Pick<Operator, 'columns'>,
  result: SqlResult,
  isAnswer: boolean,
): string | null {
  if (result.kind !== 'rows') return null;
  const declared = operator.columns.map((column) => column.name.toLowerCase());
  const returned = result.columns.map((column) => column.name.toLowerCase());
  const isSame = isAnswer
    ? declared.every((name, index) => name === returned[index] || !returned.includes(name))
    : declared.every((name) => returned.includes(name));
  if (declared.length === returned.length && isSame) return null;
  return `it returns (${result.columns.map(({ name }) => name).join(', ')}) but declares (${operator.columns.map(({ name }) => name).join(', ')}): return exactly the declared columns in that order`;
}

/** The compiled text, or why the plan does not fit together. */
export function tryCompile(compile: () => string): { readonly sql: string | null; readonly error: string } {
  try {
    return { sql: compile(), error: '' };
  } catch (error) {
    if (error instanceof CompileError) return { sql: null, error: error.message };
    throw error;
  }
}
