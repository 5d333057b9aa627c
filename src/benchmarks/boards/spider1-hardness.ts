/**
 * Spider's levels of difficulty, from the parsed gold query that its files hold as `sql`
 * (taoyds/test-suite-sql-eval `evaluation.py`): counted are clauses, nested queries, and what there is more than one of.
 */
import { z } from 'zod';

/** A list such as [condition, 'and', condition, …]. */
const Conditions = z.array(z.unknown());
const Parsed = z.object({
  select: z.tuple([z.boolean(), z.array(z.unknown())]),
  from: z.object({ table_units: z.array(z.unknown()), conds: Conditions }),
  where: Conditions,
  having: Conditions,
  groupBy: z.array(z.unknown()),
  orderBy: z.union([z.tuple([z.string(), z.array(z.array(z.unknown()))]), z.tuple([])]),
  limit: z.number().nullable(),
  intersect: z.unknown().optional(),
  except: z.unknown().optional(),
  union: z.unknown().optional(),
});
type Parsed = z.infer<typeof Parsed>;

export const LEVELS = ['easy', 'medium', 'hard', 'extra'] as const;
type Level = (typeof LEVELS)[number];

const LIKE = 9;

/** null: the file holds no parsed query. */
export function hardnessOf(sql: unknown): Level | null {
  const parsed = Parsed.safeParse(sql);
  if (!parsed.success) return null;
  const [clauses, nested, others] = [clausesOf(parsed.data), nestedOf(parsed.data), othersOf(parsed.data)];
  if (nested === 0) {
    if (clauses <= 1 && others === 0) return 'easy';
    if ((clauses <= 1 && others <= 2) || (clauses <= 2 && others < 2)) return 'medium';
    return (clauses <= 2 && others > 2) || (clauses === 3 && others <= 2) ? 'hard' : 'extra';
  }
  return nested === 1 && clauses <= 1 && others === 0 ? 'hard' : 'extra';
}

function clausesOf({ from, where, having, groupBy, orderBy, limit }: Parsed): number {
  const lists = [from.conds, where, having];
  const conditions = lists.flatMap(conditionsIn);
  const joins = Math.max(0, from.table_units.length - 1);
  const ors = lists.flatMap((list) => list.filter((part) => part === 'or')).length;
  const likes = conditions.filter((condition) => condition[1] === LIKE).length;
  const present = [where.length > 0, groupBy.length > 0, orderBy.length > 0, limit !== null].filter(Boolean).length;
  return present + joins + ors + likes;
}

function nestedOf({ from, where, having, intersect, except, union }: Parsed): number {
  const values = [from.conds, where, having].flatMap(conditionsIn).flatMap((condition) => condition.slice(3, 5));
  return [...values, intersect, except, union].filter(isObject).length;
}

function othersOf({ select, where, having, groupBy, orderBy }: Parsed): number {
  const sorted = (orderBy[1] ?? []).flatMap((unit) => unit.slice(1, 3)).filter((unit) => unit !== null);
  // The published code takes a negated condition, and an AND or OR after HAVING, for an aggregate.
  const aggregates = [...select[1], ...conditionsIn(where), ...groupBy, ...sorted, ...having].filter(
    (unit) => typeof unit === 'string' || (Array.isArray(unit) && Boolean(unit[0])),
  ).length;
  return [aggregates, select[1].length, where.length, groupBy.length].filter((count) => count > 1).length;
}

function conditionsIn(list: readonly unknown[]): unknown[][] {
  return list.filter((part) => Array.isArray(part));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
