/** Reads tables for their profile, one after the other, within a time: all rows, or a repeatable sample of a larger table. */
import type { DatabaseDescription, Dialect, SqlResult, TableDescription } from '../../domain';
import { kindOf, type TableRows } from './table-rows';

/** Runs one read-only statement; what it may cost is the caller's. */
export type ReadRows = (statement: string, maxRows: number) => Promise<SqlResult>;

/** `isLate`: asked before each table; tables after that are left out, and so are those that cannot be read. */
export async function readTables(
  { dialect }: Pick<DatabaseDescription, 'dialect'>,
  tables: readonly TableDescription[],
  read: ReadRows,
  isLate: () => boolean,
): Promise<TableRows[]> {
  const found: TableRows[] = [];
  for (const table of tables) {
    if (isLate()) break;
    const rows = await readTable(table, rowsQueries(table, dialect), read);
    if (rows !== null) found.push(rows);
  }
  return found;
}

async function readTable(
  table: TableDescription,
  statements: readonly string[],
  read: ReadRows,
): Promise<TableRows | null> {
  const limit = rowLimit(table);
  for (const [at, statement] of statements.entries()) {
    const result = await read(statement, limit);
    if (result.kind !== 'rows') continue;
    const isSample = at < statements.length - 1;
    return {
      table,
      read: result.rows.length,
      whole: !result.truncated && !isSample,
      columns: table.columns.map(({ name, type }, column) => {
        const values = result.rows.map((row) => row[column] ?? null);
        return { name, type, kind: kindOf(type, values), values };
      }),
    };
  }
  return null;
}

/** Values of a row in all: wide tables give fewer rows. */
const CELLS = 400_000;
const MOST_ROWS = 20_000;
const LEAST_ROWS = 500;

function rowLimit({ columns }: TableDescription): number {
  return Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.floor(CELLS / Math.max(1, columns.length))));
}

/** One row more than the limit tells that the table has more. A second statement is for where the first is refused. */
export function rowsQueries(table: TableDescription, dialect: Dialect): string[] {
  const limit = rowLimit(table);
  const read = (from: string): string => `SELECT ${columnList(table)} FROM ${from} LIMIT ${limit + 1}`;
  const name = relation(table.name, dialect);
  const sample = sampled(table, dialect, name, limit);
  return sample === null ? [read(name)] : [read(sample), read(name)];
}

/** The first rows that the database gives. */
export function firstRows(table: TableDescription, dialect: Dialect, count: number): string {
  return `SELECT ${columnList(table)} FROM ${relation(table.name, dialect)} LIMIT ${count}`;
}

function columnList({ columns }: TableDescription): string {
  return columns.map(({ name }) => quote(name)).join(', ');
}

/** The first rows of a large table are its oldest: a sample takes rows, or pages, from all over it, always the same. */
function sampled(table: TableDescription, dialect: Dialect, name: string, limit: number): string | null {
  const rows = table.rowEstimate ?? 0;
  if (table.kind !== 'table' || rows <= limit) return null;
  // Not every table of SQLite has row ids.
  if (dialect === 'sqlite') return `${name} WHERE rowid % ${Math.ceil(rows / limit)} = 0`;
  if (rows < limit * 5) return null;
  const share = Math.min(100, (limit / rows) * 150).toFixed(4);
  return `${name} TABLESAMPLE SYSTEM (${share}) REPEATABLE (1)`;
}

/** A dot separates the schema in PostgreSQL and Snowflake; SQLite names have none. */
function relation(name: string, dialect: Dialect): string {
  const dot = name.indexOf('.');
  return dialect === 'sqlite' || dot < 0 ? quote(name) : `${quote(name.slice(0, dot))}.${quote(name.slice(dot + 1))}`;
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
