/**
 * The rows of one table as the profile reads them, by column. A table that fits the limit is read whole, so that its
 * figures are of all rows; of a larger one a sample is read, and every figure says so.
 */
import type { DatabaseDescription, Dialect, SqlResult, SqlValue, TableDescription } from '../../domain';
import { DIALECTS, quoted, quotedText, relationOf } from '../../sql/dialects';

export interface TableRows {
  readonly table: TableDescription;
  /** All columns, in the table's order; each with one value a row. */
  readonly columns: readonly RowColumn[];
  /** Rows read. */
  readonly read: number;
  /** Every row of the table was read. */
  readonly whole: boolean;
}

export interface RowColumn {
  readonly name: string;
  readonly type: string;
  readonly kind: ColumnKind;
  readonly values: readonly SqlValue[];
}

/** The kind of a column's values, by the declared type and, where that says text, by the values themselves. */
export type ColumnKind = 'number' | 'time' | 'text' | 'boolean' | 'json' | 'binary';

const JSON_TYPE = /json|^(variant|object|array|map)\b/i;
const NUMBER_TYPE =
  /^(small|big|tiny|medium)?int(eger|\d+)?\b|serial|^numeric|^decimal|^real|^float|^double|^number|unsigned/i;

export function kindOf(type: string, values: readonly SqlValue[]): ColumnKind {
  if (/\[\]/.test(type)) return 'text';
  if (JSON_TYPE.test(type)) return 'json';
  if (/^bool/i.test(type)) return 'boolean';
  if (/bytea|blob|^(var)?binary/i.test(type) && !values.some(isNumber)) return 'binary';
  if (/^(date|time)/i.test(type)) return 'time';
  if (NUMBER_TYPE.test(type))
    return values.some((v) => typeof v === 'string' && !isNumber(v)) ? byValues(values) : 'number';
  return byValues(values);
}

/** SQLite declares what it likes, and dates stand in texts. */
function byValues(values: readonly SqlValue[]): ColumnKind {
  const filled = values.filter((value) => value !== null && value !== '').slice(0, 200);
  if (filled.length === 0) return 'text';
  const share = (test: (value: SqlValue) => boolean): number => filled.filter(test).length / filled.length;
  if (filled.every((value) => typeof value === 'number')) return 'number';
  if (share((value) => typeof value === 'string' && /^\s*[[{]["{[\]}\s\d]/.test(value)) > 0.9) return 'json';
  if (share((value) => typeof value === 'string' && timeOf(value) !== null) > 0.9) return 'time';
  return 'text';
}

/** A number, or a text that is written like one and has no leading zero to lose. */
export function isNumber(value: SqlValue): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value));
}

export function numberOf(value: SqlValue): number | null {
  return isNumber(value) ? Number(value) : null;
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?$/;

/** Seconds since 1970 as written: a zone is not applied, since two columns are compared as they stand. */
export function timeOf(value: SqlValue): number | null {
  if (typeof value !== 'string') return null;
  const found = ISO.exec(value);
  if (found === null) return null;
  const part = (at: number): number => Number(found[at] ?? 0);
  return Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6)) / 1000;
}

/** How a column's values are told apart; NULL and blank texts are no values. */
export function keyOf(value: SqlValue): string | null {
  if (value === null) return null;
  const text = String(value);
  return text.trim() === '' ? null : text;
}

/** Runs one read-only statement; what it may cost is the caller's. */
export type ReadRows = (statement: string, maxRows: number) => Promise<SqlResult>;

/**
 * Reads tables for their profile, one after the other: all rows, or a repeatable sample of a larger table. `isLate` is asked
 * before each table; tables after that are left out, and so are tables that cannot be read.
 */
export async function readTables(
  { dialect }: Pick<DatabaseDescription, 'dialect'>,
  tables: readonly TableDescription[],
  read: ReadRows,
  isLate: () => boolean,
  cells = CELLS,
): Promise<TableRows[]> {
  const found: TableRows[] = [];
  for (const table of tables) {
    if (isLate()) break;
    const rows = await readTable(table, rowsQueries(table, dialect, cells), rowLimit(table, cells), read);
    if (rows !== null) found.push(rows);
  }
  return found;
}

async function readTable(
  table: TableDescription,
  statements: readonly string[],
  limit: number,
  read: ReadRows,
): Promise<TableRows | null> {
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

/** Values of a table in all: wide tables give fewer rows. */
const CELLS = 400_000;
/** Values of all tables of a wide database: its tables share them. */
const ALL_CELLS = 12_000_000;

export const sharedCells = (tables: number): number => Math.min(CELLS, Math.floor(ALL_CELLS / Math.max(1, tables)));
const MOST_ROWS = 20_000;
const LEAST_ROWS = 500;

function rowLimit({ columns }: TableDescription, cells: number): number {
  return Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.floor(cells / Math.max(1, columns.length))));
}

/** One row more than the limit tells that the table has more. A second statement is for where the first is refused. */
export function rowsQueries(table: TableDescription, dialect: Dialect, cells = CELLS): string[] {
  const limit = rowLimit(table, cells);
  const read = (from: string): string => `SELECT ${columnList(table, dialect)} FROM ${from} LIMIT ${limit + 1}`;
  const name = relationOf(table.name, dialect);
  const sample = sampled(table, dialect, name, limit);
  return sample === null ? [read(name)] : [read(sample), read(name)];
}

/** The first rows that the database gives. */
export function firstRows(table: TableDescription, dialect: Dialect, count: number): string {
  return `SELECT ${columnList(table, dialect)} FROM ${relationOf(table.name, dialect)} LIMIT ${count}`;
}

/** The rows that have one of the values in a column. */
export function rowsWith(
  table: TableDescription,
  { column, values }: { readonly column: string; readonly values: readonly string[] },
  dialect: Dialect,
  count: number,
): string {
  const list = values.map((value) => quotedText(value, dialect)).join(', ');
  return `SELECT ${columnList(table, dialect)} FROM ${relationOf(table.name, dialect)} WHERE ${quoted(column, dialect)} IN (${list}) LIMIT ${count}`;
}

function columnList({ columns }: TableDescription, dialect: Dialect): string {
  return columns.map(({ name }) => quoted(name, dialect)).join(', ');
}

/** The first rows of a large table are its oldest: a sample takes rows, or pages, from all over it, always the same. */
function sampled(table: TableDescription, dialect: Dialect, name: string, limit: number): string | null {
  const rows = table.rowEstimate ?? 0;
  return table.kind !== 'table' || rows <= limit ? null : DIALECTS[dialect].sample(name, rows, limit);
}
