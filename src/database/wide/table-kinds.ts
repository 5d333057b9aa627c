/**
 * What each table of a wide database is to the others, without a question. A table that nothing leads to stays aside, unless
 * its own key shows that it belongs to what it leads to: a line, a text or a unit of something, or totals of a period.
 */
import * as z from 'zod';
import type { Profiled } from '../profile/row-doubts';
import type { ColumnFacts } from '../profile/column-facts';
import { groupBy } from '../../group-by';
import type { Link } from './links';

export const TableKind = z.object({
  table: z.string(),
  /** `figures`: a key and numbers, as stored totals, units and rates are. */
  kind: z.enum(['core', 'figures', 'aside']),
});
export type TableKind = Readonly<z.infer<typeof TableKind>>;

/** A column that most tables have with the same few values: a client, a language. */
export const Everywhere = z.object({
  values: z.array(z.string()),
  columns: z.array(z.tuple([z.string(), z.string()])),
  /** Tables of which all rows that repeat another one have this value: those of a copy. */
  copies: z.array(z.object({ table: z.string(), value: z.string(), rows: z.number() })),
});
export type Everywhere = Readonly<z.infer<typeof Everywhere>>;

const MOST_EVERYWHERE = 5;

export function everywhereIn(tables: readonly Profiled[]): Everywhere[] {
  const filled = tables.filter(({ rows }) => rows.read > 0);
  const columns = filled.flatMap(({ rows, facts, repeated }) =>
    facts
      .filter(({ distinct, filled: own }) => distinct > 1 && distinct <= MOST_EVERYWHERE && own === rows.read)
      .map(({ column, values }) => {
        const at: [string, string] = [rows.table.name, column.name];
        const copied = new Set(column.values.filter((_, row) => repeated?.repeats[row]).map(String));
        const copies = [...copied].map((value) => ({ table: rows.table.name, value, rows: repeated?.count ?? 0 }));
        return {
          ...{ at, end: endOf(column.name), values: values.map(({ value }) => value).sort() },
          copies: copies.length === 1 ? copies : [],
        };
      }),
  );
  return [...groupBy(columns, ({ end, values }) => [end, ...values].join('\n')).values()]
    .filter((same) => new Set(same.map(({ at }) => at[0])).size * 2 >= filled.length)
    .map((same) => ({
      ...{ values: same[0]?.values ?? [], columns: same.map(({ at }) => at) },
      copies: same.flatMap(({ copies }) => copies),
    }));
}

/** Whether a column is one of those. */
export function isEverywhere(everywhere: readonly Everywhere[]): (at: Pick<Link, 'table' | 'column'>) => boolean {
  const known = new Set(everywhere.flatMap(({ columns }) => columns.map((at) => at.join('\n'))));
  return ({ table, column }) => known.has(`${table}\n${column}`);
}

/** `cl` of `vk_cl`. */
export const endOf = (column: string): string => /[^_]*$/.exec(column.toLowerCase())?.[0] ?? '';

/** The weight of a link of a line to its document. */
export const PART = 0.75;

export function kindsOf(
  tables: readonly Profiled[],
  links: readonly Link[],
  everywhere: readonly Everywhere[],
): TableKind[] {
  const isSame = isEverywhere(everywhere);
  const leading = links.filter((link) => !isSame(link));
  const byTable = groupBy(leading, ({ table }) => table);
  const core = new Set<string>();
  const figures = new Set<string>();
  for (const each of tables) {
    const { name } = each.rows.table;
    const own = byTable.get(name) ?? [];
    const leads = ({ column }: ColumnFacts): boolean => own.some((link) => link.column === column.name);
    const { key, isSure } = keyOf(each);
    const [only, more] = key.filter(({ column }) => !isSame({ table: name, column: column.name }));
    const belongs = isSure
      ? key.some((fact) => leads(fact) || isPeriod(fact)) || own.some(({ weight }) => weight >= PART)
      : only !== undefined && more === undefined && leads(only) && isFigures(each, key);
    const isLarge = each.rows.read >= LARGE && own.some(({ weight }) => weight >= PART / 1.5);
    const { foreignKeys } = each.rows.table;
    for (const declared of foreignKeys) core.add(declared.table);
    if (!belongs && !isLarge && foreignKeys.length === 0) continue;
    core.add(name);
    if (belongs && isFigures(each, key) && (key.some(isPeriod) || own.every(({ weight }) => weight < PART)))
      figures.add(name);
  }
  for (const link of links) if (isSame(link)) core.add(link.to);
  for (const name of core) for (const { to } of byTable.get(name) ?? []) core.add(to);
  return tables.map(({ rows }) => {
    const { name } = rows.table;
    return { table: name, kind: figures.has(name) ? 'figures' : core.has(name) ? 'core' : 'aside' };
  });
}

/** A table of so many rows is no aside where it leads anywhere. */
const LARGE = 1_000;

/** Rows that would repeat by chance: where so many do not, the columns are a key. */
const BY_CHANCE = 5;
const MOST_KEY = 5;

/** The first columns that tell all rows apart, and whether they would not do so by chance. */
function keyOf({ rows, facts, repeated }: Profiled): {
  readonly key: readonly ColumnFacts[];
  readonly isSure: boolean;
} {
  const { primaryKey } = rows.table;
  if (primaryKey.length > 0)
    return { key: facts.filter(({ column }) => primaryKey.includes(column.name)), isSure: true };
  let different = 1;
  // Rows that were imported twice are no reason against a key.
  const counted = Array.from({ length: rows.read }, (_, row) => row).filter((row) => repeated?.repeats[row] !== true);
  let told = counted.map(() => '');
  for (const [at, { column, distinct, scalars }] of facts.slice(0, MOST_KEY).entries()) {
    if (scalars?.some((value) => !Number.isNaN(value) && !Number.isInteger(value))) break;
    told = told.map((key, nth) => `${key}\n${String(column.values[counted[nth] ?? 0])}`);
    different *= Math.max(1, distinct);
    if (new Set(told).size === told.length)
      return { key: facts.slice(0, at + 1), isSure: told.length ** 2 / (2 * different) >= BY_CHANCE };
  }
  return { key: [], isSure: false };
}

/** A month, or a day. */
function isPeriod({ values, distinct }: ColumnFacts): boolean {
  return distinct > 1 && values.every(({ value }) => /^(19|20)\d\d-?(0[1-9]|1[0-2])(-?[0-3]\d)?$/.test(value));
}

function isFigures({ facts }: Profiled, key: readonly ColumnFacts[]): boolean {
  const rest = facts.slice(key.length);
  return rest.length > 0 && rest.filter(({ column }) => column.kind === 'number').length * 2 >= rest.length;
}
