/**
 * Which tables of a wide database a question is likely to need, in this order: those whose values or names it has, documents
 * near them, figures that they are checked against (stored totals, units, rates), and what only shares a word. Behind each
 * table come the code tables that it leads to, and its head or lines. Within a tier weight flows from the named tables along
 * links and keys, so that a document table between a customer and an item stands before one that is further away.
 */
import type { DatabaseDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { rankedTables, type AskedOf } from '../relevance';
import type { Link } from './links';
import { PART, type TableKind } from './table-kinds';

/** Tables that hold something that the question names. */
export interface Named {
  readonly tables: readonly string[];
  /** 1 for what it names best. */
  readonly weight: number;
}

export interface Choice {
  readonly description: Pick<DatabaseDescription, 'tables'>;
  readonly asked: AskedOf;
  readonly links: readonly Link[];
  readonly kinds: readonly TableKind[];
  readonly places: readonly Named[];
  /** Of each table that was read. */
  readonly rows: ReadonlyMap<string, number>;
  readonly isCode: (name: string) => boolean;
}

export const TIERS = ['named', 'near', 'figures', 'rest'] as const;
export type Tier = (typeof TIERS)[number];

/** What a further key costs. */
const NEARER = 0.5;
const MOST_STEPS = 4;
const WORDS = 0.5;
/** Of tables as near as each other, those that hold most together come first. */
const CENTRAL = 0.1;
/** The weight of a word of the question that is the name of one table only. */
const NAMED = 5;
const DECLARED = 0.8;
/** The part of that weight below which a resemblance is none. */
const LEAST_WORDS = 0.3;

/** The names of tables with rows, likeliest first. */
export function chosenTables(choice: Choice): { name: string; tier: Tier }[] {
  const { description, asked, links, kinds, places, rows, isCode } = choice;
  const names = description.tables.map(({ name }) => name).filter((name) => (rows.get(name) ?? 0) > 0);
  // Short words are parts of names by chance.
  const question = (asked.question ?? '').replace(/(?<![\p{L}\p{N}])[\p{L}\p{N}]{1,2}(?![\p{L}\p{N}])/gu, ' ');
  const words = new Map(
    rankedTables(description, { ...asked, question }).map(({ table, score }) => [table.name, score]),
  );
  // A word that only resembles a name is no reason on its own.
  const full = NAMED * Math.log(1 + names.length);
  const named = new Set([
    ...places.flatMap((own) => own.tables),
    ...names.filter((name) => (words.get(name) ?? 0) >= full),
  ]);
  const kindOf = new Map(kinds.map(({ table, kind }) => [table, kind]));
  const isAside = (name: string): boolean => (kindOf.get(name) ?? 'aside') === 'aside';
  const near = neighbours(description, links, new Set(names.filter((name) => !isAside(name) || named.has(name))));
  const central = centrality(names, near, rows);
  // Nothing is central where nothing hangs together.
  const most = Math.max(...central.values()) || 1;
  const close = closeness(near, [
    ...places,
    ...names.flatMap((name) => {
      const weight = (WORDS * (words.get(name) ?? 0)) / full;
      return weight < WORDS * LEAST_WORDS ? [] : [{ tables: [name], weight }];
    }),
  ]);
  const scoreOf = (name: string): number => (close.get(name) ?? 0) + (CENTRAL * (central.get(name) ?? 0)) / most;
  const tierOf = (name: string): Tier => {
    if (named.has(name)) return 'named';
    if (isAside(name)) return 'rest';
    return kindOf.get(name) === 'figures' ? 'figures' : 'near';
  };
  const leading = new Set(links.flatMap(({ table, weight }) => (weight >= PART ? [table] : [])));
  const ordered = names
    .map((name, order) => ({ name, order, score: scoreOf(name), tier: tierOf(name) }))
    .filter(({ name, tier }) => tier !== 'rest' || (words.get(name) ?? 0) > full * LEAST_WORDS || leading.has(name))
    .sort((a, b) => TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier) || b.score - a.score || a.order - b.order);
  const { headOf, lineOf } = documentsOf(choice);
  const codesOf = new Map<string, string[]>();
  for (const { table, to } of links) if (isCode(to)) codesOf.set(table, [...(codesOf.get(table) ?? []), to]);
  const tiers = new Map<string, Tier>();
  for (const { name, tier } of ordered) {
    const parts =
      tier === 'near' ? [headOf.get(name) ?? name, name, lineOf.get(headOf.get(name) ?? name) ?? name] : [name];
    for (const part of parts) {
      if (tiers.has(part)) continue;
      tiers.set(part, tier);
      for (const to of codesOf.get(part) ?? []) if (!tiers.has(to)) tiers.set(to, tier);
    }
  }
  return [...tiers].map(([name, tier]) => ({ name, tier }));
}

