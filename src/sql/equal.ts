/**
 * When two results are equal (rule S5): as multisets, or as sequences if the question asks for an order; columns by name,
 * else by position; numbers with a fraction to 1e-6 relative, whole numbers exactly. Results beyond the row cap are compared
 * by a count and a hash from the database.
 */
import type { ResultColumn, SqlResult, SqlValue } from '../domain';

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
  return left.every((row, index) => {
    const other = right[index];
    return (
      other?.key === row.key &&
      row.numbers.every((number, axis) => closeNumbers(number, other.numbers[axis] ?? Number.NaN))
    );
  });
}

function equalMultisets(left: readonly SplitRow[], right: readonly SplitRow[]): boolean {
  const [one, two] = [byKey(left), byKey(right)];
  return one.size === two.size && [...one].every(([key, vectors]) => canMatch(vectors, two.get(key) ?? []));
}

function byKey(rows: readonly SplitRow[]): Map<string, Vector[]> {
  const groups = new Map<string, Vector[]>();
  for (const row of rows) {
    const group = groups.get(row.key);
    if (group === undefined) groups.set(row.key, [row.numbers]);
    else group.push(row.numbers);
  }
  return groups;
}

/**
 * Perfect matching of two equally large multisets of numeric vectors within a tolerance (rule S5). Tolerance is not
 * transitive, so rounding or a single sort would be wrong at the edges. Instead:
 *
 * 1. On one axis, the values compatible with a number form an interval, so a gap between neighbours splits the problem.
 * 2. A part in which all vectors are compatible matches in any order. A part that differs on one axis only matches in
 *    sorted order.
 * 3. The rest, several axes that overlap in chains, is rare and small. It is matched by augmenting paths.
 */

export type Vector = readonly number[];

/** Relative 1e-6, with an absolute floor so that the rounding error of a cancelled sum equals zero. */
export function closeNumbers(left: number, right: number): boolean {
  return Math.abs(left - right) <= Math.max(1e-6 * Math.max(Math.abs(left), Math.abs(right)), 1e-12);
}

export function canMatch(left: readonly Vector[], right: readonly Vector[]): boolean {
  if (left.length !== right.length) return false;
  const width = left[0]?.length ?? 0;
  return width === 0 || matchParts([{ left, right }], width);
}

interface Part {
  readonly left: readonly Vector[];
  readonly right: readonly Vector[];
}

/** Uses a stack instead of recursion: a part may be split as often as it has rows. */
function matchParts(parts: Part[], width: number): boolean {
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part.left.length !== part.right.length) return false;
    const split = splitOnce(part, width);
    if (split === null) {
      if (!matchConnected(part, width)) return false;
    } else parts.push(...split);
  }
  return true;
}

/** Splits on the first axis that has a gap; null if none has one. */
function splitOnce(part: Part, width: number): Part[] | null {
  for (let axis = 0; axis < width; axis += 1) {
    const cuts = gaps([...part.left, ...part.right].map((vector) => at(vector, axis)));
    if (cuts.length > 0) return divide(part, axis, cuts);
  }
  return null;
}

/** Lower ends of the gaps: values whose next larger neighbour is out of tolerance. */
function gaps(values: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort();
  const cuts: number[] = [];
  for (let index = 1; index < sorted.length; index += 1) {
    const [lower, upper] = [sorted[index - 1] ?? 0, sorted[index] ?? 0];
    if (!closeNumbers(lower, upper)) cuts.push(lower);
  }
  return cuts;
}

function divide(part: Part, axis: number, cuts: readonly number[]): Part[] {
  const pieces = Array.from({ length: cuts.length + 1 }, () => ({ left: [] as Vector[], right: [] as Vector[] }));
  for (const side of ['left', 'right'] as const) {
    for (const vector of part[side]) pieces[pieceOf(at(vector, axis), cuts)]?.[side].push(vector);
  }
  return pieces;
}

/** How many cuts are below the value (binary search). */
function pieceOf(value: number, cuts: readonly number[]): number {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function matchConnected(part: Part, width: number): boolean {
  const spread = Array.from({ length: width }, (_, axis) => axis).filter((axis) => !allClose(part, axis));
  const [only, ...others] = spread;
  if (only === undefined) return true;
  if (others.length > 0) return matchByPaths(part);
  const right = sortedAxis(part.right, only);
  return sortedAxis(part.left, only).every((value, index) => closeNumbers(value, right[index] ?? Number.NaN));
}

function allClose(part: Part, axis: number): boolean {
  const all = sortedAxis([...part.left, ...part.right], axis);
  return closeNumbers(all[0] ?? 0, all.at(-1) ?? 0);
}

function sortedAxis(vectors: readonly Vector[], axis: number): Float64Array {
  return Float64Array.from(vectors.map((vector) => at(vector, axis))).sort();
}

/** Augmenting paths, breadth first, so that long chains need no deep call stack. */
function matchByPaths({ left, right }: Part): boolean {
  const ownerOf = new Array<number>(right.length).fill(-1);
  return left.every((_, start) => augment(start, left, right, ownerOf));
}

function augment(start: number, left: readonly Vector[], right: readonly Vector[], ownerOf: number[]): boolean {
  const reachedFrom = new Map<number, number>();
  const queue = [start];
  for (const from of queue) {
    for (let to = 0; to < right.length; to += 1) {
      if (reachedFrom.has(to) || !closeVectors(left[from] ?? [], right[to] ?? [])) continue;
      reachedFrom.set(to, from);
      const owner = ownerOf[to] ?? -1;
      if (owner < 0) {
        flip(to, start, reachedFrom, ownerOf);
        return true;
      }
      queue.push(owner);
    }
  }
  return false;
}

/** Walks the path back to its start and assigns every right vector on it to the left vector that reached it. */
function flip(end: number, start: number, reachedFrom: ReadonlyMap<number, number>, ownerOf: number[]): void {
  let to = end;
  for (;;) {
    const from = reachedFrom.get(to) ?? start;
    const previous = ownerOf.indexOf(from);
    ownerOf[to] = from;
    if (from === start) return;
    to = previous;
  }
}

function closeVectors(left: Vector, right: Vector): boolean {
  return left.every((value, axis) => closeNumbers(value, at(right, axis)));
}

function at(vector: Vector, axis: number): number {
  return vector[axis] ?? Number.NaN;
}
