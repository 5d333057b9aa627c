/**
 * Control totals: a number of a small table that equals a count or a sum over a large one, group by group. Such a table
 * settles units, signs, filters and dates of the large one at once, so this is the most telling part of a profile.
 *
 * Groups are keys that both tables have, and periods: the days, months or years of the large table's dates. Besides all
 * rows, each value of a small column may be counted, left out or subtracted, and repeated rows may count once. Totals that
 * none of these meets in every row are tried with one value of a column, of the large table or of one that its keys lead to,
 * kept or left out (`filters.ts`), then with days that begin at another hour and months that begin on another day.
 * Only tables that were read whole are compared.
 */
import { perObject } from '../../per-object';
import { remembered } from '../relevance';
import { keyColumns } from '../table-text';
import { isCategory, isKeyName, type ColumnFacts } from './column-facts';
import { type Filter, filterColumn, filtersOf, filtersThatMeet, isMet, stepOf } from './filters';
import { groupings, LEAST_TOTALS, MOST_TOTALS, shiftedGroupings, type Grouping } from './groupings';
import type { Profiled } from './row-doubts';
import { pieceOf, type ProfilePiece, shown } from './pieces';
import { keyOf, numberOf } from './table-rows';

/** Fewer groups than this must all be met: counts of a few small groups agree by chance. */
const FEW_TOTALS = 8;
const MOST_GROUPINGS = 8;
const MOST_PARTS = 6;
/** The shares of the totals that a plain sum, and one with conditions, have to meet. */
const PLAIN_SHARE = 0.5;
const CONDITION_SHARE = 0.8;
const NEAR = 0.02;
/** Totals that are looked at first, and have to be met now and then for the others to be. */
const TRIED = 40;
/** A filter is told if it meets at least so many totals, and of all that are tried one in so many (2^16) by luck. */
const LEAST_FILTERED = 5;
const MARGIN_BITS = 16;
const MOST_FILTERS = 2;

/** The numbers of a small table as totals of large tables, one after the other. */
export class Controls {
  private readonly totals: readonly ColumnFacts[];
  /** Totals that some table meets in every row, and under how many conditions at least. */
  private readonly met = new Map<string, number>();
  /** The best match of each total with each large table. */
  private readonly found = new Map<string, Match>();

  constructor(private readonly small: Profiled) {
    const { rows, facts } = small;
    const isControl = rows.whole && rows.read >= LEAST_TOTALS && rows.read <= MOST_TOTALS;
    this.totals = isControl ? facts.filter(isTotal) : [];
  }

  get isControl(): boolean {
    return this.totals.length > 0;
  }

  compare(large: Profiled): void {
    this.find(this.totals, large, (totals) => {
      const some = groupings(this.small, large).slice(0, MOST_GROUPINGS);
      const tried = { ways: partitions(large), conditions: 0 };
      return some.flatMap((grouping) => matches(totals, grouping, large, tried));
    });
  }

  /** After all plain ones: only what none of them meets is tried. `reached`: columns of the rows that keys lead to. */
  compareFiltered(large: Profiled, reached: (of: Profiled) => readonly ColumnFacts[]): void {
    const unmet = this.totals.filter(({ column }) => this.met.get(column.name) !== 0);
    this.find(unmet, large, (totals) => {
      const wide = { rows: large.rows, facts: [...large.facts, ...reached(large)] };
      const some = groupings(this.small, wide).slice(0, MOST_GROUPINGS);
      return some.length === 0 ? [] : filteredMatches(totals, some, large, wide.facts);
    });
  }

  /** After all others: only what is met nowhere yet is tried. */
  compareShifted(large: Profiled): void {
    const unmet = this.totals.filter(({ column }) => !this.met.has(column.name));
    this.find(unmet, large, (totals) => {
      const tried = { ways: partitions(large).filter(({ parts }) => parts === null), conditions: 1 };
      return shiftedGroupings(this.small, large).flatMap((grouping) => matches(totals, grouping, large, tried));
    });
  }

