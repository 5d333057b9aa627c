/**
 * `check`: whether each new body runs over its inputs and returns its declared columns. One row is enough for that; the
 * whole plan runs later. Operators that read a failing one fail too, so only the first cause is reported.
 */
import type { SqlResult } from '../../domain';
import { columnDifference, isAnswer, runError } from '../shared/bodies';
import { addDeltas, runSql, type StepContext } from '../shared/context';
import { findLoaded, limited, loadPlan, planSql, type LoadedPlan } from '../shared/load-plan';
import { profileExtra } from '../shared/shown-tables';
import { orRefused, together } from '../shared/statements';
import type { Given, Gives } from '../../domain/ports/steps';

type Failure = Gives<'check'>['failures'][number];

export async function check(context: StepContext, step: Given<'check'>): Promise<Gives<'check'>> {
  const plan = await loadPlan(context, step.plan);
  const runnable = step.operators.filter((name) => isRunnable(plan, name));
  const parts = runnable.map((name) => orRefused(limited(planSql(plan, name), 1)));
  const { statements, read } = together(parts);
  const { results, usage } = await runSql(context, statements);
  const seen = read(results);
  const failures = runnable.flatMap((name, index): Failure[] => {
    const error = failureOf(plan, name, seen[index]);
    return error === null ? [] : [{ operator: name, error }];
  });
  const profiled = await profileExtra(context, step.plan.planId);
  return { failures: firstCauses(plan, failures), usage: addDeltas(usage, profiled) };
}

/** Whether all inputs have SQL. Otherwise the operator cannot run yet, which is not an error of its body. */
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
