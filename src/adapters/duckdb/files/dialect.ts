/**
 * How a CSV file is written: delimiter, header and the lines above it. DuckDB's own sniffer takes a file with one ragged line or
 * with a footnote for a single column, the first of three lines of titles for the header, and years for data.
 */
import { CsvRows, type CsvRow } from './csv-rows';
import { unique } from './sources';

export interface CsvDialect {
  /** Null: the lines are one column. */
  readonly delimiter: string | null;
  readonly columns: readonly string[];
  /** From 1; null: no header. */
  readonly headerLine: number | null;
  /** Rows before the header, or before the first row of the table, as they are written. */
  readonly above: readonly string[];
}

/** In the order in which one is taken that explains the lines as well as another: decimals are written with commas. */
const DELIMITERS = ['\t', ';', '|', ','];
const MAX_ROWS = 2000;

/** `isWhole`: the text is all of the file. */
export function dialectOf(text: string, isWhole: boolean): CsvDialect {
  const [best] = DELIMITERS.map((delimiter) => ({ delimiter, ...consistency(rowsOf(text, delimiter, isWhole)) }))
    .filter(({ width, share }) => width > 1 && share >= 0.5)
    .sort((a, b) => b.share - a.share || b.width - a.width);
  const { delimiter, rows, width } = best ?? { delimiter: null, rows: rowsOf(text, null, isWhole), width: 1 };
  const first = firstOf(rows, width);
  const header = rows[first];
  const below = rows.slice(first + 1).map(({ cells }) => cells);
  const isHeader = header !== undefined && looksLikeHeader(header.cells, below);
  const names = isHeader ? header.cells.map((cell) => cell.replace(/\s+/g, ' ').trim()) : Array<string>(width).fill('');
  return {
    delimiter,
    columns: unique(names.map((name, index) => name || `column_${index + 1}`)),
    headerLine: isHeader ? header.line : null,
    above: rows.slice(0, first).map((row) => row.text),
  };
}

function consistency(rows: readonly CsvRow[]) {
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(row.width, (counts.get(row.width) ?? 0) + 1);
  const [width = 1, count = 0] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [];
  return { rows, width, share: count / Math.max(1, rows.length) };
}

/** The first of them. A quote that opens the first row may not be closed within the text, of which there may be more. */
function rowsOf(text: string, delimiter: string | null, isWhole: boolean): CsvRow[] {
  const rows: CsvRow[] = [];
  for (const row of new CsvRows(delimiter).add(text, isWhole)) if (rows.push(row) === MAX_ROWS) break;
  return rows.length > 0 || isWhole ? rows : rowsOf(text, delimiter, true);
}

const NUMBER = /^[-+]?[0-9][0-9.,' ]*([eE][-+]?[0-9]+)?%?$/;
const DATE = /^[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}\b/;
const isValue = (cell: string): boolean => NUMBER.test(cell.trim()) || DATE.test(cell.trim());

/** The first row of the table: titles above it have other widths, or fill its first cells alone. */
function firstOf(rows: readonly CsvRow[], width: number): number {
  const found = rows.findIndex((row) => row.width === width);
  const start = Math.max(0, found);
  for (let at = start; at < Math.min(rows.length, start + 20); at += 1) {
    const cells = rows[at]?.cells ?? [];
    const filled = cells.filter((cell) => cell.trim() !== '');
    if (filled.length === cells.length) return at > start && !looksLikeHeader(cells, []) ? start : at;
    const isTitle =
      cells.slice(0, filled.length).every((cell) => cell.trim() !== '') &&
      (filled.length <= width / 2 || filled.some(isValue));
    if (!isTitle) return start;
  }
  return start;
}

/** A header has no value; years in a row may be names (`country,2019,2020`). */
function looksLikeHeader(cells: readonly string[], below: readonly (readonly string[])[]): boolean {
  const values = cells.filter(isValue).map((cell) => cell.trim());
  const areYears =
    values.length > 1 &&
    values.length < cells.length &&
    values.every((cell, n) => /^(19|20)\d\d$/.test(cell) && (n === 0 || Number(cell) === Number(values[n - 1]) + 1));
  if (values.length > 0 && !areYears) return false;
  // What comes again below is a value too.
  return (
    cells.length === 1 ||
    !below.slice(0, 50).some((row) => row.length === cells.length && row.every((cell, n) => cell === cells[n]))
  );
}
