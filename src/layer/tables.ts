/** The tables and columns that a layer is about, and what is kept of each: what other tools call a dataset. */
import { isCounted, type Held, type HeldEntry } from './state';

export interface TableOfLayer {
  /** As the database shows it: `orders`, or `sales.orders` outside the schema that names are looked up in. */
  readonly name: string;
  /** About the table, and none of its columns. */
  readonly facts: readonly Held[];
  /** Those that a fact is about, or that a check reads. */
  readonly columns: readonly { readonly name: string; readonly facts: readonly Held[] }[];
}

interface Draft {
  readonly name: string;
  readonly facts: Held[];
  readonly columns: Map<string, Held[]>;
}

/** In the order of their names. Each fact stands where it belongs, and nowhere else; one that names no table stands nowhere. */
export function tablesOfLayer(facts: readonly Held[]): readonly TableOfLayer[] {
  const drafts = new Map<string, Draft>();
  const draftOf = (name: string): Draft => {
    const known = drafts.get(name.toLowerCase());
    if (known !== undefined) return known;
    const fresh = { name, facts: [], columns: new Map<string, Held[]>() };
    drafts.set(name.toLowerCase(), fresh);
    return fresh;
  };
  for (const held of facts) {
    const { tables, columns } = held.entry;
    for (const table of tables) draftOf(table);
    const subjects = new Set(subjectsOf(held));
    for (const full of columns) {
      const { table, column } = columnIn(full, tables);
      const known = draftOf(table).columns;
      known.set(column, [...(known.get(column) ?? []), ...(subjects.has(full) ? [held] : [])]);
    }
    const [first] = tables;
    if (subjects.size === 0 && first !== undefined)
      draftOf(tables.find((table) => mentions(held.statement, lastPart(table)).length > 0) ?? first).facts.push(held);
  }
  return [...drafts.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, facts: own, columns }) => ({
      ...{ name, facts: own },
      columns: [...columns].map(([column, said]) => ({ name: column, facts: said })),
    }));
}

/** For tools that show words alone: what a person said is not taken for proved. */
export function factText(held: Held): string {
  return isCounted(held) ? held.statement : `${held.statement} (${saidText(held)})`;
}

/** The readings that the counts refuted, each with how many rows match it. */
export function refutedText({ entry }: Pick<HeldEntry, 'entry'>): string {
  const refuted = entry.rivals.filter((rival) => rival.refuted);
  return refuted.map(({ reading, matching }) => `${reading}: ${matching ?? '?'}`).join(', ');
}

export function saidText({ entry: { author, saidAt } }: Exclude<Held, { readonly counts: unknown }>): string {
  return `said by ${author} on ${saidAt.slice(0, 10)}, not counted`;
}

/**
 * The columns that a statement is about: the one that it names first, with those that it names in one breath ("a.x and a.y are in
 * cents"). Others are conditions and terms of a formula. Of one that names none: the only column that its check reads.
 */
function subjectsOf({ entry: { tables, columns }, statement }: Held): readonly string[] {
  const named = columns
    .flatMap((full) => {
      const { table, column } = columnIn(full, tables);
      return mentions(statement, column).flatMap(({ at, end }) => {
        const qualifier = /([\p{L}\p{N}_$]+)["`]?\s*\.\s*["`]?$/u.exec(statement.slice(0, at));
        const isOther = qualifier !== null && qualifier[1]?.toLowerCase() !== lastPart(table).toLowerCase();
        return isOther ? [] : [{ full, begin: qualifier?.index ?? at, end, isQualified: qualifier !== null }];
      });
    })
    .sort((a, b) => a.begin - b.begin);
  const isClear = named.some(({ isQualified }) => isQualified);
  const clear = named.filter(({ isQualified }) => isQualified || !isClear);
  const [first] = clear;
  if (first === undefined) return columns.length === 1 ? columns : [];
  const subjects = [first.full];
  let { end } = first;
  for (const next of clear) {
    const isSame = next.begin === first.begin;
    if (!isSame && !/^["`]?\s*(,|\/|&|(,\s*)?(and|or))\s*["`]?$/i.test(statement.slice(end, next.begin))) continue;
    subjects.push(next.full);
    end = Math.max(end, next.end);
  }
  return subjects;
}

function mentions(text: string, name: string): readonly { readonly at: number; readonly end: number }[] {
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const found = text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}_$])${word}(?![\\p{L}\\p{N}_$])`, 'giu'));
  return [...found].map(({ index }) => ({ at: index, end: index + name.length }));
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Names may hold dots themselves, so the tables of the entry decide where the table ends. */
function columnIn(full: string, tables: readonly string[]): { readonly table: string; readonly column: string } {
  const lower = full.toLowerCase();
  const own = tables
    .filter((table) => lower.startsWith(`${table.toLowerCase()}.`))
    .sort((a, b) => b.length - a.length)[0];
  const end = own?.length ?? full.lastIndexOf('.');
  return { table: own ?? full.slice(0, Math.max(0, end)), column: full.slice(end + 1) };
}