/**
 * Of each line its head, and of each head the lines with most rows. Where few values lead to a head, as in parts lists, it is
 * the first one of the columns that lead anywhere.
 */
function documentsOf({ description, links, rows, isCode }: Choice) {
  const heads = new Map<string, Link>();
  const from = groupBy(links, ({ table }) => table);
  for (const { name, columns } of description.tables) {
    const own = (from.get(name) ?? []).filter(({ to }) => !isCode(to));
    const strong = own.filter(({ weight }) => weight >= PART).sort((a, b) => b.weight - a.weight);
    const [first] = columns.flatMap(({ name: column }) => own.find((link) => link.column === column) ?? []);
    const head = strong[0] ?? first;
    if (head !== undefined) heads.set(name, head);
  }
  const lineOf = new Map<string, string>();
  for (const [line, { to, weight }] of heads)
    if (weight >= PART && (rows.get(line) ?? 0) > (rows.get(lineOf.get(to) ?? '') ?? 0)) lineOf.set(to, line);
  return { headOf: new Map([...heads].map(([line, { to }]) => [line, to])), lineOf };
}

type Weights = ReadonlyMap<string, number>;
type Near = ReadonlyMap<string, Weights>;

export function neighbours(
  { tables }: Choice['description'],
  links: readonly Link[],
  known: ReadonlySet<string>,
): Near {
  const near = new Map<string, Map<string, number>>();
  const join = (one: string, other: string, weight: number): void => {
    if (one === other || !known.has(one) || !known.has(other)) return;
    for (const [from, to] of [[one, other] as const, [other, one] as const]) {
      const own = near.get(from) ?? new Map<string, number>();
      near.set(from, own.set(to, Math.max(own.get(to) ?? 0, weight)));
    }
  };
  for (const { table, to, weight } of links) join(table, to, weight);
  for (const { name, foreignKeys } of tables) for (const key of foreignKeys) join(name, key.table, DECLARED);
  return near;
}

/** How much hangs on a table, by links and rows. */
export function centrality(names: readonly string[], near: Near, rows: Weights): Weights {
  return new Map(
    names.map((name) => {
      const links = [...(near.get(name)?.values() ?? [])].reduce((sum, weight) => sum + weight, 0);
      return [name, Math.sqrt(links) * Math.log10(10 + (rows.get(name) ?? 0))];
    }),
  );
}

/** How near a table is to each of what the question names, by the number of keys between them. */
function closeness(near: Near, named: readonly Named[]): Weights {
  const found = new Map<string, number>();
  for (const { tables, weight } of named) {
    let reached = [...tables];
    const seen = new Set(reached);
    for (let step = 0; step < MOST_STEPS; step++) {
      for (const name of reached) found.set(name, (found.get(name) ?? 0) + weight * NEARER ** step);
      reached = reached.flatMap((name) => [...(near.get(name)?.keys() ?? [])]).filter((name) => !seen.has(name));
      reached = [...new Set(reached)];
      for (const name of reached) seen.add(name);
    }
  }
  return found;
}
