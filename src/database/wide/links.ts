/**
 * How the tables of a wide database hang together, by the values that their columns share. No column has to be a key on its
 * own: where each client, language or version has its own rows, none is. Values are compared without case, spaces,
 * punctuation and leading zeros; what meets only that way is marked.
 */
import * as z from 'zod';
import { add, isUnique, type ColumnFacts } from '../profile/column-facts';
import { loosely, valueSet } from '../profile/joins';
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
  readonly beside: readonly ColumnFacts[];
}

/** Values of a column that are tried. */
const TRIED = 200;
/** Of many values some may be missed: rows are deleted, and large tables read in part. */
const LEAST_SHARE = 0.8;
const MANY = 20;
/** Fewer values than this meet by chance. */
const FEW = 8;
/** So many values are all in a column only if it has the same key. */
const SURE = 100;
/** Codes of one letter. */
const LETTERS = 4;
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
    facts.filter(isCode).map((own): Side => {
      const beside = facts.filter((each) => each !== own);
      return { table: rows.table.name, rows: rows.read, facts: own, beside };
    }),
  );
  const keys = sides.filter(({ facts }) => facts.distinct >= Math.max(2, facts.filled * 0.15));
  const holders = new Map<string, number[]>();
  for (const [at, { facts }] of keys.entries())
    for (const value of new Set(facts.values.map((each) => loosely(each.value)))) {
      const own = holders.get(value);
      if (own === undefined) holders.set(value, [at]);
      else if (own.length <= MOST_HOLDERS) own.push(at);
    }
  const links = sides.flatMap((side) => targetsOf(side, keys, holders));
  const whole = new Set(links.flatMap(({ table, column, to, key, share }) => (share === 1 ? [[to, key, table, column].join('\n')] : []))); // prettier-ignore
  return links.filter(
    ({ table, column, to, key, share }) => share === 1 || !whole.has([table, column, to, key].join('\n')),
  );
}

function targetsOf(from: Side, keys: readonly Side[], holders: ReadonlyMap<string, readonly number[]>): Link[] {
  const tried = spread(from.facts.values.map(({ value }) => value));
  const met = new Map<string, number>();
  for (const value of tried) for (const at of holders.get(loosely(value)) ?? []) add(met, String(at));
  const links = [...met].flatMap(([at, count]): (Link & { readonly isKey: boolean })[] => {
    const to = keys[Number(at)];
    const share = count / (tried.length - Number(to !== undefined && missesZero(tried, to.facts)));
    if (to === undefined || to.table === from.table || share < (tried.length < MANY ? 1 : LEAST_SHARE)) return [];
    // Of two tables with the same keys, the one that has each of them once is led to.
    const unique = to.facts.distinct / Math.max(1, to.facts.filled);
    const own = from.facts.distinct / Math.max(1, from.facts.filled);
    if ((unique < own * 0.9 && to.rows > SMALL_ROWS) || isDense(to.facts)) return [];
    // Amounts and counters meet any column of numbers.
    if (to.facts.column.kind === 'number' && !isUnique(to.facts)) return [];
    const values = valueSet(to.facts);
    const exact = tried.filter((value) => values.has(value)).length / count;
    // Years and position numbers are codes of anything once their zeros are gone.
    const isShort = tried.every((value) => /^\d{1,4}$/.test(loosely(value)));
    const isMostOfIt = tried.length > 2 && tried.length >= to.facts.distinct / 2;
    if (exact < 0.5 && isShort && (tried.every(isYear) || !isMostOfIt)) return [];
    if (isCounted(tried) && (exact < 1 || to.facts.distinct > tried.length)) return [];
    if (tried.length < FEW && !isKeyed(to)) return [];
    // So short are grades and marks of all kinds: only the same set tells.
    if (tried.some(({ length }) => length < 2) && (tried.length < LETTERS || to.facts.distinct > tried.length))
      return [];
    const telling =
      Math.min(1, Math.log2(from.facts.distinct) / 7) * Math.min(1, (from.facts.distinct * 20) / to.facts.distinct);
    const ends = { table: from.table, column: from.facts.column.name, to: to.table, key: to.facts.column.name };
    const weight = share * telling * (0.3 + 0.7 * unique);
    return [{ ...ends, share, exact: Math.min(1, exact), weight, isKey: tried.length >= SURE || isEven(to.facts) }];
  });
  // The table that has all values is the parent, though another one has its keys once.
  const all = links.filter(({ share }) => share === 1);
  return (all.length > 0 ? all : links)
    .sort((a, b) => Math.round(b.exact) - Math.round(a.exact) || b.weight - a.weight || (a.to < b.to ? -1 : 1))
    .filter(({ isKey }, at) => at === 0 || (at < TARGETS && isKey && tried.length >= FEW))
    .map(({ isKey: _, ...link }) => link);
}

