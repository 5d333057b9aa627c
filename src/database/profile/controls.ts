/**
 * Control totals: a number of a small table that equals a count or a sum over a large one, group by group. Such a table
 * settles units, signs, filters and dates of the large one at once, so this is the most telling part of a profile.
 *
 * Groups are keys that both tables have, and periods: the days, months or years of the large table's dates. Besides all
 * rows, each value of a small column may be counted, left out or subtracted, and repeated rows may count once. Totals that
 * none of these meets in every row are tried with days that begin at another hour and months that begin on another day.
 * Only tables that were read whole are compared.
 */
import { keyColumns } from '../table-text';
import { isCategory, isKeyName, type ColumnFacts } from './column-facts';
import { groupings, LEAST_TOTALS, shiftedGroupings, type Grouping } from './groupings';
import type { Profiled } from './row-doubts';
import { pieceOf, type ProfilePiece, shown } from './pieces';
import { keyOf, numberOf } from './table-rows';

const MOST_TOTALS = 5_000;
/** Fewer groups than this must all be met: counts of a few small groups agree by chance. */
const FEW_TOTALS = 8;
const MOST_GROUPINGS = 8;
const MOST_PARTS = 6;
/** The shares of the totals that a plain sum, and one with conditions, have to meet. */
const PLAIN_SHARE = 0.5;
const CONDITION_SHARE = 0.8;
const NEAR = 0.02;

/** The numbers of a small table as totals of large tables, one after the other. */
export class Controls {
  private readonly totals: readonly ColumnFacts[];
  /** Totals that some table meets in every row. */
  private readonly met = new Set<string>();

  constructor(private readonly small: Profiled) {
    const { rows, facts } = small;
    const isControl = rows.whole && rows.read >= LEAST_TOTALS && rows.read <= MOST_TOTALS;
    this.totals = isControl ? facts.filter(isTotal) : [];
  }

  of(large: Profiled): ProfilePiece[] {
    return this.pieces(this.totals, large, () => ({
      some: groupings(this.small, large).slice(0, MOST_GROUPINGS),
      ways: partitions(large),
      conditions: 0,
    }));
  }

  /** After all plain ones: only what is met nowhere yet is tried. */
  shiftedOf(large: Profiled): ProfilePiece[] {
    const unmet = this.totals.filter(({ column }) => !this.met.has(column.name));
    return this.pieces(unmet, large, () => ({
      some: shiftedGroupings(this.small, large),
      ways: partitions(large).filter(({ parts }) => parts === null),
      conditions: 1,
    }));
  }

  private pieces(totals: readonly ColumnFacts[], large: Profiled, tried: () => Tried): ProfilePiece[] {
    const { rows } = large;
    if (totals.length === 0 || large === this.small || !rows.whole || rows.read < this.small.rows.read * 1.5) return [];
    const found = new Map<string, Match>();
    const how = tried();
    for (const grouping of how.some)
      for (const match of matches(totals, grouping, large, how)) {
        const known = found.get(match.total);
        if (known === undefined || worth(match) > worth(known)) found.set(match.total, match);
      }
    for (const { total, equal, of } of found.values()) if (equal === of) this.met.add(total);
    return [...found.values()].map((match) => pieceOf(match.total, 'control', textOf(match)));
  }
}

function isTotal({ column, distinct }: ColumnFacts): boolean {
  return column.kind === 'number' && distinct >= LEAST_TOTALS && !isKeyName(column.name);
}

interface Match {
  readonly total: string;
  readonly says: string;
  readonly grouping: string;
  readonly equal: number;
  readonly near: number;
  readonly of: number;
  readonly conditions: number;
}

interface Tried {
  readonly some: readonly Grouping[];
  readonly ways: readonly Partition[];
  /** The number of conditions that the groupings themselves have. */
  readonly conditions: number;
}

/** A condition has to explain clearly more rows than the sum without it. */
const worth = ({ equal, near, of, conditions }: Match): number => equal / of + (near / of) * 0.1 - conditions * 0.15;

function matches(totals: readonly ColumnFacts[], grouping: Grouping, large: Profiled, tried: Tried): Match[] {
  const names = [...new Set(grouping.totals)].filter((each) => each !== null);
  const at = new Map(names.map((name, index) => [name, index]));
  const groupOfRow = Int32Array.from(grouping.rows, (label) => (label === null ? -1 : (at.get(label) ?? -1)));
  const wanted = totals.map(({ column }) => ({
    name: column.name,
    values: names.map((name) => numberOf(column.values[grouping.totals.indexOf(name)] ?? null)),
  }));
  const best = new Map<string, Match>();
  for (const { once, parts } of tried.ways)
    for (const measure of measuresOf(large, grouping)) {
      const sums = sumsOf(groupOfRow, names.length, measure, parts, once);
      for (const signs of signings(parts?.labels.length ?? 1))
        for (const total of wanted) {
          const conditions = tried.conditions + (once === null ? 0 : 1) + (signs.every((sign) => sign === 1) ? 0 : 1);
          const compared = compare(total.values, sums, signs, conditions === 0);
          if (compared === null) continue;
          const match = {
            ...compared,
            total: total.name,
            grouping: grouping.name,
            conditions,
            says: saying(measure.name, large, parts, signs, once),
          };
          const known = best.get(total.name);
          if (known === undefined || worth(match) > worth(known)) best.set(total.name, match);
        }
    }
  return [...best.values()];
}

