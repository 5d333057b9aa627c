/** Ranks tables by how likely a question needs them: by its words, then by keys to tables that match its words. */
import type { DatabaseDescription, TableDescription } from '../domain';
import { relevanceTo } from './lexical';

export interface RankedTable {
  readonly table: TableDescription;
  readonly order: number;
  readonly score: number;
}

export interface AskedOf {
  readonly question?: string;
  /** Notes from documentation, each with the name of its table. */
  readonly notes?: readonly { readonly table: string; readonly text: string }[];
}

/** The share of its neighbours' scores that a table gets: of the best, and of the second, since it may join the two. */
const BY_NEIGHBOURS = [0.4, 0.3] as const;
/** If more tables than this have a key of the same name, the name does not tell which table it refers to. */
const SHARED_KEY = 3;

export function rankedTables(
  { tables }: Pick<DatabaseDescription, 'tables'>,
  { question = '', notes = [] }: AskedOf,
): readonly RankedTable[] {
  const said = new Map<string, string[]>();
  for (const { table, text } of notes) said.set(table, [...(said.get(table) ?? []), text]);
  const relevance = relevanceTo(question, tables, ({ name }) => (said.get(name) ?? []).join(' '));
  const own = new Map(tables.map((table) => [table.name, relevance.table(table)]));
  const near = neighboursOf(tables);
  const byNeighbours = (name: string): number => {
    const scores = [...(near.get(name) ?? [])].map((other) => own.get(other) ?? 0).sort((a, b) => b - a);
    return BY_NEIGHBOURS.reduce((sum, share, at) => sum + share * (scores[at] ?? 0), 0);
  };
  return tables
    .map((table, order) => ({ table, order, score: (own.get(table.name) ?? 0) + byNeighbours(table.name) }))
    .sort((a, b) => b.score - a.score || a.order - b.order);
}

/** Neighbours by declared foreign keys, and by columns named like another table's key. */
function neighboursOf(tables: readonly TableDescription[]): ReadonlyMap<string, ReadonlySet<string>> {
  const near = new Map<string, Set<string>>(tables.map(({ name }) => [name, new Set()]));
  const link = (one: string, other: string): void => {
    if (one === other) return;
    near.get(one)?.add(other);
    near.get(other)?.add(one);
  };
  const keys = new Map<string, string[]>();
  for (const { name, primaryKey, uniqueKeys } of tables)
    for (const [column, more] of [primaryKey, ...uniqueKeys])
      if (column !== undefined && more === undefined) keys.set(column, [...(keys.get(column) ?? []), name]);
  for (const { name, foreignKeys, columns } of tables) {
    for (const key of foreignKeys) link(name, key.table);
    for (const column of columns) {
      const targets = keys.get(column.name) ?? [];
      if (targets.length <= SHARED_KEY) for (const target of targets) link(name, target);
    }
  }
  return near;
}
