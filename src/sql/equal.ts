/**
 * When two results are equal (rule S5): as multisets, or as sequences if the question asks for an order; columns by name,
 * else by position; numbers with a fraction to 1e-6 relative, whole numbers exactly. Results beyond the row cap are compared
 * by a count and a hash from the database.
 */
import type { ResultColumn, SqlResult, SqlValue } from '../domain';
import { groupBy } from '../group-by';

export type Rows = Extract<SqlResult, { kind: 'rows' }>;
export interface Digest {
  readonly count: number;
  readonly hash: string;
}
interface Comparison {
  readonly ordered: boolean;
  /** Digests of the two results, needed where one is truncated. */
  readonly digests?: readonly [Digest | null, Digest | null];
}

export function equalResults(left: SqlResult, right: SqlResult, comparison: Comparison): boolean {
  if (left.kind !== 'rows' || right.kind !== 'rows') return false;
  const order = columnOrder(left.columns, right.columns);
  if (order === null) return false;
  const isCapped = left.truncated || right.truncated;
  if (isCapped) {
    // The hash depends on the order of the columns, but not on the order of the rows.
    const isSame = order.every((to, from) => to === from) && equalDigests(left, right, comparison.digests);
    if (!isSame || !comparison.ordered) return isSame;
  } else if (left.rows.length !== right.rows.length) return false;
  const axes = order.map((to, from) => columnRule(left, from, right, to));
  const one = left.rows.map((row) =>
    split(
      row,
      axes.map((_, index) => index),
      axes,
    ),
  );
  const two = right.rows.map((row) => split(row, order, axes));
  if (!comparison.ordered) return equalMultisets(one, two);
  // A result may also have been cut because of its size.
  return equalSequences(isCapped ? one.slice(0, two.length) : one, two);
}

/** Empty, or only NULLs, zeros and false: agreement on such a result proves little (S5, S9). */
export function isTrivial(result: SqlResult): boolean {
  if (result.kind !== 'rows') return true;
  const isNothing = (value: SqlValue, column: ResultColumn | undefined): boolean =>
    value === null ||
    value === 0 ||
    value === false ||
    (column?.kind === 'number' && typeof value === 'string' && Number(value) === 0);
  return result.rows.every((row) => row.every((value, index) => isNothing(value, result.columns[index])));
}

/** The index of the partner of each left column; null when the two cannot be compared. */
function columnOrder(left: readonly ResultColumn[], right: readonly ResultColumn[]): readonly number[] | null {
  if (left.length !== right.length) return null;
  const names = right.map((column) => column.name.toLowerCase());
  const byName = left.map((column) => names.indexOf(column.name.toLowerCase()));
  const isOneToOne =
    !byName.includes(-1) && new Set(byName).size === byName.length && new Set(names).size === names.length;
  return isOneToOne ? byName : left.map((_, index) => index);
}

/** Compares digests. Without both digests a truncated result equals nothing; a complete one differs from it in size. */
function equalDigests(left: Rows, right: Rows, digests: Comparison['digests']): boolean {
  const [one, two] = digests ?? [null, null];
  if (!left.truncated || !right.truncated || one === null || two === null) return false;
  return one.count === two.count && one.hash === two.hash;
}

/** How the values of a pair of columns compare; `tolerant` when one of them holds a fraction. */
interface ColumnRule {
  readonly numeric: boolean;
  readonly tolerant: boolean;
  readonly time: boolean;
}

function columnRule(left: Rows, from: number, right: Rows, to: number): ColumnRule {
  const kinds = [left.columns[from]?.kind, right.columns[to]?.kind];
  const values = [...left.rows.map((row) => row[from] ?? null), ...right.rows.map((row) => row[to] ?? null)];
  const numeric =
    kinds.includes('number') || kinds.includes('boolean') || values.some((value) => typeof value === 'number');
  const tolerant = numeric && values.some((value) => hasFraction(toNumber(value)));
  return { numeric, tolerant, time: kinds.includes('time') };
}

/** Beyond 2^53 a double has lost digits, so it is not treated as an exact whole number. */
function hasFraction(number: number | string | null): boolean {
  return typeof number === 'number' && !Number.isSafeInteger(number);
}

/** A number as a database prints it. `007` does not match: it is a code. */
const NUMBER = /^\s*[+-]?(?!0\d)(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;
const WHOLE = /^\s*\+?(-?\d+)(?:\.0*)?\s*$/;

/** A number, a whole number too large for a double as digits, or null when it is no number (or beyond any double). */
function toNumber(value: SqlValue): number | string | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null || !NUMBER.test(value)) return null;
  const number = Number(value);
  const whole = Number.isSafeInteger(number) ? null : WHOLE.exec(value);
  if (whole !== null) return whole[1] ?? null;
  return Number.isFinite(number) ? number : null;
}

/** A row, split into an exact key and the numbers that are compared with tolerance. */
interface SplitRow {
  readonly key: string;
  readonly numbers: Vector;
}

function split(row: readonly SqlValue[], order: readonly number[], axes: readonly ColumnRule[]): SplitRow {
  const numbers: number[] = [];
  const exact = axes.map((rule, index) => {
    const value = row[order[index] ?? index] ?? null;
    const number = rule.numeric ? toNumber(value) : null;
    if (rule.tolerant && number !== null && Number.isFinite(Number(number))) {
      numbers.push(Number(number));
      return [];
    }
    return exactKey(number ?? value, rule);
  });
  return { key: JSON.stringify(exact), numbers };
}

