/**
 * Whether two results are equal apart from the order and names of columns: is there a one-to-one pairing of columns under
 * which the rows are equal by rule S5? Only columns with equal values pair. A pairing is built column by column and dropped
 * as soon as the rows of its columns differ, so few pairings are tried.
 */
import { equalResults, type Rows } from '../sql/equal';
import type { RowOrder } from './row-order';

/** Identical columns could make the search explode; beyond this many comparisons the answer is "undecided". */
const MAX_COMPARISONS = 5000;

/** null: undecided. Neither side may be truncated. */
export function equalUpToColumns(predicted: Rows, gold: Rows, order: RowOrder): boolean | null {
  if (predicted.columns.length !== gold.columns.length || predicted.rows.length !== gold.rows.length) return false;
  const width = gold.columns.length;
  const whole = (chosen: readonly number[]): boolean =>
    equalColumns(predicted, chosen, gold, [...chosen.keys()], false);
  const asTheyStand = [...gold.columns.keys()];
  if (whole(asTheyStand) && inOrder(predicted, gold, asTheyStand, order)) return true;
  const partners = gold.columns.map((_, column) =>
    // The same position first: most answers list their columns as asked.
    [column, ...gold.columns.keys()].filter(
      (other, index) => (index === 0 || other !== column) && equalColumns(predicted, [other], gold, [column], false),
    ),
  );
  if (partners.some((found) => found.length === 0)) return false;
  if (partners.every((found) => found.length === 1)) {
    const only = partners.flat();
    return new Set(only).size === width && whole(only) && inOrder(predicted, gold, only, order);
  }
  let comparisons = 0;

  const extend = (chosen: readonly number[]): boolean | null => {
    if (chosen.length === width) return inOrder(predicted, gold, chosen, order);
    let undecided = false;
    for (const other of partners[chosen.length] ?? []) {
      if (chosen.includes(other)) continue;
      comparisons += 1;
      if (comparisons > MAX_COMPARISONS) return null;
      const next = [...chosen, other];
      if (next.length > 1 && !whole(next)) continue;
      const found = extend(next);
      if (found === true) return true;
      undecided ||= found === null;
    }
    return undecided ? null : false;
  };
  return extend([]);
}

/** `chosen[i]` is the predicted column that is paired with gold column i. */
function inOrder(predicted: Rows, gold: Rows, chosen: readonly number[], order: RowOrder): boolean {
  switch (order.kind) {
    case 'any':
      return true;
    case 'sequence':
      return equalColumns(predicted, chosen, gold, [...chosen.keys()], true);
    case 'keys': {
      const theirs = order.columns.map((column) => chosen[column] ?? column);
      return equalColumns(predicted, theirs, gold, order.columns, true);
    }
    default:
      return order satisfies never;
  }
}

function equalColumns(
  left: Rows,
  leftColumns: readonly number[],
  right: Rows,
  rightColumns: readonly number[],
  ordered: boolean,
) {
  return equalResults(project(left, leftColumns), project(right, rightColumns), { ordered });
}

/** The chosen columns under neutral names, so that they are compared by position. */
function project(result: Rows, columns: readonly number[]): Rows {
  return {
    ...result,
    columns: columns.map((column, index) => ({ name: `c${index}`, kind: result.columns[column]?.kind ?? 'other' })),
    rows: result.rows.map((row) => columns.map((column) => row[column] ?? null)),
  };
}
