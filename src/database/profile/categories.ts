/**
 * What a column's values and gaps go with: the categories of its own table, those of the row that a key leads to, and the
 * months of its dates. A unit by device, a status with no end date and a column filled from March on show up here.
 */
import { groupBy } from '../../group-by';
import { keyColumns } from '../table-text';
import { isCategory, isKeyName, type ColumnFacts } from './column-facts';
import { pieceOf, type ProfilePiece, percent, short, shown } from './pieces';
import { keyOf, type TableRows } from './table-rows';

/** One label a row; null: none. */
export interface Grouping {
  /** `status`, `probe.model`, `month of dt`. */
  readonly name: string;
  readonly labels: readonly (string | null)[];
  /** The column of the same table that groups; null: one of another table, or months. */
  readonly column: string | null;
}

const LEAST_IN_GROUP = 4;
const FILL_SPREAD = 0.4;

export function ownGroupings(rows: TableRows, facts: readonly ColumnFacts[]): Grouping[] {
  return facts
    .filter((each) => isCategory(each))
    .map(({ column }) => ({ name: column.name, column: column.name, labels: column.values.map(keyOf) }))
    .concat(
      facts
        .filter(({ column, distinct }) => column.kind === 'time' && distinct > 8 && rows.read >= 40)
        .flatMap(({ column, real }) => {
          const labels = column.values.map((value, at) => (real[at] === true ? String(value).slice(0, 7) : null));
          const months = new Set(labels).size;
          return months >= 3 && months <= 60 ? [{ name: `month of ${column.name}`, column: column.name, labels }] : [];
        }),
    );
}

/** The grouping that parts filled from empty best, for each column with gaps, where one does. */
export function fillPieces(facts: readonly ColumnFacts[], groupings: readonly Grouping[]): ProfilePiece[] {
  return facts.flatMap((each, at): ProfilePiece[] => {
    const { column, real, rows } = each;
    const filled = real.filter(Boolean).length;
    if (filled === 0 || filled === rows) return [];
    // The first of them says what their gaps go with.
    const twin = facts.slice(0, at).find((other) => goesWith(each, other));
    if (twin !== undefined)
      return [pieceOf(column.name, 'fill', `has a value exactly where ${twin.column.name} has one`)];
    const best = groupings
      .filter((grouping) => grouping.column !== column.name)
      .map((grouping) => ({ grouping, groups: shares(real, grouping.labels) }))
      .map((found) => ({ ...found, gain: gain(found.groups, filled / rows) }))
      .filter(({ groups }) => spread(groups) >= FILL_SPREAD)
      .sort((a, b) => b.gain - a.gain)[0];
    if (best === undefined) return [];
    return [pieceOf(column.name, 'fill', `has a value by ${best.grouping.name}: ${groupText(best.groups)}`)];
  });
}

/** Empty in the same rows. */
function goesWith(one: ColumnFacts, other: ColumnFacts): boolean {
  const same = one.real.filter((real, row) => real === other.real[row]).length;
  const filled = other.real.filter(Boolean).length;
  return filled < other.rows && same >= one.rows * 0.99;
}

interface Share {
  readonly label: string;
  readonly rows: number;
  readonly filled: number;
}

function shares(real: readonly boolean[], labels: readonly (string | null)[]): Share[] {
  return [...groupBy(labels.keys(), (row) => labels[row] ?? null)]
    .flatMap(([label, rows]) =>
      label === null || rows.length < LEAST_IN_GROUP
        ? []
        : [{ label, rows: rows.length, filled: rows.filter((row) => real[row]).length }],
    )
    .sort((a, b) => (a.label < b.label ? -1 : 1));
}

const rate = ({ filled, rows }: Share): number => filled / rows;

function spread(groups: readonly Share[]): number {
  const rates = groups.map(rate);
  return groups.length < 2 ? 0 : Math.max(...rates) - Math.min(...rates);
}

