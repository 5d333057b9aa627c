/**
 * Rivals that the program brings itself (S1 for claims): the answer's SQL over a table without its repeated rows, or with a
 * placeholder read as NULL. A CTE takes the table's place, so the text of the answer stays as it is. Where the answer does
 * not change, the SQL has dealt with it or it does not matter.
 */
import type { Dialect, TableDescription } from '../domain';
import type { RowDoubt } from './profile';
import { quoteIdentifier } from '../sql/compile';

/** Null where no CTE can take the table's place: a name with a schema, or an engine that reads the CTE itself there. */
export function withoutDoubt(
  sql: string,
  doubt: RowDoubt,
  { name, columns }: Pick<TableDescription, 'name' | 'columns'>,
  dialect: Dialect,
): string | null {
  if (name.includes('.') || dialect === 'snowflake') return null;
  const quoted = (identifier: string): string => quoteIdentifier(identifier, dialect);
  // In SQLite a CTE that names itself is an error, even where it is not recursive.
  const base = `${dialect === 'sqlite' ? 'main.' : ''}${quoted(name)}`;
  const all = columns.map((column) => quoted(column.name));
  return `WITH ${quoted(name)} AS (\n${tableSql()}\n)\nSELECT * FROM (\n${sql}\n) AS gate_answer`;

  function tableSql(): string {
    if (doubt.kind === 'repeated') {
      const equal = doubt.columns.map(quoted).join(', ');
      return `SELECT ${all.join(', ')} FROM (SELECT *, row_number() OVER (PARTITION BY ${equal}) AS gate_nth FROM ${base}) AS gate_rows WHERE gate_nth = 1`;
    }
    const value = typeof doubt.value === 'number' ? String(doubt.value) : `'${doubt.value.replaceAll("'", "''")}'`;
    const column = quoted(doubt.column);
    const list = all.map((each) => (each === column ? `NULLIF(${column}, ${value}) AS ${column}` : each));
    return `SELECT ${list.join(', ')} FROM ${base}`;
  }
}

/** What is asked of the model where the answer changes. */
export function doubtText(doubt: RowDoubt, gives: string): string {
  return doubt.kind === 'repeated'
    ? `${doubt.rows} rows of ${doubt.table} repeat an earlier one and count here; without the repeats the answer is: ${gives}. Drop them, or claim or assume that each one counts.`
    : `${doubt.rows} rows of ${doubt.table} have ${doubt.column} ${String(doubt.value)}, which counts here as a value; read as NULL the answer is: ${gives}. Leave them out, or claim or assume that it is one.`;
}
