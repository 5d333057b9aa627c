/** Reads tables for their profile, one after the other, within a time. */
import type { DatabaseDescription, SqlResult, TableDescription } from '../../domain';
import { rowLimit, rowsQueries } from './rows-query';
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
