/**
 * BIRD's three measures of a result, by the rules of bird-bench/mini_dev `evaluation/`. Values compare as in Python: numbers
 * by value (1 equals 1.0), nothing equals a text but the same text, and NULL equals NULL.
 */
import type { Dialect, SqlValue } from '../../src/domain';
import type { Rows } from '../../src/sql/equal';

export type Row = readonly SqlValue[];

/** A mark before the text of a date or a time of PostgreSQL, which equals no text in Python. SQLite has texts alone. */
const MOMENT = '\u0000';

export function asInPython(result: Rows, dialect: Dialect): Rows {
  const isTime = result.columns.map(({ kind }) => kind === 'time' && dialect !== 'sqlite');
  if (!isTime.includes(true)) return result;
  const rows = result.rows.map((row) =>
    row.map((cell, at) => (isTime[at] === true && typeof cell === 'string' ? MOMENT + cell : cell)),
  );
  return { ...result, rows };
}

/** EX. Of a result that was cut, a row that the other one lacks decides; null: there is none, or both were cut. */
export function isRight(predicted: Rows, gold: Rows): boolean | null {
  if (!predicted.truncated && !gold.truncated) return sameSet(predicted.rows, gold.rows);
  if (predicted.truncated && gold.truncated) return null;
  const [cut, whole] = predicted.truncated ? [predicted, gold] : [gold, predicted];
  const known = new Set(whole.rows.map(keyOf));
  return cut.rows.every((row) => known.has(keyOf(row))) ? null : false;
}

/** Equal sets of rows. Order and duplicates are nothing, the order of columns is. */
export function sameSet(predicted: readonly Row[], gold: readonly Row[]): boolean {
  const [ours, theirs] = [new Set(predicted.map(keyOf)), new Set(gold.map(keyOf))];
  return ours.size === theirs.size && [...ours].every((row) => theirs.has(row));
}

/** Soft-F1: duplicate rows are dropped, then the row at each place is compared cell by cell, in any order of columns. */
export function softF1(predicted: readonly Row[], gold: readonly Row[]): number {
  if (predicted.length === 0 && gold.length === 0) return 1;
  const [ours, theirs] = [distinct(predicted), distinct(gold)];
  // Rows that the other side lacks count whole.
  let found = 0;
  let extra = Math.max(0, ours.length - theirs.length);
  let missed = Math.max(0, theirs.length - ours.length);
  for (const [at, row] of theirs.slice(0, ours.length).entries()) {
    const [cells, given] = [row.map(cellKey), (ours[at] ?? []).map(cellKey)];
    const hits = given.filter((cell) => cells.includes(cell)).length;
    found += hits / cells.length;
    extra += (given.length - hits) / cells.length;
    missed += cells.filter((cell) => !given.includes(cell)).length / cells.length;
  }
  return found === 0 ? 0 : (2 * found) / (2 * found + extra + missed);
}

/** R-VES of a right answer: the reward for how much faster than the gold query it is, from the ratios gold / predicted. */
export function rewardOf(ratios: readonly number[]): number {
  const average = mean(ratios);
  const deviation = Math.sqrt(mean(ratios.map((ratio) => (ratio - average) ** 2)));
  // Ratios that are all the same are none at all here; the published code divides by their count and gives 0.
  const kept = ratios.filter((ratio) => Math.abs(ratio - average) < 3 * deviation);
  if (kept.length === 0) return 0;
  const ratio = mean(kept);
  if (ratio >= 2) return 1.25;
  return ratio >= 1 ? 1 : ratio >= 0.5 ? 0.75 : ratio >= 0.25 ? 0.5 : 0.25;
}

function distinct(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

function keyOf(row: Row): string {
  return JSON.stringify(row.map(plain));
}

function cellKey(value: SqlValue): string {
  return JSON.stringify(plain(value));
}

/** True is 1 in Python. */
function plain(value: SqlValue): SqlValue {
  return typeof value === 'boolean' ? Number(value) : value;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
