/**
 * The tables of a database in groups, as a lesson takes them: tables that hang together, the most central first, as many as one
 * prompt can show in full. Small clusters share a group. Pure.
 */
import { compareText } from '../domain/canonical';

export interface Grouping {
  /** How strongly each table hangs together with others. */
  readonly near: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** How much hangs on each table. */
  readonly central: ReadonlyMap<string, number>;
  /** Characters of each table, shown in full. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Characters, and tables, of one group. */
  readonly most: { readonly chars: number; readonly tables: number };
}

export function tableGroups(names: readonly string[], { near, central, sizes, most }: Grouping): string[][] {
  const byCentrality = [...names].sort((a, b) => (central.get(b) ?? 0) - (central.get(a) ?? 0) || compareText(a, b));
  const left = new Set(byCentrality);
  const groups: string[][] = [];
  while (left.size > 0) {
    const group: string[] = [];
    /** How strongly each table hangs on the group. */
    const weights = new Map<string, number>();
    let chars = 0;
    const fits = (name: string): boolean => group.length === 0 || chars + (sizes.get(name) ?? 0) <= most.chars;
    for (let next = nextOf(weights); next !== undefined && group.length < most.tables; next = nextOf(weights)) {
      if (!fits(next)) break;
      group.push(next);
      left.delete(next);
      chars += sizes.get(next) ?? 0;
      for (const [name, weight] of near.get(next) ?? []) weights.set(name, (weights.get(name) ?? 0) + weight);
    }
    groups.push(group);
  }
  return groups;

  /** The one that hangs most on the group; else the most central one that is left. */
  function nextOf(weights: ReadonlyMap<string, number>): string | undefined {
    let best: { readonly name: string; readonly weight: number } | undefined;
    for (const name of left) {
      const weight = weights.get(name) ?? 0;
      if (best === undefined || weight > best.weight) best = { name, weight };
    }
    return best?.name;
  }
}
