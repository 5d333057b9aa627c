/**
 * A schema as ReFoRCE compresses it: of tables whose names differ only in digits, one stands for all if they are many. What
 * linking keeps is rendered the same way.
 */
import type { DatabaseDescription, Dialect, SqlResult, TableDescription } from '../../domain';
import { cut } from '../../clip';
import { toCsv } from '../../text/result-text';
import { firstRows } from '../../database/profile/table-rows';
import { tableName, tableText } from '../../database/table-text';

/** More tables than this of one name without digits are shown as one. */
const MANY = 10;
/** Rows shown of a table, each text in them cut. */
const ROWS = 3;
const TEXT_CHARS = 1_000;
/** Comments are left out of a text that is longer. */
const LONG_CHARS = 200_000;

export interface CompressedTable {
  readonly name: string;
  readonly text: string;
}

/** A compressed table with the statement that reads its first rows. */
interface ReadTable extends CompressedTable {
  readonly rows: string;
}

/** `kept`: by table, the columns that linking keeps; null: all tables, whole. */
export function compressedTables(
  { tables, dialect }: Pick<DatabaseDescription, 'tables' | 'dialect'>,
  kept: ReadonlyMap<string, readonly string[]> | null = null,
): ReadTable[] {
  const shown = groupsOf(tables).flatMap(({ table, others }) => {
    const columns = kept === null ? null : kept.get(table.name);
    if (columns === undefined) return [];
    return [{ table: columns === null ? table : withColumns(table, columns), others }];
  });
  const tablesWith = (comments: boolean): ReadTable[] =>
    shown.map((group) => ({
      name: group.table.name,
      text: groupText(group, dialect, comments),
      rows: firstRows(group.table, dialect, ROWS),
    }));
  const withComments = tablesWith(true);
  return compressedText(withComments).length <= LONG_CHARS ? withComments : tablesWith(false);
}

/** The table with its first rows; one that cannot be read stands without rows. */
export function withRows({ name, text }: CompressedTable, result: SqlResult | undefined): CompressedTable {
  if (result?.kind !== 'rows' || result.rows.length === 0) return { name, text };
  const rows = result.rows.map((row) =>
    row.map((value) => (typeof value === 'string' ? cut(value, TEXT_CHARS) : value)),
  );
  return { name, text: `${text}\n-- first rows:\n${toCsv({ ...result, rows }, { nulls: 'NULL' }).trimEnd()}` };
}

export function compressedText(tables: readonly CompressedTable[]): string {
  return tables.map(({ text }) => text).join('\n\n');
}

interface Group {
  readonly table: TableDescription;
  /** The tables that it stands for. */
  readonly others: readonly string[];
}

function groupsOf(tables: readonly TableDescription[]): Group[] {
  const byName = new Map<string, TableDescription[]>();
  for (const table of tables) {
    const key = table.name.replace(/\d/g, '');
    byName.set(key, [...(byName.get(key) ?? []), table]);
  }
  return [...byName.values()].flatMap((group) => {
    const [table, ...rest] = group;
    if (table === undefined || group.length <= MANY) return group.map((each) => ({ table: each, others: [] }));
    return [{ table, others: rest.map(({ name }) => name) }];
  });
}

/** A reply may name none that exists: then all stay. */
function withColumns(table: TableDescription, names: readonly string[]): TableDescription {
  const wanted = new Set(names.map((name) => name.replaceAll(/["`]/g, '').toLowerCase()));
  const columns = table.columns.filter(({ name }) => wanted.has(name.toLowerCase()));
  return columns.length === 0 ? table : { ...table, columns };
}

function groupText({ table, others }: Group, dialect: Dialect, comments: boolean): string {
  const text = tableText(table, { samples: 0, comments }, dialect);
  if (others.length === 0) return text;
  const names = others.map((name) => tableName(name, dialect)).join(', ');
  return `${text}\n-- ${others.length} other tables have the same structure: ${names}`;
}
