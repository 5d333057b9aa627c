/**
 * How the tables of a wide database hang together, by the values that their columns share. No column has to be a key on its
 * own: where each client, language or version has its own rows, none is. Values are compared without case, spaces,
 * punctuation and leading zeros; what meets only that way is marked.
 */
import * as z from 'zod';
import { add, isUnique, type ColumnFacts } from '../profile/column-facts';
import { loosely } from '../profile/joins';
import type { TableRows } from '../profile/table-rows';

export const Link = z.object({
  table: z.string(),
  column: z.string(),
  to: z.string(),
  key: z.string(),
  /** The share of the values tried that the other column has. */
  share: z.number(),
  /** The share of those that meet as they stand. */
  exact: z.number(),
  /** How much the link tells: many values that few other columns have. */
  weight: z.number(),
});
export type Link = Readonly<z.infer<typeof Link>>;

interface Side {
  readonly table: string;
  readonly rows: number;
  readonly facts: ColumnFacts;
}

/** Values of a column that are tried. */
const TRIED = 200;
const LEAST_SHARE = 0.8;
const TARGETS = 2;
/** A value that more columns have says nothing. */
const MOST_HOLDERS = 80;
/** A code table may have its codes once for each client or language. */
const SMALL_ROWS = 40;
const CODE_CHARS = 32;

export function linksOf(
  tables: readonly { readonly rows: TableRows; readonly facts: readonly ColumnFacts[] }[],
): Link[] {
  const sides = tables.flatMap(({ rows, facts }) =>
    facts.filter(isCode).map((own): Side => ({ table: rows.table.name, rows: rows.read, facts: own })),
  );
  const keys = sides.filter(({ facts }) => facts.distinct >= Math.max(2, facts.filled * 0.15));
  const holders = new Map<string, number[]>();
  for (const [at, { facts }] of keys.entries())
    for (const value of new Set(facts.values.map((each) => loosely(each.value)))) {
      const own = holders.get(value);
      if (own === undefined) holders.set(value, [at]);
      else if (own.length <= MOST_HOLDERS) own.push(at);
    }
  return sides.flatMap((side) => targetsOf(side, keys, holders));
}

function targetsOf(from: Side, keys: readonly Side[], holders: ReadonlyMap<string, readonly number[]>): Link[] {
  const tried = spread(from.facts.values.map(({ value }) => value));
  const met = new Map<string, number>();
  for (const value of tried) for (const at of holders.get(loosely(value)) ?? []) add(met, String(at));
  const links = [...met].flatMap(([at, count]): (Link & { readonly unique: number })[] => {
    const to = keys[Number(at)];
    const share = count / tried.length;
    if (to === undefined || to.table === from.table || share < LEAST_SHARE) return [];
    // Of two tables with the same keys, the one that has each of them once is led to.
    const unique = to.facts.distinct / Math.max(1, to.facts.filled);
    const own = from.facts.distinct / Math.max(1, from.facts.filled);
    if ((unique < own * 0.9 && to.rows > SMALL_ROWS) || isDense(to.facts)) return [];
    // Amounts and counters meet any column of numbers.
    if (to.facts.column.kind === 'number' && !isUnique(to.facts)) return [];
    const values = valuesOf(to.facts);
    const exact = tried.filter((value) => values.has(value)).length / count;
    // Years and position numbers are codes of anything once their zeros are gone.
    const isShort = tried.every((value) => /^\d{1,4}$/.test(loosely(value)));
    if (exact < 0.5 && isShort && (from.facts.distinct < 8 || !isUnique(to.facts))) return [];
    const telling =
      Math.min(1, Math.log2(from.facts.distinct) / 7) * Math.min(1, (from.facts.distinct * 20) / to.facts.distinct);
    const ends = { table: from.table, column: from.facts.column.name, to: to.table, key: to.facts.column.name };
    return [{ ...ends, share, exact: Math.min(1, exact), weight: share * telling * (0.3 + 0.7 * unique), unique }];
  });
  return links
    .sort((a, b) => b.weight - a.weight || (a.to < b.to ? -1 : 1))
    .slice(0, TARGETS)
    .map(({ unique: _, ...link }) => link);
}

const known = new WeakMap<ColumnFacts, ReadonlySet<string>>();
function valuesOf(facts: ColumnFacts): ReadonlySet<string> {
  const made = known.get(facts) ?? new Set(facts.values.map(({ value }) => value));
  known.set(facts, made);
  return made;
}

/** Values from all over the list, which begins with the most frequent ones. */
function spread(values: readonly string[]): readonly string[] {
  const step = Math.max(1, values.length / TRIED);
  return Array.from({ length: Math.min(TRIED, values.length) }, (_, at) => values[Math.floor(at * step)] ?? '');
}

/** Short values without spaces; dates and amounts lead nowhere. */
function isCode({ column, distinct, values, formats }: ColumnFacts): boolean {
  if (distinct < 2 || (column.kind !== 'text' && column.kind !== 'number')) return false;
  const some = values.slice(0, 100);
  if (column.kind === 'number') return distinct >= 8 && some.every(({ value }) => /^\d+$/.test(value));
  const isDate =
    formats.length === 1 &&
    formats[0]?.value === '99999999' &&
    some.every(({ value }) => /^(19|20)\d\d[01]\d[0-3]\d$/.test(value));
  return (
    !isDate &&
    some.every(({ value }) => value.length <= CODE_CHARS && value.trim().length > 1) &&
    some.filter(({ value }) => /\s/.test(value)).length < some.length * 0.2
  );
}

/** Whole numbers from 1 on are in every table. */
function isDense({ column, min, max, distinct }: ColumnFacts): boolean {
  return column.kind === 'number' && Number(min) <= 1 && Number(max) - Number(min) < distinct * 2;
}