/** `0000` is no value where the other table has none. */
function missesZero(tried: readonly string[], to: ColumnFacts): boolean {
  const zero = tried.find((value) => /^0+$/.test(value));
  return zero !== undefined && tried.length > LETTERS && !valueSet(to).has(zero);
}

const isYear = (value: string): boolean => /^(19|20)\d\d$/.test(value);

/** Values from all over the list, which begins with the most frequent ones. */
function spread(values: readonly string[]): readonly string[] {
  const step = Math.max(1, values.length / TRIED);
  return Array.from({ length: Math.min(TRIED, values.length) }, (_, at) => values[Math.floor(at * step)] ?? '');
}

/** Short values without spaces; dates and amounts lead nowhere. */
function isCode({ column, distinct, values, formats }: ColumnFacts): boolean {
  if (distinct < 2 || (column.kind !== 'text' && column.kind !== 'number')) return false;
  const some = values.slice(0, 100);
  if (column.kind === 'number') return distinct >= FEW && some.every(({ value }) => /^\d+$/.test(value));
  const isDate =
    formats.length === 1 &&
    formats[0]?.value === '99999999' &&
    some.every(({ value }) => /^((19|20)\d\d[01]\d[0-3]\d|0+|9999.*)$/.test(value));
  return (
    !isDate &&
    some.every(({ value }) => value.length <= CODE_CHARS && value.trim() !== '') &&
    some.filter(({ value }) => /\s/.test(value)).length < some.length * 0.2
  );
}

/** Position numbers: 1, 2, 3 or 010, 020, 030, written in any way. */
function isCounted(values: readonly string[]): boolean {
  const numbers = values
    .map((value) => Number(value || NaN))
    .filter((number) => number !== 0)
    .sort((a, b) => a - b);
  const [step = NaN] = numbers;
  return step > 0 && numbers.every((number, at) => number === step * (at + 1));
}

/** Each code once, or as often as every other one. */
const isEven = ({ values }: ColumnFacts): boolean => values[0]?.count === values.at(-1)?.count;

/** Each code once, or once for each language, client or the like. */
function isKeyed({ facts, beside }: Side): boolean {
  const each = facts.values[0]?.count ?? 0;
  if (!isEven(facts) || each === 1) return isEven(facts);
  const pairs = beside
    .filter(({ distinct }) => distinct > 1 && each % distinct === 0)
    .map(({ column }) => column.values);
  const isTold = (...by: (readonly unknown[])[]): boolean =>
    new Set(facts.column.values.map((code, row) => [code, ...by.map((values) => values[row])].join('\n'))).size ===
    facts.rows;
  return pairs.some((one, at) => isTold(one) || pairs.slice(at + 1).some((other) => isTold(one, other)));
}

/** Whole numbers from 1 on are in every table. */
function isDense({ column, min, max, distinct }: ColumnFacts): boolean {
  return column.kind === 'number' && Number(min) <= 1 && Number(max) - Number(min) < distinct * 2;
}
