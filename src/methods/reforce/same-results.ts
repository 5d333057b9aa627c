/**
 * How ReFoRCE compares results. Between votes: equal shapes, and for every column an equal one in the other, its values
 * sorted, numbers to 0.001. Within one conversation: the first column as text, numbers to two decimals.
 */
import type { SqlResult, SqlValue } from '../../domain';
import type { Rows } from '../../sql/equal';

const TOLERANCE = 0.001;

export interface Flaw {
  readonly kind: 'nested' | 'empty';
  /** The columns. */
  readonly where: readonly string[];
}

/** Values of several lines, or columns that hold nothing but NULL, empty text and zeros. */
export function flawOf(result: SqlResult): Flaw | null {
  if (result.kind !== 'rows') return null;
  const columnsWhere = (holds: (values: readonly SqlValue[]) => boolean): string[] =>
    result.columns.flatMap(({ name }, at) => (holds(column(result, at)) ? [name] : []));
  const nested = columnsWhere((values) => values.some((value) => typeof value === 'string' && value.includes('\n')));
  if (nested.length > 0) return { kind: 'nested', where: nested };
  const empty = columnsWhere((values) => values.every(isNothing));
  return empty.length > 0 ? { kind: 'empty', where: empty } : null;
}

/** Whether it counts in a vote. After an exploration an empty column may be the answer. */
export function countsInVote(result: SqlResult, explored: boolean): boolean {
  const flaw = flawOf(result);
  return result.kind === 'rows' && (flaw === null || (flaw.kind === 'empty' && explored));
}

export function agree(one: SqlResult, other: SqlResult): boolean {
  if (one.kind !== 'rows' || other.kind !== 'rows') return false;
  if (one.rows.length !== other.rows.length || one.columns.length !== other.columns.length) return false;
  const columns = sortedColumns(other);
  return sortedColumns(one).every((values) => columns.some((each) => sameValues(values, each)));
}

/** Whether a second result of one conversation confirms the first. */
export function repeats(one: SqlResult, other: SqlResult): boolean {
  if (one.kind !== 'rows' || other.kind !== 'rows' || one.rows.length !== other.rows.length) return false;
  return column(one, 0).every((value, at) => rounded(value) === rounded(column(other, 0)[at] ?? null));
}

function column({ rows }: Rows, at: number): readonly SqlValue[] {
  return rows.map((row) => row[at] ?? null);
}

function sortedColumns(result: Rows): (readonly SqlValue[])[] {
  return result.columns.map((_, at) => [...column(result, at)].sort(byValue));
}

/** Numbers, then text, then what is missing. */
function byValue(one: SqlValue, other: SqlValue): number {
  const [a, b] = [keyOf(one), keyOf(other)];
  if (a[0] !== b[0]) return a[0] - b[0];
  return a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0;
}

function keyOf(value: SqlValue): readonly [number, number | string] {
  const number = numberOf(value);
  if (number !== null) return [0, number];
  return value === null || value === '' ? [2, ''] : [1, String(value)];
}

function sameValues(one: readonly SqlValue[], other: readonly SqlValue[]): boolean {
  return one.every((value, at) => {
    const [a, b] = [keyOf(value), keyOf(other[at] ?? null)];
    if (a[0] === 0 && b[0] === 0) return Math.abs(Number(a[1]) - Number(b[1])) <= TOLERANCE;
    return a[0] === b[0] && a[1] === b[1];
  });
}

/** As a reader of CSV takes it. A code with a leading zero is none. */
function numberOf(value: SqlValue): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^-?(?!0\d)\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)) return null;
  return Number(value);
}

function rounded(value: SqlValue): string {
  const number = numberOf(value);
  return number === null || Number.isInteger(number) ? String(value) : String(Math.round(number * 100) / 100);
}

function isNothing(value: SqlValue): boolean {
  return value === null || value === '' || numberOf(value) === 0;
}
