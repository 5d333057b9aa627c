/**
 * Execution match: does a predicted result equal one of the gold results?
 *
 * 1. Rows are compared as multisets (duplicates count), and by `RowOrder` where the question orders.
 * 2. The number of columns must agree; their names do not matter, nor their order: a reader finds the column.
 *    This is stricter than scorers that accept extra columns and milder than those that fix the order.
 * 3. Values compare by rule S5: numbers with a fraction to 1e-6 relative, the rest exactly.
 * 4. "Different" is said only of results that were compared. A gold query that failed, or a result too large to compare,
 *    is its own outcome.
 */
import type { SqlResult } from '../domain';
import type { Digest, Rows } from '../search/equal';
import { equalUpToColumns } from './column-match';
import type { RowOrder } from './row-order';

export type Match =
  | { readonly kind: 'match'; readonly gold: number }
  | { readonly kind: 'different'; readonly reason: string }
  | { readonly kind: 'gold-failed'; readonly reason: string }
  | { readonly kind: 'undecided'; readonly reason: string };

export interface MatchOptions {
  /** One per gold; any order by default. */
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
    // Whatever the gold is, a query that does not run is no answer to a question that has one.
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
  // A gold that failed, or could not be compared, might have been the one that matches.
  if (failures.length > 0 || golds.length === 0) return goldFailed(failures);
  if (undecided !== null) return { kind: 'undecided', reason: undecided };
  return { kind: 'different', reason: reasons[0] ?? 'different' };
}

function goldFailed(failures: readonly string[]): Match {
  return { kind: 'gold-failed', reason: failures[0] ?? 'there is no gold query' };
}

function compare(predicted: Rows, gold: Rows, index: number, options: MatchOptions): boolean | null {
  if (predicted.truncated && gold.truncated) return compareDigests(predicted, gold, index, options);
  // One result is whole and the other goes on beyond the cap: they differ in size.
  if (predicted.truncated || gold.truncated) return false;
  return equalUpToColumns(predicted, gold, options.orders?.[index] ?? { kind: 'any' });
}

/**
 * The hash is exact and fixes the order of columns: equal proves equality (of rows in any order), different proves nothing
 * at equal counts.
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