function exactKey(value: SqlValue, rule: ColumnRule): string | null {
  if (value === null) return null;
  const text = typeof value === 'number' && value === 0 ? '0' : String(value);
  return rule.time ? plainTime(text) : text;
}

/** One form for the same moment: `2024-01-02T00:00:00.000Z` becomes `2024-01-02`. */
function plainTime(text: string): string {
  return text
    .replace(/^(\d{4,}-\d\d-\d\d)T/, '$1 ')
    .replace(/(:\d\d(?:\.\d+)?)(?:Z|\+00(?::?00)?)(?=$| BC$)/, '$1')
    .replace(/(:\d\d)\.(\d{1,20})$/, (_, seconds: string, fraction: string) => {
      const digits = fraction.replace(/0+$/, '');
      return digits === '' ? seconds : `${seconds}.${digits}`;
    })
    .replace(/^(\d{4,}-\d\d-\d\d) 00:00:00(?=$| BC$)/, '$1');
}

function equalSequences(left: readonly SplitRow[], right: readonly SplitRow[]): boolean {
  return left.every(({ key, numbers }, at) => right[at]?.key === key && closeVectors(numbers, right[at].numbers));
}

function equalMultisets(left: readonly SplitRow[], right: readonly SplitRow[]): boolean {
  const [one, two] = [left, right].map((rows) => groupBy(rows, ({ key }) => key));
  const vectors = (rows: readonly SplitRow[] = []): Vector[] => rows.map(({ numbers }) => numbers);
  return (
    one?.size === two?.size && [...(one ?? [])].every(([key, rows]) => canMatch(vectors(rows), vectors(two?.get(key))))
  );
}

export type Vector = readonly number[];

/** Relative 1e-6, with an absolute floor so that the rounding error of a cancelled sum equals zero. */
export function closeNumbers(left: number, right: number): boolean {
  return Math.abs(left - right) <= Math.max(1e-6 * Math.max(Math.abs(left), Math.abs(right)), 1e-12);
}

const closeVectors = (left: Vector, right: Vector | undefined): boolean =>
  right !== undefined && left.every((value, axis) => closeNumbers(value, right[axis] ?? Number.NaN));

/**
 * Perfect matching of two multisets of numeric vectors within a tolerance (rule S5). Tolerance is not transitive, so rounding
 * or a single sort would be wrong at the edges. Instead:
 *
 * 1. On one axis, a gap between neighbouring values parts the vectors: only those of the same part on every axis can match.
 * 2. Vectors that differ on one axis only match in the order of that axis. The rest, several axes that overlap in chains, is
 *    rare and small. It is matched by augmenting paths.
 */
export function canMatch(left: readonly Vector[], right: readonly Vector[]): boolean {
  const axes = [...(left[0] ?? []).keys()];
  const partOf = axes.map((axis) => partsOf([...left, ...right].map((vector) => vector[axis] ?? Number.NaN)));
  const split = (vectors: readonly Vector[]) =>
    groupBy(vectors, (vector) => vector.map((value, axis) => partOf[axis]?.get(value)).join());
  const [ours, theirs] = [split(left), split(right)];
  return (
    left.length === right.length &&
    [...ours].every(([key, some]) => {
      const others = theirs.get(key) ?? [];
      return some.length === others.length && (matchInOrder(some, others, axes) || matchByPaths(some, others));
    })
  );
}

/** The part of each value: a new one begins where the next larger neighbour is out of tolerance. */
function partsOf(values: readonly number[]): ReadonlyMap<number, number> {
  let [part, last] = [0, Number.NaN];
  const parts = new Map<number, number>();
  for (const value of Float64Array.from(values).sort()) {
    if (!closeNumbers(last, value)) part += 1;
    parts.set(value, part);
    last = value;
  }
  return parts;
}

function matchInOrder(left: readonly Vector[], right: readonly Vector[], axes: readonly number[]): boolean {
  const sorted = (vectors: readonly Vector[], first: number): Vector[] =>
    vectors.toSorted((a, b) => [first, ...axes].reduce((order, axis) => order || (a[axis] ?? 0) - (b[axis] ?? 0), 0));
  return (
    axes.length === 0 ||
    axes.some((axis) => {
      const others = sorted(right, axis);
      return sorted(left, axis).every((vector, at) => closeVectors(vector, others[at]));
    })
  );
}

/** Augmenting paths, breadth first, so that long chains need no deep call stack. */
function matchByPaths(left: readonly Vector[], right: readonly Vector[]): boolean {
  const ownerOf = right.map(() => -1);
  return left.every((_, start) => augment(start, left, right, ownerOf));
}

function augment(start: number, left: readonly Vector[], right: readonly Vector[], ownerOf: number[]): boolean {
  const reachedFrom = new Map<number, number>();
  const queue = [start];
  for (const from of queue)
    for (const [to, other] of right.entries()) {
      if (reachedFrom.has(to) || !closeVectors(left[from] ?? [], other)) continue;
      reachedFrom.set(to, from);
      const owner = ownerOf[to] ?? -1;
      if (owner >= 0) queue.push(owner);
      else {
        // Back along the path, every right vector goes to the left one that reached it.
        for (let [at, by] = [to, from]; ; by = reachedFrom.get(at) ?? start) {
          const before = ownerOf.indexOf(by);
          ownerOf[at] = by;
          if (by === start) return true;
          at = before;
        }
      }
    }
  return false;
}