/** How much of the variance of "filled" the groups explain, times its size. */
function gain(groups: readonly Share[], all: number): number {
  return groups.reduce((sum, group) => sum + group.rows * (rate(group) - all) ** 2, 0);
}

/** Neighbours of the same share are one range: months `2024-01..2024-03`. */
function groupText(groups: readonly Share[]): string {
  const merged: { from: string; to: string; rows: number; filled: number }[] = [];
  const isOrdered = groups.length > 9;
  for (const group of groups) {
    const last = merged.at(-1);
    const same = last !== undefined && isOrdered && Math.abs(last.filled / last.rows - rate(group)) < 0.15;
    if (same)
      Object.assign(last, { to: group.label, rows: last.rows + group.rows, filled: last.filled + group.filled });
    else merged.push({ from: group.label, to: group.label, rows: group.rows, filled: group.filled });
  }
  const ranked = merged.length <= 9 ? merged : merged.slice(0, 9);
  const texts = ranked.map(({ from, to, rows, filled }) => {
    const label = from === to ? shown(from, 16) : `${shown(from, 16)}..${shown(to, 16)}`;
    return `${label} ${percent(filled, rows)}`;
  });
  return `${texts.join(', ')}${merged.length > ranked.length ? ', …' : ''}`;
}

/** The grouping whose groups lie apart, for each column of numbers: their units, signs or meanings hardly are the same. */
export function magnitudePieces(
  { table }: TableRows,
  facts: readonly ColumnFacts[],
  groupings: readonly Grouping[],
): ProfilePiece[] {
  const keys = keyColumns(table);
  const isKey = ({ column, distinct, rows }: ColumnFacts): boolean =>
    distinct === rows || keys.has(column.name) || isKeyName(column.name);
  return facts
    .filter((each) => each.column.kind === 'number' && each.distinct > 8 && !isKey(each))
    .flatMap((each): ProfilePiece[] => {
      const best = groupings
        .filter(({ column, name }) => column !== each.column.name && !name.startsWith('month of'))
        .map((grouping) => ({ grouping, groups: quartiles(each, grouping.labels) }))
        .map((found) => ({ ...found, apart: apart(found.groups) }))
        .filter((found) => found.apart > 0)
        .sort((a, b) => b.apart - a.apart)[0];
      if (best === undefined) return [];
      const texts = best.groups.map(({ label, low, high }) => `${shown(label, 16)} ${short(low)}..${short(high)}`);
      return [pieceOf(each.column.name, 'magnitude', `middle half by ${best.grouping.name}: ${texts.join(', ')}`)];
    });
}

interface Quartiles {
  readonly label: string;
  readonly low: number;
  readonly high: number;
}

function quartiles({ scalars }: ColumnFacts, labels: readonly (string | null)[]): Quartiles[] {
  return [...groupBy(labels.keys(), (row) => labels[row] ?? null)]
    .map(([label, rows]) => ({
      label,
      sorted: Float64Array.from(rows, (row) => scalars?.[row] ?? NaN)
        .filter((number) => !Number.isNaN(number))
        .sort(),
    }))
    .flatMap(({ label, sorted }) => {
      if (label === null || sorted.length < LEAST_IN_GROUP * 2) return [];
      const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
      return [{ label, low: at(0.25), high: at(0.75) }];
    })
    .sort((a, b) => (a.label < b.label ? -1 : 1));
}

/** The widest gap between two groups that do not overlap, in widths of the wider one; 0: all overlap. */
function apart(groups: readonly Quartiles[]): number {
  let most = 0;
  for (const one of groups)
    for (const other of groups) {
      const gap = other.low - one.high;
      const width = Math.max(one.high - one.low, other.high - other.low, Math.abs(one.high) * 0.05, 1e-9);
      if (gap > 0) most = Math.max(most, gap / width);
    }
  return most > 0.5 ? most : 0;
}
