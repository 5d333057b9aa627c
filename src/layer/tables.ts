/** The tables and columns that entries of a layer are about, and what is said of each: what other tools call a dataset. */
import type { HeldEntry } from './state';

export interface TableOfLayer {
  /** As the database shows it: `orders`, or `sales.orders` outside the schema that names are looked up in. */
  readonly name: string;
  /** Of the entries that begin with this table: one statement stands at one table. */
  readonly statements: readonly string[];
  readonly columns: readonly {
    readonly name: string;
    /** Of every entry whose check names the column. */
    readonly statements: readonly string[];
  }[];
}

interface Draft {
  readonly name: string;
  readonly statements: Set<string>;
  readonly columns: Map<string, Set<string>>;
}

/** In the order of their names. */
export function tablesOfLayer(entries: readonly HeldEntry[]): readonly TableOfLayer[] {
  const drafts = new Map<string, Draft>();
  const draftOf = (name: string): Draft => {
    const known = drafts.get(name.toLowerCase());
    if (known !== undefined) return known;
    const fresh = { name, statements: new Set<string>(), columns: new Map<string, Set<string>>() };
    drafts.set(name.toLowerCase(), fresh);
    return fresh;
  };
  for (const { entry, statement } of entries) {
    for (const [at, table] of entry.tables.entries()) {
      const draft = draftOf(table);
      if (at === 0) draft.statements.add(statement);
    }
    for (const full of entry.columns) {
      const { table, column } = columnIn(full, entry.tables);
      const { columns } = draftOf(table);
      columns.set(column, (columns.get(column) ?? new Set()).add(statement));
    }
  }
  return [...drafts.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, statements, columns }) => ({
      name,
      statements: [...statements],
      columns: [...columns].map(([column, said]) => ({ name: column, statements: [...said] })),
    }));
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