  /** Of a total that is met in every row, what meets it in some is not told. */
  pieces(): ProfilePiece[] {
    return [...this.found.values()]
      .filter(({ total, equal, of }) => equal === of || !this.met.has(total))
      .map((match) => pieceOf(match.total, 'control', textOf(match)));
  }

  private find(
    totals: readonly ColumnFacts[],
    large: Profiled,
    matching: (totals: readonly ColumnFacts[]) => readonly Match[],
  ): void {
    const { rows } = large;
    if (totals.length === 0 || large === this.small || !rows.whole || rows.read < this.small.rows.read * 1.5) return;
    const best = new Map<string, Match>();
    for (const match of matching(totals)) {
      const known = best.get(match.total);
      if (known === undefined || worth(match) > worth(known)) best.set(match.total, match);
    }
    for (const match of best.values()) {
      const key = `${match.total}\n${rows.table.name}`;
      const known = this.found.get(key);
      // A filter is told with others that fit as well.
      const isBetter = known === undefined || match.unfiltered !== undefined || worth(match) > worth(known);
      if (isBetter) this.found.set(key, match);
      if (match.equal === match.of)
        this.met.set(match.total, Math.min(match.conditions, this.met.get(match.total) ?? 1));
    }
  }
}

function isTotal({ column, distinct }: ColumnFacts): boolean {
  return column.kind === 'number' && distinct >= LEAST_TOTALS && !isKeyName(column.name);
}

interface Match {
  readonly total: string;
  readonly says: string;
  readonly grouping: string;
  /** Rows that are met without the filter; absent: it has none. */
  readonly unfiltered?: number;
  readonly equal: number;
  readonly near: number;
  readonly of: number;
  readonly conditions: number;
}

interface Tried {
  readonly ways: readonly Partition[];
  /** The number of conditions that the groupings themselves have. */
  readonly conditions: number;
}

/** A condition has to explain clearly more rows than the sum without it. */
const worth = ({ equal, near, of, conditions }: Match): number => equal / of + (near / of) * 0.1 - conditions * 0.15;

