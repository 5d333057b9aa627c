/** Errors of a body that was run: the text for the model, or null. */
import type { Operator, SqlResult } from '../../domain';
import type { LoadedPlan } from './load-plan';

export function isAnswer(plan: LoadedPlan, name: string): boolean {
  return plan.operators.at(-1)?.operator.name === name;
}

/** Null if the statement ran, even if it gave no rows. */
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
 * Null if the result has the declared columns, in any case. The columns of an operator that others read are found by name,
 * so their order does not matter. Only the values of the answer are read, so there a column may have another name.
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
