/**
 * The filter that a stored total takes for granted: one value of a column, kept or left out, under which a count or sum meets
 * the total in every row, where that of all rows misses it.
 *
 * Many filters are tried, so a match has to be worth more than luck: for each group the chance is estimated that rows kept at
 * random, as many as the filter keeps of all, have the stored total. Groups in which nothing is left out say little.
 */
import { perObject } from '../../per-object';
import type { ColumnFacts } from './column-facts';
import { shown } from './pieces';
import { keyOf } from './table-rows';

/** One number a row of the small table, group by group; null: none. */
export type Totals = readonly (number | null)[];

export interface Summed {
  /** The rows of each group. */
  readonly rowsOf: readonly (readonly number[])[];
  /** One value a row; NaN: none. */
  readonly values: Float64Array;
  /** All sums are multiples of it. */
  readonly step: () => number;
}

export interface Filter {
  readonly column: string;
  /** `only st E`, `without st E`. */
  readonly says: string;
  readonly keeps: (row: number) => boolean;
  /** How much it takes to be luck, in bits. */
  readonly bits: number;
}

const TOLERANCE = 0.006;
export const isMet = (sum: number, total: number): boolean =>
  Math.abs(sum - total) <= TOLERANCE + Math.abs(total) * 1e-7;

/** A column by whose values rows are kept or left out. */
export interface FilterColumn {
  readonly name: string;
  readonly labels: readonly string[];
  readonly ofRow: Uint8Array;
}

const MOST_LABELS = 25;

/** Null where it has too many values, or one. Rows without a value are kept or left out as any other. */
export const filterColumn = perObject(
  ({ column, values, nulls, blanks, distinct }: ColumnFacts): FilterColumn | null => {
    const none = nulls === 0 && blanks === 0 ? [] : [nulls === 0 ? 'blank' : blanks === 0 ? 'NULL' : 'NULL or blank'];
    const count = distinct + none.length;
    if (count < 2 || count > MOST_LABELS || column.kind === 'json' || column.kind === 'binary') return null;
    const at = new Map(values.map(({ value }, label) => [value, label]));
    return {
      name: column.name,
      labels: [...values.map(({ value }) => shown(value)), ...none],
      ofRow: Uint8Array.from(column.values, (value) => at.get(keyOf(value) ?? '') ?? distinct),
    };
  },
);

/** The number of filters that are tried with these columns. */
export const filtersOf = (columns: readonly FilterColumn[]): number =>
  columns.reduce((sum, { labels }) => sum + (labels.length > 2 ? labels.length * 2 : 2), 0);

/** The filters of a column under which all totals are met. `order`: groups that all rows miss come first. */
export function filtersThatMeet(
  totals: Totals,
  order: readonly number[],
  summed: Summed,
  column: FilterColumn,
): Filter[] {
  const { labels, ofRow } = column;
  let left = labels.flatMap((_, label) => [
    { label, only: true },
    ...(labels.length > 2 ? [{ label, only: false }] : []),
  ]);
  const sums = new Float64Array(labels.length);
  for (const group of order) {
    const total = totals[group] ?? null;
    if (total === null) continue;
    sums.fill(0);
    for (const row of summed.rowsOf[group] ?? []) {
      const value = summed.values[row] ?? NaN;
      const label = ofRow[row] ?? 0;
      if (!Number.isNaN(value)) sums[label] = (sums[label] ?? 0) + value;
    }
    const all = sums.reduce((sum, each) => sum + each, 0);
    left = left.filter(({ label, only }) => isMet(only ? (sums[label] ?? 0) : all - (sums[label] ?? 0), total));
    if (left.length === 0) return [];
  }
  return left.map(({ label, only }) => {
    const keeps = (row: number): boolean => (ofRow[row] === label) === only;
    const says = `${only ? 'only' : 'without'} ${column.name} ${labels[label] ?? ''}`;
    return { column: column.name, says, keeps, bits: bitsOf(totals, summed, keeps) };
  });
}

/**
 * Of rows kept at random the sums lie around a middle, and no sum is likelier than that; a few rows may be the same ones.
 * The median stands for all values: a few large ones widen the sums without making a match less likely.
 */
function bitsOf(totals: Totals, { rowsOf, values, step }: Summed, keeps: Filter['keeps']): number {
  const groups = totals.flatMap((total, group) => (total === null ? [] : [countsOf(rowsOf[group] ?? [])]));
  const share = sumOf(groups.map(({ kept }) => kept)) / Math.max(1, sumOf(groups.map(({ rows }) => rows)));
  const grain = Math.max(step(), TOLERANCE * 2) / Math.sqrt(2 * Math.PI * share * (1 - share));
  const chances = groups.map(({ rows, kept, median }) => {
    const same = share ** kept * (1 - share) ** (rows - kept);
    return Math.max(same, Math.min(1, grain / (median * Math.sqrt(rows))));
  });
  return sumOf(chances.map((chance) => -Math.log2(chance)));

  function countsOf(own: readonly number[]): { readonly rows: number; readonly kept: number; readonly median: number } {
    const counted = own.filter((row) => Math.abs(values[row] ?? NaN) > 0);
    const sorted = Float64Array.from(counted, (row) => Math.abs(values[row] ?? 0)).sort();
    return { rows: counted.length, kept: counted.filter(keeps).length, median: sorted[sorted.length >> 1] ?? 0 };
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

/** The largest step that all values are multiples of, to four decimal places. */
export function stepOf(values: Iterable<number>): number {
  const places = 1e4;
  let step = 0;
  for (const value of values)
    if (!Number.isNaN(value)) step = commonDivisor(Math.round(Math.abs(value) * places), step);
  return Math.max(1, step) / places;
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));