interface Measure {
  readonly name: string;
  /** One value a row; NaN: none. */
  readonly values: Float64Array;
}

function measuresOf({ rows, facts }: Profiled, grouping: Grouping): Measure[] {
  const keys = new Set([...keyColumns(rows.table), ...grouping.columns]);
  const sums = facts
    .filter(
      ({ column, distinct }) =>
        column.kind === 'number' && distinct > 1 && !keys.has(column.name) && !isKeyName(column.name),
    )
    .map(({ column, scalars }) => ({ name: `sum(${column.name})`, values: scalars ?? new Float64Array() }));
  return [{ name: 'count(*)', values: new Float64Array(rows.read).fill(1) }, ...sums];
}

interface Parts {
  readonly column: string;
  readonly labels: readonly string[];
  readonly ofRow: Int32Array;
}

interface Partition {
  /** Rows that repeat an earlier one count nothing; null: all count. */
  readonly once: readonly boolean[] | null;
  readonly parts: Parts | null;
}

function partitions({ facts, repeated }: Profiled): Partition[] {
  const small = facts
    .filter((each) => isCategory(each, 5))
    .slice(0, MOST_PARTS)
    .map(({ column, values }): Parts => {
      const labels = values.map(({ value }) => value);
      const at = new Map(labels.map((label, index) => [label, index]));
      return {
        column: column.name,
        labels,
        ofRow: Int32Array.from(column.values, (value) => at.get(keyOf(value) ?? '') ?? -1),
      };
    });
  const ways = repeated === null ? [null] : [null, repeated.repeats];
  return ways.flatMap((once) => [{ once, parts: null }, ...small.map((parts) => ({ once, parts }))]);
}

/** One sum for each group and each part of it. */
function sumsOf(
  groupOfRow: Int32Array,
  groups: number,
  { values }: Measure,
  parts: Parts | null,
  once: readonly boolean[] | null,
): Float64Array[] {
  const sums = Array.from({ length: parts?.labels.length ?? 1 }, () => new Float64Array(groups));
  for (let row = 0; row < groupOfRow.length; row++) {
    const group = groupOfRow[row] ?? -1;
    const part = parts === null ? 0 : (parts.ofRow[row] ?? -1);
    const value = values[row] ?? NaN;
    if (group < 0 || part < 0 || Number.isNaN(value) || once?.[row] === true) continue;
    const sum = sums[part];
    if (sum !== undefined) sum[group] = (sum[group] ?? 0) + value;
  }
  return sums;
}

/** Each part counted, left out or subtracted; at least one is counted. All counted comes first. */
function signings(parts: number): number[][] {
  if (parts === 1) return [[1]];
  const all = Array.from({ length: 3 ** parts }, (_, code) =>
    Array.from({ length: parts }, (_unused, at) => 1 - (Math.floor(code / 3 ** at) % 3)),
  );
  return all.filter((signs) => signs.includes(1));
}

/** Null as soon as too few can meet. */
function compare(
  totals: readonly (number | null)[],
  sums: readonly Float64Array[],
  signs: readonly number[],
  plain: boolean,
): { readonly equal: number; readonly near: number; readonly of: number } | null {
  const of = totals.filter((total) => total !== null).length;
  if (of < LEAST_TOTALS) return null;
  const least = of < FEW_TOTALS ? of : of * (plain ? PLAIN_SHARE : CONDITION_SHARE);
  let [equal, near, seen] = [0, 0, 0];
  for (const [group, total] of totals.entries()) {
    if (total === null) continue;
    let sum = 0;
    for (const [part, sign] of signs.entries()) sum += sign * (sums[part]?.[group] ?? 0);
    const difference = Math.abs(sum - total);
    if (difference <= 0.006 + Math.abs(total) * 1e-7) equal += 1;
    if (difference <= Math.abs(total) * NEAR) near += 1;
    seen += 1;
    const isNear = plain && of >= FEW_TOTALS && near + of - seen >= of * CONDITION_SHARE;
    if (equal + of - seen < least && !isNear) return null;
  }
  return { equal, near, of };
}

function saying(
  measure: string,
  { rows }: Profiled,
  parts: Parts | null,
  signs: readonly number[],
  once: readonly boolean[] | null,
): string {
  const named = (sign: number): string[] =>
    (parts?.labels ?? []).filter((_, at) => signs[at] === sign).map((label) => shown(label));
  const [counted, out, minus] = [named(1), named(0), named(-1)];
  const column = parts?.column ?? '';
  const conditions = [
    ...(once === null ? [] : ['repeated rows once']),
    ...(out.length === 0
      ? []
      : counted.length + minus.length <= out.length
        ? [`only ${column} ${[...counted, ...minus].join(', ')}`]
        : [`without ${column} ${out.join(', ')}`]),
    ...(minus.length === 0 ? [] : [`${column} ${minus.join(', ')} subtracted`]),
  ];
  return `${measure} of ${rows.table.name}${conditions.length === 0 ? '' : ` (${conditions.join('; ')})`}`;
}

function textOf({ says, grouping, equal, near, of }: Match): string {
  const how =
    equal === of ? `in all ${of} rows` : `in ${equal} of ${of} rows${near > equal ? `, within 2% in ${near}` : ''}`;
  return `= ${says} by ${grouping} ${how}`;
}