function matches(totals: readonly ColumnFacts[], grouping: Grouping, large: Profiled, tried: Tried): Match[] {
  const { groupOfRow, wanted, groups } = aligned(totals, grouping);
  const best = new Map<string, Match>();
  for (const { once, parts } of tried.ways)
    for (const measure of measuresOf(large, grouping)) {
      const sums = sumsOf(groupOfRow, groups, measure, parts, once);
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

/** The group of each row of the large table, and the totals of the groups. */
function aligned(totals: readonly ColumnFacts[], grouping: Grouping) {
  const names = spread([...new Set(grouping.totals)].filter((each) => each !== null));
  const at = new Map(names.map((name, index) => [name, index]));
  const rowOf = new Map(grouping.totals.map((name, row) => [name, row]));
  return {
    groups: names.length,
    groupOfRow: Int32Array.from(grouping.rows, (label) => (label === null ? -1 : (at.get(label) ?? -1))),
    wanted: totals.map(({ column }) => ({
      name: column.name,
      values: names.map((name) => numberOf(column.values[rowOf.get(name) ?? -1] ?? null)),
    })),
  };
}

/** The first few of them are from all over. */
function spread<T>(all: readonly T[]): T[] {
  const step = Math.ceil(all.length / TRIED);
  const isFirst = (_: T, at: number): boolean => at % step === 0;
  return [...all.filter(isFirst), ...all.filter((each, at) => !isFirst(each, at))];
}

/** Sums of rows that one filter keeps, or of all rows where `facts`, with columns of other tables, group them. */
function filteredMatches(
  totals: readonly ColumnFacts[],
  some: readonly Grouping[],
  large: Profiled,
  facts: readonly ColumnFacts[],
): Match[] {
  const columns = facts.flatMap((each) => filterColumn(each) ?? []);
  const measured = some.map((grouping) => ({ grouping, measures: measuresOf(large, grouping) }));
  const tried = measured.reduce((sum, { measures }) => sum + measures.length, 0) * filtersOf(columns);
  const leastBits = Math.log2(Math.max(1, tried)) + MARGIN_BITS;
  return measured.flatMap(({ grouping, measures }) => {
    const { groupOfRow, wanted, groups } = aligned(totals, grouping);
    const rowsOf = Array.from({ length: groups }, (): number[] => []);
    groupOfRow.forEach((group, row) => rowsOf[group]?.push(row));
    const others = columns.filter(({ name }) => !grouping.columns.includes(name));
    return measures.flatMap((measure) => {
      const [sums = new Float64Array()] = sumsOf(groupOfRow, groups, measure, null, null);
      return wanted.flatMap((total): Match[] => {
        const at = total.values.flatMap((value, group) => (value === null ? [] : [group]));
        const isMissed = (group: number): boolean => !isMet(sums[group] ?? 0, total.values[group] ?? NaN);
        const missed = at.filter(isMissed);
        const match = { total: total.name, grouping: grouping.name, equal: at.length, near: at.length, of: at.length };
        const of = `${measure.name} of ${large.rows.table.name}`;
        if (at.length < LEAST_FILTERED) return [];
        if (missed.length === 0) return [{ ...match, says: of, conditions: 0 }];
        const order = [...missed, ...at.filter((group) => !isMissed(group))];
        const summed = { rowsOf, values: measure.values, step: measure.step };
        const filters = others.flatMap((column) => filtersThatMeet(total.values, order, summed, column));
        const told = apart(
          filters.filter(({ bits }) => bits >= leastBits),
          rowsOf.flat(),
        );
        if (told.length === 0) return [];
        const says = `${of} (${told.slice(0, MOST_FILTERS).join(' or ')}${told.length > MOST_FILTERS ? ' or …' : ''})`;
        return [{ ...match, says, conditions: 1, unfiltered: at.length - missed.length }];
      });
    });
  });
}

/** Filters in words; of those that keep the same rows the first. */
function apart(filters: readonly Filter[], rows: readonly number[]): string[] {
  const [first, ...rest] = filters;
  if (first === undefined) return [];
  const others = rest.filter(({ keeps }) => rows.some((row) => keeps(row) !== first.keeps(row)));
  return [first.says, ...apart(others, rows)];
}

interface Measure {
  readonly name: string;
  /** One value a row; NaN: none. */
  readonly values: Float64Array;
  /** All sums are multiples of it. */
  readonly step: () => number;
}

function measuresOf({ rows, facts }: Profiled, grouping: Grouping): Measure[] {
  const keys = new Set([...keyColumns(rows.table), ...grouping.columns]);
  const sums = facts
    .filter(
      ({ column, distinct }) =>
        column.kind === 'number' && distinct > 1 && !keys.has(column.name) && !isKeyName(column.name),
    )
    .map(({ column, scalars }) => {
      const values = scalars ?? new Float64Array();
      return { name: `sum(${column.name})`, values, step: () => stepOf(values) };
    });
  return [{ name: 'count(*)', values: new Float64Array(rows.read).fill(1), step: () => 1 }, ...sums];
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

const partitions = perObject(({ facts, repeated }: Profiled): readonly Partition[] => {
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
});

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
const signings = remembered((parts: number): readonly (readonly number[])[] => {
  if (parts === 1) return [[1]];
  const all = Array.from({ length: 3 ** parts }, (_, code) =>
    Array.from({ length: parts }, (_unused, at) => 1 - (Math.floor(code / 3 ** at) % 3)),
  );
  return all.filter((signs) => signs.includes(1));
});

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
    if (isMet(sum, total)) equal += 1;
    if (Math.abs(sum - total) <= Math.abs(total) * NEAR) near += 1;
    seen += 1;
    if (seen === TRIED && equal < TRIED / 4 && !(plain && near >= TRIED / 4)) return null;
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

function textOf({ says, grouping, unfiltered, equal, near, of }: Match): string {
  const how =
    equal === of ? `in all ${of} rows` : `in ${equal} of ${of} rows${near > equal ? `, within 2% in ${near}` : ''}`;
  return `= ${says} by ${grouping} ${how}${unfiltered === undefined ? '' : `, unfiltered in ${unfiltered}`}`;
}
