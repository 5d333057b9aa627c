/** One column's facts: counts, range, the values of a small domain, formats, and placeholders for "no value". */
import { compareText } from '../../domain/canonical';
import { keyOf, numberOf, type RowColumn, timeOf } from './table-rows';

export interface Counted {
  readonly value: string;
  readonly count: number;
}

export interface ColumnFacts {
  readonly column: RowColumn;
  readonly rows: number;
  readonly nulls: number;
  /** Texts without a sign in them: no NULL, and no value either. */
  readonly blanks: number;
  readonly filled: number;
  readonly distinct: number;
  /** Most frequent first; ties in the order of their values. */
  readonly values: readonly Counted[];
  readonly placeholders: readonly Counted[];
  /** Neither NULL, blank nor a placeholder, row by row. */
  readonly real: readonly boolean[];
  /** Row by row the number, or the seconds of a time as `timeOf` reads it; NaN: no real value. Null for other kinds. */
  readonly scalars: Float64Array | null;
  readonly min: string | null;
  readonly max: string | null;
  readonly formats: readonly Counted[];
}

const PLACEHOLDER_WORDS = new Set(
  'n/a na null (null) none nil nan unknown unk undefined missing tbd ? - -- . #n/a x xx xxx'
    .split(' ')
    .concat('not available'),
);
const PLACEHOLDER_DATES =
  /^(9999-|1970-01-01|1900-01-01|0001-01-01|1753-01-01|0000-00-00|1899-12-30|2999-12-31|2099-12-31)/;
const PLACEHOLDER_NUMBERS = new Set(['-1', '-9', '-99', '-999', '-9999', '99', '999', '9999', '99999', '999999']);

export function columnFacts(column: RowColumn): ColumnFacts {
  const counts = new Map<string, number>();
  let nulls = 0;
  for (const value of column.values) {
    if (value === null) nulls += 1;
    const key = keyOf(value);
    if (key !== null) add(counts, key);
  }
  const values = ranked(counts, (one, other) => compare(column, one, other));
  const filled = values.reduce((sum, { count }) => sum + count, 0);
  const placeholders = column.kind === 'json' ? [] : values.filter(({ value }) => isPlaceholder(value, column, values));
  const none = new Set(placeholders.map(({ value }) => value));
  const real = column.values.map((value) => {
    const key = keyOf(value);
    return key !== null && !none.has(key);
  });
  const kept = values.filter(({ value }) => !none.has(value)).map(({ value }) => value);
  const ends = column.kind === 'json' || column.kind === 'binary' ? null : extremes(column, kept);
  return {
    column,
    rows: column.values.length,
    nulls,
    blanks: column.values.length - nulls - filled,
    filled,
    distinct: values.length,
    values,
    placeholders,
    real,
    scalars: scalarsOf(column, real),
    min: ends?.low ?? null,
    max: ends?.high ?? null,
    formats: column.kind === 'text' ? formats(values) : [],
  };
}

function scalarsOf({ kind, values }: RowColumn, real: readonly boolean[]): Float64Array | null {
  if (kind !== 'number' && kind !== 'time') return null;
  const read = kind === 'number' ? numberOf : timeOf;
  return Float64Array.from(values, (value, row) => (real[row] === true ? (read(value) ?? NaN) : NaN));
}

/** A number only where nothing lies near it: 99 among ages is an age. */
function isPlaceholder(value: string, column: RowColumn, all: readonly Counted[]): boolean {
  if (all.length < 2) return false;
  if (column.kind === 'time') return PLACEHOLDER_DATES.test(value);
  if (column.kind === 'text' && PLACEHOLDER_WORDS.has(value.trim().toLowerCase())) return true;
  if (column.kind === 'text' && PLACEHOLDER_DATES.test(value)) return true;
  if (!PLACEHOLDER_NUMBERS.has(value)) return false;
  const number = Number(value);
  const others = all.flatMap((each) => (each.value === value ? [] : (numberOf(each.value) ?? [])));
  if (others.length < 3) return false;
  const high = others.reduce((a, b) => Math.max(a, b));
  return number < 0 ? others.every((other) => other >= 0) : number > high * 2;
}

function extremes(
  column: RowColumn,
  values: readonly string[],
): { readonly low: string; readonly high: string } | null {
  const [first, ...rest] = values;
  if (first === undefined) return null;
  let [low, high] = [first, first];
  for (const value of rest) {
    if (compare(column, value, low) < 0) low = value;
    if (compare(column, value, high) > 0) high = value;
  }
  return { low, high };
}

function compare({ kind }: RowColumn, one: string, other: string): number {
  if (kind === 'number') {
    const difference = Number(one) - Number(other);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  if (kind === 'time') {
    const difference = (timeOf(one) ?? 0) - (timeOf(other) ?? 0);
    if (difference !== 0) return difference;
  }
  return compareText(one, other);
}

function formats(values: readonly Counted[]): readonly Counted[] {
  const counts = new Map<string, number>();
  for (const { value, count } of values) add(counts, formatOf(value), count);
  return ranked(counts);
}

export function add(counts: Map<string, number>, value: string, count = 1): void {
  counts.set(value, (counts.get(value) ?? 0) + count);
}

/** Most frequent first. */
export function ranked(
  counts: ReadonlyMap<string, number>,
  compare: (one: string, other: string) => number = compareText,
): Counted[] {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || compare(a.value, b.value));
}

/** Values that a person would group by: few, and each in several rows. */
export function isCategory({ distinct, filled, column }: ColumnFacts, most = 9): boolean {
  return (
    distinct >= 2 && distinct <= most && filled >= distinct * 4 && column.kind !== 'json' && column.kind !== 'binary'
  );
}

/** Whether the name alone makes a column a key; adding such numbers up means nothing. */
export const isKeyName = (name: string): boolean => /(^|_)(id|key|code|no|nr)$/i.test(name);

export const isUnique = ({ distinct, rows }: ColumnFacts): boolean => rows > 1 && distinct === rows;

/** A text's format: digits as 9, letters as a or A, long runs shortened: `2020-01-31` is `9999-99-99`, `Ann Lee` is `Aaa Aaa`. */
export function formatOf(text: string): string {
  return text
    .slice(0, 60)
    .replace(/\p{Nd}/gu, '9')
    .replace(/\p{L}/gu, (letter) => (/\p{Lu}/u.test(letter) ? 'A' : 'a'))
    .replace(/9{9,}/g, '9+')
    .replace(/A{4,}/g, 'A+')
    .replace(/a{4,}/g, 'a+');
}

/** Digits and few signs: times, dates, amounts. Several such formats in one column mean several conventions. */
export const isCodeFormat = (pattern: string): boolean =>
  pattern.includes('9') && !/a\+.* .*a/i.test(pattern) && pattern.length <= 30;
