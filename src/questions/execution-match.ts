/**
 * Execution match: does a predicted result equal one of the gold results?
 *
 * 1. Rows are compared as multisets (duplicates count), or by `RowOrder` if the question asks for an order.
 * 2. The number of columns must be equal; their names and order do not matter.
 *    This is stricter than scorers that accept extra columns and milder than those that require the order.
 * 3. Values compare by rule S5: numbers with a fraction to 1e-6 relative, the rest exactly.
 * 4. Only results that were compared are "different". A gold query that failed, or a result too large to compare, has its
 *    own outcome.
 */
import type { SqlResult } from '../domain';
import { type Digest, type Rows, equalResults } from '../sql/equal';
import type { RowOrder } from './row-order';

export type Match =
  | { readonly kind: 'match'; readonly gold: number }
  | { readonly kind: 'different'; readonly reason: string }
  | { readonly kind: 'gold-failed'; readonly reason: string }
  | { readonly kind: 'undecided'; readonly reason: string };

export interface MatchOptions {
  /** One for each gold query; default: any order. */
  readonly orders?: readonly RowOrder[];
  /** Counts and hashes from the database, for results beyond the row cap. */
  readonly digests?: { readonly predicted: Digest | null; readonly golds: readonly (Digest | null)[] };
}

export function executionMatch(predicted: SqlResult, golds: readonly SqlResult[], options: MatchOptions = {}): Match {
  const failures = golds.flatMap((gold, index) =>
    gold.kind === 'rows' ? [] : [`gold query ${index + 1}: ${describeFailure(gold)}`],
  );
  const runnable = golds.length - failures.length;
  if (predicted.kind !== 'rows') {
    // A predicted query that fails is wrong, as long as some gold query runs.
    return runnable > 0 ? { kind: 'different', reason: describeFailure(predicted) } : goldFailed(failures);
  }
  const reasons: string[] = [];
  let undecided: string | null = null;
  for (const [index, gold] of golds.entries()) {
    if (gold.kind !== 'rows') continue;
    const verdict = compare(predicted, gold, index, options);
    if (verdict === true) return { kind: 'match', gold: index };
    if (verdict === null) undecided ??= `neither equal nor different within the row cap (gold query ${index + 1})`;
    else reasons.push(difference(predicted, gold));
  }
  // The failed gold query might have been the one that matches.
  if (failures.length > 0 || golds.length === 0) return goldFailed(failures);
  if (undecided !== null) return { kind: 'undecided', reason: undecided };
  return { kind: 'different', reason: reasons[0] ?? 'different' };
}

function goldFailed(failures: readonly string[]): Match {
  return { kind: 'gold-failed', reason: failures[0] ?? 'there is no gold query' };
}

function compare(predicted: Rows, gold: Rows, index: number, options: MatchOptions): boolean | null {
  if (predicted.truncated && gold.truncated) return compareDigests(predicted, gold, index, options);
  if (predicted.truncated || gold.truncated) return differInSize(predicted, gold) ? false : null;
  return equalUpToColumns(predicted, gold, options.orders?.[index] ?? { kind: 'any' });
}

/** True if one was cut after as many rows as the other, complete one has. A result that is large in bytes is cut earlier. */
export function differInSize(one: Rows, other: Rows): boolean {
  if (one.truncated === other.truncated) return false;
  return one.truncated ? one.rows.length >= other.rows.length : other.rows.length >= one.rows.length;
}

/**
 * The hash is exact and depends on the order of columns. Equal hashes prove equal rows in any order. Different hashes prove
 * nothing if the counts are equal.
 */
function compareDigests(predicted: Rows, gold: Rows, index: number, { digests, orders }: MatchOptions): boolean | null {
  if (predicted.columns.length !== gold.columns.length) return false;
  const [one, two] = [digests?.predicted ?? null, digests?.golds[index] ?? null];
  if (one === null || two === null) return null;
  if (one.count !== two.count) return false;
  const inAnyOrder = (orders?.[index]?.kind ?? 'any') === 'any';
  return one.hash === two.hash && inAnyOrder ? true : null;
}

function difference(predicted: Rows, gold: Rows): string {
  const size = (result: Rows) => `${result.truncated ? 'over ' : ''}${result.rows.length} x ${result.columns.length}`;
  return size(predicted) === size(gold)
    ? `other values than the gold (${size(gold)})`
    : `${size(predicted)} instead of ${size(gold)} (rows x columns)`;
}

export function describeFailure(result: Exclude<SqlResult, Rows>): string {
  switch (result.kind) {
    case 'sql-error':
      return `SQL error: ${result.message}`;
    case 'timeout':
      return `no result within ${result.afterMs} ms`;
    case 'refused':
      return `refused: ${result.message}`;
    default:
      return result satisfies never;
  }
}

/** Identical columns could make the search explode; beyond this many comparisons the answer is "undecided". */
const MAX_COMPARISONS = 5000;

/**
 * Whether two results are equal apart from the order and names of columns: is there a one-to-one pairing of columns under
 * which the rows are equal by rule S5? Only columns with equal values pair. A pairing is built column by column and dropped
 * as soon as the rows of its columns differ, so few pairings are tried.
 *
 * null: undecided. Neither side may be truncated.
 */
function equalUpToColumns(predicted: Rows, gold: Rows, order: RowOrder): boolean | null {
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
