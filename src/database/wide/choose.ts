/**
 * Which tables of a wide database a question is likely to need: those whose values it names, those that its words, documents
 * and the layer name, then what hangs together with them. Weight flows from the named tables along links and keys, so that a
 * document table between a customer and an item stands before a table that only shares a word.
 */
import type { DatabaseDescription } from '../../domain';
import { rankedTables, type AskedOf } from '../relevance';
import type { Link } from './links';
import type { Place } from './value-index';

export interface Choice {
  readonly description: Pick<DatabaseDescription, 'tables'>;
  readonly asked: AskedOf;
  readonly links: readonly Link[];
  readonly places: readonly (readonly Place[])[];
  /** Of each table that was read. */
  readonly rows: ReadonlyMap<string, number>;
}

const VALUES = 1;
const WORDS = 0.5;
/** Where nothing is named, the tables that hold most together come first. */
const CENTRAL = 0.25;
const ROUNDS = 4;
/** The weight of a word of the question that is the name of one table only. */
const NAMED = 5;
/** A link as strong as that of a line to its document. */
const PART = 0.75;
const ASIDE = 0.4;
const FLOWS = 0.55;
const DECLARED = 0.8;

/** The names of tables with rows, likeliest first. */
export function chosenTables({ description, asked, links, places, rows }: Choice): { name: string; score: number }[] {
  const names = description.tables.map(({ name }) => name).filter((name) => (rows.get(name) ?? 0) > 0);
  const near = neighbours(description, links, new Set(names));
  const values = new Map<string, number>();
  for (const [best] of places)
    if (best !== undefined) values.set(best.table, Math.max(values.get(best.table) ?? 0, best.score));
  const words = new Map(rankedTables(description, asked).map(({ table, score }) => [table.name, score]));
  const central = centrality(names, near, rows);
  const seed = sumOf(names, [
    [VALUES, values, 0],
    // A word that only resembles a name is no reason on its own.
    [WORDS, words, NAMED * Math.log(1 + names.length)],
    [CENTRAL, central, 0],
  ]);
  const flowed = flow(seed, near);
  // A log has keys of many tables, but nothing leads to it and it is part of nothing.
  const led = new Set(links.flatMap(({ table, to, weight }) => (weight >= PART ? [table, to] : [to])));
  const isAside = (name: string): boolean => !led.has(name) && !values.has(name);
  return names
    .map((name, order) => ({ name, order, score: (flowed.get(name) ?? 0) * (isAside(name) ? ASIDE : 1) }))
    .sort((a, b) => b.score - a.score || (central.get(b.name) ?? 0) - (central.get(a.name) ?? 0) || a.order - b.order);
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

/** Each source counts relative to its best, or to `least`. */
function sumOf(
  names: readonly string[],
  sources: readonly (readonly [share: number, of: Weights, least: number])[],
): Weights {
  const scaled = sources.map(([share, of, least]) => ({ share: share / Math.max(1e-9, least, ...of.values()), of }));
  return new Map(
    names.map((name) => [name, scaled.reduce((sum, { share, of }) => sum + share * (of.get(name) ?? 0), 0)]),
  );
}

function flow(seed: Weights, near: Near): Weights {
  let now = seed;
  for (let round = 0; round < ROUNDS; round++) {
    const next = new Map(seed);
    for (const [name, weight] of now) {
      const own = near.get(name);
      if (own === undefined) continue;
      // A hub gives each of its many neighbours little.
      const all =
        Math.max(
          1,
          [...own.values()].reduce((sum, each) => sum + each, 0),
        ) ** 0.6;
      for (const [other, share] of own) next.set(other, (next.get(other) ?? 0) + (FLOWS * weight * share) / all);
    }
    now = next;
  }
  return now;
}
